/* The final conversion as kernels compute it. Plain C: needs no GPU. */
#ifndef GC_GPU_PASS_FINISH_H
#define GC_GPU_PASS_FINISH_H

#include "core/problem.h"
#include "gpu/pass/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if the device can make the output of this problem. *finish then gives the bits of
 * gc_store_row for every chain value. The CPU makes the output if a divisor is beyond 2^500 or
 * below 2^-500, and output of depth 1 with alpha. */
bool gc_finish_of(const gc_problem *problem, gc_finish *finish);

/* The type of the problem's samples. */
gc_sample_type gc_input_type(const gc_problem *problem);

/* Whether samples lie in memory as a plane of chain values: floats of one channel. */
bool gc_samples_are_values(const gc_problem *problem);

/* The type of the problem's output samples. */
gc_sample_type gc_finish_type(const gc_problem *problem);

/* Sets the divisor and the factors by which kernels multiply instead of dividing: its reciprocal in
 * float32, and the two float32 numbers `below` and `above` next to that. The true reciprocal lies
 * between these two. */
void gc_finish_divide(double divisor, gc_finish *finish);

/* Whether multiplying and rounding gives the same integers as dividing and rounding, for every
 * integer whose quotient is at most largest + 1. The divisor d is an integer below 2^22. A quotient
 * that is not a tie lies at least 1 / 2d away from every tie. With `ties` kernels multiply by
 * `below` and by `above`. Without ties they multiply by the reciprocal. */
bool gc_finish_rounds(const gc_finish *finish, double largest, bool ties);

#ifdef __cplusplus
}
#endif

#endif
