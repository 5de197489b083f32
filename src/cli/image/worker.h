/* A thread that computes images, one after the other: what gc_process needs of it. batch.c makes
 * one for each of its threads. */
#ifndef GC_CLI_IMAGE_WORKER_H
#define GC_CLI_IMAGE_WORKER_H

#include "cli/image/gate.h"
#include "cli/image/kept_plan.h"
#include "cli/image/result.h"
#include "cli/image/session.h"
#include "cli/tasks/directories.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

#include <stdio.h>

/* Receives the results of a stream's images, except the last one. Owns `result` and destroys it,
 * after a failure too. */
typedef gconv_status gc_image_function(void *user, const gc_task *task, gc_result *result,
                                       gconv_error *error);

typedef struct gc_worker {
    const gc_session *session;
    gc_gate *gate; /* passed before the output is opened */
    gc_kept_plan kept;
    size_t image_count;          /* of the command, for the progress line */
    size_t images_left;          /* how many of them are not reported yet */
    int images_at_once;          /* how many are computed at one time */
    gc_directories *directories; /* records the directories made for outputs; NULL: none are made */
    FILE *notes;                 /* as in gc_note_into */
    gc_image_function *image_done; /* NULL: an input of several images is an error */
    void *image_user;
    gconv_wait_function *waits; /* is told when an image waits for a device; NULL: nobody is */
    void *waits_user;
} gc_worker;

#endif
