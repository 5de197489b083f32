#include "cli/measure/steps.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/options/implementations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fills the row's difference: that of chain values, or that of the output where only the output is
 * wrong. They may come from different code. */
static gconv_status compare(const gconv_plan *plan, const gc_picture *picture,
                            const gc_expectation *expected, const float *chain, const void *output,
                            gc_measurement *row, gconv_error *error)
{
    gconv_difference output_difference;
    gconv_status status =
        gconv_plan_compare(plan, picture->samples, picture->stride, chain, expected->chain,
                           expected->chain_stride, &row->difference, error);
    if (status == GCONV_OK)
        status = gconv_plan_compare_output(plan, picture->samples, picture->stride, output,
                                           expected->output_stride, expected->chain,
                                           expected->chain_stride, &output_difference, error);
    if (status == GCONV_OK && row->difference.within && !output_difference.within)
        row->difference = output_difference;
    return status;
}

/* Runs the whole job into `output` and the chain into `chain`. Where the job takes longer than
 * `limit`, its time becomes the row's. */
static gconv_status run(gconv_plan *plan, const gc_picture *picture, const gc_expectation *expected,
                        double limit, float *chain, void *output, gc_measurement *row,
                        gconv_error *error)
{
    double start = gc_seconds();
    gconv_status status = gconv_plan_run_memory(plan, picture->samples, picture->stride, output,
                                                expected->output_stride, NULL, error);
    double seconds = gc_seconds() - start;
    if (seconds > limit)
        gc_take_one_run(row, seconds);
    if (status == GCONV_OK)
        status = gconv_plan_run_chain(plan, picture->samples, picture->stride, chain,
                                      expected->chain_stride, NULL, error);
    return status;
}

static void judge(const gconv_plan *plan, gc_measurement *row)
{
    row->verdict = !row->difference.within     ? GC_VERDICT_WRONG
                   : gconv_plan_is_exact(plan) ? GC_VERDICT_EXACT
                                               : GC_VERDICT_WITHIN;
}

gconv_status gc_check_plan(gconv_plan *plan, const gc_picture *picture,
                           const gc_expectation *expected, double limit, gc_measurement *row,
                           gconv_error *error)
{
    size_t height = picture->shape.height;
    float *chain = gc_allocate_array(height, expected->chain_stride);
    void *output = gc_allocate_array(height, expected->output_stride);
    gconv_status status = GCONV_OK;
    if (chain == NULL || output == NULL)
        status = gc_fail_memory(error, (expected->chain_stride + expected->output_stride) * height);
    if (status == GCONV_OK)
        status = run(plan, picture, expected, limit, chain, output, row, error);
    if (status == GCONV_OK)
        status = compare(plan, picture, expected, chain, output, row, error);
    if (status == GCONV_OK)
        judge(plan, row);
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
        judge(plan, row);
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
