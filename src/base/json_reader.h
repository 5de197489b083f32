/* Reads JSON (RFC 8259) from memory, value by value. */
#pragma once

#include "gconv.h"

#include <stdbool.h>
#include <stddef.h>

/* A string if `text` is not NULL, else a number. `key` is "" for elements of an array. Both are
 * valid during the call. */
typedef struct gc_json_value {
    const char *key, *text;
    double number; /* true is 1, false is 0 */
} gc_json_value;

/* What is told of a text, from its beginning to its end. A failure ends the reading. Nothing is
 * told of null, and nothing of the brackets of arrays. `open` and `close` may be NULL. */
typedef struct gc_json_events {
    void (*open)(void *user); /* an object begins */
    gconv_status (*value)(void *user, const gc_json_value *value, gconv_error *error);
    gconv_status (*close)(void *user, gconv_error *error); /* an object ends */
    void *user;
} gc_json_events;

/* Reads a text of any number of values. GCONV_ERROR_FORMAT if it is not JSON, is nested too deeply,
 * or a string holds a NUL. Bytes that are not UTF-8 are taken as they are. */
gconv_status gc_json_read(const char *text, size_t size, const gc_json_events *events,
                          gconv_error *error);

/* Turns hexadecimal digits, as of KEY_bytes, into the bytes of a name, in place. False if they are
 * no digits. */
bool gc_json_read_bytes(char *digits);
