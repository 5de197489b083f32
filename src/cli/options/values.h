/* Values of options: each function reads the text of one option into `options`. On failure the
 * message says what is legal, and does not name the option: the parser does. */
#ifndef GC_CLI_OPTIONS_VALUES_H
#define GC_CLI_OPTIONS_VALUES_H

#include "cli/options/options.h"
#include "gconv.h"

typedef gconv_status gc_value_function(gc_options *options, const char *value, gconv_error *error);

gc_value_function gc_set_kernel;
gc_value_function gc_set_threshold;
gc_value_function gc_set_rule;
gc_value_function gc_set_border;
gc_value_function gc_set_scale;
gc_value_function gc_set_offset;
gc_value_function gc_set_alpha;
gc_value_function gc_set_background;
gc_value_function gc_set_depth;
gc_value_function gc_set_format;
gc_value_function gc_set_quality;
gc_value_function gc_set_compression;
gc_value_function gc_set_output;
gc_value_function gc_set_name;
gc_value_function gc_set_images;
gc_value_function gc_set_journal;
gc_value_function gc_set_hash;
gc_value_function gc_set_on_error;
gc_value_function gc_set_files_from;
gc_value_function gc_set_files0_from;
gc_value_function gc_set_shard;
gc_value_function gc_set_rows;
gc_value_function gc_set_max_pixels;
gc_value_function gc_set_white;
gc_value_function gc_set_implementation;
gc_value_function gc_set_device;
gc_value_function gc_set_decoder;
gc_value_function gc_set_threads;
gc_value_function gc_set_tile;
gc_value_function gc_set_shared_memory;
gc_value_function gc_set_block;
gc_value_function gc_set_progress;
gc_value_function gc_set_time;
gc_value_function gc_set_samples;
gc_value_function gc_set_sizes;
gc_value_function gc_set_filters;
gc_value_function gc_set_preset;
gc_value_function gc_set_resume;
gc_value_function gc_set_sample;
gc_value_function gc_set_html;
gc_value_function gc_set_baseline;
gc_value_function gc_set_fail_above;
gc_value_function gc_set_response;
gc_value_function gc_set_write;
gc_value_function gc_set_notation;

/* Whether the command line asks for a batch: -o DIR or --in-place. */
bool gc_is_batch(const gc_options *options);

/* The value of --decoder if it asks for a GPU: "cuda"; else NULL. */
const char *gc_gpu_decoder(const gc_options *options);

#endif
