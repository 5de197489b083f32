#include "core/chain.h"

#include "base/number.h"
#include "base/status.h"
#include "core/range.h"
#include "core/rounding.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The constant border of a step's input: V times the divisors of the steps before it (rule 3). For
 * `terms` the product of these divisors is chain->divisor; chain values are value_of_sum times the
 * values of `terms`. *fits becomes false if the border of `terms` has an error. */
static gconv_status set_border(const gconv_job *job, const gc_conversion *conversion,
                               const gc_chain *chain, gc_step *step, bool *fits, gconv_error *error)
{
    double white = conversion->sample_max, level = white / 255;
    gc_ratio value = gc_ratio_of(job->border_value, job->border_denominator);
    int channels = conversion->chain_channels;
    for (int c = 0; c < channels; c++) {
        /* Alpha of a constant border is opaque; premultiplied colour is colour * alpha. */
        bool is_alpha = channels % 2 == 0 && c == channels - 1;
        double samples = is_alpha ? white : conversion->premultiplies ? level * white : level;
        double *border = &step->terms_border[c];
        *border = is_alpha ? value.under : value.over;
        *fits = gc_multiply_exactly(border, samples) && *fits;
        *fits = gc_multiply_exactly(border, chain->divisor) && *fits;
        step->border[c] = (float)(*border / value.under * chain->value_of_sum);
        if (!isfinite(step->border[c]))
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "border value %g is too large",
                           job->border_value);
    }
    return GCONV_OK;
}

static gconv_status make_steps(const gconv_job *job, const gc_conversion *conversion,
                               gc_chain *chain, gconv_error *error)
{
    size_t count = (size_t)job->filter_count;
    chain->steps = calloc(count, sizeof *chain->steps);
    GC_TRY_MEMORY(chain->steps != NULL, error, count * sizeof *chain->steps);
    chain->step_count = job->filter_count;
    bool is_constant = job->border == GCONV_BORDER_CONSTANT, fits = true;
    if (is_constant)
        chain->denominator = gc_ratio_of(job->border_value, job->border_denominator).under;
    for (int s = 0; s < job->filter_count; s++) {
        gc_step *step = &chain->steps[s];
        GC_TRY(gc_step_create(job->filters[s], job->correlate, step, error));
        if (is_constant)
            GC_TRY(set_border(job, conversion, chain, step, &fits, error));
        const gconv_filter *filter = job->filters[s];
        double divisor = filter->terms != NULL ? filter->terms_divisor : filter->divisor;
        fits = gc_multiply_exactly(&chain->divisor, divisor) && fits;
        chain->value_of_sum *= filter->divisor / divisor;
    }
    fits = gc_multiply_exactly(&chain->divisor, chain->denominator) && fits;
    if (!fits || conversion->sample_max * chain->denominator > 0x1p53)
        chain->divisor = 0;
    chain->value_of_sum /= chain->denominator;
    return GCONV_OK;
}

gconv_status gc_chain_create(const gconv_job *job, const gc_conversion *conversion, gc_chain *chain,
                             gconv_error *error)
{
    *chain = (gc_chain){.width = job->input.width,
                        .height = job->input.height,
                        .channels = conversion->chain_channels,
                        .border = job->border,
                        .denominator = 1,
                        .divisor = 1,
                        .value_of_sum = 1};
    gconv_status status = make_steps(job, conversion, chain, error);
    if (status != GCONV_OK)
        gc_chain_destroy(chain);
    return status;
}

void gc_chain_destroy(gc_chain *chain)
{
    for (int s = 0; s < chain->step_count; s++)
        gc_step_destroy(&chain->steps[s]);
    free(chain->steps);
    *chain = (gc_chain){.steps = NULL};
}

/* ---- Ranges and exactness -------------------------------------------------------------------- */

/* The largest |value| that a step reads: `largest` is that of its input, without the border. */
static double largest_with_border(const gc_chain *chain, const gc_step *step, double largest)
{
    if (chain->border == GCONV_BORDER_CONSTANT)
        for (int c = 0; c < chain->channels; c++)
            largest = fmax(largest, fabs((double)step->border[c]));
    return largest;
}

/* Sets how large and how small a step's input can be. Each number is the largest |value| that
 * enters the step, before its border is added. `largest` is for exact arithmetic, `value` includes
 * the error that rule 4 allows. `dim` is for the dimmest image that is not black, `black` for a
 * black image. A black image has values above 0 if its border is not black. */
static void set_range(const gc_chain *chain, gc_step *step, double largest, double value,
                      double dim, double black)
{
    step->largest_input = largest_with_border(chain, step, largest);
    step->largest_value = largest_with_border(chain, step, value);
    dim = largest_with_border(chain, step, dim);
    black = largest_with_border(chain, step, black);
    step->least_scale = black > 0 ? black : dim;
}

static bool step_is_integer(const gc_chain *chain, const gc_step *step)
{
    if (chain->border == GCONV_BORDER_CONSTANT)
        for (int c = 0; c < chain->channels; c++)
            if (!gc_is_whole((double)step->border[c]) ||
                (double)step->border[c] != step->terms_border[c])
                return false;
    for (int i = 0; step->taps != NULL && i < step->width * step->height; i++)
        if (!gc_is_whole((double)step->taps[i]) || (double)step->taps[i] != step->terms[i])
            return false;
    for (int i = 0; step->column != NULL && i < step->width + step->height; i++)
        if (!gc_is_whole(step->column[i]) || step->column[i] != step->terms[i])
            return false; /* the row lies behind the column */
    return true;
}

/* Rule 3: integer weights on integer samples whose partial sums stay under 2^24. */
static bool is_exact(const gc_chain *chain)
{
    for (int s = 0; s < chain->step_count; s++) {
        const gc_step *step = &chain->steps[s];
        if (step->largest_input >= GC_EXACT_LIMIT || !step_is_integer(chain, step) ||
            step->largest_input * step->absolute_sum >= GC_EXACT_LIMIT)
            return false;
    }
    return true;
}

/* The values include the errors that rule 4 allows. Beyond float32 they would become infinite, and
 * infinities of both signs add up to not-a-number. */
gconv_status gc_chain_set_range(gc_chain *chain, gc_loaded_range loaded, double *largest_result,
                                gconv_error *error)
{
    double largest = loaded.largest, value = largest, dim = loaded.least, black = 0;
    chain->least_input = loaded.whole ? 0 : loaded.least;
    for (int s = 0; s < chain->step_count; s++) {
        gc_step *step = &chain->steps[s];
        set_range(chain, step, largest, value, dim, black);
        largest = step->largest_input * step->absolute_sum;
        value = gc_range_of_output(step);
        dim = largest_with_border(chain, step, dim) * step->absolute_sum;
        black = largest_with_border(chain, step, black) * step->absolute_sum;
        if (value >= (double)FLT_MAX)
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "the values of this chain can exceed float32 after %d of its filters; "
                           "divisors apply at the end, so give weights that are divided already",
                           s + 1);
    }
    chain->exact = loaded.whole && is_exact(chain);
    *largest_result = value;
    return GCONV_OK;
}

/* ---- Questions ------------------------------------------------------------------------------- */

double gc_chain_bound(const gc_chain *chain, double largest_input, double extra_terms)
{
    if (chain->exact)
        return 0;
    double bound = 0;
    double largest = fmax(largest_input, chain->least_input);
    for (int s = 0; s < chain->step_count; s++) {
        const gc_step *step = &chain->steps[s];
        largest = largest_with_border(chain, step, largest);
        double terms = gc_step_terms(step) + extra_terms;
        double rounding = 4 * terms * (0x1p-24 * step->absolute_sum * largest + 0x1p-150);
        bound = rounding + step->absolute_sum * bound;
        largest *= step->absolute_sum;
    }
    return bound;
}

double gc_chain_taps(const gc_chain *chain)
{
    double taps = 0;
    for (int s = 0; s < chain->step_count; s++)
        taps += gc_step_terms(&chain->steps[s]);
    return taps;
}

double gc_chain_work(const gc_chain *chain)
{
    enum { BESIDE_TAPS = 8 };
    return gc_chain_taps(chain) + BESIDE_TAPS;
}

size_t gc_chain_row_values(const gc_chain *chain)
{
    return (size_t)chain->width * (size_t)chain->channels;
}

static bool reflects(const gc_chain *chain)
{
    return chain->border == GCONV_BORDER_MIRROR || chain->border == GCONV_BORDER_MIRROR101;
}

bool gc_step_reads_any_row(const gc_chain *chain, const gc_step *step)
{
    return reflects(chain) && step->height > (int64_t)chain->height;
}

void gc_step_range(const gc_chain *chain, const gc_step *step, int64_t first, int64_t last,
                   int64_t *from, int64_t *to)
{
    int64_t above = gc_step_above(step);
    int64_t below = gc_step_below(step);
    int64_t bottom = (int64_t)chain->height - 1;
    *from = first - above;
    *to = last + below;
    if (chain->border == GCONV_BORDER_WRAP)
        return;
    /* Row -n reflects to row n under mirror101 and to n-1 under mirror; likewise at the bottom. */
    if (reflects(chain) && last + below > bottom)
        *from = gc_smaller(*from, bottom - below);
    if (reflects(chain) && first - above < 0)
        *to = gc_larger(*to, above - first);
    if (gc_step_reads_any_row(chain, step)) {
        *from = 0;
        *to = bottom;
    }
    *from = gc_larger(*from, 0);
    *to = gc_smaller(*to, bottom);
}
