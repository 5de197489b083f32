#include "cli/measure/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/options/implementations.h"
#include "cli/report/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs that a measured plan is made for: so many that the time of its preparation does not
 * matter. */
enum { RUNS_EXPECTED = 1000000 };

/* ---- Plans ----------------------------------------------------------------------------------- */

double gc_subject_progress(const gc_subject *subject, double part)
{
    return ((double)subject->entry + fmin(part, 1)) / (double)subject->entry_count;
}

void gc_subject_begin_progress(const gc_subject *subject, const char *name)
{
    gc_progress_begin(name, gc_subject_progress(subject, 0), subject->entry, subject->entry_count);
}

static gconv_status make_plan(const gc_subject *subject, const char *name,
                              const char *implementation, const gc_picture *picture,
                              gconv_plan **plan, gconv_error *error)
{
    gconv_job job = gc_job_for(subject->session, &picture->shape);
    job.alpha = subject->alpha;
    job.output_depth = job.output == GCONV_OUTPUT_EDGES ? 1 : picture->shape.depth;
    job.implementation = implementation;
    job.runs = strcmp(name, "auto") == 0 ? 0 : RUNS_EXPECTED;
    job.device = gc_device_for(subject->session, name);
    return gconv_plan_create(&job, plan, error);
}

gconv_status gc_subject_ready_plan(const gc_subject *subject, const gc_picture *picture,
                                   gc_point *point, gconv_plan **plan, gconv_error *error)
{
    gconv_status status =
        make_plan(subject, point->name, point->implementation, picture, plan, error);
    if (status != GCONV_OK)
        return status;
    double seconds;
    status = gconv_plan_prepare(*plan, &seconds, error);
    point->compile_seconds += seconds;
    return status;
}

/* ---- Rows of output -------------------------------------------------------------------------- */

/* Whether the run will take longer than its limit, estimated from the rows that came after the
 * first ones; asked once a tenth of the limit is spent. */
static bool takes_too_long(const gc_row_sink *sink)
{
    double now = gc_seconds();
    uint32_t came = sink->rows - sink->first_rows, left = sink->height - sink->rows;
    if (!(sink->limit > 0) || now - sink->start < sink->limit / 10 || came == 0 || left == 0)
        return false;
    return now - sink->start + (now - sink->first) / came * left > sink->limit;
}

static gconv_status write_rows(void *user, uint32_t count, const void *rows, size_t stride,
                               gconv_error *error)
{
    gc_row_sink *sink = user;
    for (uint32_t i = 0; i < count; i++)
        memcpy(sink->to + (size_t)sink->rows++ * sink->row_bytes, (const char *)rows + i * stride,
               sink->row_bytes);
    if (sink->first_rows == 0) {
        sink->first_rows = sink->rows;
        sink->first = gc_seconds();
    }
    if (takes_too_long(sink))
        return gc_fail(error, GCONV_ERROR_LIMIT, "takes too long");
    return GCONV_OK;
}

gconv_sink gc_row_sink_of(gc_row_sink *sink)
{
    return (gconv_sink){.size = sizeof(gconv_sink), .write = write_rows, .user = sink};
}

/* ---- What is expected ------------------------------------------------------------------------ */

void gc_expectation_destroy(gc_expectation *expectation)
{
    free(expectation->chain);
    *expectation = (gc_expectation){.chain = NULL};
}

static bool show_reference(void *user, double done)
{
    const gc_subject *subject = user;
    gc_progress_show("the reference, to judge by", gc_subject_progress(subject, done),
                     subject->entry, subject->entry_count);
    return true;
}

/* Runs the chain, and converts it: a whole job. */
static gconv_status run_reference(gconv_plan *plan, const gc_picture *picture, gc_expectation *e,
                                  gconv_error *error)
{
    size_t height = picture->shape.height;
    void *output = gc_allocate_array(height, e->output_stride);
    if (output == NULL)
        return gc_fail_memory(error, height * e->output_stride);
    gc_row_sink sink = {.to = output, .row_bytes = e->output_stride};
    gconv_sink to = gc_row_sink_of(&sink);
    double start = gc_seconds();
    gconv_status status = gconv_plan_run_chain(plan, picture->samples, picture->stride, e->chain,
                                               e->chain_stride, NULL, error);
    if (status == GCONV_OK)
        status = gconv_plan_convert(plan, e->chain, e->chain_stride, picture->samples,
                                    picture->stride, &to, error);
    e->seconds = gc_seconds() - start;
    free(output);
    return status;
}

gconv_status gc_expect(const gc_subject *subject, const gc_picture *picture,
                       gc_expectation *expectation, gconv_error *error)
{
    gc_expectation *e = expectation;
    *e = (gc_expectation){.chain = NULL};
    gconv_plan *plan;
    gconv_status status = make_plan(subject, "reference", "reference", picture, &plan, error);
    if (status != GCONV_OK)
        return status;
    e->chain_stride =
        picture->shape.width * (size_t)gconv_plan_chain_channels(plan) * sizeof(float);
    e->output_stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    e->chain = gc_allocate_array(picture->shape.height, e->chain_stride);
    gconv_plan_watch(plan, show_reference, (void *)subject);
    if (e->chain != NULL)
        status = run_reference(plan, picture, e, error);
    else
        status = gc_fail_memory(error, e->chain_stride * picture->shape.height);
    gconv_plan_free(plan);
    return status;
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* Fills the point's difference: that of chain values, or that of the output if only the output is
 * wrong. They may come from different code. */
static gconv_status compare(const gconv_plan *plan, const gc_picture *picture,
                            const gc_expectation *expected, const float *chain, const void *output,
                            gc_point *point, gconv_error *error)
{
    gconv_difference output_difference;
    gconv_status status =
        gconv_plan_compare(plan, picture->samples, picture->stride, chain, expected->chain,
                           expected->chain_stride, &point->difference, error);
    if (status == GCONV_OK)
        status = gconv_plan_compare_output(plan, picture->samples, picture->stride, output,
                                           expected->output_stride, expected->chain,
                                           expected->chain_stride, &output_difference, error);
    if (status == GCONV_OK && point->difference.within && !output_difference.within)
        point->difference = output_difference;
    return status;
}

/* Makes `seconds` the time of the only run. */
static void take_one_run(gc_point *point, double seconds)
{
    gc_take_runs(point, &seconds, 1);
}

/* Runs the whole job into `output` and the chain into `chain`. If the job takes longer than
 * `limit`, its time becomes the point's. */
static gconv_status run(gconv_plan *plan, const gc_picture *picture, const gc_expectation *expected,
                        double limit, float *chain, void *output, gc_point *point,
                        gconv_error *error)
{
    double start = gc_seconds();
    gconv_status status = gconv_plan_run_memory(plan, picture->samples, picture->stride, output,
                                                expected->output_stride, NULL, error);
    double seconds = gc_seconds() - start;
    if (seconds > limit)
        take_one_run(point, seconds);
    if (status == GCONV_OK)
        status = gconv_plan_run_chain(plan, picture->samples, picture->stride, chain,
                                      expected->chain_stride, NULL, error);
    return status;
}

static void judge(const gconv_plan *plan, gc_point *point)
{
    point->verdict = !point->difference.within   ? GC_VERDICT_WRONG
                     : gconv_plan_is_exact(plan) ? GC_VERDICT_EXACT
                                                 : GC_VERDICT_WITHIN;
}

gconv_status gc_check_plan(gconv_plan *plan, const gc_picture *picture,
                           const gc_expectation *expected, double limit, gc_point *point,
                           gconv_error *error)
{
    size_t height = picture->shape.height;
    float *chain = gc_allocate_array(height, expected->chain_stride);
    void *output = gc_allocate_array(height, expected->output_stride);
    gconv_status status = GCONV_OK;
    if (chain == NULL || output == NULL)
        status = gc_fail_memory(error, (expected->chain_stride + expected->output_stride) * height);
    if (status == GCONV_OK)
        status = run(plan, picture, expected, limit, chain, output, point, error);
    if (status == GCONV_OK)
        status = compare(plan, picture, expected, chain, output, point, error);
    if (status == GCONV_OK)
        judge(plan, point);
    free(output);
    free(chain);
    return status;
}

gconv_status gc_adopt_expectation(const gconv_plan *plan, const gc_picture *picture,
                                  const gc_expectation *expected, gc_point *point,
                                  gconv_error *error)
{
    gconv_status status =
        gconv_plan_compare(plan, picture->samples, picture->stride, expected->chain,
                           expected->chain, expected->chain_stride, &point->difference, error);
    if (status == GCONV_OK)
        judge(plan, point);
    take_one_run(point, expected->seconds);
    return status;
}

gconv_status gc_settle_verdict(gconv_status status, gc_point *point, gconv_error *error)
{
    if (status == GCONV_ERROR_UNSUPPORTED || status == GCONV_ERROR_DEVICE ||
        (status == GCONV_ERROR_MEMORY && gc_is_cuda(point->implementation))) {
        point->verdict = GC_VERDICT_UNUSABLE;
        point->runs = 0;
        return GCONV_OK;
    }
    if (status != GCONV_OK)
        *error = point->reason;
    return status;
}

/* Writes to the point the implementation that auto stands for on `picture`. */
static gconv_status resolve_auto(const gc_subject *subject, const gc_picture *picture,
                                 gc_point *point)
{
    gconv_plan *plan;
    gconv_status status = make_plan(subject, "auto", "auto", picture, &plan, &point->reason);
    if (status == GCONV_OK)
        snprintf(point->implementation, sizeof point->implementation, "%s",
                 gconv_plan_implementation(plan));
    gconv_plan_free(plan);
    return status;
}

gconv_status gc_check(const gc_subject *subject, const char *name, const gc_picture *picture,
                      const gc_picture *timed, const gc_expectation *expectation, gc_point *point,
                      gconv_error *error)
{
    gconv_plan *plan = NULL;
    gconv_status status = GCONV_OK;
    gc_point_set_name(point, name);
    if (strcmp(name, "auto") == 0)
        status = resolve_auto(subject, timed, point);
    if (status == GCONV_OK)
        status = gc_subject_ready_plan(subject, picture, point, &plan, &point->reason);
    if (status == GCONV_OK)
        status = gc_check_plan(plan, picture, expectation, INFINITY, point, &point->reason);
    gconv_plan_free(plan);
    return gc_settle_verdict(status, point, error);
}
