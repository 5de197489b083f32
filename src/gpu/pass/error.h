/* How far the values of a kernel may be from the exact sums of a step. Plain C: needs no GPU. */
#ifndef GC_GPU_PASS_ERROR_H
#define GC_GPU_PASS_ERROR_H

#include "core/products.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
