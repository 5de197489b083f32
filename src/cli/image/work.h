/* One image at work: what the steps from its file to the output share.
 *
 * session.h   what all images of one command share
 * worker.h    what one thread keeps from image to image
 * work.h      one image, until it is done
 * result.h    what became of the image, until it is reported
 *
 * image.c takes an image through its steps. Steps that have files of their own
 * are declared here. */
#ifndef GC_CLI_IMAGE_WORK_H
#define GC_CLI_IMAGE_WORK_H

#include "cli/image/clipped.h"
#include "cli/image/picture.h"
#include "cli/image/result.h"
#include "cli/image/worker.h"
#include "cli/journal/record.h"
#include "cli/options/options.h"
#include "cli/report/warnings.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

#include <time.h>

typedef struct gc_work {
    gc_worker *worker;
    const gc_options *options;
    const gc_task *task;
    gc_result *result;
    gconv_error *error; /* that of `result` */
    gconv_reader *reader;
    gconv_writer *writer;
    gc_clip_counter clip_counter;
    gc_picture picture; /* the whole input, where it had to be looked at; else no samples */
    bool opaque;        /* all pixels are opaque; true, too, where alpha does not depend on that */
    size_t image;       /* number in its input, from 1 */
    double start;       /* in seconds */
    struct timespec times[2]; /* of the input: of access and of modification */
    bool has_times;           /* the input is a regular file */
    gc_record record;         /* for the journal; its texts belong to others */
    int input; /* the reader's descriptor, for the journal; set by gc_journaled_opened */
    gc_digest *input_digest, *output_digest; /* for the journal; NULL: files are read once more */
    gc_warning_target input_warnings, output_warnings;
} gc_work;

/* A part of one image's work, for the progress line: from 0, the beginning, to 1. */
typedef struct gc_part {
    const gc_work *work;
    double from, to;
} gc_part;

/* Shows how much of a part is done: a gconv_progress_function, whose `user` is a gc_part.
 * Never ends the run. */
bool gc_part_show(void *part, double done);

/* ---- Before computing: look_ahead.c, rows.c -------------------------------------------------- */

/* The job of the plan for this image, as far as it is known: before pixels were read, the image
 * counts as opaque where work->opaque says so. */
gconv_status gc_plan_job(gc_work *work, gconv_job *job);

/* Reads pixels before the plan is made, where --alpha auto or --verify needs them, or a GPU is
 * starting. Fills
 * work->picture, or looks through the pixels by a reader of its own. Sets work->opaque. */
gconv_status gc_look_ahead(gc_work *work);

/* Whether --rows fits the image, and --join the format of the output. */
gconv_status gc_judge_rows(gc_work *work);

/* ---- Computing: rows.c, verify.c ------------------------------------------------------------- */

/* Computes the image, or the rows of --rows, from `source`. */
gconv_status gc_run_rows(gc_work *work, const gconv_source *source);

/* Computes by the plan and by the reference, compares, and writes what the plan computed. */
gconv_status gc_run_verified(gc_work *work);

/* ---- The output: output.c -------------------------------------------------------------------- */

/* The format of the output, once the header of the input is read. */
gconv_format gc_output_format(const gc_work *work);

/* The depth of the output: that of --depth, else the one that format and input suggest. */
gconv_status gc_output_depth(const gc_work *work, int *depth);

/* The metadata that outputs keep, as far as their format has a place for them. */
gconv_keep gc_kept_metadata(const gc_options *options);

/* Opens the output, or begins the next image in it. */
gconv_status gc_open_output(gc_work *work);

/* The writer as a sink. It counts clipped samples where they are reported. */
const gconv_sink *gc_output_sink(gc_work *work);
gconv_status gc_finish_output(gc_work *work);

/* ---- Inputs of several images: next_image.c -------------------------------------------------- */

/* Goes on to the next image of the input, and hands over the result of this one. *more is false
 * where there is no next image, and with --rows, which takes the first image. A next image that
 * cannot be opened fails as an image of its own. Where the input fails before gconv knows whether
 * an image follows, this image has failed. */
gconv_status gc_next_image(gc_work *work, bool *more);

/* ---- The result: conclude.c ------------------------------------------------------------------ */

/* Fills what the result of an image says when it is done or has failed. */
void gc_conclude(gc_work *work, gconv_status status);

#endif
