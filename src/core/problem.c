#include "core/problem.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/range.h"
#include "gpu/gpu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What CUDA allows on every device. */
enum { BLOCK_THREADS_MAX = 1024 };

/* Above this a float32 no longer holds every integer. */
static const double exact_limit = 16777216.0;

static gconv_status check_shape(const gconv_job *job, gconv_error *error)
{
    const gconv_shape *input = &job->input;
    if (gconv_shape_row_bytes(input) == 0 || (input->depth != 8 && input->depth != 16))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "not an input shape: %ux%u, %d channels, depth %d", input->width,
                       input->height, input->channels, input->depth);
    if (job->output == GCONV_OUTPUT_EDGES && input->channels != 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "edges are found in one grey channel, not in %d", input->channels);
    int depth = job->output_depth;
    if (depth != 1 && depth != 8 && depth != 16 && depth != 32)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "output depth %d is not 1, 8, 16 or 32", depth);
    return GCONV_OK;
}

/* Values that a C caller may get wrong: the command line has its own words for them. */
static gconv_status check_choices(const gconv_job *job, gconv_error *error)
{
    if ((unsigned)job->border >= GCONV_BORDER_COUNT ||
        (unsigned)job->alpha > GCONV_ALPHA_PREMULTIPLY ||
        (unsigned)job->rule > GCONV_RULE_NEGATIVE || (unsigned)job->output > GCONV_OUTPUT_EDGES)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "unknown border %d, alpha %d, rule %d or output %d", (int)job->border,
                       (int)job->alpha, (int)job->rule, (int)job->output);
    if (job->threads < 0 || job->tile < 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%d threads or tile %d: less than 0",
                       job->threads, job->tile);
    int width = job->block_width, height = job->block_height;
    bool left_open = width == 0 && height == 0;
    if (!left_open && (width < 1 || width > BLOCK_THREADS_MAX || height < 1 ||
                       height > BLOCK_THREADS_MAX || width * height > BLOCK_THREADS_MAX))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "a block of %dx%d threads is not one of 1 to %d", width, height,
                       BLOCK_THREADS_MAX);
    return GCONV_OK;
}

static gconv_status check_filter(const gconv_filter *filter, gconv_error *error)
{
    if (filter == NULL || filter->weights == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a filter of the chain%s",
                       filter == NULL ? " is a null pointer" : " has no weights: a null pointer");
    if (filter->width < 1 || filter->width > GCONV_FILTER_SIDE_MAX || filter->height < 1 ||
        filter->height > GCONV_FILTER_SIDE_MAX)
        return gc_fail(error, GCONV_ERROR_FILTER, "filter size %dx%d is not within 1x1 and %dx%d",
                       filter->width, filter->height, GCONV_FILTER_SIDE_MAX, GCONV_FILTER_SIDE_MAX);
    if (filter->anchor_x < 0 || filter->anchor_x >= filter->width || filter->anchor_y < 0 ||
        filter->anchor_y >= filter->height)
        return gc_fail(error, GCONV_ERROR_FILTER, "anchor %d %d lies outside the %dx%d filter",
                       filter->anchor_x, filter->anchor_y, filter->width, filter->height);
    if (!isfinite(filter->divisor) || filter->divisor == 0)
        return gc_fail(error, GCONV_ERROR_FILTER, "divisor %g is zero or not finite",
                       filter->divisor);
    if (filter->has_offset && !isfinite(filter->offset))
        return gc_fail(error, GCONV_ERROR_FILTER, "offset %g is not finite", filter->offset);
    for (int i = 0; i < filter->width * filter->height; i++)
        if (!isfinite(filter->weights[i]))
            return gc_fail(error, GCONV_ERROR_FILTER, "weight %d is not finite", i);
    return GCONV_OK;
}

static gconv_status check_chain(const gconv_job *job, gconv_error *error)
{
    if (job->filter_count < 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a chain has at least one filter");
    if (job->filters == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the filters of the job are a null pointer");
    for (int i = 0; i < job->filter_count; i++) {
        gconv_status status = check_filter(job->filters[i], error);
        if (status != GCONV_OK)
            return status;
        if (job->filters[i]->has_offset && i + 1 < job->filter_count)
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "filter %d of %d has an offset; only the last of a chain may have one",
                           i + 1, job->filter_count);
    }
    if (!isfinite(job->border_value) || !isfinite(job->scale) || !isfinite(job->offset) ||
        !isfinite(job->threshold))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "border value, scale, offset and threshold must be finite");
    return GCONV_OK;
}

/* Taps in reading order. True convolution reads the filter backwards (contract, rule 1). */
static gconv_status make_step(const gconv_filter *filter, bool correlate, gc_step *step,
                              gconv_error *error)
{
    size_t count = (size_t)filter->width * (size_t)filter->height;
    step->taps = gc_allocate_aligned(count, sizeof *step->taps);
    if (step->taps == NULL)
        return gc_fail_memory(error, count * sizeof *step->taps);
    step->filter = filter;
    step->width = filter->width;
    step->height = filter->height;
    step->left = correlate ? filter->anchor_x : filter->width - 1 - filter->anchor_x;
    step->top = correlate ? filter->anchor_y : filter->height - 1 - filter->anchor_y;
    step->absolute_sum = 0;
    for (size_t i = 0; i < count; i++) {
        step->taps[i] = filter->weights[correlate ? i : count - 1 - i];
        step->absolute_sum += fabs((double)step->taps[i]);
    }
    return GCONV_OK;
}

/* The constant border of a step's input: V times the divisors of the steps before it (rule 3). */
static gconv_status set_border(const gc_problem *problem, gc_step *step, gconv_error *error)
{
    double level = problem->job.border_value * problem->sample_max / 255;
    for (int c = 0; c < problem->channels; c++) {
        /* Alpha of a constant border is opaque; premultiplied colour is colour * alpha. */
        bool is_alpha = problem->channels % 2 == 0 && c == problem->channels - 1;
        double value = is_alpha                 ? problem->sample_max
                       : problem->premultiplies ? level * problem->sample_max
                                                : level;
        step->border[c] = (float)(value * problem->divisor);
        if (!isfinite(step->border[c]))
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "border value %g is too large",
                           problem->job.border_value);
    }
    return GCONV_OK;
}

static gconv_status make_steps(gc_problem *problem, gconv_error *error)
{
    const gconv_job *job = &problem->job;
    problem->steps = calloc((size_t)job->filter_count, sizeof *problem->steps);
    if (problem->steps == NULL)
        return gc_fail_memory(error, (size_t)job->filter_count * sizeof *problem->steps);
    problem->step_count = job->filter_count;
    problem->divisor = 1;
    for (int s = 0; s < job->filter_count; s++) {
        gconv_status status = make_step(job->filters[s], job->correlate, &problem->steps[s], error);
        if (status == GCONV_OK && job->border == GCONV_BORDER_CONSTANT)
            status = set_border(problem, &problem->steps[s], error);
        if (status != GCONV_OK)
            return status;
        problem->divisor *= job->filters[s]->divisor;
    }
    if (!isfinite(problem->divisor) || problem->divisor == 0)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "the product of the divisors is zero or not finite");
    return GCONV_OK;
}

static bool is_integer(float value)
{
    return value == truncf(value);
}

/* The largest |value| that enters the chain of any image. */
static double largest_sample(const gc_problem *problem)
{
    return problem->sample_max * (problem->premultiplies ? problem->sample_max : 1);
}

/* The largest |value| that a step meets where those of its input are at most `largest`. */
static double largest_with_border(const gc_problem *problem, const gc_step *step, double largest)
{
    if (problem->job.border == GCONV_BORDER_CONSTANT)
        for (int c = 0; c < problem->channels; c++)
            largest = fmax(largest, fabs((double)step->border[c]));
    return largest;
}

/* In samples of the input's depth. */
static double offset_of(const gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    const gconv_filter *last = job->filters[job->filter_count - 1];
    double offset = job->has_offset ? job->offset : last->has_offset ? last->offset : 0;
    return offset * (problem->sample_max / 255);
}

/* Sets how large and how small a step's input can be. A black image is not 0 where the border is not. */
static void set_range(const gc_problem *problem, gc_step *step, double largest, double value,
                      double dim, double black)
{
    step->largest_input = largest_with_border(problem, step, largest);
    step->largest_value = largest_with_border(problem, step, value);
    dim = largest_with_border(problem, step, dim);
    black = largest_with_border(problem, step, black);
    step->least_scale = black > 0 ? black : dim;
}

/* Errors of rounding may add up until infinity; infinities of either sign would make not-a-number. Over
 * the divisors, in double, values must be finite too: a scale may be 0. */
static gconv_status check_range(gc_problem *problem, gconv_error *error)
{
    double largest = largest_sample(problem), value = largest, dim = 1, black = 0;
    for (int s = 0; s < problem->step_count; s++) {
        gc_step *step = &problem->steps[s];
        set_range(problem, step, largest, value, dim, black);
        largest = step->largest_input * step->absolute_sum;
        value = gc_range_of_output(step);
        dim = largest_with_border(problem, step, dim) * step->absolute_sum;
        black = largest_with_border(problem, step, black) * step->absolute_sum;
        if (value >= (double)FLT_MAX)
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "the values of this chain can exceed float32");
    }
    if (!isfinite(value / problem->divisor))
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "the values of this chain over its divisors can exceed double");
    if (!isfinite(offset_of(problem)))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the offset is too large for 16-bit samples");
    return GCONV_OK;
}

static bool step_is_integer(const gc_problem *problem, const gc_step *step)
{
    if (problem->job.border == GCONV_BORDER_CONSTANT)
        for (int c = 0; c < problem->channels; c++)
            if (!is_integer(step->border[c]))
                return false;
    for (int i = 0; i < step->width * step->height; i++)
        if (!is_integer(step->taps[i]))
            return false;
    return true;
}

/* Rule 3: integer weights on integer samples whose partial sums stay under 2^24. */
static bool chain_is_exact(const gc_problem *problem)
{
    for (int s = 0; s < problem->step_count; s++) {
        const gc_step *step = &problem->steps[s];
        if (step->largest_input >= exact_limit || !step_is_integer(problem, step) ||
            step->largest_input * step->absolute_sum >= exact_limit)
            return false;
    }
    return true;
}

static void set_conversion(gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    double samples_per_level = problem->sample_max / 255;
    problem->offset = offset_of(problem);
    problem->threshold = job->threshold * samples_per_level * fabs(problem->divisor);
    problem->rule = job->rule;
    if (problem->divisor < 0 && job->rule != GCONV_RULE_ABS)
        problem->rule =
            job->rule == GCONV_RULE_POSITIVE ? GCONV_RULE_NEGATIVE : GCONV_RULE_POSITIVE;
    problem->bilevel = job->output == GCONV_OUTPUT_EDGES || job->output_depth == 1;
    problem->output = job->input;
    /* Only a single channel can be packed to bits; elsewhere bilevel samples take 8. */
    bool packs = job->output_depth != 1 || job->input.channels == 1;
    problem->output.depth = packs ? job->output_depth : 8;
}

gconv_status gc_problem_create(const gconv_job *job, gc_problem *problem, gconv_error *error)
{
    memset(problem, 0, sizeof *problem);
    gconv_status status = check_shape(job, error);
    if (status == GCONV_OK)
        status = check_choices(job, error);
    if (status == GCONV_OK)
        status = check_chain(job, error);
    if (status != GCONV_OK)
        return status;
    bool has_alpha = job->input.channels % 2 == 0;
    problem->job = *job;
    problem->width = job->input.width;
    problem->height = job->input.height;
    problem->keeps_alpha = has_alpha && job->alpha == GCONV_ALPHA_KEEP;
    problem->premultiplies = has_alpha && job->alpha == GCONV_ALPHA_PREMULTIPLY;
    problem->channels = job->input.channels - (problem->keeps_alpha ? 1 : 0);
    problem->sample_max = job->input.depth == 16 ? 65535 : 255;
    problem->gpu_in_use = gc_gpu_started();
    status = make_steps(problem, error);
    if (status == GCONV_OK)
        status = check_range(problem, error);
    if (status != GCONV_OK) {
        gc_problem_destroy(problem);
        return status;
    }
    set_conversion(problem);
    problem->exact = chain_is_exact(problem);
    return GCONV_OK;
}

void gc_problem_destroy(gc_problem *problem)
{
    for (int s = 0; s < problem->step_count; s++)
        free(problem->steps[s].taps);
    free(problem->steps);
    memset(problem, 0, sizeof *problem);
}

double gc_problem_bound(const gc_problem *problem, double largest_input, double extra_terms)
{
    if (problem->exact)
        return 0;
    double bound = 0;
    double largest = largest_input;
    for (int s = 0; s < problem->step_count; s++) {
        const gc_step *step = &problem->steps[s];
        largest = largest_with_border(problem, step, largest);
        double terms = (double)step->width * step->height + extra_terms;
        double rounding = 4 * terms * (0x1p-24 * step->absolute_sum * largest + 0x1p-150);
        bound = rounding + step->absolute_sum * bound;
        largest *= step->absolute_sum;
    }
    return bound;
}

/* L = log2(N) levels of additions and rotations make a transform of N points. With u = 2^-53, a complex
 * addition errs by u of its result, a rotation by 2 sqrt(2) u, whether products and sums are fused or
 * not, and by what its root is off, 3 u at most: less than 8 u a level. (Higham, Accuracy and Stability
 * of Numerical Algorithms, 2002, section 24.1, has the same with other constants.) A level is sqrt(2)
 * times a unitary matrix, so that a transform errs by less than 8 L u in the 2-norm, relatively;
 * the values that a weight w passes through have the magnitude |w|, so that a value of the
 * filter's spectrum errs by less than 8 L u sum|w|, and is itself at most sum|w|. The transforms there
 * and back, the filter's, and the products (3 u) thus stay below 32 L u sum|w| |in|_2. Two real images of
 * N values, one as the imaginary part of the other, have |in|_2 <= sqrt(2 N) max|in|; and
 * sum|w| max|in| < 2^24 in an exact chain. */
double gc_transform_error(double log2_points)
{
    return 32 * log2_points * 0x1p-53 * sqrt(2 * exp2(log2_points)) * exact_limit;
}

double gc_problem_taps(const gc_problem *problem)
{
    double taps = 0;
    for (int s = 0; s < problem->step_count; s++)
        taps += (double)problem->steps[s].width * problem->steps[s].height;
    return taps;
}

int64_t gc_step_above(const gc_step *step)
{
    return step->top;
}

int64_t gc_step_below(const gc_step *step)
{
    return step->height - 1 - step->top;
}

static bool reflects(const gc_problem *problem)
{
    return problem->job.border == GCONV_BORDER_MIRROR ||
           problem->job.border == GCONV_BORDER_MIRROR101;
}

bool gc_step_reads_any_row(const gc_problem *problem, const gc_step *step)
{
    return reflects(problem) && step->height > (int64_t)problem->height;
}

void gc_step_range(const gc_problem *problem, const gc_step *step, int64_t first, int64_t last,
                   int64_t *from, int64_t *to)
{
    int64_t above = gc_step_above(step);
    int64_t below = gc_step_below(step);
    int64_t bottom = (int64_t)problem->height - 1;
    *from = first - above;
    *to = last + below;
    if (problem->job.border == GCONV_BORDER_WRAP)
        return;
    /* Row -n reflects to row n under mirror101 and to n-1 under mirror; likewise at the bottom. */
    if (reflects(problem) && last + below > bottom)
        *from = gc_smaller(*from, bottom - below);
    if (reflects(problem) && first - above < 0)
        *to = gc_larger(*to, above - first);
    if (gc_step_reads_any_row(problem, step)) {
        *from = 0;
        *to = bottom;
    }
    *from = gc_larger(*from, 0);
    *to = gc_smaller(*to, bottom);
}
