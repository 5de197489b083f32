/* Samples to chain values and back: the only definition of both, for every implementation. */
#ifndef GC_CORE_CONVERT_H
#define GC_CORE_CONVERT_H

#include "core/problem.h"

/* Chain values (width * problem->channels, interleaved) of one row of input samples. */
void gc_load_row(const gc_problem *problem, const void *samples, float *row);

/* The same of `count` pixels, the first of them at `samples` and at `row`. */
void gc_load_pixels(const gc_problem *problem, const void *samples, size_t count, float *row);

/* Final conversion (rules 5 to 7) of one row of chain values to one row of output. `alpha` holds
 * the row's own alpha samples (width of them) where the problem keeps alpha, else it is NULL. */
void gc_store_row(const gc_problem *problem, const float *row, const void *alpha, void *output);

/* The same of `count` pixels, the first of them at `row`, `alpha` and `output`: at a bit of depth 1
 * it begins a byte. */
void gc_store_pixels(const gc_problem *problem, const float *row, size_t count, const void *alpha,
                     void *output);

/* Copies the alpha samples of one row of input (2 or 4 channels) to `alpha`. */
void gc_extract_alpha(const gconv_shape *input, const void *samples, void *alpha);

#endif
