/* The inner loop of the cpu implementation: one output row of one step, for every instruction set.
 */
#ifndef GC_CPU_ROWS_H
#define GC_CPU_ROWS_H

#include "core/problem.h"

/* out[i] = sum_j sum_k taps[j*width+k] * rows[j][i + k*channels] for i in [0, count). Reads and
 * writes up to GC_WINDOW_SLACK samples beyond. */
typedef void gc_rows_function(const gc_step *step, const float *const *rows, size_t channels,
                              size_t count, float *out);

typedef struct gc_rows_kernel {
    const char *name; /* of the instruction set */
    bool (*usable)(void);
    gc_rows_function *convolve;
} gc_rows_kernel;

/* Those compiled into this build, the best first, the portable one last. */
int gc_rows_kernel_count(void);
const gc_rows_kernel *gc_rows_kernel_at(int index);

/* The best that this processor has. */
const gc_rows_kernel *gc_rows_kernel_best(void);

#endif
