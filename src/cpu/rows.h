/* The inner loop of the cpu implementation: one output row of one step. */
#ifndef GC_CPU_ROWS_H
#define GC_CPU_ROWS_H

#include "core/problem.h"

/* out[i] = sum_j sum_k taps[j*width+k] * rows[j][i + k*channels] for i in [0, count). Reads and
 * writes up to GC_WINDOW_SLACK samples beyond. `out` is 64-byte aligned. */
void gc_convolve_row(const gc_step *step, const float *const *rows, size_t channels, size_t count,
                     float *out);

#endif
