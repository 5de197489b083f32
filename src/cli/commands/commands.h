/* The commands. Each reports its own errors and returns the exit code. */
#pragma once

#include "base/buffer.h"
#include "base/output.h"
#include "cli/image/batch.h"
#include "cli/options/options.h"

/* edges, filter */
gconv_status gc_check_images(const gc_options *options, gconv_error *error);
int gc_run_images(const gc_options *options);
int gc_run_images_with(const gc_options *options, const gc_borrowers *borrowers);

int gc_run_check(const gc_options *options);

/* What writes the report of --html. */
typedef struct gc_reporter {
    /* Refuses files that the report would replace. Changes nothing. */
    gconv_status (*check)(const gc_options *options, gconv_error *error);
    /* Opens the file before anything is measured. */
    gconv_status (*open)(const gc_options *options, gc_output **output, gconv_error *error);
    /* Completes the file from `json`, the `size` bytes that --json would print, and frees `output`
     * and `json`. `json` is NULL if memory was short. */
    gconv_status (*close)(const gc_options *options, char *json, size_t size, gc_output *output,
                          gconv_error *error);
} gc_reporter;

/* `reporter` may be NULL without --html. */
int gc_run_compare(const gc_options *options, const gc_reporter *reporter);

/* Runs gconv-lab in the place of this program. Returns only if it cannot be started. */
int gc_run_lab(const gc_options *options);

/* Writes the magnitudes of a chain's frequency response, and says the largest one: as CSV if the
 * name ends so, else as PNG. */
typedef gconv_status gc_response_function(const char *path, gconv_filter *const *filters, int count,
                                          gconv_error *error);

/* `respond` may be NULL without --response. */
int gc_run_kernel(const gc_options *options, gc_response_function *respond);
int gc_run_info(const gc_options *options);

/* Asks CUDA for more queues than its default, unless the user has chosen a number. One image needs
 * one queue. CUDA reads the number when it starts. Call it before any other thread runs. */
void gc_widen_queues(const gc_options *options);

/* Writes a text to a file, which appears whole or not at all, and frees the text. */
gconv_status gc_write_text(const char *path, gc_buffer *text, gconv_error *error);

/* Writes a filter in a notation from which gconv reads the same filter again. GCONV_ERROR_FILTER if
 * the notation cannot hold it. */
gconv_status gc_kernel_write(const char *path, const gconv_filter *filter, gc_notation notation,
                             gconv_error *error);
