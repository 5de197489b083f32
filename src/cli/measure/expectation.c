#include "cli/measure/steps.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/report/progress.h"

#include <stdlib.h>

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

static gconv_status allocate(const gconv_plan *plan, const gc_picture *picture, gc_expectation *e,
                             gconv_error *error)
{
    size_t height = picture->shape.height;
    e->chain_stride =
        picture->shape.width * (size_t)gconv_plan_chain_channels(plan) * sizeof(float);
    e->output_stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    e->chain = gc_allocate_array(height, e->chain_stride);
    if (e->chain == NULL)
        return gc_fail_memory(error, e->chain_stride * height);
    return GCONV_OK;
}

/* Runs the chain, and converts it: a whole job. */
static gconv_status run(gconv_plan *plan, const gc_picture *picture, gc_expectation *e,
                        gconv_error *error)
{
    void *output = gc_allocate_array(picture->shape.height, e->output_stride);
    if (output == NULL)
        return gc_fail_memory(error, picture->shape.height * e->output_stride);
    double start = gc_seconds();
    gconv_status status = gconv_plan_run_chain(plan, picture->samples, picture->stride, e->chain,
                                               e->chain_stride, NULL, error);
    if (status == GCONV_OK)
        status = gc_convert_chain(plan, picture, e->chain, e->chain_stride, output, error);
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
    gconv_status status = gc_subject_plan(subject, "reference", "reference", picture, &plan, error);
    if (status != GCONV_OK)
        return status;
    status = allocate(plan, picture, e, error);
    gconv_plan_watch(plan, show_reference, (void *)subject);
    if (status == GCONV_OK)
        status = run(plan, picture, e, error);
    gconv_plan_free(plan);
    return status;
}
