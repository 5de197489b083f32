/* Sums of 8-bit samples times small whole weights in integers: exact, and four products to a lane. */
#ifndef GC_CPU_METHOD_BYTES_H
#define GC_CPU_METHOD_BYTES_H

#include "core/problem.h"

/* Taps of a row that are multiplied at once: as many neighbouring bytes as a lane holds. */
enum { GC_BYTES_GROUP = 4 };

/* A step's taps as signed bytes, four of a row to an element, zeros in between for the samples of other
 * channels. */
typedef struct gc_byte_step {
    int32_t *taps;
    int width, height; /* in elements */
} gc_byte_step;

/* As gc_rows_function (cpu/instructions/instructions.h) in samples of 8 bits: `advance`, of samples from element to element,
 * is GC_BYTES_GROUP, and up to GC_BYTES_GROUP - 1 samples more are read beyond. */
typedef void gc_bytes_function(const gc_byte_step *step, const uint8_t *const *rows, size_t advance,
                               size_t count, int row_count, float *const *out);

/* Whether the first step of a chain can be computed so: samples of 8 bits enter as they are, weights
 * are whole and fit signed bytes, a constant border fits a byte, and the chain is exact, so that no
 * sum leaves 2^24. */
bool gc_bytes_apply(const gc_problem *problem);

/* Elements of a row of the step. */
int gc_bytes_width(const gc_step *step, int channels);

gconv_status gc_byte_step_create(gc_byte_step *bytes, const gc_step *step, int channels,
                                 gconv_error *error);

#endif
