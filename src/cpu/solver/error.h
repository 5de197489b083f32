/* How far sums in float32 are from the true ones. u is 2^-24, the relative error of a rounding. */
#pragma once

#include "core/chain.h"
#include "core/products.h"

/* Values lie between `low`, at most 0, and `high`, at least 0. */
typedef struct gc_extent {
    double low, high;
} gc_extent;

double gc_extent_largest(gc_extent extent);

/* The sums of the magnitudes of weights above and below 0. */
typedef struct gc_signed_sums {
    double above, below;
} gc_signed_sums;

gc_signed_sums gc_signed_sums_of(const float *weights, size_t count);

/* Of sums of weights times values. */
gc_extent gc_extent_of_sums(gc_extent in, gc_signed_sums weights);

/* Of a sum of taps times values, added up in the order of the taps: each product is rounded by
 * itself, or with the sum. */
double gc_taps_error(gc_extent in, const float *taps, size_t count);

/* The step is the sum of products of a column and a row. Each column is summed and rounded to
 * float32, then all rows in one sum. */
double gc_products_error(const gc_step *step, gc_extent in, const gc_products *products);

/* A filter of two vectors: the same with both as float32. HUGE_VAL if float32 has no room. */
double gc_vectors_error(const gc_step *step, gc_extent in);

/* A filter whose weights are all equal, by running sums (fast/box.c) in rows of `values` values. */
double gc_box_error(const gc_step *step, gc_extent in, double values);

/* The weight that all taps have; 0 if they differ. */
double gc_common_weight(const gc_step *step);

/* The smallest error of a step by a solver that is worth its time. It depends on the job alone, so
 * that the promise does. HUGE_VAL if there is none. */
double gc_least_error(const gc_step *step, gc_extent in);
