/* The final conversion as kernels compute it. Plain C: needs no GPU. */
#ifndef GC_GPU_RUNTIME_FINISH_H
#define GC_GPU_RUNTIME_FINISH_H

#include "core/problem.h"
#include "gpu/kernels/jit/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True where the device can make the output of this problem. *finish then gives the bits of gc_store_row
 * for every chain value. The CPU makes the output where alpha is treated otherwise than colour, and where
 * a divisor is beyond 2^500 or below 2^-500. */
bool gc_finish_of(const gc_problem *problem, gc_finish *finish);

/* The type of the problem's output samples. */
gc_sample_type gc_finish_type(const gc_problem *problem);

/* Sets the divisor, and the numbers that kernels multiply with instead of dividing: its reciprocal, and
 * the neighbours of that in float32, one below and one above the true reciprocal. */
void gc_finish_divide(double divisor, gc_finish *finish);

/* Whether multiplying rounds as dividing does, for every integer whose quotient is up to largest + 1. A
 * quotient that is no tie misses one by 1 / 2d or more. Divisors are integers below 2^22. Without ties,
 * or where division is exact, kernels multiply with the reciprocal alone. */
bool gc_finish_rounds(const gc_finish *finish, double largest, bool ties);

#ifdef __cplusplus
}
#endif

#endif
