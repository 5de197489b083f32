#include "gpu/pass/finish.h"

#include "base/number.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The largest error of a value, in levels, with which doubts are few; and of what kernels round the
 * last bit. */
static const double error_max = 0x1p-10, unit = 0x1p-15;

_Static_assert((int)GC_PASS_MIRROR == (int)GCONV_BORDER_MIRROR &&
                   (int)GC_PASS_MIRROR101 == (int)GCONV_BORDER_MIRROR101 &&
                   (int)GC_PASS_REPLICATE == (int)GCONV_BORDER_REPLICATE &&
                   (int)GC_PASS_WRAP == (int)GCONV_BORDER_WRAP &&
                   (int)GC_PASS_CONSTANT == (int)GCONV_BORDER_CONSTANT,
               "kernels count borders as the interface does");

gc_sample_type gc_input_type(const gc_problem *problem)
{
    return problem->job.input.depth == 8    ? GC_BYTE
           : problem->job.input.depth == 16 ? GC_SHORT
                                            : GC_FLOAT;
}

bool gc_samples_are_values(const gc_problem *problem)
{
    return gc_input_type(problem) == GC_FLOAT && problem->job.input.channels == 1;
}

gc_sample_type gc_finish_type(const gc_problem *problem)
{
    switch (problem->conversion.output.depth) {
    case 1:
        return GC_BIT;
    case 8:
        return GC_BYTE;
    case 16:
        return GC_SHORT;
    default:
        return GC_FLOAT;
    }
}

static void finish_edges(const gc_problem *problem, gc_finish *finish)
{
    finish->kind = GC_FINISH_EDGES;
    finish->threshold = gc_float_at_most(problem->conversion.threshold);
    finish->side = problem->conversion.rule == GCONV_RULE_ABS        ? 0
                   : problem->conversion.rule == GCONV_RULE_POSITIVE ? 1
                                                                     : -1;
    finish->invert = problem->job.invert;
    if (problem->conversion.output.depth == 1)
        finish->largest = 1;
}

void gc_finish_divide(double divisor, gc_finish *finish)
{
    finish->divisor = divisor;
    finish->inverse = 1 / divisor;
    finish->reciprocal = (float)(1 / divisor);
    finish->whole = (float)divisor;
    finish->below = nextafterf(finish->reciprocal, 0);
    finish->above = nextafterf(finish->reciprocal, INFINITY);
}

bool gc_finish_rounds(const gc_finish *finish, double largest, bool ties)
{
    double d = finish->divisor; /* the products are exact: 24 bits times 22 */
    double off = ties ? fmax((double)finish->above * d - 1, 1 - (double)finish->below * d)
                      : fabs((double)finish->reciprocal * d - 1);
    return (largest + 1) * d * off < 0.5;
}

/* Whether a sample is a value over the divisor, and nothing more. Samples keep their depth. */
static bool is_divided_only(const gc_problem *problem)
{
    return !problem->conversion.bilevel && !problem->conversion.premultiplies &&
           !problem->job.absolute && problem->job.scale == 1 && problem->conversion.offset == 0 &&
           problem->conversion.output.depth == problem->job.input.depth &&
           problem->conversion.divisor >= 1 && problem->conversion.divisor < 0x1p22;
}

static bool divides_exactly(const gc_problem *problem)
{
    int exponent;
    return frexp(problem->conversion.divisor, &exponent) == 0.5;
}

/* Whether a value over the divisor is an integer, a sum below 2^24, over an integer. */
static bool is_quotient(const gc_problem *problem)
{
    return problem->chain.exact &&
           problem->conversion.divisor == trunc(problem->conversion.divisor);
}

/* Whether rounding has to tell ties from other quotients. An odd divisor gives no ties. A power of
 * 2 divides without error. */
static bool has_ties(const gc_problem *problem)
{
    return !divides_exactly(problem) && fmod(problem->conversion.divisor, 2) != 1;
}

/* The largest magnitude of a value over the divisor. */
static double largest_quotient(const gc_problem *problem)
{
    const gc_step *last = &problem->chain.steps[problem->chain.step_count - 1];
    return last->largest_input * last->absolute_sum / problem->conversion.divisor;
}

/* Whether kernels can clamp bytes two at a time, as numbers of 16 bits. Half of their range is left
 * for rounding errors of sums. Samples of more than 8 bits are clamped one by one. */
static bool is_clamped_easily(const gc_problem *problem)
{
    return problem->conversion.output.depth > 8 || largest_quotient(problem) < 0x1p14;
}

/* Division by a power of 2 is exact and rounds once, whatever the value. */
static int kind_of_division(const gc_problem *problem, const gc_finish *finish)
{
    bool ties = has_ties(problem);
    if (!is_clamped_easily(problem))
        return GC_FINISH_SAMPLES;
    if (divides_exactly(problem))
        return GC_FINISH_ROUND;
    if (is_quotient(problem) && gc_finish_rounds(finish, finish->largest, ties))
        return ties ? GC_FINISH_QUOTIENT : GC_FINISH_ROUND;
    if (is_quotient(problem) && problem->conversion.output.depth == 16 &&
        largest_quotient(problem) < 0x1p21)
        return GC_FINISH_REMAINDER;
    return GC_FINISH_SAMPLES;
}

/* For bytes of GC_FINISH_NEAREST: gc_fft_nearest makes fixed = 256.5 + v + s as a multiple of u =
 * 2^-15, and doubts it if the rest is below 2 s. In s are the roundings of gain and base, of the
 * share, to 2^-25 of 255, and of fixed itself, to u / 2. */
static void fix_nearest(double gain, double base, gc_finish *finish)
{
    finish->fixed_gain = (float)(gain / 255);
    finish->fixed_base = (float)(base / 255);
    double off = fabs(255 * (double)finish->fixed_gain / gain - 1) * (257 + fabs(base)) +
                 fabs(255 * (double)finish->fixed_base - base) + 0x1p-17 + unit / 2 + 0x1p-30;
    finish->doubtful = 2 * (unsigned)ceil(fmin(off / unit, 0x1p14));
}

/* Sets gain and base. False if the output has no samples of 8 or 16 bits, or the error may be 2^-12
 * or more (2^-20 for 16 bits). For bytes gain, base and the sum are each rounded once, and of a
 * colour that alpha multiplies also alpha's reciprocal and the quotient. If the byte is not
 * clamped, gain * value is at most 257 + |base|. For 16 bits the kernel adds up what each rounding
 * takes: numbers below 1, each rounded to 2^-25. */
static bool finish_nearest(const gc_problem *problem, gc_finish *finish)
{
    bool divides = problem->conversion.premultiplies;
    int depth = problem->conversion.output.depth;
    double base_max = divides ? 512 : depth == 8 ? 1024 : 0x1p18;
    double divisor = divides ? 1 : problem->conversion.divisor;
    divisor = finish->absolute ? fabs(divisor) : divisor;
    double gain = finish->scale * finish->factor / divisor, base = finish->offset * finish->factor;
    if ((depth != 8 && (depth != 16 || divides)) || finish->bilevel || fabs(base) > base_max ||
        fabs(gain) < (depth == 8 ? FLT_MIN : 0x1p-60) ||
        fabs(gain) > (depth == 8 ? FLT_MAX : 0x1p60))
        return false;
    finish->gain = (float)gain;
    finish->base = (float)(depth == 8 ? base : rint(base));
    finish->gain_rest = (float)(gain - (double)finish->gain);
    finish->base_rest = (float)(base - (double)finish->base);
    finish->value_bits = finish->absolute ? 0x7fffffff : 0xffffffff;
    fix_nearest(gain, base, finish);
    return true;
}

static void finish_samples(const gc_problem *problem, gc_finish *finish)
{
    finish->scale = problem->job.scale;
    finish->offset = problem->conversion.offset;
    finish->absolute = problem->job.absolute;
    finish->bilevel = problem->conversion.bilevel;
    gc_finish_divide(problem->conversion.divisor, finish);
    finish->alpha = problem->conversion.keeps_alpha     ? GC_PASS_KEEPS
                    : problem->conversion.premultiplies ? GC_PASS_MULTIPLIES
                                                        : GC_PASS_NO_ALPHA;
    finish->kind = is_divided_only(problem) ? kind_of_division(problem, finish) : GC_FINISH_SAMPLES;
    if (finish->kind == GC_FINISH_SAMPLES && finish_nearest(problem, finish))
        finish->kind = GC_FINISH_NEAREST;
}

/* ---- Rounding once --------------------------------------------------------------------------- */

/* How far the values of a kernel, times `factor`, may be from exact sums, times `exact`. */
static double error_of(const gc_problem *problem, double error, double factor, double exact)
{
    const gc_step *step = &problem->chain.steps[0];
    gc_interval inputs = gc_error_inputs(problem, step);
    double off = 0;
    for (int k = 0; k < step->width * step->height; k++)
        off += fabs(factor * (double)step->taps[k] - exact * step->terms[k]);
    return off * fmax(-inputs.low, inputs.high) + fabs(factor) * error;
}

/* The exact sum of samples that all are the centre: values lack this sum. */
static double sum_of_centre(const gc_problem *problem)
{
    const gc_step *step = &problem->chain.steps[0];
    double sum = 0;
    for (int k = 0; k < step->width * step->height; k++)
        sum += step->terms[k];
    return sum * gc_finish_centre(problem);
}

/* Whether settling what is in doubt takes little: up to a quarter of a product a sample. */
static bool pays(const gc_step *step, double levels)
{
    return levels < error_max && 2 * levels * step->width * step->height < 0.25;
}

/* Whether no level has to be clamped. A quarter of one is left for errors. */
static bool stays_inside(const gc_problem *problem)
{
    const gc_rounding *r = &problem->rounding;
    const gc_step *step = &problem->chain.steps[0];
    double middle = (r->a * sum_of_centre(problem) + r->b) / r->c;
    gc_interval inputs = gc_error_inputs(problem, step), levels = {middle, middle};
    for (int k = 0; k < step->width * step->height; k++) {
        double gain = r->a / r->c * step->terms[k];
        levels.low += fmin(gain * inputs.low, gain * inputs.high);
        levels.high += fmax(gain * inputs.low, gain * inputs.high);
    }
    return !r->absolute && levels.low > -0.25 && levels.high < 255.25;
}

/* A kernel makes fixed = 256 + v + 1/2 + s, off by up to e, as a multiple of u = 2^-15. Its integer
 * part is the nearest sample for sure if the rest exceeds s + e, and s exceeds e - u: the rest is
 * 1 - u at most. So s is up to u below e, and what is not above s + e is in doubt.
 *
 * If levels stay inside, fixed is one multiply-add, whose base is a multiple of u. In e are the
 * gain, rounded to 24 bits, and fixed itself, to u / 2. */
static void fix_inside(const gc_problem *problem, double error, gc_finish *finish)
{
    const gc_rounding *r = &problem->rounding;
    double gain = r->a / r->c, base = r->b / r->c + gain * sum_of_centre(problem) + 256.5;
    finish->fixed_gain = (float)(gain / problem->chain.value_of_sum);
    error = error_of(problem, error, (double)finish->fixed_gain, gain) + unit / 2 + 0x1p-30;
    finish->fixed_base = (float)(floor((base + error) / unit) * unit);
    finish->fixed_doubtful =
        (unsigned)floor(((double)finish->fixed_base - base + error) / unit) + 1;
    finish->kind = GC_FINISH_ONCE_INSIDE;
}

/* Otherwise fixed is 256.25 + 255.5 * share, with the share clamped to 0 and 1 (gc_finish_fix). The
 * base is the least float32 with which s exceeds e - u. In e are the roundings of the gain, to 24
 * bits, of the share, to 2^-25 of 255.5, and of fixed itself, to u / 2; those of the doubles here
 * are far less. */
static bool settle_samples(const gc_problem *problem, double error, gc_finish *finish)
{
    const gc_rounding *r = &problem->rounding;
    const gc_step *step = &problem->chain.steps[0];
    double gain = r->a / r->c, base = r->b / r->c + gain * sum_of_centre(problem) + 0.25;
    finish->gain = (float)(gain / problem->chain.value_of_sum / 255.5);
    double e =
        error_of(problem, error, 255.5 * (double)finish->gain, gain) + unit / 2 + 0x1p-17 + 0x1p-30;
    finish->base = nextafterf(gc_float_at_most((base + e - unit) / 255.5), INFINITY);
    finish->doubtful = (unsigned)floor(fmin(255.5 * (double)finish->base - base + e, 1) / unit) + 1;
    finish->kind = r->absolute ? GC_FINISH_ONCE_ABSOLUTE : GC_FINISH_ONCE;
    bool settles = pays(step, e) && fabs((double)finish->gain) >= FLT_MIN;
    if (settles && stays_inside(problem))
        fix_inside(problem, error, finish);
    return settles;
}

/* At the threshold itself, too, S decides. */
static bool settle_sides(const gc_problem *problem, double error, gc_finish *finish)
{
    const gc_rounding *r = &problem->rounding;
    const gc_step *step = &problem->chain.steps[0];
    double exact = problem->chain.value_of_sum;
    double threshold = exact * (r->bilevel ? (128 * r->c - r->b) / r->a : -r->b / fabs(r->a));
    threshold += (r->bilevel || finish->side > 0 ? -exact : exact) * sum_of_centre(problem);
    finish->threshold = (float)threshold;
    error = error_of(problem, error, 1, exact) + fabs((double)finish->threshold - threshold);
    float far = nextafterf((float)(error * (1 + 0x1p-20)), INFINITY);
    memcpy(&finish->doubtful, &far, sizeof far);
    if (r->bilevel) {
        finish->side = r->absolute ? 0 : 1;
        finish->invert = r->a * exact < 0;
        finish->largest = r->largest;
    }
    finish->kind = GC_FINISH_SIDE;
    return pays(step, error / fabs(problem->conversion.divisor)) && fabs(threshold) < 0x1p100;
}

/* How far the border of a kernel is from that of exact sums. It is rounded to float32 twice: as it
 * is, and less the centre. */
static double error_of_border(const gc_problem *problem, float centre)
{
    const gc_step *step = &problem->chain.steps[0];
    double error = 0;
    for (int c = 0; c < problem->chain.channels; c++) {
        float value = step->border[c] - centre;
        error = fmax(error, fabs((double)value + (double)centre - step->terms_border[c]));
    }
    return error;
}

bool gc_finish_settle(const gc_problem *problem, double error, gc_finish *finish)
{
    const gc_rounding *r = &problem->rounding;
    bool has_sides = r->bilevel || problem->conversion.finds_edges;
    gc_finish settled = *finish;
    settled.absolute = r->absolute;
    settled.once = (gc_once){ldexp(r->a, problem->chain.unit), r->b, r->c};
    settled.centre = (float)gc_finish_centre(problem);
    error += error_of_border(problem, settled.centre) * problem->chain.steps[0].absolute_sum *
             (1 + 0x1p-20);
    bool settles = error < INFINITY && gc_finish_sums_up(problem) &&
                   (has_sides ? settle_sides : settle_samples)(problem, error, &settled);
    if (settles)
        *finish = settled;
    return settles;
}

/* Whether quotients are far from the ends of double's range, at which double has fewer bits. */
static bool divides_normally(const gc_problem *problem)
{
    return fabs(problem->conversion.divisor) > 0x1p-500 &&
           fabs(problem->conversion.divisor) < 0x1p500;
}

bool gc_finish_of(const gc_problem *problem, gc_finish *finish)
{
    *finish = (gc_finish){.kind = GC_FINISH_NONE};
    bool has_alpha = problem->conversion.output.channels % 2 == 0;
    bool is_edges = problem->job.output == GCONV_OUTPUT_EDGES;
    if ((has_alpha && problem->conversion.bilevel) || (!is_edges && !divides_normally(problem)))
        return false;
    finish->sample_max = problem->conversion.sample_max;
    finish->middle = 128 * problem->conversion.sample_max / 255;
    finish->largest = problem->conversion.output.depth == 16 ? 65535 : 255;
    finish->factor = finish->largest / problem->conversion.sample_max;
    finish->narrows = finish->factor < 1;
    if (is_edges)
        finish_edges(problem, finish);
    else
        finish_samples(problem, finish);
    return true;
}
