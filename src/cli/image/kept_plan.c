#include "cli/image/kept_plan.h"

static bool same_shape(const gconv_shape *a, const gconv_shape *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth;
}

gconv_status gc_kept_plan_fit(gc_kept_plan *kept, const gconv_job *job, gconv_error *error)
{
    if (kept->plan != NULL && same_shape(&job->input, &kept->job.input) &&
        job->alpha == kept->job.alpha && job->output_depth == kept->job.output_depth)
        return GCONV_OK;
    gc_kept_plan_free(kept);
    kept->job = *job;
    return gconv_plan_create(job, &kept->plan, error);
}

void gc_kept_plan_give_turn(gc_kept_plan *kept)
{
    if (kept->plan == NULL || kept->job.images_at_once < 2)
        return;
    bool used_gpu = gconv_plan_device(kept->plan)->kind == GCONV_DEVICE_CUDA ||
                    gconv_plan_fallback(kept->plan)[0] != '\0';
    if (used_gpu)
        gc_kept_plan_free(kept);
}

void gc_kept_plan_free(gc_kept_plan *kept)
{
    gconv_plan_free(kept->plan);
    kept->plan = NULL;
}
