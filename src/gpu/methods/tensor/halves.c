#include "gpu/methods/tensor/halves.h"

#include "gpu/pass/finish.h"
#include "gpu/tunings/layout.h"

#include <math.h>
#include <stdlib.h>

/* ---- Halves ---------------------------------------------------------------------------------- */

/* Exponent of the smallest distance between two halves, and bits of a half's significand. */
enum { SMALLEST_STEP = -24, HALF_BITS = 11 };

float gc_half_of(float value)
{
    int exponent;
    frexpf(value, &exponent);
    int step = exponent - HALF_BITS;
    if (step < SMALLEST_STEP)
        step = SMALLEST_STEP;
    return ldexpf(nearbyintf(ldexpf(value, -step)), step);
}

unsigned gc_half_bits(float value)
{
    float half = gc_half_of(fabsf(value));
    unsigned sign = signbit(value) ? 0x8000 : 0;
    if (half < 0x1p-14f) /* below the smallest normal half: a number of smallest steps */
        return sign | (unsigned)ldexpf(half, -SMALLEST_STEP);
    int exponent;
    frexpf(half, &exponent);
    unsigned bits = (unsigned)ldexpf(half, HALF_BITS - exponent); /* 1024 to 2047 */
    return sign | ((unsigned)(exponent - 1 + 15) << 10) | (bits & 1023);
}

/* The exponent of the power of 2 that brings values up to `largest` just below 2^15. Halves end at
 * 2^16. */
static int exponent_for(double largest)
{
    int exponent;
    frexp(largest, &exponent);
    return largest > 0 ? 15 - exponent : 0;
}

/* Kernels are faster if samples are not scaled. That is possible if the largest value is no smaller
 * than a quarter of an image's white: the dimmest pixels are then far enough above the smallest
 * half. */
static int sample_exponent_for(const gc_problem *problem, double largest)
{
    return largest >= problem->conversion.sample_max / 4 && largest < 0x1p15
               ? 0
               : exponent_for(largest);
}

/* In floats: gcc 12.2 for 64-bit ARM crashes on a loop that takes fmax of floats made doubles. */
static float largest_weight(const gc_step *step)
{
    float largest = 0;
    for (int i = 0; i < step->width * step->height; i++)
        largest = fmaxf(largest, fabsf(step->taps[i]));
    return largest;
}

/* A weight that is multiplied, and its high part: of multiples of the unit those up to 2048 times
 * it are halves. */
static float scaled_weight(const gc_step *step, const gc_parts *parts, int k)
{
    return ldexpf(step->taps[k], parts->weight_exponent);
}

static float high_of(const gc_parts *parts, float weight)
{
    return parts->unit > 0 ? nearbyintf(weight / parts->unit) * parts->unit : gc_half_of(weight);
}

/* The largest magnitude of an input of the step. */
static double largest_input(const gc_problem *problem, const gc_step *step)
{
    gc_interval inputs = gc_error_inputs(problem, step);
    return fmax(-inputs.low, inputs.high);
}

/* The smallest unit for which sums of inputs times high parts stay below 2^24 units. */
static float unit_for(const gc_problem *problem, const gc_step *step, gc_parts parts)
{
    for (parts.unit = 0x1p15f / 2048;; parts.unit *= 2) {
        double sum = 0;
        for (int k = 0; k < step->width * step->height; k++)
            sum += fabs((double)high_of(&parts, scaled_weight(step, &parts, k)));
        if (sum * largest_input(problem, step) < 0x1p24 * (double)parts.unit)
            return parts.unit;
    }
}

gc_parts gc_parts_of(const gc_problem *problem, const gc_step *step, bool from_bytes)
{
    bool bytes = from_bytes && gc_border_is_byte(problem, step);
    gc_parts parts = {.splits = !bytes, .weight_parts = 1};
    parts.sample_exponent = bytes ? 0 : sample_exponent_for(problem, step->largest_value);
    parts.weight_exponent = exponent_for((double)largest_weight(step));
    if (bytes && gc_finish_sums_up(problem))
        parts.unit = unit_for(problem, step, parts);
    for (int k = 0; k < step->width * step->height; k++) {
        float weight = scaled_weight(step, &parts, k);
        if (weight != high_of(&parts, weight))
            parts.weight_parts = 2;
    }
    return parts;
}

/* How often tensor cores add to a sum in a row of the filter. */
static double additions_of(const gc_step *step, int compute_major)
{
    int depth = compute_major >= 9 ? 16 : 8;
    return (gc_matrix_columns(step) + depth - 1) / depth;
}

/* Errors are counted in units of 2^-24 sum|w| max|in|, of which rule 4 allows 4 w h:
 *   - splitting leaves out up to 12 units: three times 2^-22;
 *   - the low sum and the last addition take 2 units;
 *   - tensor cores add t numbers of the band to the sum. They align them to the largest number,
 *     with at least one bit more than float32, and cut the rest: t + 1 units, and 2 for the result
 *     (Fasi, Higham, Mikaitis and Pranesh 2021). They do so for 16 columns of the matrix at a
 *     time, or for 8 columns before compute capability 9.0. */
bool gc_parts_meet_bound(const gc_step *step, int compute_major)
{
    double error = step->height * (step->width + 3 * additions_of(step, compute_major)) + 14;
    return error <= 4.0 * step->width * step->height;
}

/* A unit makes the high sum exact: every number that tensor cores add is a multiple of the unit and
 * below 2^24 of it, so that they cut nothing off. What is left: weights that two parts do not hold;
 * the low sum, of which tensor cores cut off what gc_parts_meet_bound says; and the addition of
 * both sums, which rounds once: by 2^-24 of `most`, the largest sum of inputs of either sign. A
 * part of 2^-7 is for the errors of errors. */
double gc_parts_error(const gc_problem *problem, const gc_step *step, const gc_parts *parts,
                      int compute_major)
{
    double rest = 0, low_sum = 0, up = 0, down = 0;
    if (parts->unit == 0)
        return INFINITY;
    for (int k = 0; k < step->width * step->height; k++) {
        float weight = scaled_weight(step, parts, k), low = weight - high_of(parts, weight);
        rest += fabs((double)low - (double)gc_half_of(low));
        low_sum += fabs((double)low);
        *(weight > 0 ? &up : &down) += fabs((double)weight);
    }
    double cuts = step->height * (step->width + 3 * additions_of(step, compute_major));
    gc_interval in = gc_error_inputs(problem, step);
    double most = fmax(up * in.high - down * in.low, down * in.high - up * in.low);
    double error = (rest + cuts * low_sum * 0x1p-24 * (1 + 0x1p-7)) * largest_input(problem, step);
    return ldexp(error + most * 0x1p-24 * (1 + 0x1p-7), -parts->weight_exponent);
}

/* All parts have to be integers of one unit, and no product may be left out. Sums have to stay
 * below 2^24. A high part may exceed its number by 2^-11 of it: the factor makes room for that. */
bool gc_parts_are_exact(const gc_step *step, const gc_parts *parts)
{
    bool is_whole = !parts->splits || (parts->weight_parts == 1 && step->largest_input < 0x1p22);
    return is_whole && step->largest_input * step->absolute_sum * (1 + 0x1p-9) < 0x1p24;
}

/* Whether a constant border is not much larger than samples. */
static bool border_is_near(const gc_problem *problem, const gc_step *step)
{
    double samples = problem->conversion.sample_max *
                     (problem->conversion.premultiplies ? problem->conversion.sample_max : 1);
    if (step > problem->chain.steps)
        samples = (step - 1)->largest_input * (step - 1)->absolute_sum;
    for (int c = 0; c < problem->chain.channels && problem->job.border == GCONV_BORDER_CONSTANT;
         c++)
        if (fabs((double)step->border[c]) > 256 * samples)
            return false;
    return true;
}

/* Two halves leave out up to 2^-25 of a small sample, in absolute terms. gc_parts_meet_bound allows
 * 2^-22 of the largest sample. So the largest sample has to be 2^-3 or more after
 * scaling. In a black image the border has the largest sample. */
static bool dim_samples_are_split(const gc_step *step, const gc_parts *parts)
{
    return !parts->splits || step->least_scale == 0 ||
           ldexp(step->least_scale, parts->sample_exponent) >= 0x1p-3;
}

/* Exponents stay far from the ends of float32: sums of scaled numbers are below 2^46. The largest
 * premultiplied sample of 16 bits is 2^32 times the smallest, more than two halves span. So is the
 * largest float sample. */
bool gc_parts_in_range(const gc_problem *problem, const gc_step *step, const gc_parts *parts)
{
    int depth = problem->job.input.depth;
    bool spans = depth == 8 || (depth == 16 && !problem->conversion.premultiplies);
    return (problem->chain.exact ||
            (spans && border_is_near(problem, step) && dim_samples_are_split(step, parts))) &&
           abs(parts->sample_exponent) < 100 && abs(parts->weight_exponent) < 100 &&
           abs(parts->sample_exponent + parts->weight_exponent) < 100;
}

/* ---- The banded matrix ----------------------------------------------------------------------- */

int gc_matrix_skip(const gc_step *step)
{
    return (step->left + 3) / 4 * 4 - step->left;
}

int gc_matrix_columns(const gc_step *step)
{
    int columns = GC_HALVES_UNIT - 1 + gc_matrix_skip(step) + step->width;
    return (columns + GC_HALVES_UNIT - 1) / GC_HALVES_UNIT * GC_HALVES_UNIT;
}

int gc_matrix_diagonals(const gc_step *step)
{
    return gc_matrix_columns(step) + GC_HALVES_UNIT - 1;
}

void gc_matrix_words(const gc_step *step, const gc_parts *parts, int j, int diagonal,
                     unsigned *high, unsigned *low)
{
    *high = *low = 0;
    for (int i = 0; i < 2; i++) {
        int tap = diagonal + i - (GC_HALVES_UNIT - 1) - gc_matrix_skip(step);
        bool is_there = tap >= 0 && tap < step->width;
        float weight = is_there ? scaled_weight(step, parts, j * step->width + tap) : 0;
        *high |= gc_half_bits(high_of(parts, weight)) << (16 * i);
        *low |= gc_half_bits(weight - high_of(parts, weight)) << (16 * i);
    }
}

/* A diagonal has two words, and the diagonal 8 further on two more. */
size_t gc_matrix_bytes(const gc_step *step)
{
    return (size_t)(step->height + 1) * (size_t)gc_matrix_diagonals(step) * 4 * sizeof(unsigned);
}

/* ---- A tile ---------------------------------------------------------------------------------- */

int gc_halves_line_length(const gc_step *step)
{
    return GC_BLOCK_COLUMNS - GC_HALVES_UNIT + gc_matrix_columns(step);
}

int gc_halves_lines(const gc_step *step, int rows)
{
    return rows + step->height - 1;
}

size_t gc_halves_bytes(const gc_step *step, int rows, bool splits)
{
    size_t line = (size_t)gc_halves_line_length(step), lines = (size_t)gc_halves_lines(step, rows);
    return (splits ? 4 : 2) * line * (lines + 1);
}
