/* What the files of src/filter share: limits, how a text was read, and the generators. */
#pragma once

#include "gconv.h"

/* The longest filter text: room for 255 x 255 weights of 64 characters. */
enum { GC_FILTER_TEXT_MAX = 4 << 20 };

/* The sum in double, in this order. */
double gc_sum_of(const double *values, int count);

/* exp(-y), correctly rounded; y is at least 0. The result depends on no C library. */
double gc_exponential_of_minus(double y);

/* Gives the filter a copy of `name`, which may be NULL. */
gconv_status gc_filter_set_name(gconv_filter *filter, const char *name, gconv_error *error);

/* Makes a filter of the same sides and kind, matrix or vectors, whose weights are 0. */
gconv_status gc_filter_create_like(const gconv_filter *filter, gconv_filter **made,
                                   gconv_error *error);

/* A hash of weights and divisor. */
uint64_t gc_filter_hash(const gconv_filter *filter);

/* The filter that is computed in the place of this one: its whole one, or itself. */
const gconv_filter *gc_filter_computed(const gconv_filter *filter);

/* A copy of a filter that can be applied: it has a matrix, or a column and a row. They are those of
 * gc_filter_computed. */
gconv_status gc_filter_copy(const gconv_filter *filter, gconv_filter **copy, gconv_error *error);

/* A generator: `name:PARAMETERS`. */
typedef struct gc_generator {
    gconv_generator about;
    gconv_status (*make)(const char *parameters, gconv_filter **filter, gconv_error *error);
} gc_generator;

/* The generator that `specification` names before a colon or its end, NULL if there is none. */
const gc_generator *gc_find_generator(const char *specification);

/* Makes the filter of a specification such as "gaussian:1.5,9", which becomes its name. */
gconv_status gc_filter_generate(const gc_generator *generator, const char *specification,
                                gconv_filter **filter, gconv_error *error);
