/* Bytes that grow at their end. */
#pragma once

#include "base/status.h"

typedef struct gc_buffer {
    char *bytes; /* owned, and ended by a NUL that does not count; NULL: nothing was added yet */
    size_t size, room;
    bool failed; /* memory was out: what was added then and later is missing */
} gc_buffer;

void gc_buffer_add(gc_buffer *buffer, const void *bytes, size_t size);

/* Adds a string without its NUL. */
void gc_buffer_put(gc_buffer *buffer, const char *text);

/* Adds what printf prints. */
void gc_buffer_print(gc_buffer *buffer, const char *format, ...) GC_PRINTF(2, 3);

/* Hands over the bytes, which free releases, and empties the buffer. NULL after a failure. `size`
 * may be NULL. */
char *gc_buffer_take(gc_buffer *buffer, size_t *size);

void gc_buffer_free(gc_buffer *buffer);
