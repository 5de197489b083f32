/* Buffered bytes of a file or of standard input. */
#ifndef GC_IO_INPUT_H
#define GC_IO_INPUT_H

#include "gconv.h"

/* Larger inputs are refused. */
#define GC_INPUT_BYTES_MAX (UINT64_C(4) << 30)

enum { GC_INPUT_BUFFER_BYTES = 256 * 1024 };

typedef struct gc_input {
    int descriptor;
    bool owned;           /* closed by gc_input_close */
    bool regular;         /* a regular file: reading on never waits */
    bool ended;           /* the system reported the end */
    uint64_t taken;       /* bytes that have come from the system */
    unsigned char *bytes; /* GC_INPUT_BUFFER_BYTES */
    size_t start;         /* bytes[start..end) are not yet read */
    size_t end;
} gc_input;

/* Opens `path`, or standard input for "-". On failure there is nothing to close. */
gconv_status gc_input_open(const char *path, gc_input *input, gconv_error *error);
void gc_input_close(gc_input *input);

/* Makes at least `wanted` bytes visible without reading them, fewer only where the input ends.
 * `wanted` is at most GC_INPUT_BUFFER_BYTES. */
gconv_status gc_input_peek(gc_input *input, size_t wanted, const unsigned char **bytes,
                           size_t *available, gconv_error *error);

/* Passes over bytes that were peeked at. */
void gc_input_skip(gc_input *input, size_t count);

/* Reads `wanted` bytes; *got is less only where the input ends. */
gconv_status gc_input_read(gc_input *input, void *bytes, size_t wanted, size_t *got,
                           gconv_error *error);

/* Hands out all that is buffered, after filling the buffer if it is empty, and counts it as read.
 * The bytes stay valid until the next call; *size is 0 at the end. */
gconv_status gc_input_take(gc_input *input, const unsigned char **bytes, size_t *size,
                           gconv_error *error);

/* Counts from here on what GC_INPUT_BYTES_MAX limits: another image begins. */
void gc_input_restart(gc_input *input);

/* True where bytes are left, as far as can be told: what cannot be read does not count. Never waits
 * for a pipe: there only what has come counts. */
bool gc_input_has_more(gc_input *input);

#endif
