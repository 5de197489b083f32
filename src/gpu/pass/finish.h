/* The final conversion as kernels compute it. Plain C: needs no GPU. */
#pragma once

#include "core/products.h"
#include "gpu/pass/types.h"

/* True if the device can make the output of this problem. *finish then gives the bits of
 * gc_store_pixels for every chain value. The CPU makes the output if a divisor is beyond 2^500 or
 * below 2^-500, and output of depth 1 with alpha. */
bool gc_finish_of(const gc_problem *problem, gc_finish *finish);

/* Makes *finish, that of gc_finish_of, one of those from GC_FINISH_ONCE on. `error` bounds how far
 * the values of the kernels are from the exact sums of the float32 weights. False, and *finish is
 * kept, if the problem is not such a one, or the error is too large. */
bool gc_finish_settle(const gc_problem *problem, double error, gc_finish *finish);

/* ---- How far the values of a kernel may be from exact sums of a step (error.c) --------------- */

/* Whether the problem is rounded once from sums of samples: one step of real weights, from 8 bits
 * to 8 bits or 1. */
bool gc_finish_sums_up(const gc_problem *problem);

/* The number that kernels subtract from the samples of a problem that is rounded once: float sums
 * lose less if samples lie on both sides of 0. */
double gc_finish_centre(const gc_problem *problem);

/* The values that can enter the first step of a chain on integers. */
typedef struct gc_interval {
    double low, high;
} gc_interval;
gc_interval gc_error_inputs(const gc_problem *problem, const gc_step *step);

/* Of one sum of multiply-adds, in reading order, in float32. */
double gc_error_of_sum(const gc_problem *problem, const gc_step *step);

/* Of products of a column and a row: first all rows, then all columns in one sum, the last two
 * products together (products.cuh). */
double gc_error_of_products(const gc_problem *problem, const gc_step *step,
                            const gc_products *products);

/* ---- Types ----------------------------------------------------------------------------------- */

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
