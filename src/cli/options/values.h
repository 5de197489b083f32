/* Values of options. A function reads the text of one option into `options`. On failure the message
 * says what is legal, and does not name the option: the parser does. */
#pragma once

#include "cli/options/options.h"
#include "cli/options/table.h"
#include "gconv.h"

/* Reads the text of an option; NULL if it takes none. */
gconv_status gc_value_read(const gc_value *value, const char *text, gc_options *options,
                           gconv_error *error);

gc_value_function gc_set_kernel;
gc_value_function gc_set_threshold;
gc_value_function gc_set_low;
gc_value_function gc_set_high;
gc_value_function gc_set_sigma;
gc_value_function gc_set_ink;
gc_value_function gc_set_paper;
gc_value_function gc_set_overlay;
gc_value_function gc_set_border;
gc_value_function gc_set_background;
gc_value_function gc_set_format;
gc_value_function gc_set_quality;
gc_value_function gc_set_compression;
gc_value_function gc_set_name;
gc_value_function gc_set_journal;
gc_value_function gc_set_files_from;
gc_value_function gc_set_files0_from;
gc_value_function gc_set_shard; /* I/N with I from 1 to N, auto or auto/N */
gc_value_function gc_set_page;
gc_value_function gc_set_rows;
gc_value_function gc_set_implementation;
gc_value_function gc_set_device;
gc_value_function gc_set_block;
gc_value_function gc_set_html;
gc_value_function gc_set_response;
gc_value_function gc_set_write;

/* Whether the command line asks for a batch: -o DIR or --in-place. */
bool gc_is_batch(const gc_options *options);

/* Whether what is drawn depends on the responses of the whole image. */
bool gc_keeps_responses(const gc_options *options);

/* Whether edges are found: by `edges`, or for the thin lines of a sketch. */
bool gc_finds_edges(const gc_options *options);

/* Refuses options that --rows does not go with: those of batches, of GPUs, and --verify. */
gconv_status gc_check_rows(const gc_options *options, gconv_error *error);

/* The value of --decoder if it asks for a GPU: "cuda"; else NULL. */
const char *gc_gpu_decoder(const gc_options *options);

/* Whether the command line asks for a GPU, by --device or --decoder. */
bool gc_names_gpu(const gc_options *options);
