/* The filters that the cases are made of. */
#pragma once

#include "gconv.h"
#include "random.h"

/* A filter of the table in filters.c by its name; ends the program if there is none. */
gconv_filter *check_filter_named(const char *name);

/* A random filter of this size: whole weights, or fractions. */
gconv_filter *check_filter_random(check_random *random, int width, int height, bool whole);

/* A sum of `rank` products, each a random column times a random row: whole weights whose magnitudes
 * add up to `largest_sum` at most, or fractions where that is 0. */
gconv_filter *check_filter_product(check_random *random, int width, int height, int rank,
                                   int largest_sum);

/* The same of rank 1, as a filter of two vectors. */
gconv_filter *check_filter_vectors(check_random *random, int width, int height, int largest_sum);

/* The terms of rule 4 of a filter of either kind. */
double check_filter_terms(const gconv_filter *filter);

/* The sum of the magnitudes of all weights. */
double check_filter_sum(const gconv_filter *filter);

/* Multiplies all weights. */
void check_filter_scale(gconv_filter *filter, double factor);

/* Makes all weights equal, not 0: a whole number or a fraction. */
void check_filter_flatten(check_random *random, gconv_filter *filter, bool whole);

/* Makes a fourth of the weights numbers next to what bytes, halves and words hold. */
void check_filter_enlarge(check_random *random, gconv_filter *filter);

/* Clears random whole weights until their magnitudes add up to `largest_sum` at most. */
void check_filter_thin(check_random *random, gconv_filter *filter, int largest_sum);

/* gconv_filter_create that ends the program if memory is out. */
gconv_filter *check_filter_zero(int width, int height);
