/* Filters of low rank: sums of products of a column and a row. */
#pragma once

#include "core/problem.h"

enum { GC_PRODUCTS_MAX = 3 };

typedef struct gc_products {
    int count;
    float row[GC_PRODUCTS_MAX][GCONV_FILTER_SIDE_MAX];
    float column[GC_PRODUCTS_MAX][GCONV_FILTER_SIDE_MAX];
} gc_products;

/* Finds the fewest products such that taps[j][i] = sum_p column[p][j] * row[p][i]. There are at
 * most `most`, which is at most GC_PRODUCTS_MAX. In an exact chain they are integers whose sums all
 * stay under 2^24, so that rule 3 is kept. In another chain they keep the bound of rule 4, in
 * float32 sums of two orders: each column and then all rows in one sum, or each row and then all
 * columns. float32 has room for these sums. False if there are no such products. */
bool gc_step_products(const gc_step *step, bool exact, int most, gc_products *products);

/* What the products lack of the weights, in magnitude, all together. Products of two float32
 * numbers have no error in double. */
double gc_products_rest(const gc_step *step, const gc_products *products);
