#include "cpu/solver/error.h"

#include "core/separate.h"

#include <math.h>

static const double u = 0x1p-24;

/* Multiply-adds of the solvers that may take part: of taps, or a column and a row, and of several
 * products of these. Beyond, transforms take less time, and nobody knows a bound of their error
 * that is small enough. */
enum { WORK_MAX = 81, OF_PRODUCTS_MAX = 60 };

double gc_extent_largest(gc_extent extent)
{
    return fmax(-extent.low, extent.high);
}

static void count_weight(gc_signed_sums *sums, double weight)
{
    sums->above += fmax(weight, 0);
    sums->below += fmax(-weight, 0);
}

gc_signed_sums gc_signed_sums_of(const float *weights, size_t count)
{
    gc_signed_sums sums = {0, 0};
    for (size_t i = 0; i < count; i++)
        count_weight(&sums, (double)weights[i]);
    return sums;
}

gc_extent gc_extent_of_sums(gc_extent in, gc_signed_sums weights)
{
    return (gc_extent){weights.above * in.low - weights.below * in.high,
                       weights.above * in.high - weights.below * in.low};
}

/* Rounding errs by at most half of the last bit of the result, which may be larger than in true
 * arithmetic by errors made before. These are below 2^-8 of it, since fewer than 2^15 numbers are
 * added. 2^-149 is for underflow. */
static double half_bit(double magnitude)
{
    magnitude *= 1 + 0x1p-8;
    return magnitude > 0 ? ldexp(u, ilogb(magnitude)) + 0x1p-149 : 0;
}

/* A partial sum of taps lies within the extent of the taps that it has. */
double gc_taps_error(gc_extent in, const float *taps, size_t count)
{
    gc_signed_sums sums = {0, 0};
    double error = 0;
    for (size_t i = 0; i < count; i++) {
        count_weight(&sums, (double)taps[i]);
        error += half_bit(gc_extent_largest(gc_extent_of_sums(in, sums))) +
                 half_bit(fabs((double)taps[i]) * gc_extent_largest(in));
    }
    return error;
}

/* A sum of rows that is not complete. */
typedef struct row_sum {
    double largest; /* magnitude */
    double error;
} row_sum;

static void add_product(row_sum *sum, gc_extent in, const float *column, int height,
                        const float *row, int width)
{
    double error = gc_taps_error(in, column, (size_t)height);
    gc_signed_sums weights = gc_signed_sums_of(column, (size_t)height);
    double between = gc_extent_largest(gc_extent_of_sums(in, weights)) + error;
    for (int i = 0; i < width; i++) {
        double product = fabs((double)row[i]) * between;
        sum->largest += product;
        sum->error += half_bit(sum->largest) + half_bit(product) + fabs((double)row[i]) * error;
    }
}

double gc_products_error(const gc_step *step, gc_extent in, const gc_products *products)
{
    row_sum sum = {0};
    for (int p = 0; p < products->count; p++)
        add_product(&sum, in, products->column[p], step->height, products->row[p], step->width);
    return sum.error + gc_products_rest(step, products) * gc_extent_largest(in);
}

/* Rounding column and row changes weights by at most 3 u of sum|w| (core/separate.c). */
double gc_vectors_error(const gc_step *step, gc_extent in)
{
    float column[GCONV_FILTER_VECTOR_MAX], row[GCONV_FILTER_VECTOR_MAX];
    row_sum sum = {0};
    if (!gc_step_separate(step, row, column))
        return HUGE_VAL;
    add_product(&sum, in, column, step->height, row, step->width);
    return sum.error + 3 * u * step->absolute_sum * gc_extent_largest(in);
}

/* The sum, the weight and their product are rounded to float32. Sums in double err by 2^-53 of
 * the largest one with each value that enters or leaves. */
double gc_box_error(const gc_step *step, gc_extent in, double values)
{
    double changes = 4 * (values + step->width + 2.0 * step->height);
    return (3.01 * u + changes * 0x1p-53) * step->absolute_sum * gc_extent_largest(in);
}

double gc_common_weight(const gc_step *step)
{
    if (step->taps != NULL) {
        for (int i = 1; i < step->width * step->height; i++)
            if (step->taps[i] != step->taps[0])
                return 0;
        return (double)step->taps[0];
    }
    for (int j = 1; j < step->height; j++)
        if (step->column[j] != step->column[0])
            return 0;
    for (int i = 1; i < step->width; i++)
        if (step->row[i] != step->row[0])
            return 0;
    return step->column[0] * step->row[0];
}

double gc_least_error(const gc_step *step, gc_extent in)
{
    if (gc_common_weight(step) != 0)
        return gc_box_error(step, in, 0x1p20);
    if (step->column != NULL)
        return gc_vectors_error(step, in);
    double least = HUGE_VAL;
    int sides = step->width + step->height, most = OF_PRODUCTS_MAX / sides;
    if (step->width * step->height <= WORK_MAX)
        least = gc_taps_error(in, step->taps, (size_t)step->width * (size_t)step->height);
    gc_products products;
    most = most < GC_PRODUCTS_MAX ? most : GC_PRODUCTS_MAX;
    most = most < 1 && sides <= WORK_MAX ? 1 : most;
    if (most > 0 && step->width > 1 && step->height > 1 &&
        gc_step_products(step, false, most, &products))
        least = fmin(least, gc_products_error(step, in, &products));
    return least;
}
