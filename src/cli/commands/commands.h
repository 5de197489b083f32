/* The commands. Each reports its own errors and returns the exit code. */
#ifndef GC_CLI_COMMANDS_COMMANDS_H
#define GC_CLI_COMMANDS_COMMANDS_H

#include "cli/image/batch.h"
#include "cli/options/options.h"

/* edges, filter */
gconv_status gc_check_images(const gc_options *options, gconv_error *error);
int gc_run_images(const gc_options *options);
int gc_run_images_with(const gc_options *options, const gc_borrowers *borrowers);

int gc_run_check(const gc_options *options);
int gc_run_compare(const gc_options *options);
int gc_run_bench(const gc_options *options);
int gc_run_tune(const gc_options *options);
int gc_run_kernel(const gc_options *options);
int gc_run_info(const gc_options *options);

#endif
