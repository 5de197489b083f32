#include "core/separate.h"

#include "base/number.h"
#include "core/range.h"

#include <math.h>
#include <stdlib.h>

static bool all_integers(const gc_step *step)
{
    for (int i = 0; i < step->width * step->height; i++)
        if (step->taps[i] != truncf(step->taps[i]) || fabsf(step->taps[i]) >= 0x1p24f)
            return false;
    return true;
}

/* The tap of the largest magnitude: its row and column carry most of the filter. */
static void find_pivot(const gc_step *step, int *pivot_x, int *pivot_y)
{
    float largest = -1;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            float magnitude = fabsf(step->taps[j * step->width + i]);
            if (magnitude > largest) {
                largest = magnitude;
                *pivot_x = i;
                *pivot_y = j;
            }
        }
}

/* Row and column of a filter of zeros. */
static bool fill_zeros(const gc_step *step, float *row, float *column)
{
    for (int i = 0; i < step->width; i++)
        row[i] = 0;
    for (int j = 0; j < step->height; j++)
        column[j] = 0;
    return true;
}

/* The pivot's row over its greatest common divisor is a row without a common factor. By Gauss's
 * lemma an integer filter of rank 1 then has an integer column to that row. Neither factor's sum is
 * larger than the filter's, so float32 has room for the values between rows and columns. Nothing
 * underflows unless the samples do. */
static bool separate_integers(const gc_step *step, int pivot_x, int pivot_y, float *row,
                              float *column)
{
    const float *taps = step->taps;
    int64_t divisor = 0;
    for (int i = 0; i < step->width; i++)
        divisor = gc_common_divisor(divisor, labs((long)taps[pivot_y * step->width + i]));
    for (int i = 0; i < step->width; i++)
        row[i] = (float)((int64_t)taps[pivot_y * step->width + i] / divisor);
    for (int j = 0; j < step->height; j++)
        column[j] = truncf(taps[j * step->width + pivot_x] / row[pivot_x]);
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++)
            if ((double)column[j] * (double)row[i] != (double)taps[j * step->width + i])
                return false;
    return true;
}

double gc_magnitude(const float *weights, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += fabs((double)weights[i]);
    return sum;
}

double gc_magnitude_of(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += fabs(values[i]);
    return sum;
}

void gc_balance_factors(const gc_step *step, float *row, float *column, double *across,
                        double *down)
{
    *across = gc_magnitude(row, step->width);
    *down = gc_magnitude(column, step->height);
    if (*across == 0 || *down == 0)
        return;
    int shift = (ilogb(*down) - ilogb(*across)) / 2;
    for (int i = 0; i < step->width; i++)
        row[i] = ldexpf(row[i], shift);
    for (int j = 0; j < step->height; j++)
        column[j] = ldexpf(column[j], -shift);
    *across = gc_magnitude(row, step->width);
    *down = gc_magnitude(column, step->height);
}

/* The residual of the filter and the rounding of row and column must together stay under 4 n 2^-24
 * sum|w|. Rounding takes less than (w + h + 2) 2^-24 of the sum, so the residual may take n 2^-24
 * of it. That needs n = w * h to be large enough, which it is from 2x2 on. */
static bool separate_reals(const gc_step *step, int pivot_x, int pivot_y, float *row, float *column)
{
    const float *taps = step->taps;
    double pivot = taps[pivot_y * step->width + pivot_x];
    for (int i = 0; i < step->width; i++)
        row[i] = taps[pivot_y * step->width + i];
    for (int j = 0; j < step->height; j++)
        column[j] = (float)((double)taps[j * step->width + pivot_x] / pivot);
    double across, down, rest = 0;
    gc_balance_factors(step, row, column, &across, &down);
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++)
            rest += fabs((double)taps[j * step->width + i] - (double)column[j] * (double)row[i]);
    double terms = (double)step->width * step->height;
    return rest <= terms * 0x1p-24 * step->absolute_sum &&
           gc_range_holds_products(step, 1, &down, &across);
}

/* ---- Filters of two vectors ------------------------------------------------------------------ */

static bool are_integers(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] != trunc(values[i]) || fabs(values[i]) >= 0x1p24)
            return false;
    return true;
}

/* Multiplies by 2^shift and rounds to float32. Returns the sum of the magnitudes of what rounding
 * changed. */
static double round_vector(const double *values, int count, int shift, float *rounded)
{
    double error = 0;
    for (int i = 0; i < count; i++) {
        double value = ldexp(values[i], shift);
        rounded[i] = (float)value;
        error += fabs(value - (double)rounded[i]);
    }
    return error;
}

/* Rule 4 leaves 4 (w + h) u sum|w|, u = 2^-24. The sums are rounded w + h times, the reference
 * once, and one u is left for numbers near 0 (core/range.c). Row and column may take three: two for
 * their rounding, the third for products of errors. 4 (w + h) is at least w + h + 6. */
static bool separate_vectors(const gc_step *step, float *row, float *column)
{
    double down = gc_magnitude_of(step->column, step->height);
    double across = gc_magnitude_of(step->row, step->width);
    bool is_zero = down == 0 || across == 0;
    bool whole = are_integers(step->column, step->height) && are_integers(step->row, step->width);
    int shift = is_zero || whole ? 0 : (ilogb(down) - ilogb(across)) / 2;
    double row_error = round_vector(step->row, step->width, shift, row);
    double column_error = round_vector(step->column, step->height, -shift, column);
    if (is_zero)
        return fill_zeros(step, row, column);
    across = ldexp(across, shift);
    down = ldexp(down, -shift);
    double rest = row_error * down + column_error * across + row_error * column_error;
    return rest <= 3 * 0x1p-24 * step->absolute_sum &&
           gc_range_holds_products(step, 1, &down, &across);
}

/* ---- Filters of either kind ------------------------------------------------------------------ */

bool gc_step_separate(const gc_step *step, float *row, float *column)
{
    if (step->column != NULL)
        return separate_vectors(step, row, column);
    int pivot_x = 0, pivot_y = 0;
    find_pivot(step, &pivot_x, &pivot_y);
    if (step->taps[pivot_y * step->width + pivot_x] == 0)
        return fill_zeros(step, row, column);
    return all_integers(step) ? separate_integers(step, pivot_x, pivot_y, row, column)
                              : separate_reals(step, pivot_x, pivot_y, row, column);
}
