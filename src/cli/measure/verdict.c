#include "cli/measure/measure.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/image/verify.h"
#include "cli/options/implementations.h"
#include "cli/terminal/progress.h"

#include <string.h>

/* Runs that a measured plan is made for: so many that the time of its preparation does not
 * matter. */
enum { RUNS_EXPECTED = 1000000 };

/* ---- Plans ----------------------------------------------------------------------------------- */

gconv_status gc_subject_plan(const gc_subject *subject, const gc_point *point,
                             const gc_picture *picture, gconv_plan **plan, gconv_error *error)
{
    gconv_job job = gc_job_for(subject->session, &picture->shape);
    job.alpha = subject->alpha;
    job.output_depth = job.output == GCONV_OUTPUT_EDGES ? 1 : picture->shape.depth;
    job.implementation = point->implementation;
    job.runs = strcmp(point->name, "auto") == 0 ? 0 : RUNS_EXPECTED;
    job.device = gc_device_for(subject->session, point->name);
    return gconv_plan_create(&job, plan, error);
}

gconv_status gc_subject_ready_plan(const gc_subject *subject, gc_point *point,
                                   const gc_picture *picture, gconv_plan **plan, gconv_error *error)
{
    GC_TRY(gc_subject_plan(subject, point, picture, plan, error));
    double seconds;
    gconv_status status = gconv_plan_prepare(*plan, &seconds, error);
    point->compile_seconds += seconds;
    return status;
}

/* ---- What is expected ------------------------------------------------------------------------ */

static bool show_reference(void *user, double done)
{
    const gc_subject *subject = user;
    gc_progress_show("the reference, to judge by", gc_subject_progress(subject, done),
                     subject->entry, subject->entry_count);
    return true;
}

gconv_status gc_expect(const gc_subject *subject, const gc_picture *picture,
                       gc_expectation *expectation, gconv_error *error)
{
    gc_point reference = {.width = 0};
    *expectation = (gc_expectation){.seconds = 0};
    gc_point_set_name(&reference, "reference");
    gconv_plan *plan;
    GC_TRY(gc_subject_plan(subject, &reference, picture, &plan, error));
    gconv_status status = gc_results_allocate(plan, picture, &expectation->of, error);
    gconv_plan_watch(plan, show_reference, (void *)subject);
    double start = gc_seconds();
    GC_THEN(status, gconv_plan_run_reference(plan, picture->samples, picture->stride,
                                             &expectation->of, error));
    expectation->seconds = gc_seconds() - start;
    gconv_plan_free(plan);
    return status;
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* A plan that is judged: what it computes is compared with what is expected. */
typedef struct trial {
    gconv_plan *plan;
    const gc_picture *picture;
    const gconv_expectation *expected;
    gconv_expectation own;
    gc_point *point;
} trial;

/* Fills the point's difference: that of chain values, or that of the output if only the output is
 * wrong. */
static gconv_status compare(const trial *t, gconv_error *error)
{
    gconv_difference difference;
    gconv_status status = gc_results_compare(t->plan, t->picture, &t->own, t->expected,
                                             &t->point->difference, &difference, error);
    if (status == GCONV_OK && t->point->difference.within && !difference.within)
        t->point->difference = difference;
    return status;
}

/* Runs the whole job, and then the chain. If the job takes longer than `limit`, its time becomes
 * the point's. */
static gconv_status run(const trial *t, double limit, gconv_error *error)
{
    const gc_picture *picture = t->picture;
    double start = gc_seconds();
    gconv_status status = gconv_plan_run_memory(t->plan, picture->samples, picture->stride,
                                                t->own.output, t->own.output_stride, NULL, error);
    double seconds = gc_seconds() - start;
    if (seconds > limit)
        gc_take_runs(t->point, &seconds, 1);
    GC_THEN(status, gconv_plan_run_chain(t->plan, picture->samples, picture->stride, t->own.chain,
                                         t->own.chain_stride, NULL, error));
    return status;
}

static void judge(const gconv_plan *plan, gc_point *point)
{
    gconv_promise promise = gconv_plan_promise(plan);
    point->verdict = !point->difference.within               ? GC_VERDICT_WRONG
                     : promise == GCONV_PROMISE_EXACT        ? GC_VERDICT_EXACT
                     : promise == GCONV_PROMISE_ROUNDED_ONCE ? GC_VERDICT_ONCE
                                                             : GC_VERDICT_WITHIN;
}

gconv_status gc_check_plan(gconv_plan *plan, const gc_picture *picture,
                           const gc_expectation *expected, double limit, gc_point *point,
                           gconv_error *error)
{
    trial t = {.plan = plan, .picture = picture, .expected = &expected->of, .point = point};
    gconv_status status = gc_results_allocate(plan, picture, &t.own, error);
    GC_THEN(status, run(&t, limit, error));
    GC_THEN(status, compare(&t, error));
    if (status == GCONV_OK)
        judge(plan, point);
    gc_results_free(&t.own);
    return status;
}

gconv_status gc_adopt_expectation(const gconv_plan *plan, const gc_picture *picture,
                                  const gc_expectation *expected, gc_point *point,
                                  gconv_error *error)
{
    GC_TRY(gconv_plan_compare(plan, picture->samples, picture->stride, expected->of.chain,
                              expected->of.chain, expected->of.chain_stride, &point->difference,
                              error));
    judge(plan, point);
    double seconds = expected->seconds;
    gc_take_runs(point, &seconds, 1);
    return GCONV_OK;
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
