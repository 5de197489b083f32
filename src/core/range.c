#include "core/range.h"

#include <float.h>
#include <math.h>

/* u, the relative error of a rounding, and the absolute error of a number below the smallest normal
 * one. */
static const double rounding = 0x1p-24, underflow = 0x1p-150;

/* The most terms that an implementation adds to n in the bound of rule 4: transforms add 32 log2 of
 * their points, here 2^64. */
static const double extra_terms_max = 2048;

static double with_margin(const gc_step *step, double magnitude)
{
    double terms = gc_step_terms(step) + extra_terms_max;
    return magnitude * (1 + 4 * terms * rounding);
}

bool gc_range_holds(const gc_step *step, double magnitude)
{
    return with_margin(step, magnitude) < (double)FLT_MAX;
}

double gc_range_of_output(const gc_step *step)
{
    return with_margin(step, step->largest_value * step->absolute_sum);
}

/* ---- Products of a column and a row ---------------------------------------------------------- */

/* A product that falls below the smallest normal number errs by `underflow`; sums of such numbers
 * are exact. The second of columns and rows multiplies the errors of the first by its weights. Rule
 * 4 leaves 4 n of these errors, less the reference's own. Methods with products also leave one u
 * sum|w| max|in| of the bound's first part (core/products.c, core/separate.c). */
static bool underflows_little(const gc_step *step, int count, const double *columns,
                              const double *rows)
{
    double columns_first = 0, rows_first = 0;
    for (int p = 0; p < count; p++) {
        columns_first += step->height * rows[p] + step->width;
        rows_first += step->width * columns[p] + step->height;
    }
    double allowed = (4 * gc_step_terms(step) - 2) * underflow +
                     rounding * step->absolute_sum * step->least_scale;
    return fmax(columns_first, rows_first) * underflow <= allowed;
}

bool gc_range_holds_products(const gc_step *step, int count, const double *columns,
                             const double *rows)
{
    double all = 0, between = 0;
    for (int p = 0; p < count; p++) {
        all += columns[p] * rows[p];
        between = fmax(between, fmax(columns[p], rows[p]));
    }
    return gc_range_holds(step, all * step->largest_value) &&
           gc_range_holds(step, between * step->largest_value) &&
           underflows_little(step, count, columns, rows);
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* N is the number of points, S = sum|w|, M the largest |value| of the input, and m the step's
 * least_scale.
 *
 * Overflow. A round of the forward transform adds up to N values of at most sqrt(2) M, or of the
 * filter's S. The product of the spectra has two terms of at most sqrt(2) N M S, over N if the
 * filter was divided before. Partial sums of the backward transform are those of a cyclic
 * convolution: sqrt(2) M S. The factor of 2 leaves 40 % for rounding. The rounding error in the
 * 2-norm is below 32 log2(N) u of sqrt(2 N) M S: 3 % for tiles of 512 x 512, 30 % for 2^31 points.
 *
 * Underflow. Let q be the error of a number near 0. The log2(N) rounds add less than 14 q N to the
 * 2-norm of a transform of N values. The error of the forward transform is multiplied by S: it adds
 * less than 14 q sqrt(N) S to a result. The error of the backward transform adds less than 17 q N.
 * An error of the filter's spectrum is multiplied by the 2-norm of the image's spectrum, sqrt(2) N
 * M. The backward transform multiplies it by sqrt(N). That adds 20 q N^2.5 M, or 20 q N^1.5 M if
 * the product is divided by N. If S and m are as large as demanded below, these three together stay
 * below 2^-24 S times the largest input. Rule 4 allows more than a thousand times that. */
static bool stays_below_infinity(const gc_step *step, double spectrum, double product)
{
    double largest = fmax(fmax(spectrum, step->absolute_sum), product);
    return 2 * largest < (double)FLT_MAX;
}

static bool stays_above_zero(const gc_step *step, double points, double filter_factor, double error)
{
    double least = 64 * error / rounding, sum = step->absolute_sum, scale = step->least_scale;
    if (sum == 0 || scale == 0) /* zeros alone */
        return true;
    return sum >= least * filter_factor && scale >= least * sqrt(points) &&
           sum * scale >= least * points;
}

bool gc_range_holds_tiles(const gc_step *step, double points)
{
    double largest = step->largest_value;
    return stays_below_infinity(step, points * largest, largest * step->absolute_sum) &&
           stays_above_zero(step, points, pow(points, 2.5), underflow);
}

bool gc_range_holds_lines(const gc_step *step, double down, double across, double column_points,
                          double row_points)
{
    gc_step column = *step, row = *step;
    column.absolute_sum = down;
    row.absolute_sum = across;
    row.largest_value = step->largest_value * down;
    row.least_scale = step->least_scale * down;
    return (column_points == 0 || gc_range_holds_tiles(&column, column_points)) &&
           (row_points == 0 || gc_range_holds_tiles(&row, row_points));
}

bool gc_range_holds_fft(const gc_step *step, double points)
{
    double spectrum = points * step->largest_value;
    return stays_below_infinity(step, spectrum, spectrum * step->absolute_sum) &&
           stays_above_zero(step, points, pow(points, 1.5), (double)FLT_MIN);
}

/* ---- Transforms in double, rounded to integers ----------------------------------------------- */

/* A transform of N points has L = log2(N) rounds of additions and rotations. With u = 2^-53, a
 * complex addition errs by u of its result. A rotation errs by 2 sqrt(2) u, whether products and
 * sums are fused or not, and by the error of its root, 3 u at most. So a round errs by less than 8
 * u. (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 24.1, has the same with
 * other constants.) A round is sqrt(2) times a unitary matrix. So a transform has a relative error
 * below 8 L u in the 2-norm.
 *
 * A weight w passes through values of the magnitude |w|. So a value of the filter's spectrum errs
 * by less than 8 L u sum|w|, and is itself at most sum|w|. The image's transforms there and back,
 * the filter's, and the products (3 u) together stay below 32 L u sum|w| |in|_2. Two real images of
 * N values, one as the imaginary part of the other, have |in|_2 <= sqrt(2 N) max|in|. In an exact
 * chain sum|w| max|in| < 2^24. */
double gc_transform_error(double log2_points)
{
    return 32 * log2_points * 0x1p-53 * sqrt(2 * exp2(log2_points)) * GC_EXACT_LIMIT;
}
