/* JSON, value by value; commas are added where they belong. Each thread builds lines of its own. */
#pragma once

#include "base/buffer.h"

/* Opens the outermost object of a command, whose first keys are `schema` and `command`. */
void gc_json_begin(const char *command);

/* Opens an object or array: `bracket` is '{' or '['. `key` is NULL here and below for the outermost
 * value and for elements of an array. */
void gc_json_open(const char *key, char bracket);
void gc_json_close(char bracket);

/* Bytes that are not valid UTF-8 are written as U+FFFD. */
void gc_json_string(const char *key, const char *value);
/* The name of a file. If it is not UTF-8, its bytes follow under the key KEY_bytes as hexadecimal
 * digits. */
void gc_json_name(const char *key, const char *name);
void gc_json_integer(const char *key, int64_t value);
/* A value that is not finite is written as null. */
void gc_json_number(const char *key, double value);
void gc_json_bool(const char *key, bool value);

/* Ends the line, after the outermost object. True: hands it to the caller, who frees `text`. False:
 * it is built apart, and stays. */
bool gc_json_end_line(gc_buffer *text);

/* Sets the line that is built aside, and begins lines that are built apart. The second
 * function ends these and returns them with their newlines; free releases them. NULL if memory is
 * short. The line that was set aside then goes on. */
void gc_json_begin_apart(void);
char *gc_json_end_apart(size_t *size);
