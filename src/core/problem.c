#include "core/problem.h"

#include "base/status.h"
#include "core/device.h"
#include "core/job.h"

#include <math.h>
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
    const gc_conversion *conversion = &problem->conversion;
    gconv_status status = gc_chain_create(&problem->job, conversion, &problem->chain, error);
    if (status != GCONV_OK)
        return status;
    if (!isfinite(conversion->divisor) || conversion->divisor == 0)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "the product of the divisors is zero or not finite");
    double largest;
    status = gc_chain_set_range(&problem->chain, gc_loaded_range_of(conversion), &largest, error);
    return status == GCONV_OK ? check_conversion(conversion, largest, error) : status;
}

gconv_status gc_problem_create(const gconv_job *job, gc_problem *problem, gconv_error *error)
{
    memset(problem, 0, sizeof *problem);
    gconv_status status = gc_job_check(job, error);
    if (status != GCONV_OK)
        return status;
    if (gconv_alpha_needs_pixels(job))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "how alpha is treated depends on the pixels: see gconv_alpha_resolve");
    problem->job = *job;
    problem->job.alpha = gconv_alpha_resolve(job, true);
    problem->gpu_in_use = gc_device_started();
    status = make(problem, error);
    if (status != GCONV_OK)
        gc_problem_destroy(problem);
    return status;
}

void gc_problem_destroy(gc_problem *problem)
{
    gc_chain_destroy(&problem->chain);
    memset(problem, 0, sizeof *problem);
}
