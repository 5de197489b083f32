#include "cli/image/kept_plan.h"

static bool same_shape(const gconv_shape *a, const gconv_shape *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth;
}

gconv_status gc_kept_plan_fit(gc_kept_plan *kept, const gconv_job *job, gconv_error *error)
{
    if (kept->plan != NULL && same_shape(&job->input, &kept->job.input) &&
        job->alpha == kept->job.alpha && job->output_depth == kept->job.output_depth &&
        job->source_format == kept->job.source_format && !gconv_plan_is_outdated(kept->plan))
        return GCONV_OK;
    gconv_plan *old = kept->plan;
    kept->job = *job;
    gconv_status status = gconv_plan_create(job, &kept->plan, error);
    gconv_plan_free(old); /* after that: what plans share stays */
    return status;
}

void gc_kept_plan_free(gc_kept_plan *kept)
{
    gconv_plan_free(kept->plan);
    kept->plan = NULL;
}
