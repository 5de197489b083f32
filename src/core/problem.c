#include "core/problem.h"

#include "base/status.h"
#include "core/gpu.h"
#include "core/job.h"
#include "core/sums.h"
#include "filter/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* contract.md, rule 9. Chain values over the divisor must be finite in double, and so must the
 * offset. A scale of 0 times infinity would be not-a-number. */
static gconv_status check_conversion(const gc_conversion *conversion, double largest,
                                     gconv_error *error)
{
    if (!isfinite(largest / conversion->divisor))
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "the values of this chain over its divisors can exceed double");
    if (!isfinite(conversion->offset))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the offset is too large for 16-bit samples");
    return GCONV_OK;
}

static gconv_status make(gc_problem *problem, gconv_error *error)
{
    problem->conversion = gc_conversion_of(&problem->job);
    gc_conversion *conversion = &problem->conversion;
    GC_TRY(gc_chain_create(&problem->job, conversion, &problem->chain, error));
    if (!isfinite(conversion->divisor) || conversion->divisor == 0)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "the product of the divisors is zero or not finite");
    double largest;
    GC_TRY(gc_chain_set_range(&problem->chain, gc_loaded_range_of(conversion), &largest, error));
    conversion->whole = problem->chain.exact;
    gc_chain_set_sums(conversion, &problem->chain);
    problem->rounding = gc_rounding_of(&problem->job, conversion, problem->chain.divisor);
    if (conversion->finds_edges && problem->rounding.once && conversion->whole)
        conversion->threshold = gc_whole_threshold(&problem->rounding);
    GC_TRY(check_conversion(conversion, largest, error));
    if (!gc_detects(&problem->detector))
        return GCONV_OK;
    return gc_detector_create(&problem->job, conversion, &problem->chain, &problem->detector,
                              error);
}

/* Makes the problem's job one whose pointers are not the caller's. */
static gconv_status copy_filters(gc_problem *problem, gconv_error *error)
{
    gconv_job *job = &problem->job;
    const gconv_filter *const *given = job->filters;
    problem->filters = calloc((size_t)job->filter_count, sizeof *problem->filters);
    job->filters = (const gconv_filter *const *)problem->filters;
    GC_TRY_MEMORY(problem->filters != NULL, error,
                  (size_t)job->filter_count * sizeof *problem->filters);
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < job->filter_count; i++) {
        status = gc_filter_copy(given[i], &problem->filters[i], error);
        if (status == GCONV_OK && gc_detects(&problem->detector))
            status = gc_make_weights_whole(&problem->filters[i], job->input.depth, error);
    }
    return status;
}

/* What `job` leaves to the library: the depth of the output, and grey for edges. */
static void complete(gc_problem *problem)
{
    gconv_job *job = &problem->job;
    problem->given = job->input;
    if (job->output_depth == 0)
        job->output_depth = job->input.depth;
    problem->to_grey = (job->output == GCONV_OUTPUT_EDGES || gc_detects(&problem->detector)) &&
                       job->input.channels > 1;
    if (problem->to_grey)
        job->input.channels = 1;
    if (gc_detects(&problem->detector)) {
        job->border_value = rint(job->border_value);
        job->border_denominator = 0;
    }
}

gconv_status gc_problem_create(const gconv_job *job, gc_problem *problem, gconv_error *error)
{
    memset(problem, 0, sizeof *problem);
    GC_TRY(gc_job_check(job, &problem->tiling, &problem->detector.asked, error));
    if (gconv_alpha_needs_pixels(job))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "how alpha is treated depends on the pixels: see gconv_alpha_resolve");
    problem->job = *job;
    problem->job.tiling = NULL;
    problem->job.detector = NULL;
    problem->job.alpha = gconv_alpha_resolve(job, true);
    problem->gpu_in_use = gc_gpu_started();
    complete(problem);
    gconv_status status = copy_filters(problem, error);
    GC_THEN(status, make(problem, error));
    if (status != GCONV_OK)
        gc_problem_destroy(problem);
    return status;
}

void gc_problem_destroy(gc_problem *problem)
{
    gc_chain_destroy(&problem->chain);
    for (int i = 0; problem->filters != NULL && i < problem->job.filter_count; i++)
        gconv_filter_free(problem->filters[i]);
    free(problem->filters);
    memset(problem, 0, sizeof *problem);
}
