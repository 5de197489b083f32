/* Filters of low rank: sums of products of a column and a row. */
#ifndef GC_CORE_PRODUCTS_H
#define GC_CORE_PRODUCTS_H

#include "core/problem.h"

enum { GC_PRODUCTS_MAX = 3 };

typedef struct gc_products {
    int count;
    float row[GC_PRODUCTS_MAX][GCONV_FILTER_SIDE_MAX];
    float column[GC_PRODUCTS_MAX][GCONV_FILTER_SIDE_MAX];
} gc_products;

/* Finds the fewest products, `most` of GC_PRODUCTS_MAX at most, such that taps[j][i] = sum_p
 * column[p][j] * row[p][i]. In an exact chain they are integers whose sums all stay under 2^24, so
 * that rule 3 is kept. In another one they are so near that the bound of rule 4 is kept, if each
 * column is summed in float32 and then all rows in one sum, or each row and then all columns, and
 * float32 has room for these sums. False where there are none. */
bool gc_step_products(const gc_step *step, bool exact, int most, gc_products *products);

#endif
