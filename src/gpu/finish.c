#include "gpu/finish.h"

#include "core/number.h"

#include <math.h>

_Static_assert((int)GC_PASS_MIRROR == (int)GCONV_BORDER_MIRROR &&
                   (int)GC_PASS_MIRROR101 == (int)GCONV_BORDER_MIRROR101 &&
                   (int)GC_PASS_REPLICATE == (int)GCONV_BORDER_REPLICATE &&
                   (int)GC_PASS_WRAP == (int)GCONV_BORDER_WRAP &&
                   (int)GC_PASS_CONSTANT == (int)GCONV_BORDER_CONSTANT,
               "kernels count borders as the interface does");

gc_sample_type gc_finish_type(const gc_problem *problem)
{
    switch (problem->output.depth) {
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
    finish->threshold = gc_float_at_most(problem->threshold);
    finish->side = problem->rule == GCONV_RULE_ABS        ? 0
                   : problem->rule == GCONV_RULE_POSITIVE ? 1
                                                          : -1;
    finish->invert = problem->job.invert;
    if (problem->output.depth == 1)
        finish->largest = 1;
}

/* Whether a divisor divides without error. */
static bool is_power_of_2(double divisor)
{
    int exponent;
    return frexp(divisor, &exponent) == 0.5;
}

void gc_finish_divide(double divisor, gc_finish *finish)
{
    finish->divisor = divisor;
    finish->reciprocal = (float)(1 / divisor);
    finish->below = nextafterf(finish->reciprocal, 0);
    finish->above = nextafterf(finish->reciprocal, INFINITY);
}

/* Integers throughout: a sum below 2^24 over an integer, samples that keep their depth. What is no tie
 * misses one by 1 / 2d or more, and up to largest + 1 a product with a number next to the reciprocal
 * misses n / d by less than 3 * 2^-24 of that. */
static bool is_quotient(const gc_problem *problem, double largest)
{
    double divisor = problem->divisor;
    return problem->exact && !problem->bilevel && problem->job.scale == 1 && problem->offset == 0 &&
           problem->output.depth == problem->job.input.depth && divisor >= 1 && divisor < 0x1p22 &&
           divisor == trunc(divisor) &&
           (is_power_of_2(divisor) || divisor * (largest + 1) < 0x1p21);
}

/* An odd divisor leaves no ties. */
static bool rounds_plainly(const gc_problem *problem)
{
    return !problem->job.absolute &&
           (is_power_of_2(problem->divisor) || fmod(problem->divisor, 2) == 1);
}

static void finish_samples(const gc_problem *problem, gc_finish *finish)
{
    finish->kind = !is_quotient(problem, finish->largest) ? GC_FINISH_SAMPLES
                   : rounds_plainly(problem)              ? GC_FINISH_ROUND
                                                          : GC_FINISH_QUOTIENT;
    gc_finish_divide(problem->divisor, finish);
    finish->scale = problem->job.scale;
    finish->offset = problem->offset;
    finish->absolute = problem->job.absolute;
    finish->bilevel = problem->bilevel;
}

bool gc_finish_of(const gc_problem *problem, gc_finish *finish)
{
    *finish = (gc_finish){.kind = GC_FINISH_NONE};
    bool has_alpha = problem->output.channels % 2 == 0;
    if (problem->keeps_alpha || problem->premultiplies || (has_alpha && problem->bilevel))
        return false;
    finish->sample_max = problem->sample_max;
    finish->largest = problem->output.depth == 16 ? 65535 : 255;
    finish->factor = finish->largest / problem->sample_max;
    finish->narrows = finish->factor < 1;
    if (problem->job.output == GCONV_OUTPUT_EDGES)
        finish_edges(problem, finish);
    else
        finish_samples(problem, finish);
    return true;
}
