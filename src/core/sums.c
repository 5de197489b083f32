#include "core/sums.h"

#include "base/number.h"
#include "core/rounding.h"

#include <float.h>
#include <math.h>

/* Sets the border of each step's input: the job's, times the divisors of the steps before. */
static void set_borders(const gconv_job *job, const gc_conversion *conversion, gc_chain *chain)
{
    double divisor = 1, level = conversion->sample_max / 255;
    bool is_constant = chain->border == GCONV_BORDER_CONSTANT;
    bool fits = !is_constant || gc_multiply_exactly(&level, job->border_value);
    for (int s = 0; s < chain->step_count; s++) {
        gc_step *step = &chain->steps[s];
        for (int c = 0; is_constant && c < chain->channels; c++) {
            bool is_alpha = chain->channels % 2 == 0 && c == chain->channels - 1;
            step->terms_border[c] = is_alpha ? conversion->sample_max : level;
            fits = gc_multiply_exactly(&step->terms_border[c], divisor) && fits;
        }
        fits = gc_multiply_exactly(&divisor, step->filter->divisor) && fits;
    }
    chain->divisor = fits ? divisor : 0;
}

/* Numbers are whole multiples of 2^unit, which is at most 1. */
typedef struct extent {
    int unit;
    double largest, sum; /* of the magnitudes */
} extent;

static extent extent_of(const double *values, size_t count)
{
    extent e = {.unit = 0};
    for (size_t i = 0; i < count; i++) {
        e.unit = (int)gc_smaller(e.unit, gc_lowest_bit(values[i]));
        e.largest = fmax(e.largest, fabs(values[i]));
        e.sum += fabs(values[i]);
    }
    return e;
}

/* Of the weights of a step; in a filter of two vectors these are products. */
static extent weights_of(const gc_step *step)
{
    size_t count = gc_step_term_count(step), height = (size_t)step->height;
    if (step->column == NULL)
        return extent_of(step->terms, count);
    extent column = extent_of(step->terms, height);
    extent row = extent_of(step->terms + height, count - height);
    return (extent){column.unit + row.unit, column.largest * row.largest, column.sum * row.sum};
}

/* Multiples of 2^unit have exact sums in any order if their magnitudes add up to less than
 * 2^(53 + unit). The rounding of this sum does not hide it: 2^(53 + unit) is a double. */
static bool sums_fit(const gc_chain *chain, double largest)
{
    int unit = 0;
    for (int s = 0; s < chain->step_count; s++) {
        extent border = extent_of(chain->steps[s].terms_border, GC_CHANNELS_MAX);
        extent weights = weights_of(&chain->steps[s]);
        unit = (int)gc_smaller(unit, border.unit) + weights.unit;
        largest = fmax(largest, border.largest) * weights.sum;
        if (unit < GC_ROUNDING_LEAST || !(largest < ldexp(1, DBL_MANT_DIG + unit)))
            return false;
    }
    return true;
}

void gc_chain_set_sums(const gconv_job *job, const gc_conversion *conversion, gc_chain *chain)
{
    set_borders(job, conversion, chain);
    chain->sums_fit = conversion->input.depth != 32 && !conversion->premultiplies &&
                      chain->divisor != 0 && sums_fit(chain, conversion->sample_max);
}
