/* On which machine, when and by which program something was measured. */
#pragma once

#include "cli/options/options.h"

#include <stdbool.h>

/* The number, for gconv_device_describe, of the GPU that --device names, else of the first. */
int gc_chosen_gpu(const gc_options *options);

/* Adds the object `about` to the JSON that is built: subject, date, command line, program, machine.
 * `subject` says in a sentence what was measured. `with_gpu`: a GPU took part; then it is the one
 * of --device, else the first. */
void gc_facts_json(const gc_options *options, const char *subject, bool with_gpu);
