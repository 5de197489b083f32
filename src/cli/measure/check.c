#include "cli/measure/steps.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/options/implementations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs the chain and compares it, then runs the whole job into `output`. Where the chain takes
 * longer than `limit`, `output` gets the conversion of the chain instead of a second run. */
static gconv_status run_and_compare(gconv_plan *plan, const gc_picture *picture,
                                    const gc_expectation *expected, double limit, float *chain,
                                    void *output, gc_measurement *row, gconv_error *error)
{
    double start = gc_seconds();
    gconv_status status = gconv_plan_run_chain(plan, picture->samples, picture->stride, chain,
                                               expected->chain_stride, NULL, error);
    double seconds = gc_seconds() - start;
    if (status == GCONV_OK)
        status = gconv_plan_compare(plan, picture->samples, picture->stride, chain, expected->chain,
                                    expected->chain_stride, &row->difference, error);
    if (status != GCONV_OK)
        return status;
    if (seconds <= limit)
        return gconv_plan_run_memory(plan, picture->samples, picture->stride, output,
                                     expected->output_stride, NULL, error);
    start = gc_seconds();
    status = gc_convert_chain(plan, picture, chain, expected->chain_stride, output, error);
    gc_take_one_run(row, seconds + gc_seconds() - start);
    return status;
}

static void judge(const gconv_plan *plan, bool same_output, gc_measurement *row)
{
    bool exact = gconv_plan_is_exact(plan);
    row->verdict = !row->difference.within || (exact && !same_output) ? GC_VERDICT_WRONG
                   : exact                                            ? GC_VERDICT_EXACT
                                                                      : GC_VERDICT_WITHIN;
}

gconv_status gc_check_plan(gconv_plan *plan, const gc_picture *picture,
                           const gc_expectation *expected, double limit, gc_measurement *row,
                           gconv_error *error)
{
    float *chain = gc_allocate_array(picture->shape.height, expected->chain_stride);
    void *output = gc_allocate_array(1, expected->output_bytes);
    gconv_status status = GCONV_OK;
    if (chain == NULL || output == NULL)
        status = gc_fail_memory(error, expected->output_bytes);
    if (status == GCONV_OK)
        status = run_and_compare(plan, picture, expected, limit, chain, output, row, error);
    if (status == GCONV_OK)
        judge(plan, memcmp(output, expected->output, expected->output_bytes) == 0, row);
    free(output);
    free(chain);
    return status;
}

gconv_status gc_adopt_expectation(const gconv_plan *plan, const gc_picture *picture,
                                  const gc_expectation *expected, gc_measurement *row,
                                  gconv_error *error)
{
    gconv_status status =
        gconv_plan_compare(plan, picture->samples, picture->stride, expected->chain,
                           expected->chain, expected->chain_stride, &row->difference, error);
    if (status == GCONV_OK)
        judge(plan, true, row);
    gc_take_one_run(row, expected->seconds);
    return status;
}

gconv_status gc_settle_verdict(gconv_status status, gc_measurement *row, gconv_error *error)
{
    if (status == GCONV_ERROR_UNSUPPORTED || status == GCONV_ERROR_DEVICE ||
        (status == GCONV_ERROR_MEMORY && gc_is_cuda(row->implementation))) {
        row->verdict = GC_VERDICT_UNUSABLE;
        row->runs = 0;
        return GCONV_OK;
    }
    if (status != GCONV_OK)
        *error = row->reason;
    return status;
}

/* The implementation that auto stands for on `picture`. */
static gconv_status resolve_auto(const gc_subject *subject, const gc_picture *picture,
                                 const char **implementation, gconv_error *error)
{
    gconv_plan *plan;
    gconv_status status = gc_subject_plan(subject, "auto", "auto", picture, &plan, error);
    if (status == GCONV_OK)
        *implementation = gconv_plan_implementation(plan);
    gconv_plan_free(plan);
    return status;
}

gconv_status gc_check(const gc_subject *subject, const char *name, const gc_picture *picture,
                      const gc_picture *timed, const gc_expectation *expectation,
                      gc_measurement *row, gconv_error *error)
{
    *row = (gc_measurement){.name = name, .implementation = name};
    gconv_plan *plan = NULL;
    gconv_status status = GCONV_OK;
    if (strcmp(name, "auto") == 0)
        status = resolve_auto(subject, timed, &row->implementation, &row->reason);
    if (status == GCONV_OK)
        status = gc_subject_ready_plan(subject, picture, row, &plan, &row->reason);
    if (status == GCONV_OK)
        status = gc_check_plan(plan, picture, expectation, INFINITY, row, &row->reason);
    gconv_plan_free(plan);
    return gc_settle_verdict(status, row, error);
}
