/* The plan of the latest image, kept for the next image of the same shape. */
#ifndef GC_CLI_IMAGE_KEPT_PLAN_H
#define GC_CLI_IMAGE_KEPT_PLAN_H

#include "gconv.h"

typedef struct gc_kept_plan {
    gconv_plan *plan; /* NULL: none is kept */
    gconv_job job;    /* that it was made for */
} gc_kept_plan;

/* Makes kept->plan fit a job, which differs from that of the image before in shape, alpha, output
 * depth and runs alone. */
gconv_status gc_kept_plan_fit(gc_kept_plan *kept, const gconv_job *job, gconv_error *error);

/* To be called when an image is done: where other images are computed at the same time, frees a plan
 * that used a GPU, so that they get their turn on it. */
void gc_kept_plan_give_turn(gc_kept_plan *kept);

void gc_kept_plan_free(gc_kept_plan *kept);

#endif
