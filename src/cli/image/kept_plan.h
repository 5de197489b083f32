/* The plan of the latest image, kept for the next image of the same shape. */
#ifndef GC_CLI_IMAGE_KEPT_PLAN_H
#define GC_CLI_IMAGE_KEPT_PLAN_H

#include "gconv.h"

typedef struct gc_kept_plan {
    gconv_plan *plan; /* NULL: none is kept */
    gconv_job job;    /* the job that `plan` was made for */
} gc_kept_plan;

/* Makes kept->plan fit a job. Only shape, alpha, output depth, runs and the source's format may
 * differ from the job of the image before. */
gconv_status gc_kept_plan_fit(gc_kept_plan *kept, const gconv_job *job, gconv_error *error);

void gc_kept_plan_free(gc_kept_plan *kept);

#endif
