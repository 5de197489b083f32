/* One image from file to file. */
#ifndef GC_CLI_PROCESS_H
#define GC_CLI_PROCESS_H

#include "cli/directories.h"
#include "cli/operands.h"
#include "cli/warnings.h"

#include <stdio.h>

typedef struct gc_result gc_result;

/* Takes over what became of an image of a stream that has another one behind it, and destroys it in
 * any case. */
typedef gconv_status gc_image_function(void *user, const gc_task *task, gc_result *result,
                                       gconv_error *error);

/* What all images of one command share: the chain, and the latest plan, which serves the next image
 * too when its shape is the same. */
typedef struct gc_session {
    const gc_options *options;
    gconv_filter **filters;
    int filter_count;
    gconv_job job; /* what the command line decides; the image adds its shape */
    gconv_plan *plan;
    gconv_job plan_job; /* what `plan` was made for */
    int images_at_once; /* as in gconv_job */
    FILE *notes;        /* keeps what -v says of the image in work; NULL: it is said at once */
    size_t image;       /* images before this one, or measurements */
    size_t image_count; /* and in all */
    gc_image_function *image_done; /* NULL: an input of several images is an error */
    void *image_user;
    gc_directories *directories; /* records those that are made for outputs of a batch */
    const char *blamed;          /* on failure: the filter or file the message is about, or NULL */
} gc_session;

/* Loads the chain and checks all that needs no image: filters, implementation, device. */
gconv_status gc_session_create(const gc_options *options, gc_session *session, gconv_error *error);
void gc_session_destroy(gc_session *session);

/* Checks what needs no image for one implementation. */
gconv_status gc_session_check(const gc_session *session, const char *implementation,
                              gconv_error *error);

/* Whether an implementation is one of GPUs. */
bool gc_is_cuda(const char *implementation);

/* Where an implementation runs: on --device; compare and bench run each where it belongs, and
 * --device narrows only those of GPUs. */
const char *gc_device_for(const gc_session *session, const char *implementation);

/* A whole image in memory. */
typedef struct gc_picture {
    gconv_shape shape;
    gconv_format format; /* of its file */
    size_t stride;
    unsigned char *samples;
} gc_picture;

/* Reads the rest of an opened image, to its end. */
gconv_status gc_picture_read(gconv_reader *reader, gc_picture *picture, gconv_error *error);
void gc_picture_destroy(gc_picture *picture);

/* Options of a reader for this command; its warnings go to `place`, which lives as long. */
gconv_reader_options gc_reader_options(const gc_options *options, gc_warning_place *place);

/* How alpha is treated where the choice is open: premultiplied when the chain's gain is 1 and some
 * pixel of `picture` is not opaque. */
gconv_alpha gc_choose_alpha(const gc_session *session, const gc_picture *picture);

/* Makes session->plan fit an image of this shape. */
gconv_status gc_session_plan(gc_session *session, const gconv_shape *shape, gconv_alpha alpha,
                             int output_depth, gconv_error *error);

typedef enum gc_outcome {
    GC_OUTCOME_DONE,
    GC_OUTCOME_SKIPPED, /* the output existed and --no-clobber was given */
    GC_OUTCOME_FAILED,
    GC_OUTCOME_MISMATCH /* written, but --verify found a difference */
} gc_outcome;

struct gc_result {
    gc_outcome outcome;
    gconv_error error;  /* where it failed */
    size_t image;       /* of a stream of several: from 1; else 0 */
    const char *blamed; /* the file the error is about; NULL: the image that is, tells of it */
    gconv_shape input;
    gconv_shape output;
    gconv_format format; /* of the output */
    const char *implementation;
    bool exact;
    bool verified;
    gconv_difference difference;
    gconv_timings timings;
    char *explanation; /* how the implementation was chosen, where -v or --explain asks for it */
    char *fallback;    /* why the CPU took over, where it did */
    gc_warning_list warnings;
    char *notes; /* what was kept of -v's messages while other images had their turn */
};

/* Reads, computes, writes. Nothing is reported but the images of a stream that are done before the
 * last one; all that can be said of that is in `result`, which is destroyed in any case. */
void gc_process(gc_session *session, const gc_task *task, bool make_parents, gc_result *result);
void gc_result_destroy(gc_result *result);

#endif
