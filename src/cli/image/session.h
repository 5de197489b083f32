/* What all images of one command share: filters, and the job as far as the command line decides it.
 * It does not change once it is created. */
#pragma once

#include "cli/journal/recipe.h"
#include "cli/options/options.h"
#include "gconv.h"

/* The filters of a command, loaded. */
typedef struct gc_filter_chain {
    gconv_filter **filters; /* in the order in which they are applied; owned */
    int count;
} gc_filter_chain;

/* Loads what --kernel names, or the built-in filters of the chain of edges if it was not given.
 * On failure `*subject` is the --kernel at fault, and the chain holds what was loaded before it. */
gconv_status gc_filter_chain_load(const gc_options *options, gc_filter_chain *chain,
                                  const char **subject, gconv_error *error);
void gc_filter_chain_free(gc_filter_chain *chain);

/* Writes how a filter's text was read: "rows of weights", "SIGMA 1 and SIZE 5", "a built-in
 * filter". `name` is its --kernel. */
void gc_filter_reading(const char *name, const gconv_filter *filter, char *text, size_t size);

/* Multiply-adds that one value takes: the weights of all filters. */
double gc_filter_chain_taps(const gc_filter_chain *chain);

typedef struct gc_session {
    const gc_options *options;
    gc_filter_chain chain;
    struct gc_journal *journal; /* of --journal, owned by the caller; NULL: there is none */
    gc_recipe recipe;           /* for the journal */
    gconv_job job;              /* from the command line; an image adds shape, alpha, depth */
} gc_session;

/* Loads the chain and makes the job. On failure `*subject` is the --kernel that the message is
 * about, or NULL. */
gconv_status gc_session_create(const gc_options *options, gc_session *session, const char **subject,
                               gconv_error *error);

/* Checks everything that needs no image: filters, implementations, device. Waits for the start of
 * a GPU that is named. */
gconv_status gc_session_check_all(const gc_session *session, gconv_error *error);

void gc_session_destroy(gc_session *session);

/* Checks what needs no image for one implementation. */
gconv_status gc_session_check(const gc_session *session, const char *implementation,
                              gconv_error *error);

/* The device for an implementation: that of --device. Commands that measure are the exception:
 * they run implementations of the CPU on the CPU, whatever --device says. */
const char *gc_device_for(const gc_session *session, const char *implementation);

/* Whether a reader adds alpha to images of this shape: --nan ignore. */
bool gc_masks(const gc_options *options, const gconv_shape *shape);

/* For gconv_writer_options; 0 for images to which no alpha is added. */
double gc_least_alpha(const gc_session *session, const gconv_shape *shape);

/* The session's job for images of this shape. */
gconv_job gc_job_for(const gc_session *session, const gconv_shape *shape);

/* Options of the reader of an input, which delivers grey if edges are wanted. */
gconv_reader_options gc_reader_options(const gc_options *options);
