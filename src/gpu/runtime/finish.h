/* The final conversion as kernels compute it. Plain C: needs no GPU. */
#ifndef GC_GPU_RUNTIME_FINISH_H
#define GC_GPU_RUNTIME_FINISH_H

#include "core/problem.h"
#include "gpu/kernels/jit/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True where the device can make the output of this problem: alpha that is treated otherwise than colour
 * is left to the CPU, and so are divisors beyond 2^500 and below 2^-500. Then *finish gives the bits of
 * gc_store_row for every chain value. */
bool gc_finish_of(const gc_problem *problem, gc_finish *finish);

/* The type of the problem's output samples. */
gc_sample_type gc_finish_type(const gc_problem *problem);

/* Sets the divisor and what kernels multiply with instead: its reciprocal, and the numbers of float32
 * next to that, one less and one more than the true reciprocal. */
void gc_finish_divide(double divisor, gc_finish *finish);

/* Whether the product of these with any integer rounds as the quotient does, up to largest + 1: what is
 * no tie misses one by 1 / 2d or more. Divisors are integers below 2^22; where there are no ties, or
 * division is exact, the reciprocal alone is multiplied with. */
bool gc_finish_rounds(const gc_finish *finish, double largest, bool ties);

#ifdef __cplusplus
}
#endif

#endif
