/* JSON on standard output, value by value; commas are added where they belong. Each line is written
 * in one piece when it is complete. */
#ifndef GC_CLI_REPORT_JSON_H
#define GC_CLI_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* The value of `schema` in every object. It rises when a key changes its meaning. */
enum { GC_JSON_SCHEMA = 1 };

/* Opens an object or array: `bracket` is '{' or '['. `key` is NULL here and below for the outermost
 * value and for elements of an array. */
void gc_json_open(const char *key, char bracket);
void gc_json_close(char bracket);

/* Bytes that are not valid UTF-8 are written as U+FFFD. */
void gc_json_string(const char *key, const char *value);
void gc_json_integer(const char *key, int64_t value);
/* A value that is not finite is written as null. */
void gc_json_number(const char *key, double value);
void gc_json_bool(const char *key, bool value);

/* Ends the line, after the outermost object. */
void gc_json_end(void);

#endif
