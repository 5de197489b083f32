/* A step: one filter of a chain, as every implementation applies it. */
#pragma once

#include "core/shape.h"

/* One filter in reading order of its input, so that convolution and correlation look
 * alike: out(x,y) = sum_j sum_i tap(j,i) * in(x + i - left, y + j - top). A filter that is a matrix
 * has tap(j,i) = taps[j*width+i]. A filter of two vectors has tap(j,i) = column[j] * row[i]. */
typedef struct gc_step {
    const gconv_filter *filter; /* as the user gave it */
    float *taps;                /* NULL for a filter of two vectors */
    double *column, *row;       /* NULL for a matrix; one allocation, at `column` */
    /* The weights of the definition (rule 5): width*height of them, or the column and then the row.
     * They give S of gc_rounding. */
    double *terms;
    int width, height;
    int left, top;
    float border[GC_CHANNELS_MAX]; /* constant border of this step's input, per chain channel */
    double terms_border[GC_CHANNELS_MAX]; /* the same for `terms` */
    /* In limbs (core/sums.h): the exponents of the units of the input, of the weights or the
     * column, and of the row. */
    int unit, terms_unit, row_unit;
    double absolute_sum;  /* sum of |tap(j,i)| */
    double largest_input; /* upper bound of |value| over the step's input */
    double largest_value; /* the same, with the error that rule 4 allows implementations */
    double least_scale;   /* the least max|in| of rule 4 that is not 0 (see chain.c) */
} gc_step;

/* Reads a filter, which stays the caller's. The chain sets border and range. A step is destroyed
 * after a failure, too. */
gconv_status gc_step_create(const gconv_filter *filter, bool correlate, gc_step *step,
                            gconv_error *error);
void gc_step_destroy(gc_step *step);

/* How many numbers `terms` has. */
static inline size_t gc_step_term_count(const gc_step *step)
{
    size_t width = (size_t)step->width, height = (size_t)step->height;
    return step->column != NULL ? height + width : height * width;
}

/* n of rule 4: the terms of a step's sum. Column and row of a filter of two vectors are summed up
 * one after the other. */
static inline double gc_step_terms(const gc_step *step)
{
    return step->column != NULL ? (double)step->width + step->height
                                : (double)step->width * step->height;
}

/* Rows above and below an output row that a step reads. */
int64_t gc_step_above(const gc_step *step);
int64_t gc_step_below(const gc_step *step);
