#include "core/products.h"

#include "core/range.h"
#include "core/separate.h"

#include <math.h>
#include <stdlib.h>

/* ---- Whole numbers --------------------------------------------------------------------------- */

/* Entries of a basis must stay below this: float32 then holds them, and no sum here overflows. */
static const long entry_limit = 1L << 24;

/* Rows that span the rows of a filter, with whole coefficients. Row k differs from 0 at its own
 * pivot, and is 0 at the pivots of the rows before it. */
typedef struct basis {
    int width, count;
    long long row[GC_PRODUCTS_MAX][GCONV_FILTER_SIDE_MAX];
    int pivot[GC_PRODUCTS_MAX];
} basis;

/* to -= factor * from. False if an entry reaches the limit. */
static bool subtract(int width, long long *to, long long factor, const long long *from)
{
    bool small = llabs(factor) < entry_limit;
    for (int i = 0; i < width && small; i++) {
        to[i] -= factor * from[i];
        small = llabs(to[i]) < entry_limit;
    }
    return small;
}

static void swap(int width, long long *a, long long *b)
{
    for (int i = 0; i < width; i++) {
        long long kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Euclid's algorithm on two rows, until `rest` is 0 at the pivot. The rows keep their span. False
 * if an entry reaches the limit. */
static bool reduce(int width, int pivot, long long *row, long long *rest)
{
    while (rest[pivot] != 0) {
        if (!subtract(width, row, row[pivot] / rest[pivot], rest))
            return false;
        swap(width, row, rest);
    }
    return true;
}

/* Adds a row to the basis and overwrites it. False if that needs more than `most` rows, or an entry
 * reaches the limit. */
static bool extend(basis *b, long long *row, int most)
{
    for (int k = 0; k < b->count; k++)
        if (!reduce(b->width, b->pivot[k], b->row[k], row))
            return false;
    int pivot = 0;
    while (pivot < b->width && row[pivot] == 0)
        pivot++;
    if (pivot == b->width)
        return true;
    if (b->count == most)
        return false;
    for (int i = 0; i < b->width; i++)
        b->row[b->count][i] = row[i];
    b->pivot[b->count++] = pivot;
    return true;
}

/* False if a tap reaches the limit, as it can in an exact chain after a filter of zeros. */
static bool read_row(const gc_step *step, int j, long long *row)
{
    for (int i = 0; i < step->width; i++) {
        float tap = step->taps[j * step->width + i];
        if (fabsf(tap) >= (float)entry_limit)
            return false;
        row[i] = (long long)tap;
    }
    return true;
}

/* Finds the coefficients of a filter row and overwrites it. False if they are not whole. */
static bool resolve(const basis *b, long long *row, int j, gc_products *products)
{
    for (int k = 0; k < b->count; k++) {
        long long factor = row[b->pivot[k]] / b->row[k][b->pivot[k]];
        if (!subtract(b->width, row, factor, b->row[k]))
            return false;
        products->column[k][j] = (float)factor;
    }
    for (int i = 0; i < b->width; i++)
        if (row[i] != 0)
            return false;
    return true;
}

/* Subtracts later rows from earlier ones, which become smaller at the later rows' pivots. False if
 * an entry reaches the limit. */
static bool shorten(basis *b)
{
    for (int k = 1; k < b->count; k++)
        for (int j = 0; j < k; j++) {
            int pivot = b->pivot[k];
            if (!subtract(b->width, b->row[j], b->row[j][pivot] / b->row[k][pivot], b->row[k]))
                return false;
        }
    return true;
}

static bool split_integers(const gc_step *step, int most, gc_products *products)
{
    basis b = {.width = step->width};
    long long row[GCONV_FILTER_SIDE_MAX];
    for (int j = 0; j < step->height; j++) {
        if (!read_row(step, j, row) || !extend(&b, row, most))
            return false;
    }
    if (!shorten(&b))
        return false;
    products->count = b.count;
    for (int k = 0; k < b.count; k++)
        for (int i = 0; i < step->width; i++)
            products->row[k][i] = (float)b.row[k][i];
    for (int j = 0; j < step->height; j++) {
        if (!read_row(step, j, row) || !resolve(&b, row, j, products))
            return false;
    }
    return true;
}

/* ---- Real numbers ---------------------------------------------------------------------------- */

/* The residual of a tap: the tap less what the products make of it. */
static double rest_at(const gc_step *step, const gc_products *products, int j, int i)
{
    double rest = (double)step->taps[j * step->width + i];
    for (int k = 0; k < products->count; k++)
        rest -= (double)products->column[k][j] * (double)products->row[k][i];
    return rest;
}

double gc_products_rest(const gc_step *step, const gc_products *products)
{
    double rest = 0;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++)
            rest += fabs(rest_at(step, products, j, i));
    return rest;
}

/* Adds a product: row and column of the largest residual. False if there is no residual. */
static bool add_product(const gc_step *step, gc_products *products)
{
    double largest = 0;
    int x = 0, y = 0, k = products->count;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            double rest = fabs(rest_at(step, products, j, i));
            if (rest > largest) {
                largest = rest;
                x = i;
                y = j;
            }
        }
    if (largest == 0)
        return false;
    double pivot = rest_at(step, products, y, x);
    for (int i = 0; i < step->width; i++)
        products->row[k][i] = (float)rest_at(step, products, y, i);
    for (int j = 0; j < step->height; j++)
        products->column[k][j] = (float)(rest_at(step, products, j, x) / pivot);
    double across, down;
    gc_balance_factors(step, products->row[k], products->column[k], &across, &down);
    products->count++;
    return true;
}

/* Sums of the magnitudes of each product's weights. */
typedef struct sums {
    double rows[GC_PRODUCTS_MAX], columns[GC_PRODUCTS_MAX];
} sums;

static sums sum_up(const gc_step *step, const gc_products *products)
{
    sums of = {{0}, {0}};
    for (int k = 0; k < products->count; k++) {
        of.rows[k] = gc_magnitude(products->row[k], step->width);
        of.columns[k] = gc_magnitude(products->column[k], step->height);
    }
    return of;
}

/* The sum over all products of sum|column| * sum|row|. */
static double magnitude(const gc_step *step, const gc_products *products)
{
    sums of = sum_up(step, products);
    double all = 0;
    for (int k = 0; k < products->count; k++)
        all += of.columns[k] * of.rows[k];
    return all;
}

/* Whether the products keep the bound. The residual must not exceed what rounding them to float32
 * leaves.
 *
 * Rule 4 allows 4 n u sum|w| max|in|, u = 2^-24. In a sum of m products, columns first, each term
 * is rounded h times in its column and m w times in the sum of the rows. Rows first, it is rounded
 * w times and m h times. Both are at most s + m l roundings, s being the smaller side and l the
 * larger one. So the error is less than (s + m l + 1) u times the magnitude of the products; the +
 * 1 covers all terms of a higher order. The residual is added to that. The reference rounds its own
 * result, by u sum|w|. One more u sum|w| is left for numbers near 0 (core/range.c). */
static bool keeps_bound(const gc_step *step, const gc_products *products)
{
    double rest = gc_products_rest(step, products);
    double size = magnitude(step, products);
    double smaller = fmin(step->width, step->height), larger = fmax(step->width, step->height);
    double roundings = smaller + products->count * larger + 1;
    double allowed = (4.0 * step->width * step->height - 3) * 0x1p-24 * step->absolute_sum;
    sums of = sum_up(step, products);
    return rest <= 4 * 0x1p-24 * size && roundings * 0x1p-24 * size + rest <= allowed &&
           gc_range_holds_products(step, products->count, of.columns, of.rows);
}

static bool split_reals(const gc_step *step, int most, gc_products *products)
{
    while (products->count < most && add_product(step, products))
        if (keeps_bound(step, products))
            return true;
    return false;
}

bool gc_step_products(const gc_step *step, bool exact, int most, gc_products *products)
{
    products->count = 1;
    if (gc_step_separate(step, products->row[0], products->column[0]))
        return true;
    products->count = 0;
    if (step->taps == NULL) /* two vectors are one product, or none */
        return false;
    if (!exact)
        return split_reals(step, most, products);
    return split_integers(step, most, products) &&
           magnitude(step, products) * step->largest_input < 0x1p24;
}
