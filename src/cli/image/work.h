/* One image at work: what the steps from its file to the output share.
 *
 * session.h   what all images of one command share
 * image.h     what one thread keeps from image to image (gc_worker), and what became of an image
 *             (gc_result)
 * work.h      one image, until it is done
 *
 * image.c takes an image through its steps. */
#pragma once

#include "cli/image/image.h"
#include "cli/image/marks.h"
#include "cli/image/picture.h"
#include "cli/journal/record.h"

#include <time.h>

/* A sink that counts clipped samples, or edges, and passes rows on to another sink. */
typedef struct gc_clip_counter {
    gconv_sink own;
    const gconv_sink *sink; /* the other one */
    gc_clipped *clipped;
    gconv_shape shape;
    bool below, above; /* values below 0 or above white are possible with these filters */
    uint64_t *edges;
    bool inverted; /* edges are black */
} gc_clip_counter;

typedef struct gc_work {
    gc_worker *worker;
    const gc_options *options;
    const gc_task *task;
    gc_result *result;
    gconv_error *error; /* that of `result` */
    gconv_reader *reader;
    gconv_writer *writer;
    gc_clip_counter clip_counter;
    gconv_detector detector; /* with the thresholds of this image */
    gc_marks marks;          /* responses of the whole image, if the drawing depends on them */
    gconv_sink marks_sink;
    gc_picture picture;       /* the whole input, if it had to be looked at; else no samples */
    bool opaque;              /* all pixels are opaque, or it does not matter whether they are */
    size_t image;             /* number among those of its input that are wanted, from 1 */
    bool mismatched;          /* one before it was found wrong */
    double start;             /* in seconds */
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

/* ---- image.c --------------------------------------------------------------------------------- */

/* Shows how much of a part is done: a gconv_progress_function, whose `user` is a gc_part.
 * Never ends the run. */
bool gc_part_show(void *part, double done);

/* The job of the plan for this image, as far as it is known: before pixels were read, the image
 * counts as opaque if work->opaque says so. */
gconv_status gc_plan_job(gc_work *work, gconv_job *job);

/* Fills what the result of an image says when it is done or has failed. */
void gc_conclude(gc_work *work, gconv_status status);

/* ---- input.c --------------------------------------------------------------------------------- */

/* Fails if the task is doomed: reading the operands showed that. */
gconv_status gc_check_task(const gc_task *task, gconv_error *error);

gconv_status gc_open_input(gc_work *work);

/* Reads pixels before the plan is made, if --alpha auto or --verify needs them, or a GPU is
 * starting. Fills work->picture, or looks through the pixels by a reader of its own. Sets
 * work->opaque. */
gconv_status gc_look_ahead(gc_work *work);

/* Goes on to the next image of the input, and hands over the result of this one. *more is false
 * if there is no next image, and with --rows, which takes the first image. A next image that
 * cannot be opened fails as an image of its own. If the input fails before gconv knows whether
 * an image follows, this image has failed. */
gconv_status gc_next_image(gc_work *work, bool *more);

/* ---- output.c -------------------------------------------------------------------------------- */

/* The format of the output, once the header of the input is read. */
gconv_format gc_output_format(const gc_work *work);

/* The depth of the output: that of --depth, else the one that format and input suggest. */
gconv_status gc_output_depth(const gc_work *work, int *depth);

/* Whether floats become floats by numbers that do not depend on white: no level is added. */
bool gc_takes_any_white(const gc_work *work);

/* The metadata that outputs keep, as far as their format has a place for them. */
gconv_keep gc_kept_metadata(const gc_options *options);

/* Opens the output, or begins the next image in it. */
gconv_status gc_open_output(gc_work *work);

/* The writer as a sink. It counts clipped samples if they are reported, or may be most of them. */
const gconv_sink *gc_output_sink(gc_work *work);
gconv_status gc_finish_output(gc_work *work);

/* ---- kept.c ---------------------------------------------------------------------------------- */

/* Makes the job that of responses, if they are kept (gc_keeps_responses). */
void gc_kept_job(const gc_options *options, gconv_job *job);

/* Sets work->detector. Finds thresholds of Canny in the picture, or in the file if there is
 * none. */
gconv_status gc_find_limits(gc_work *work);

/* Whether gc_find_limits reads the picture. */
bool gc_finds_limits(const gc_options *options);

/* Notes by which thresholds edges are counted. */
void gc_note_limits(gc_work *work);

/* Makes room for responses that are kept, and sets the shape of the output, once that of the
 * plan's is there. */
gconv_status gc_kept_begin(gc_work *work);

/* Draws and writes what was kept. */
gconv_status gc_kept_finish(gc_work *work);

/* ---- verify.c -------------------------------------------------------------------------------- */

/* Computes by the plan and by the reference, compares, and writes what the plan computed. */
gconv_status gc_run_verified(gc_work *work);

/* ---- journaled.c ----------------------------------------------------------------------------- */

/* Decides whether an image is skipped. GCONV_OK: the image needs work. GCONV_ERROR_EXISTS: it is
 * skipped because of --no-clobber, --update or the journal, and result->skipped says why. Other
 * failures: the journal says that the image failed before. */
gconv_status gc_decide_to_skip(const gc_session *session, const gc_task *task, gc_result *result);

/* Whether --in-place lets the output replace the input: their names lead to one file. */
bool gc_is_in_place(const gc_options *options, const gc_task *task);

/* Begins the record of an image. */
void gc_journaled_begin(gc_work *work);

/* Notes the opened input before it is read. */
void gc_journaled_opened(gc_work *work, int descriptor, const struct stat *about);

/* gconv_bytes_functions, whose `user` is a gc_work: hash what is read and what is written. */
void gc_journaled_read(void *work, uint64_t offset, const void *bytes, size_t size);
void gc_journaled_written(void *work, uint64_t offset, const void *bytes, size_t size);

/* Notes both files while the output has its temporary name. */
gconv_status gc_journaled_complete(gc_work *work, int descriptor, gconv_error *error);

/* Records what became of the image. If that cannot be written, the image has failed. */
void gc_journaled_end(gc_work *work);
