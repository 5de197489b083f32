/* The commands. Each reports its own errors and returns the exit code. */
#ifndef GC_CLI_COMMANDS_COMMANDS_H
#define GC_CLI_COMMANDS_COMMANDS_H

#include "cli/options/options.h"

int gc_run_process(const gc_options *options); /* edges, filter */
int gc_run_compare(const gc_options *options);
int gc_run_bench(const gc_options *options);
int gc_run_tune(const gc_options *options);
int gc_run_info(const gc_options *options);

#endif
