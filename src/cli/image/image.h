/* One image from file to file, and what is known of it afterwards. */
#pragma once

#include "cli/image/session.h"
#include "cli/tasks/directories.h"
#include "cli/tasks/tasks.h"
#include "cli/terminal/messages.h"
#include "gconv_lab.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* ---- What became of an image ----------------------------------------------------------------- */

typedef enum gc_outcome {
    GC_OUTCOME_DONE,
    GC_OUTCOME_SKIPPED, /* nothing had to be done */
    GC_OUTCOME_FAILED,
    GC_OUTCOME_MISMATCH, /* written, but --verify found a difference */
    GC_OUTCOME_PLANNED,  /* --dry-run: it would be computed */
    GC_OUTCOME_BARRED    /* the first check failed: nothing is said of this image */
} gc_outcome;

/* How many samples of an output may have been clipped (contract.md, rule 58). These are upper
 * bounds: samples that are 0, or white, although values of the job can lie beyond it. */
typedef struct gc_clipped {
    bool counted; /* the output has levels, else nothing can be clipped */
    int white;    /* what becomes of a white image: 1 if above white, -1 if 0 or less, else 0 */
    uint64_t below, above;
} gc_clipped;

/* What edges were found. */
typedef struct gc_found {
    bool counted;     /* the others count */
    double sigma;     /* of the blur; 0: that of gauss5 */
    double threshold; /* in 8-bit levels; of Canny the one where lines begin */
    double low;       /* of Canny: the one up to which they go on */
    bool has_low;
    uint64_t marked; /* pixels before they were thinned, of a drawing that is kept */
    uint64_t pixels; /* that are edges */
} gc_found;

typedef struct gc_result gc_result;

struct gc_result {
    gc_outcome outcome;
    const char *skipped; /* of GC_OUTCOME_SKIPPED: why, for -v */
    gconv_error error;   /* of GC_OUTCOME_FAILED */
    bool recorded;       /* it failed when the journal was written, and was not tried again */
    size_t image;        /* number in a stream of several images, from 1; else 0 */
    const char *subject; /* the file that the error is about; NULL: the error is not reported */
    gconv_shape input;   /* as it is computed */
    gconv_shape output;
    int channels;        /* of the input's file */
    gconv_format format; /* of the output */
    const char *implementation;
    const char *decoder;         /* see gconv_reader_decoder */
    const char *decode_fallback; /* why no GPU decoded a JPEG; "" if one did, or there was none */
    bool exact;
    gconv_promise promise; /* of the output */
    unsigned met;  /* as gc_note_effects takes it, of an image that is written and those before */
    bool verified; /* then the next two are filled */
    gconv_difference difference;        /* of chain values */
    gconv_difference output_difference; /* of the samples that are written */
    gc_clipped clipped;
    gc_found found;
    gconv_timings timings;
    char *explanation; /* how the implementation was chosen; NULL unless -v or --explain */
    char *fallback;    /* which device took over, and why; NULL if none did */
    gc_warning_list warnings;
    char *notes; /* what was said of the image before it is reported; may be NULL */
    /* Its line of --json, maybe "", if another process reports the result: all messages are in
     * `notes` then. Else NULL. */
    char *json;
    gc_result *before; /* of the images before it in its input that are not reported yet; owned */
    size_t before_count;
};

void gc_result_destroy(gc_result *result);

/* Tells what became of a task: of its image, or of one image of its stream. */
typedef void gc_report_function(void *user, const gc_task *task, const gc_result *result);

/* ---- The first check ------------------------------------------------------------------------- */

typedef gconv_status gc_check_function(void *user, gconv_error *error);

/* A check that is made once, before the first output is touched; the first inputs are read
 * meanwhile. `check_start` in commands/images.c checks the job and the devices that the user named,
 * and makes the directory of -o. */
typedef struct gc_first_check {
    gc_check_function *check;
    void *user;
    pthread_mutex_t lock;
    atomic_bool made; /* `check` has returned; status and error do not change any more */
    gconv_status status;
    gconv_error error;
} gc_first_check;

/* Calls `check` if nobody has yet, and returns what it returned. GCONV_OK for NULL: all was checked
 * before. Any thread. */
gconv_status gc_first_check_make(gc_first_check *first, gconv_error *error);

/* ---- Computing ------------------------------------------------------------------------------- */

/* Receives the results of a stream's images, except the last one. Owns `result` and destroys it,
 * after a failure too. */
typedef gconv_status gc_image_function(void *user, const gc_task *task, gc_result *result,
                                       gconv_error *error);

/* A thread that computes images, one after the other: what gc_process needs of it. */
typedef struct gc_worker {
    const gc_session *session;
    gc_first_check *first;       /* made before the output is opened; NULL: made already */
    gconv_plan *plan;            /* of the latest image, kept for the next one of the same shape */
    gconv_job job;               /* that `plan` was made for */
    gconv_detector detector;     /* of this job */
    gc_filter_chain own;         /* the chain of this job if its image has one of its own */
    gconv_shape own_shape;       /* that `own` was made for */
    size_t image_count;          /* of the command, for the progress line */
    size_t images_left;          /* how many of them are not reported yet */
    int images_at_once;          /* how many are computed at one time */
    gc_directories *directories; /* records the directories made for outputs; NULL: none are made */
    FILE *notes;                 /* as in gc_note_into */
    gc_image_function *image_done;
    void *image_user;
    gconv_wait_function *waits; /* is told when an image waits for a device; NULL: nobody is */
    void *waits_user;
} gc_worker;

/* Reads, computes and writes one task. Fills `result`, also after a failure; the caller destroys
 * it. Reports nothing. Of a stream, `result` is that of the last image; the others go to
 * worker->image_done. The caller calls gc_worker_end after the last task. */
void gc_process(gc_worker *worker, const gc_task *task, gc_result *result);

/* Frees what a worker keeps from image to image. */
void gc_worker_end(gc_worker *worker);

/* Fills `result` for --dry-run: planned, skipped or failed. Reads no image and writes nothing. */
void gc_plan_only(const gc_session *session, const gc_task *task, gc_result *result);
