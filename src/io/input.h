/* An input: the bytes of a file or of standard input, buffered, read from start to end. */
#pragma once

#include "base/buffer.h"
#include "gconv.h"

#include <sys/types.h>

/* Larger inputs are refused. */
#define GC_INPUT_BYTES_MAX (UINT64_C(4) << 30)

enum { GC_INPUT_BUFFER_BYTES = 64 * 1024 };

typedef struct gc_input {
    int descriptor;
    bool owned;                  /* closed by gc_input_close */
    bool regular;                /* a regular file: reading it never waits, unlike a pipe */
    bool ended;                  /* read(2) has reported the end */
    uint64_t offset;             /* in the file, of the next byte that read(2) gives */
    gconv_bytes_function *shown; /* is called with all bytes that are read; may be NULL */
    void *shown_user;
    uint64_t taken;       /* bytes read from the system; GC_INPUT_BYTES_MAX limits them */
    unsigned char *bytes; /* GC_INPUT_BUFFER_BYTES */
    size_t start;         /* bytes[start..end) are buffered and not read yet */
    size_t end;
} gc_input;

/* Opens `path`, or standard input for "-". On failure there is nothing to close. */
gconv_status gc_input_open(const char *path, gc_input *input, gconv_error *error);
void gc_input_close(gc_input *input);

/* Shows the next bytes without reading them: at least `wanted`, fewer only if the input ends.
 * `wanted` is at most GC_INPUT_BUFFER_BYTES. The bytes stay valid until the next call. */
gconv_status gc_input_peek(gc_input *input, size_t wanted, const unsigned char **bytes,
                           size_t *available, gconv_error *error);

/* Reads and drops bytes that gc_input_peek has shown. */
void gc_input_skip(gc_input *input, size_t count);

/* Skips `count` bytes: seeks in a regular file, else reads and drops them. Skipping beyond the end
 * of the input is no error. */
gconv_status gc_input_pass(gc_input *input, uint64_t count, gconv_error *error);

/* Reads `wanted` bytes; *got is less only if the input ends. */
gconv_status gc_input_read(gc_input *input, void *bytes, size_t wanted, size_t *got,
                           gconv_error *error);

/* Reads all buffered bytes, without a copy; fills the buffer first if it is empty. The bytes stay
 * valid until the next call. *size is 0 at the end. */
gconv_status gc_input_take(gc_input *input, const unsigned char **bytes, size_t *size,
                           gconv_error *error);

/* Adds up to `most` bytes to a buffer, and looks whether more follow. */
gconv_status gc_input_collect(gc_input *input, uint64_t most, gc_buffer *buffer, bool *more,
                              gconv_error *error);

/* The size of an input that can be read twice and has at most `limit` bytes. Else *reason is a
 * phrase that says why not. */
bool gc_input_measure(const gc_input *input, size_t limit, size_t *size, const char **reason);

/* Reads the first `size` bytes of an input that can be read twice. The input's position stays. The
 * caller frees *bytes. On failure *bytes is NULL, and *reason is a phrase that says why. */
bool gc_input_load(const gc_input *input, size_t size, unsigned char **bytes, const char **reason);

/* The buffered bytes, read or not, if the buffer still begins with the first byte of the file; else
 * 0 bytes. They stay valid until more is read. */
size_t gc_input_head(const gc_input *input, const unsigned char **bytes);

/* One pread(2) of an input that can be read twice, repeated after signals. The input's position
 * stays. Returns what pread does. */
ssize_t gc_input_read_at(const gc_input *input, void *bytes, size_t size, uint64_t offset);

/* Whether the input can be read again from its first byte: a regular file opened here. */
bool gc_input_reads_twice(const gc_input *input);

/* Begins again at the first byte of such an input. */
gconv_status gc_input_rewind(gc_input *input, gconv_error *error);

/* Another image begins: GC_INPUT_BYTES_MAX limits the bytes from here on. */
void gc_input_restart(gc_input *input);

/* Whether bytes are left: of a pipe, those that are buffered, or else arrive within `patience`
 * milliseconds. False if the input cannot be read. */
bool gc_input_has_more(gc_input *input, int patience);
