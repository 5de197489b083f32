/* --verify: an output and its chain values, compared with the reference. */
#include "cli/image/verify.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/image/work.h"
#include "gconv_lab.h"

#include <stdlib.h>

/* What --verify holds. */
typedef struct verification {
    gconv_plan *plan, *reference;
    gconv_expectation own, expected; /* of the plan, as without --verify; of the reference */
    gc_part of_output, of_reference, of_chain, of_writing; /* shares of the image's progress */
} verification;

/* Divides the image's progress by the expected time of its parts. */
static void share_progress(const gc_work *work, verification *v)
{
    const double computed = 0.95; /* the rest is writing */
    double seconds = gconv_plan_expected_seconds(v->plan);
    double other_seconds = gconv_plan_expected_seconds(v->reference);
    double own = computed * seconds / (2 * seconds + other_seconds);
    v->of_output = (gc_part){work, 0, own};
    v->of_reference = (gc_part){work, own, computed - own};
    v->of_chain = (gc_part){work, computed - own, computed};
    v->of_writing = (gc_part){work, computed, 1};
}

gconv_status gc_results_allocate(const gconv_plan *plan, const gc_picture *picture,
                                 gconv_expectation *e, gconv_error *error)
{
    size_t width = picture->shape.width, height = picture->shape.height;
    e->output_stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    e->chain_stride = width * (size_t)gconv_plan_chain_channels(plan) * sizeof(float);
    e->output = gc_allocate_array(height, e->output_stride);
    e->chain = gc_allocate_array(height, e->chain_stride);
    GC_TRY_MEMORY(e->output != NULL && e->chain != NULL, error,
                  (e->output_stride + e->chain_stride) * height);
    return GCONV_OK;
}

void gc_results_free(gconv_expectation *results)
{
    free(results->chain);
    free(results->output);
    *results = (gconv_expectation){.chain = NULL};
}

gconv_status gc_results_compare(const gconv_plan *plan, const gc_picture *picture,
                                const gconv_expectation *own, const gconv_expectation *expected,
                                gconv_difference *chain, gconv_difference *output,
                                gconv_error *error)
{
    const void *input = picture->samples;
    GC_TRY(gconv_plan_compare(plan, input, picture->stride, own->chain, expected->chain,
                              own->chain_stride, chain, error));
    return gconv_plan_compare_output(plan, input, picture->stride, own->output, own->output_stride,
                                     expected, output, error);
}

static gconv_status prepare(const gc_work *work, verification *v)
{
    gconv_job job = work->worker->job;
    job.implementation = "reference";
    job.device = "cpu";
    job.images_at_once = 0;
    v->plan = work->worker->plan;
    GC_TRY(gc_results_allocate(v->plan, &work->picture, &v->own, work->error));
    GC_TRY(gc_results_allocate(v->plan, &work->picture, &v->expected, work->error));
    GC_TRY(gconv_plan_create(&job, &v->reference, work->error));
    share_progress(work, v);
    return GCONV_OK;
}

/* Computes the output as without --verify, what the reference gives, and the plan's chain values. A
 * plan may compute its output and its chain values by different code. */
static gconv_status run_all(gc_work *work, verification *v)
{
    const void *input = work->picture.samples;
    size_t stride = work->picture.stride;
    gconv_plan_watch(v->plan, gc_part_show, &v->of_output);
    gconv_plan_watch(v->reference, gc_part_show, &v->of_reference);
    gconv_status status =
        gconv_plan_run_memory(v->plan, input, stride, v->own.output, v->own.output_stride,
                              &work->result->timings, work->error);
    GC_THEN(status,
            gconv_plan_run_reference(v->reference, input, stride, &v->expected, work->error));
    gconv_plan_watch(v->plan, gc_part_show, &v->of_chain);
    GC_THEN(status, gconv_plan_run_chain(v->plan, input, stride, v->own.chain, v->own.chain_stride,
                                         NULL, work->error));
    gconv_plan_watch(v->plan, NULL, NULL);
    return status;
}

/* Fills what the result says of the differences. */
static gconv_status compare(gc_work *work, const verification *v)
{
    gc_result *result = work->result;
    gconv_status status =
        gc_results_compare(v->plan, &work->picture, &v->own, &v->expected, &result->difference,
                           &result->output_difference, work->error);
    result->verified = status == GCONV_OK;
    return status;
}

static gconv_status write_output(gc_work *work, verification *v)
{
    enum { SLICE = 64 /* rows */ };
    const uint32_t height = work->picture.shape.height;
    const gconv_sink *sink = gc_output_sink(work);
    gconv_status status = GCONV_OK;
    for (uint32_t y = 0; status == GCONV_OK && y < height; y += SLICE) {
        uint32_t count = height - y < SLICE ? height - y : SLICE;
        status =
            sink->write(sink->user, count, (const char *)v->own.output + y * v->own.output_stride,
                        v->own.output_stride, work->error);
        gc_part_show(&v->of_writing, (double)(y + count) / height);
    }
    return status;
}

gconv_status gc_run_verified(gc_work *work)
{
    verification v = {.plan = NULL};
    gconv_status status = prepare(work, &v);
    GC_THEN(status, run_all(work, &v));
    GC_THEN(status, compare(work, &v));
    GC_THEN(status, write_output(work, &v));
    gconv_plan_free(v.reference);
    gc_results_free(&v.own);
    gc_results_free(&v.expected);
    return status;
}
