/* One filter of rank 1 from samples of 8 bits to samples of 8 bits. The filter is a column times a
 * row. Loops sum each row of samples in integers, without an error. They sum columns of these sums
 * in float32 (rank1_bytes_loops.c). This comment proves that every sample is the true one, rounded
 * once.
 *
 * Names
 *   w       a weight of the filter
 *   C, R    the weights of column and row that the loops have
 *   scale   conversion->scale / conversion->divisor, as in set_column
 *   level   chain value * scale + offset (rule 5), before it is clamped and rounded; if the
 *           conversion takes a magnitude, |chain value| * |scale| with the sign of
 *           conversion->scale
 *   tie     a level in the middle between two integers; it is rounded to the even one
 *   u       2^-24, the relative error of a rounding to float32
 *
 * Whole weights
 *
 * A power of 2, `factor` in analyse, makes all weights whole. S is the sum with these weights, an
 * integer below 2^24. The chain value is S / factor, without an error. The level is S / D + offset,
 * where D = factor / scale. The offset is an integer of at most 255 in magnitude.
 * - D is a power of 2. The loops add up the level (GC_RANK1_PLAIN). All partial sums are exact.
 * - D is odd. No S / D is a tie. The nearest tie is at least 1 / (2 |D|) away. The loops add up the
 *   level if their error is smaller than that.
 * - D is another integer up to 16384, or that error is too large. The loops add D times the offset
 *   to S, still an integer below 2^24, and divide by D (GC_RANK1_DIVIDED). If the quotient is a
 *   tie, float32 holds it. Every other one is at least 1/32768 away from a tie. Outside 0..256
 *   levels are clamped. Inside, division is at most 2^-17 off. Vectors add the product with 1 / D
 *   to 256, and take 256 from the integer. 1 / D as float32 puts the product less than 2^-16 off.
 *   The sum is a multiple of 2^-15, and rounds by at most 2^-16. Together that is below 1/32768.
 *   The sum of a tie is the tie, which is such a multiple.
 * - No weight is negative, the offset is 0, and S + D / 2 is below 2^16. The loops stay in whole
 *   numbers of 16 bits (GC_RANK1_SHORT), division and ties too.
 *
 * Other weights (GC_RANK1_FIXED)
 *
 * x is what the loops compute: an integer near 65536 (level + 1/2) + e. t is the true
 * 65536 (level + 1/2). e is a bound of errors: t lies between x - 2e and x, and is neither. Both x
 * and e are integers. If the lowest 16 bits of x are at least 2e, no multiple of 65536 lies between
 * t and x, and t is none. Then the level is no tie, and x / 65536, rounded down, is its nearest
 * integer. Otherwise gconv computes the sum in double and rounds that once. If double does not hold
 * every partial sum (sums_fit of gc_chain), the sum is rounded.
 *
 * e exceeds the sum of the errors below, all in units of x. A = 255 * sum |C| * sum |R| is the
 * largest magnitude of a sum. It is 65536 * 255 * sum |w| * |scale| but for terms of a higher
 * order. s is the magnitude of `start`, which the loops add to a sum.
 * - Weights. M = C R / 65536 - w scale is the error of one weight, with |scale| if a magnitude
 *   is taken. Samples are within 127.5 of 127.5. `start` makes up for 65536 * 127.5 * sum M, so at
 *   most 65536 * 127.5 * sum |M| remains. If a magnitude is taken, `start` cannot do that, and at
 *   most 65536 * 255 * sum |M| remains.
 * - Additions. Each rounds by u times the magnitude of its partial sum. If a column is even, loops
 *   add the two rows of a weight first, from the outer rows to the inner ones. Else they add rows
 *   in turn.
 * - Products that no multiply-add rounds together with the sum, and sums of rows as float32. Each
 *   rounds by at most u A.
 * - `start` as float32: u s.
 * - After a magnitude: two more roundings, by at most u (A + s) each.
 * - Doubles here, less than 2^16 of them, round by 2^-53 each. With all terms of a higher order,
 *   that is less than u (A + s) / 256.
 * - x as an integer: 1/2, or 1 where it is rounded towards 0. Only loops without multiply-adds do
 *   that (gc_rank1_loops.is_fused).
 * `roundings` adds up the additions and the items after them but for the last. */
#include "cpu/fast/rank1_bytes.h"

#include "base/number.h"
#include "base/status.h"
#include "core/products.h"
#include "cpu/cost.h"
#include "cpu/solver/solver.h"

#include <math.h>
#include <stdlib.h>

/* Fixed point of levels. */
#define UNIT 65536.0

/* The largest sum of |R|: sums of a row of samples stay below 2^31. */
#define ROW_MAX 8384000.0

/* The largest divisor by which loops divide. */
#define DIVISOR_MAX 16384.0

/* Levels stay below: 65536 times as much fits an integer of 32 bits. */
#define LEVEL_MAX 16384.0

/* The largest 2e. About 2e of 65536 values are computed again in double. */
enum { TWICE_ERROR_MAX = 2048 };

/* Scales that are tried for a row: some, and one more for so many values of the image. The better
 * its products fit, the fewer values are computed again. */
enum { SCALES_MIN = 4, SCALES_MAX = 64, VALUES_A_SCALE = 1 << 18 };

/* The largest factor of the two samples of a term, and of one alone: terms stay below 2^15. */
enum { FACTOR_MAX = 64, FACTOR_ALONE_MAX = 127 };

/* Weights count as whole if they are integers times 2^-SHIFT_MAX, or a larger power of 2. */
enum { SHIFT_MAX = 24 };

/* ---- What the filter is ---------------------------------------------------------------------- */

typedef struct analysis {
    bool is_whole;
    double divisor; /* D, if weights are whole */
    gc_products products;
} analysis;

/* The least power of 2 that makes all weights whole. 0 if no power up to 2^SHIFT_MAX does, or sums
 * would not stay below 2^24. Vectors count if their numbers are whole. */
static double whole_factor(const gc_step *step, bool is_exact)
{
    double factor = 1;
    if (step->taps == NULL)
        return is_exact ? 1 : 0;
    for (int i = 0; i < step->width * step->height; i++) {
        while (factor < ldexp(1, SHIFT_MAX) && !gc_is_whole((double)step->taps[i] * factor))
            factor *= 2;
        if (!gc_is_whole((double)step->taps[i] * factor))
            return 0;
    }
    return factor * step->absolute_sum * UINT8_MAX < 0x1p24 ? factor : 0;
}

/* Whether loops give the levels of whole sums. */
static bool takes_whole(const gc_problem *problem, const analysis *a, double factor)
{
    const gc_conversion *conversion = &problem->conversion;
    double largest = factor * problem->chain.steps[0].absolute_sum * UINT8_MAX +
                     fabs(conversion->offset * a->divisor),
           sum = 0;
    for (int i = 0; i < problem->chain.steps[0].width; i++)
        sum += fabs((double)a->products.row[0][i]);
    bool divides = gc_is_power(a->divisor)
                       ? fabs(a->divisor) >= 0x1p-7 /* levels are below 2^31 */
                       : gc_is_whole(a->divisor) && fabs(a->divisor) <= DIVISOR_MAX;
    return divides && largest < 0x1p24 && sum <= INT16_MAX && gc_is_power(conversion->scale) &&
           gc_is_whole(conversion->offset) && fabs(conversion->offset) <= UINT8_MAX;
}

static double gain(const gc_problem *problem)
{
    const gc_conversion *conversion = &problem->conversion;
    return problem->chain.steps[0].absolute_sum * fabs(conversion->scale / conversion->divisor);
}

/* What is left in doubt has to be rounded once, if only of a sum that double rounds. */
static bool takes_real(const gc_problem *problem)
{
    return problem->rounding.once && problem->chain.denominator == 1 &&
           gain(problem) * UINT8_MAX + fabs(problem->conversion.offset) < LEVEL_MAX &&
           gain(problem) > 0x1p-20;
}

/* Finds column and row. False if there are none, or loops do not take them. */
static bool analyse(const gc_problem *problem, analysis *a)
{
    float taps[GC_RANK1_SIDE_MAX * GC_RANK1_SIDE_MAX];
    gc_step step = problem->chain.steps[0];
    if (step.width > GC_RANK1_SIDE_MAX || step.height > GC_RANK1_SIDE_MAX)
        return false;
    double factor = whole_factor(&step, problem->chain.exact);
    a->is_whole = factor > 0;
    a->divisor = factor * problem->conversion.divisor / problem->conversion.scale;
    if (!a->is_whole)
        return !problem->chain.exact && step.taps != NULL && takes_real(problem) &&
               gc_step_products(&step, false, 1, &a->products);
    for (int i = 0; step.taps != NULL && i < step.width * step.height; i++)
        taps[i] = (float)((double)step.taps[i] * factor);
    step.taps = step.taps != NULL ? taps : NULL;
    step.absolute_sum *= factor;
    return gc_step_products(&step, true, 1, &a->products) && takes_whole(problem, a, factor);
}

bool gc_rank1_applies(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    const gc_conversion *conversion = &problem->conversion;
    analysis a;
    return chain->step_count == 1 && conversion->input.depth == 8 &&
           conversion->output.depth == 8 && !conversion->bilevel && !conversion->premultiplies &&
           gc_border_is_bytes(problem, &chain->steps[0]) && analyse(problem, &a);
}

double gc_rank1_seconds(const gc_problem *problem)
{
    const gc_instructions *set = gc_instructions_chosen();
    const gc_step *step = &problem->chain.steps[0];
    return GC_RANK1_SECONDS + step->width * set->row_seconds + step->height * set->tap_seconds;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Whether weights i and width - 1 - i are the same, times `sign`. */
static bool is_symmetric(const float *weights, int count, float sign)
{
    bool is = true;
    for (int i = 0; i < count; i++)
        is = is && weights[i] == sign * weights[count - 1 - i];
    return is;
}

/* 1 or -1 if a row is symmetric, times that, else 0. */
static int sign_of(const float *row, int width)
{
    return is_symmetric(row, width, 1) ? 1 : is_symmetric(row, width, -1) ? -1 : 0;
}

/* A weight of a row: a factor times a tap. */
typedef struct product {
    int factor, tap;
    double misfit;
} product;

/* The product that is nearest to the weight of term t of a row with this sign. A whole number of 16
 * bits is its own tap. */
static product nearest_product(double weight, int width, int sign, int t)
{
    const int most = sign != 0 && 2 * t + 1 < width ? FACTOR_MAX : FACTOR_ALONE_MAX;
    int factor = (int)fmax(1, ceil(fabs(weight) / INT16_MAX));
    product best = {.misfit = HUGE_VAL};
    for (; factor <= most && best.misfit > 0; factor++) {
        double tap = rint(weight / factor), misfit = fabs(factor * tap - weight);
        if (misfit < best.misfit)
            best = (product){factor, (int)tap, misfit};
    }
    return best;
}

static int terms_of(int width, int sign)
{
    return sign != 0 ? (width + 1) / 2 : width;
}

/* The scale for which products are nearest to the row, of those from half of the largest on. */
static double choose_scale(const gc_problem *problem, const float *row)
{
    const int width = problem->chain.steps[0].width, sign = sign_of(row, width);
    double sum = 0, largest = 0, best = 0, least = HUGE_VAL;
    for (int i = 0; i < width; i++) {
        sum += fabs((double)row[i]);
        largest = fmax(largest, fabs((double)row[i]));
    }
    double most = fmin(ROW_MAX / sum, FACTOR_MAX * (INT16_MAX - 1.0) / largest);
    double values = (double)problem->chain.width * problem->chain.height;
    int count = (int)fmin(SCALES_MAX, SCALES_MIN + values / VALUES_A_SCALE);
    for (int tried = 0; tried < count; tried++) {
        double scale = most * (1 - 0.5 * tried / count), misfit = 0;
        for (int t = 0; t < terms_of(width, sign); t++)
            misfit += nearest_product((double)row[t] * scale, width, sign, t).misfit / scale;
        if (misfit < least) {
            best = scale;
            least = misfit;
        }
    }
    return best;
}

/* Sets weights, factors and taps to the products that are nearest to weights times `scale`. */
static void set_row(gc_rank1 *rank1, const float *weights, double scale)
{
    gc_rank1_row *row = &rank1->row;
    const int width = row->width, sign = sign_of(weights, width);
    row->is_folded = sign != 0;
    for (int t = 0; t < terms_of(width, sign); t++) {
        const product of = nearest_product((double)weights[t] * scale, width, sign, t);
        const int other = row->is_folded ? width - 1 - t : t;
        row->weights[other] = (float)(sign * of.factor * of.tap);
        row->weights[t] = (float)(of.factor * of.tap);
        row->factors[t] = (int16_t)(of.factor + (other != t ? 256 * sign * of.factor : 0));
        row->taps[t / 2] |= (int32_t)((uint32_t)(uint16_t)(int16_t)of.tap << 16 * (t % 2));
    }
}

static double row_sum(const gc_rank1 *rank1)
{
    double sum = 0;
    for (int i = 0; i < rank1->step->width; i++)
        sum += fabs((double)rank1->row.weights[i]);
    return sum;
}

/* Makes it a row of bytes if weights and sums fit. Two products stay below 2^15, where they
 * saturate. */
static void try_bytes(gc_rank1 *rank1)
{
    gc_rank1_row *row = &rank1->row;
    bool fits = UINT8_MAX * row_sum(rank1) <= UINT16_MAX;
    for (int i = 0; i < row->width; i++)
        fits = fits && row->weights[i] >= 0 && row->weights[i] <= 64;
    row->is_bytes = fits;
    for (int i = 0; fits && i < row->width; i += 2) {
        int upper = i + 1 < row->width ? (int)row->weights[i + 1] : 0;
        row->pairs[i / 2] = (int16_t)((int)row->weights[i] + 256 * upper);
    }
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* The sum of the magnitudes of partial sums, if loops add products in turn. */
static double sums_in_turn(const float *weights, int height, double row_most)
{
    double sum = 0, all = 0;
    for (int j = 0; j < height; j++)
        all += sum += fabs((double)weights[j]) * row_most;
    return all;
}

/* The sum of the magnitudes of partial sums, if loops add two rows of the same weight first, the
 * outer ones before the inner. */
static double sums_folded(const float *weights, int height, double row_most)
{
    double sum = 0, all = 0;
    for (int j = 0; j < height; j++) {
        double weight = fabs((double)weights[j]) * row_most;
        if (2 * j + 1 == height)
            all += sum += weight;
        else if (2 * j < height)
            all += 2 * weight + (sum += 2 * weight);
    }
    return all;
}

/* The errors of float32 and of double over u, without those of the weights. `row_most` is
 * the largest sum of a row. */
static double roundings(const gc_rank1 *rank1, const float *weights, double row_most)
{
    const bool is_fused = gc_instructions_chosen()->rank1->is_fused;
    const double others = (is_fused ? 1 : 2) + (rank1->column.absolute ? 2 : 0) + 0x1p-8;
    int height = rank1->step->height;
    double all = 0, start = fabs((double)rank1->column.start);
    for (int j = 0; j < height; j++)
        all += fabs((double)weights[j]) * row_most;
    double additions = rank1->column.is_even ? sums_folded(weights, height, row_most)
                                             : sums_in_turn(weights, height, row_most);
    return additions + height * start + others * (all + start);
}

/* Columns of whole weights. */
static void set_whole_column(gc_rank1 *rank1, const analysis *a)
{
    const gc_conversion *conversion = &rank1->problem->conversion;
    gc_rank1_column *column = &rank1->column;
    double divisor = conversion->absolute ? fabs(a->divisor) : a->divisor;
    double size = gain(rank1->problem) * UINT8_MAX + fabs(conversion->offset);
    double error = (3 * column->height + 8) * 0x1p-24 * size;
    bool is_odd = gc_is_whole(divisor) && gc_is_whole((divisor + 1) / 2);
    bool is_plain = gc_is_power(divisor) || (is_odd && error < 0.5 / fabs(divisor));
    column->kind = is_plain ? GC_RANK1_PLAIN : GC_RANK1_DIVIDED;
    for (int j = 0; j < column->height; j++)
        column->weights[j] = (float)((double)a->products.column[0][j] / (is_plain ? divisor : 1));
    column->start = (float)(conversion->offset * (is_plain ? 1 : divisor));
    column->sign = conversion->absolute && conversion->scale < 0 ? -1 : 1;
    column->divisor = (float)divisor;
    column->reciprocal = (float)(1 / divisor);
}

/* With k = 16 + shift, the multiplier m exceeds 2^k / D by e / D, where e is at most D. So
 * n m / 2^k is n / D + n e / (2^k D). If n e < 2^k, that is no smaller than n / D and less than
 * 1 / D larger, so both have the same floor. The largest shift with 2^shift <= D keeps m below
 * 2^16. */
bool gc_short_divisor_set(gc_short_divisor *by, uint64_t divisor, uint64_t largest)
{
    by->divisor = (uint16_t)divisor;
    by->shift = 0;
    while (UINT64_C(2) << by->shift <= divisor)
        by->shift++;
    const uint64_t one = UINT64_C(1) << (16 + by->shift);
    uint64_t multiplier = one / divisor + 1;
    by->multiplier = gc_is_power((double)divisor) ? 0 : (uint16_t)multiplier;
    return by->multiplier == 0 || largest * (multiplier * divisor - one) < one;
}

static bool is_side_of_short(int side)
{
    return side % 2 == 1 && side >= 3 && side <= gc_instructions_chosen()->rank1->short_side_max;
}

/* Makes row and column short if all sums fit: 255 times the weights, and half of the divisor, below
 * 2^16. What leaves 16 bits on the way comes back. Levels stay below 2^15 since the divisor is at
 * least 2. */
static void try_short(gc_rank1 *rank1, const analysis *a)
{
    const gc_conversion *conversion = &rank1->problem->conversion;
    gc_rank1_column *column = &rank1->column;
    gc_rank1_row *row = &rank1->row;
    double sum = 0;
    bool fits = row->is_bytes && is_side_of_short(row->width) && is_side_of_short(column->height) &&
                column->is_even && conversion->offset == 0 && a->divisor >= 2;
    for (int j = 0; fits && j < column->height; j++) {
        fits = a->products.column[0][j] >= 0;
        sum += (double)a->products.column[0][j];
    }
    double largest = UINT8_MAX * sum * row_sum(rank1) + floor(a->divisor / 2);
    if (!fits || largest > UINT16_MAX ||
        !gc_short_divisor_set(&column->by, (uint64_t)a->divisor, (uint64_t)largest))
        return;
    row->is_short = true;
    column->kind = GC_RANK1_SHORT;
    for (int j = 0; j < column->height; j++)
        column->weights[j] = a->products.column[0][j];
}

/* Sets *sum to the sum of M over all weights, and *sum_absolute to that of |M|. */
static void measure_error(const gc_rank1 *rank1, double *sum, double *sum_absolute)
{
    const gc_rounding *rounding = &rank1->problem->rounding;
    double scale = rounding->a / rounding->c;
    scale = rank1->column.absolute ? fabs(scale) : scale;
    const gc_step *step = rank1->step;
    *sum = *sum_absolute = 0;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            double is = (double)rank1->column.weights[j] * (double)rank1->row.weights[i] / UNIT;
            double error = is - step->terms[j * step->width + i] * scale;
            *sum += error;
            *sum_absolute += fabs(error);
        }
}

/* Sets the column so that the loops compute x. Returns 2e. */
static double set_column(gc_rank1 *rank1, const float *weights, double row_scale)
{
    const gc_conversion *conversion = &rank1->problem->conversion;
    gc_rank1_column *column = &rank1->column;
    bool absolute = conversion->absolute;
    double scale = conversion->scale / conversion->divisor, sum, sum_absolute;
    if (absolute)
        scale = fabs(scale);
    for (int j = 0; j < column->height; j++)
        column->weights[j] = (float)((double)weights[j] * UNIT * scale / row_scale);
    measure_error(rank1, &sum, &sum_absolute);
    double start = UNIT * (conversion->offset + 0.5 - (absolute ? 0 : 127.5 * sum));
    column->start = (float)(fabs(start) + TWICE_ERROR_MAX);
    double error = (absolute ? 255 : 127.5) * UNIT * sum_absolute +
                   (gc_instructions_chosen()->rank1->is_fused ? 0.5 : 1) +
                   0x1p-24 * roundings(rank1, column->weights, UINT8_MAX * row_sum(rank1));
    double exceeding = floor(error) + 1; /* e */
    column->kind = GC_RANK1_FIXED;
    column->start = (float)(start + exceeding);
    column->sign = conversion->scale < 0 ? -1 : 1;
    column->near = (uint32_t)(2 * exceeding);
    return 2 * exceeding;
}

static gconv_status allocate(gc_rank1 *rank1, gconv_error *error)
{
    size_t width = (size_t)rank1->step->width, height = (size_t)rank1->step->height;
    rank1->row.weights = calloc(width, sizeof *rank1->row.weights);
    rank1->row.taps = calloc(width, sizeof *rank1->row.taps);
    rank1->row.factors = calloc(width, sizeof *rank1->row.factors);
    rank1->row.pairs = calloc(width, sizeof *rank1->row.pairs);
    rank1->column.weights = calloc(height, sizeof *rank1->column.weights);
    if (rank1->row.weights != NULL && rank1->row.taps != NULL && rank1->row.factors != NULL &&
        rank1->row.pairs != NULL && rank1->column.weights != NULL)
        return GCONV_OK;
    gc_rank1_destroy(rank1);
    return gc_fail_memory(error, (3 * width + height) * sizeof(float));
}

/* Blurring alpha, too, takes less time than copies of the colours if filters are small. */
static void choose_alpha(gc_rank1 *rank1)
{
    int side = gc_larger(rank1->step->width, rank1->step->height);
    if (!rank1->row.is_short || side > gc_instructions_chosen()->rank1->keep_side_max)
        return;
    rank1->splits_alpha = false;
    rank1->channels = rank1->problem->conversion.input.channels;
    rank1->row.advance = (size_t)rank1->channels;
}

gconv_status gc_rank1_create(gc_rank1 *rank1, const gc_problem *problem, gconv_error *error)
{
    const gc_step *step = &problem->chain.steps[0];
    const gc_conversion *conversion = &problem->conversion;
    int channels = problem->chain.channels;
    *rank1 = (gc_rank1){
        .problem = problem,
        .step = step,
        .channels = channels,
        .splits_alpha = conversion->keeps_alpha,
        .row = {.width = step->width, .advance = (size_t)channels},
        .column = {.height = step->height, .absolute = conversion->absolute},
    };
    gconv_status status = allocate(rank1, error);
    if (status != GCONV_OK)
        return status;
    analysis a;
    analyse(problem, &a);
    for (int c = 0; c < problem->chain.channels; c++)
        rank1->border[c] = (uint8_t)step->border[c];
    rank1->column.is_even = is_symmetric(a.products.column[0], step->height, 1);
    if (a.is_whole) {
        set_row(rank1, a.products.row[0], 1);
        set_whole_column(rank1, &a);
        try_bytes(rank1);
        try_short(rank1, &a);
        choose_alpha(rank1);
        return GCONV_OK;
    }
    double scale = choose_scale(problem, a.products.row[0]);
    set_row(rank1, a.products.row[0], scale);
    if (set_column(rank1, a.products.column[0], scale) > TWICE_ERROR_MAX)
        gc_rank1_destroy(rank1);
    return GCONV_OK;
}

void gc_rank1_destroy(gc_rank1 *rank1)
{
    free(rank1->row.weights);
    free(rank1->row.taps);
    free(rank1->row.factors);
    free(rank1->row.pairs);
    free(rank1->column.weights);
    *rank1 = (gc_rank1){.step = NULL};
}

const char *gc_rank1_describe(const gc_rank1 *rank1)
{
    return rank1->column.kind == GC_RANK1_FIXED ? "a column and a row to levels in fixed point"
                                                : "a column and a row to levels";
}
