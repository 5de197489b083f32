/* An output: a file that appears under its name whole or not at all (contract.md, rules 68 to 73),
 * standard output, or a device. */
#pragma once

#include "gconv.h"

typedef struct gc_output gc_output;

typedef struct gc_output_options {
    bool no_clobber; /* GCONV_ERROR_EXISTS if the output exists */
    bool sync;       /* flush to the disk before the rename; always done if a file is replaced */
    gconv_complete_function *complete; /* as in gconv_writer_options, like the next two */
    gconv_bytes_function *written;
    void *complete_user;
} gc_output_options;

/* "-" is standard output. A regular file, or one that is not there yet, is written under a
 * temporary name in the same directory, and gets its name by gc_output_commit. Anything else, such
 * as a FIFO or a device, is written to directly. */
gconv_status gc_output_open(const char *path, const gc_output_options *options, gc_output **output,
                            gconv_error *error);

gconv_status gc_output_write(gc_output *output, const void *bytes, size_t size, gconv_error *error);

/* Sends out what is buffered. */
gconv_status gc_output_flush(gc_output *output, gconv_error *error);

/* The offset at which gc_output_write will write its next byte. */
uint64_t gc_output_position(const gc_output *output);

/* Moves that offset on, past bytes that gc_output_write_at has written or will write. */
gconv_status gc_output_skip(gc_output *output, uint64_t count, gconv_error *error);

/* Whether gc_output_write_at can be used: the output is a file, not a pipe or a device. */
bool gc_output_seeks(const gc_output *output);

/* Writes at an offset that gc_output_write has not reached and will not reach. */
gconv_status gc_output_write_at(gc_output *output, uint64_t offset, const void *bytes, size_t size,
                                gconv_error *error);

/* Completes the output and gives it its name. */
gconv_status gc_output_commit(gc_output *output, gconv_error *error);

/* Frees the output. If it was not committed, its temporary file is removed. NULL is allowed. */
void gc_output_free(gc_output *output);
