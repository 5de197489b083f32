/* A strip of output rows, computed by one thread: the chain over a part of the image. */
#ifndef GC_CPU_STRIP_H
#define GC_CPU_STRIP_H

#include "core/stream.h"
#include "cpu/rows.h"
#include "cpu/window.h"

/* What one thread needs to compute strips; used for one strip after the other. */
typedef struct gc_strip {
    const gc_problem *problem;
    gc_rows_function *convolve;
    gc_window *windows; /* one a step, on its input */
    int64_t *ready;     /* ready[s]: first row that is not yet in window s */
    int64_t *needed;    /* needed[s]: last row of window s that the next output rows read */
    float *result;      /* chain values of one row */
} gc_strip;

gconv_status gc_strip_create(gc_strip *strip, const gc_problem *problem, gconv_error *error);
void gc_strip_destroy(gc_strip *strip);

/* Where a strip finds rows of input samples: row y, 0 <= y < height, at
 * samples + y % capacity * stride. */
typedef struct gc_sample_rows {
    const char *samples;
    size_t stride;
    int64_t capacity;
} gc_sample_rows;

/* Output rows `first` to `last`, converted, to `output`, stream->output_bytes apart. */
void gc_strip_compute(gc_strip *strip, const gc_stream *stream, const gc_sample_rows *input,
                      int64_t first, int64_t last, char *output);

#endif
