/* A filter of rank 1 is a column times a row. Rule 5 turns its chain values into levels by a factor
 * and an offset. Loops sum each row of samples in integers, without an error, and columns of these
 * sums in float32 (levels_loops.c). Below, u = 2^-24.
 *
 * Whole weights. Weights that are whole, or become whole by a power of 2, have whole sums S below
 * 2^24. The reference's chain value is S over that power. The level before rounding is S / D plus an
 * offset, which is whole.
 * - D is a power of 2: loops add up the level (GC_LEVELS_PLAIN). All sums are exact.
 * - D is odd: no S / D is a tie, and the nearest tie is at least 1 / (2 |D|) away. Loops add up the
 *   level, with an error that is smaller.
 * - D is another whole number up to 4096: loops divide (GC_LEVELS_DIVIDED). Float32 holds a tie S / D,
 *   and the correction of the product with 1 / D finds it. Other quotients are at least 1/8192 away
 *   from a tie. Below 512, division and addition of the offset are at most 2^-14 off.
 * Ties go to the even level.
 *
 * Other weights (GC_LEVELS_FIXED). Loops compute x = 65536 (level + 1/2) + e in float32. Let t be
 * 65536 (level + 1/2) by the reference. It is less than e away from x - e. Where the lowest 16 bits
 * of x are at least 2 e, t lies between the same two multiples of 65536 as x: the level is sure.
 * Elsewhere the reference's chain value is computed and converted: the sum in double in the
 * reference's order, rounded to float32.
 *
 * e exceeds the sum of these errors. A = 65536 * 255 * sum |w| * |factor|, s is the start of sums.
 * - Weights: M = the weights of the loops minus the true ones, times the factor. Samples are within
 *   127.5 of 127.5. The start makes up for 127.5 sum M. At most 65536 * 127.5 * sum |M| remains.
 *   Where a magnitude is taken, the start stays as it is, and twice as much remains.
 * - Additions: u times the magnitude of each partial sum (`roundings`).
 * - Products where they are rounded by themselves, sums of rows as float32, and the reference's
 *   chain value as float32: u A each. s: u s. A magnitude is followed by two more roundings.
 * - The reference's doubles round by 2^-53, less than 2^16 times. With all terms of a higher order,
 *   that is less than u (A + s).
 * - x as an integer: 1. */
#include "cpu/solver/levels.h"

#include "base/memory.h"
#include "base/status.h"
#include "core/products.h"
#include "cpu/cost.h"
#include "cpu/solver/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fixed point of levels. */
#define UNIT 65536.0

/* The largest sum of |R|: sums of rows stay below 2^25. */
#define ROW_MAX 131000.0

/* The largest divisor by which loops divide. */
#define DIVISOR_MAX 4096.0

/* Levels beyond which fixed point has no room. */
#define LEVEL_MAX 16384.0

/* The most that 2 e may be: the part of values that are computed twice, times 65536. */
enum { NEAR_MAX = 2048 };

/* Factors that are tried for a row: the better its integers fit, the fewer values are near. */
enum { FACTORS_MIN = 256, FACTORS_MAX = 8192, VALUES_A_FACTOR = 4096 };

/* Wider rows are fine: integers of 22 bits, in two parts. */
enum { COARSE_MAX = 5 };

/* Weights that are whole times 2^-24 at most. */
enum { SHIFT_MAX = 24 };

/* ---- What the filter is ---------------------------------------------------------------------- */

typedef struct analysis {
    bool is_whole;
    double divisor; /* D, where weights are whole */
    gc_products products;
} analysis;

static bool is_whole(double value)
{
    return value == trunc(value);
}

static bool is_power(double value)
{
    int exponent;
    return fabs(frexp(value, &exponent)) == 0.5;
}

/* The least power of 2 that makes all weights whole; 0 where sums would not stay below 2^24. */
static double whole_factor(const gc_step *step)
{
    double factor = 1;
    for (int i = 0; i < step->width * step->height; i++)
        while (factor <= ldexp(1, SHIFT_MAX) && !is_whole((double)step->taps[i] * factor))
            factor *= 2;
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
    bool divides = is_power(a->divisor) ? largest < 0x1p24 && fabs(a->divisor) > 0x1p-24
                                        : is_whole(a->divisor) && fabs(a->divisor) <= DIVISOR_MAX;
    return divides && sum <= INT16_MAX && is_power(conversion->scale) &&
           is_whole(conversion->offset) && fabs(conversion->offset) <= UINT8_MAX;
}

static double gain(const gc_problem *problem)
{
    const gc_conversion *conversion = &problem->conversion;
    return problem->chain.steps[0].absolute_sum * fabs(conversion->scale / conversion->divisor);
}

static bool takes_real(const gc_problem *problem)
{
    return gain(problem) * UINT8_MAX + fabs(problem->conversion.offset) < LEVEL_MAX &&
           gain(problem) > 0x1p-20;
}

/* Finds column and row. False where there are none, or loops do not take them. */
static bool analyse(const gc_problem *problem, analysis *a)
{
    float taps[GC_LEVELS_SIDE_MAX * GC_LEVELS_SIDE_MAX];
    gc_step step = problem->chain.steps[0];
    if (step.width > GC_LEVELS_SIDE_MAX || step.height > GC_LEVELS_SIDE_MAX)
        return false;
    double factor = whole_factor(&step);
    a->is_whole = factor > 0;
    a->divisor = factor * problem->conversion.divisor / problem->conversion.scale;
    if (!a->is_whole)
        return !problem->chain.exact && takes_real(problem) &&
               gc_step_products(&step, false, 1, &a->products);
    for (int i = 0; i < step.width * step.height; i++)
        taps[i] = (float)((double)step.taps[i] * factor);
    step.taps = taps;
    step.absolute_sum *= factor;
    return gc_step_products(&step, true, 1, &a->products) && takes_whole(problem, a, factor);
}

static bool takes_border(const gc_problem *problem)
{
    bool takes = true;
    for (int c = 0; c < problem->chain.channels; c++) {
        float border = problem->chain.steps[0].border[c];
        takes = takes && border >= 0 && border <= UINT8_MAX && is_whole((double)border);
    }
    return takes;
}

bool gc_levels_applies(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    const gc_conversion *conversion = &problem->conversion;
    analysis a;
    return gc_solver_wanted(problem) == NULL && chain->step_count == 1 &&
           chain->steps[0].taps != NULL && conversion->input.depth == 8 &&
           conversion->output.depth == 8 && !conversion->bilevel && !conversion->premultiplies &&
           takes_border(problem) && analyse(problem, &a);
}

double gc_levels_seconds(const gc_problem *problem, const gc_instructions *instructions)
{
    const gc_step *step = &problem->chain.steps[0];
    return GC_LEVELS_SECONDS + step->width * instructions->row_seconds +
           step->height * instructions->tap_seconds;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static double misfit(const float *row, int width, double factor)
{
    double sum = 0;
    for (int i = 0; i < width; i++)
        sum += fabs((double)row[i] * factor - rint((double)row[i] * factor));
    return sum / factor;
}

/* The factor whose integers are nearest to the row. The smallest that is tried is half of the
 * largest. */
static double choose_factor(const gc_problem *problem, const float *row, bool is_fine)
{
    int width = problem->chain.steps[0].width;
    double sum = 0, largest = 0;
    for (int i = 0; i < width; i++) {
        sum += fabs((double)row[i]);
        largest = fmax(largest, fabs((double)row[i]));
    }
    double most = fmin((ROW_MAX - width) / sum, INT16_MAX / largest);
    if (is_fine)
        return most * (1 << GC_LEVELS_FINE_BITS);
    double best = most, least = misfit(row, width, most);
    double values = (double)problem->chain.width * problem->chain.height;
    double count = fmax(FACTORS_MIN, fmin(FACTORS_MAX, values / VALUES_A_FACTOR));
    for (double tried = 1; tried < count; tried++) {
        double factor = most * (1 - tried / (2 * count)), rest = misfit(row, width, factor);
        if (rest < least) {
            best = factor;
            least = rest;
        }
    }
    return best;
}

/* Whether weights i and width - 1 - i are the same, times `sign`. */
static bool is_symmetric(const float *weights, int count, float sign)
{
    bool is = true;
    for (int i = 0; i < count; i++)
        is = is && weights[i] == sign * weights[count - 1 - i];
    return is;
}

/* Puts 16 bits into the half of a pair that is tap t's. */
static void set_tap(int32_t *pairs, int t, int value)
{
    pairs[t / 2] |= (int32_t)((uint32_t)(uint16_t)(int16_t)value << 16 * (t % 2));
}

static void set_taps(gc_levels_row *row, int terms)
{
    const int unit = row->is_fine ? 1 << GC_LEVELS_FINE_BITS : 1;
    for (int t = 0; t < terms; t++) {
        int weight = (int)row->weights[t], tap = (int)rint((double)weight / unit);
        set_tap(row->taps, t, tap);
        set_tap(row->fine_taps, t, weight - tap * unit);
    }
}

static void set_row(gc_levels *levels, const float *weights, double factor, bool is_fine)
{
    gc_levels_row *row = &levels->row;
    int width = row->width;
    for (int i = 0; i < width; i++)
        row->weights[i] = (float)rint((double)weights[i] * factor);
    bool is_even = is_symmetric(row->weights, width, 1);
    bool is_odd = !is_even && is_symmetric(row->weights, width, -1);
    int terms = is_even || is_odd ? (width + 1) / 2 : width;
    row->is_folded = is_even || is_odd;
    row->is_fine = is_fine;
    row->pair_count = (terms + 1) / 2;
    for (int t = 0; t < terms; t++) {
        int other = row->is_folded ? width - 1 - t : t;
        row->folds[t].first = (size_t)t * row->advance;
        row->folds[t].second = (size_t)other * row->advance;
        row->folds[t].factors = (int16_t)(other == t ? 0x0001 : is_even ? 0x0101 : 0xff01);
    }
    set_taps(row, terms);
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* What float32 rounds in loops and in the reference, over u. `scale` is the largest sum of a row.
 * Loops add weights in turn, or the first and the last one first: the larger error counts. */
static double roundings(const gc_levels *levels, const float *weights, double scale)
{
    int height = levels->step->height;
    double in_turn = 0, folded = 0, sum = 0, all, start = fabs((double)levels->column.start);
    for (int j = 0; j < height; j++)
        in_turn += sum += fabs((double)weights[j]) * scale;
    all = sum;
    sum = 0;
    for (int j = 0; 2 * j < height; j++)
        folded += sum += fabs((double)weights[j] + (double)weights[height - 1 - j]) * scale;
    return fmax(in_turn, folded + all) + height * start + 8 * (all + start);
}

/* Columns of whole weights. */
static void set_whole_column(gc_levels *levels, const analysis *a)
{
    const gc_conversion *conversion = &levels->problem->conversion;
    gc_levels_column *column = &levels->column;
    double divisor = conversion->absolute ? fabs(a->divisor) : a->divisor;
    double size = gain(levels->problem) * UINT8_MAX + fabs(conversion->offset);
    double error = (3 * column->height + 8) * 0x1p-24 * size;
    bool is_odd = is_whole(divisor) && is_whole((divisor + 1) / 2);
    bool is_plain = is_power(divisor) || (is_odd && error < 0.5 / fabs(divisor));
    column->kind = is_plain ? GC_LEVELS_PLAIN : GC_LEVELS_DIVIDED;
    for (int j = 0; j < column->height; j++)
        column->weights[j] = (float)((double)a->products.column[0][j] / (is_plain ? divisor : 1));
    column->start = (float)conversion->offset;
    column->sign = conversion->absolute && conversion->scale < 0 ? -1 : 1;
    column->divisor = (float)divisor;
    column->reciprocal = (float)(1 / divisor);
}

/* Sum of M, and of |M|. */
static void measure_error(const gc_levels *levels, double scale, double *sum, double *sum_absolute)
{
    const gc_step *step = levels->step;
    *sum = *sum_absolute = 0;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            double is = (double)levels->column.weights[j] * (double)levels->row.weights[i] / UNIT;
            double error = is - levels->weights[j * step->width + i] * scale;
            *sum += error;
            *sum_absolute += fabs(error);
        }
}

static double row_sum(const gc_levels *levels)
{
    double sum = 0;
    for (int i = 0; i < levels->step->width; i++)
        sum += fabs((double)levels->row.weights[i]);
    return sum;
}

/* Columns of other weights: x. Returns 2 e, a power of 2. */
static double set_column(gc_levels *levels, const float *weights, double factor)
{
    const gc_conversion *conversion = &levels->problem->conversion;
    gc_levels_column *column = &levels->column;
    bool absolute = conversion->absolute;
    double scale = conversion->scale / conversion->divisor, sum, sum_absolute;
    if (absolute)
        scale = fabs(scale);
    for (int j = 0; j < column->height; j++)
        column->weights[j] = (float)((double)weights[j] * UNIT * scale / factor);
    measure_error(levels, scale, &sum, &sum_absolute);
    double start = UNIT * (conversion->offset + 0.5 - (absolute ? 0 : 127.5 * sum));
    column->start = (float)(fabs(start) + NEAR_MAX);
    double error = (absolute ? 255 : 127.5) * UNIT * sum_absolute + 1 +
                   0x1p-24 * roundings(levels, column->weights, UINT8_MAX * row_sum(levels));
    double near = 2;
    while (near <= 2 * error)
        near *= 2;
    column->kind = GC_LEVELS_FIXED;
    column->start = (float)(start + near / 2);
    column->sign = conversion->scale < 0 ? -1 : 1;
    column->far = UINT16_MAX & ~((uint32_t)near - 1);
    return near;
}

static gconv_status allocate(gc_levels *levels, gconv_error *error)
{
    size_t width = (size_t)levels->step->width, height = (size_t)levels->step->height;
    levels->row.weights = calloc(width, sizeof *levels->row.weights);
    levels->row.folds = calloc(width + 1, sizeof *levels->row.folds);
    levels->row.taps = calloc(width, sizeof *levels->row.taps);
    levels->row.fine_taps = calloc(width, sizeof *levels->row.fine_taps);
    levels->weights = calloc(width * height, sizeof *levels->weights);
    levels->column.weights = calloc(height, sizeof *levels->column.weights);
    if (levels->row.weights != NULL && levels->row.folds != NULL && levels->row.taps != NULL &&
        levels->row.fine_taps != NULL && levels->weights != NULL && levels->column.weights != NULL)
        return GCONV_OK;
    gc_levels_destroy(levels);
    return gc_fail_memory(error, width * height * sizeof *levels->weights);
}

gconv_status gc_levels_create(gc_levels *levels, const gc_problem *problem, gconv_error *error)
{
    const gc_step *step = &problem->chain.steps[0];
    const gc_conversion *conversion = &problem->conversion;
    int channels = conversion->input.channels;
    *levels = (gc_levels){
        .problem = problem,
        .step = step,
        .channels = channels,
        .row = {.width = step->width, .advance = (size_t)channels},
        .column = {.height = step->height, .absolute = conversion->absolute},
        .backwards = !problem->job.correlate,
    };
    gconv_status status = allocate(levels, error);
    if (status != GCONV_OK)
        return status;
    analysis a;
    analyse(problem, &a);
    for (int c = 0; c < problem->chain.channels; c++)
        levels->border[c] = (uint8_t)step->border[c];
    for (int i = 0; i < step->width * step->height; i++)
        levels->weights[i] = (double)step->taps[i];
    bool is_fine = !a.is_whole && step->width > COARSE_MAX;
    double factor = a.is_whole ? 1 : choose_factor(problem, a.products.row[0], is_fine);
    set_row(levels, a.products.row[0], factor, is_fine);
    levels->column.is_even = is_symmetric(a.products.column[0], step->height, 1);
    if (a.is_whole)
        set_whole_column(levels, &a);
    else if (set_column(levels, a.products.column[0], factor) > NEAR_MAX)
        gc_levels_destroy(levels);
    return GCONV_OK;
}

void gc_levels_destroy(gc_levels *levels)
{
    free(levels->row.weights);
    free(levels->row.folds);
    free(levels->row.taps);
    free(levels->row.fine_taps);
    free(levels->weights);
    free(levels->column.weights);
    *levels = (gc_levels){.step = NULL};
}

/* ---- By the reference's sums ----------------------------------------------------------------- */

void gc_levels_sum(const gc_levels *levels, const uint8_t *const *rows, size_t count, double *sums,
                   float *values)
{
    int width = levels->step->width, terms = width * levels->step->height;
    for (size_t i = 0; i < count; i++)
        sums[i] = 0;
    for (int n = 0; n < terms; n++) {
        int at = levels->backwards ? terms - 1 - n : n;
        const uint8_t *row = rows[at / width] + (size_t)(at % width) * (size_t)levels->channels;
        double weight = levels->weights[at];
        for (size_t i = 0; i < count; i++)
            sums[i] += weight * row[i];
    }
    for (size_t i = 0; i < count; i++)
        values[i] = (float)sums[i];
}

/* Places of one group go side by side: sums do not wait for each other. */
void gc_levels_sum_places(const gc_levels *levels, const uint8_t *const (*rows)[GC_LEVELS_GROUP],
                          float values[GC_LEVELS_GROUP])
{
    int width = levels->step->width, height = levels->step->height;
    double sums[GC_LEVELS_GROUP] = {0};
    for (int m = 0; m < height; m++) {
        int j = levels->backwards ? height - 1 - m : m;
        for (int n = 0; n < width; n++) {
            int i = levels->backwards ? width - 1 - n : n;
            double weight = levels->weights[j * width + i];
            for (int g = 0; g < GC_LEVELS_GROUP; g++)
                sums[g] += weight * rows[j][g][i * levels->channels];
        }
    }
    for (int g = 0; g < GC_LEVELS_GROUP; g++)
        values[g] = (float)sums[g];
}

const char *gc_levels_describe(const gc_levels *levels)
{
    return levels->column.kind == GC_LEVELS_FIXED ? "a column and a row to levels in fixed point"
                                                  : "a column and a row to levels";
}
