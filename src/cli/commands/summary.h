/* What is said at the end of all images: what they have in common, how many failed, and of a batch
 * its rate. */
#pragma once

#include "cli/image/image.h"
#include "cli/tasks/collisions.h"

/* Begins with options, batch and start; all else is 0. */
typedef struct gc_summary {
    const gc_options *options;
    bool batch;
    double start; /* in seconds */
    size_t reported, skipped, mismatched, written;
    gc_images failed;
    size_t names_with_returns;     /* of files that failed: they end in a carriage return */
    gc_images composited;          /* with transparent pixels that were put on the background */
    gc_images missing;             /* with samples that a TIFF says are missing */
    gc_images with_few, with_many; /* with hardly any edges, or too many; clipped at 0, at white */
    bool list_failed;              /* the list of --files-from cannot be read to its end */
    unsigned met;             /* by all images that were written, as gc_note_effects takes it */
    int code;                 /* of one input alone */
    gc_collisions collisions; /* with names of a list */
    int losses;               /* devices of which was said that they are lost */
} gc_summary;

/* Reports and counts an image: a gc_report_function, whose `user` is a gc_summary. */
void gc_summary_take(void *summary, const gc_task *task, const gc_result *result);

/* Says what there is to say of all images, and returns the exit code. */
int gc_summary_finish(const gc_summary *summary, const gc_task_list *list);

void gc_summary_destroy(gc_summary *summary);
