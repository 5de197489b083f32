/* JSON on standard output: values one after the other, commas where they belong. A line goes out whole,
 * when it ends. */
#ifndef GC_CLI_JSON_H
#define GC_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* The number that `schema` has in every object; it rises when a key changes its meaning. */
enum { GC_JSON_SCHEMA = 1 };

/* Opens an object or array under `key`; NULL where it stands alone or in an array. */
void gc_json_open(const char *key, char bracket);
void gc_json_close(char bracket);

/* Bytes that are not valid UTF-8 are written as U+FFFD. */
void gc_json_string(const char *key, const char *value);
void gc_json_integer(const char *key, int64_t value);
/* A value that is not finite is written as null. */
void gc_json_number(const char *key, double value);
void gc_json_bool(const char *key, bool value);

/* Ends the line after the outermost object. */
void gc_json_end(void);

#endif
