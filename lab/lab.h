/* The commands of gconv-lab. Each reports its own errors and returns the exit code. */
#pragma once

#include "cli/commands/commands.h"

int gc_run_bench(const gc_options *options);
int gc_run_tune(const gc_options *options);
int gc_run_guide(const gc_options *options);

gc_response_function gc_write_response;
