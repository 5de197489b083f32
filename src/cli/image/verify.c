/* --verify: the plan and the reference, compared. */
#include "cli/image/work.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

/* What --verify holds: chain values of both implementations. */
typedef struct verification {
    gconv_plan *plan, *reference;
    float *chain, *expected;
    size_t row_bytes;
    gc_part own, other, writing; /* of the plan, of the reference, of the rows written */
} verification;

/* Divides the image's progress by the expected time of its parts. */
static void share_progress(const gc_work *work, verification *v)
{
    const double computed = 0.95; /* the rest is writing */
    double seconds = gconv_plan_expected_seconds(v->plan);
    double other_seconds = gconv_plan_expected_seconds(v->reference);
    double middle = computed * seconds / (seconds + other_seconds);
    v->own = (gc_part){work, 0, middle};
    v->other = (gc_part){work, middle, computed};
    v->writing = (gc_part){work, computed, 1};
}

static gconv_status prepare(const gc_work *work, verification *v)
{
    gconv_job job = work->worker->kept.job;
    job.implementation = "reference";
    job.device = "cpu";
    job.images_at_once = 0;
    v->plan = work->worker->kept.plan;
    v->row_bytes =
        (size_t)job.input.width * (size_t)gconv_plan_chain_channels(v->plan) * sizeof(float);
    v->chain = gc_allocate_array(job.input.height, v->row_bytes);
    v->expected = gc_allocate_array(job.input.height, v->row_bytes);
    if (v->chain == NULL || v->expected == NULL)
        return gc_fail_memory(work->error, 2 * v->row_bytes * job.input.height);
    gconv_status status = gconv_plan_create(&job, &v->reference, work->error);
    if (status == GCONV_OK)
        share_progress(work, v);
    return status;
}

/* Computes by both, and fills what the result says of the difference. */
static gconv_status compare(gc_work *work, verification *v)
{
    gc_result *result = work->result;
    const void *input = work->picture.samples;
    size_t stride = work->picture.stride;
    gconv_plan_watch(v->plan, gc_part_show, &v->own);
    gconv_plan_watch(v->reference, gc_part_show, &v->other);
    gconv_status status = gconv_plan_run_chain(v->plan, input, stride, v->chain, v->row_bytes,
                                               &result->timings, work->error);
    if (status == GCONV_OK)
        status = gconv_plan_run_chain(v->reference, input, stride, v->expected, v->row_bytes, NULL,
                                      work->error);
    if (status == GCONV_OK)
        status = gconv_plan_compare(v->plan, input, stride, v->chain, v->expected, v->row_bytes,
                                    &result->difference, work->error);
    result->verified = status == GCONV_OK;
    return status;
}

gconv_status gc_run_verified(gc_work *work)
{
    verification v = {.plan = NULL};
    gconv_status status = prepare(work, &v);
    if (status == GCONV_OK)
        status = compare(work, &v);
    if (status == GCONV_OK) {
        gconv_plan_watch(v.plan, gc_part_show, &v.writing);
        status =
            gconv_plan_convert(v.plan, v.chain, v.row_bytes, work->picture.samples,
                               work->picture.stride, gconv_writer_sink(work->writer), work->error);
    }
    gconv_plan_watch(v.plan, NULL, NULL);
    gconv_plan_free(v.reference);
    free(v.expected);
    free(v.chain);
    return status;
}
