/* How many queues of work a batch asks CUDA for. */
#ifndef GC_CLI_COMMANDS_QUEUES_H
#define GC_CLI_COMMANDS_QUEUES_H

#include "cli/options/options.h"

/* Asks CUDA for more queues than it takes by default, unless the user has. One image needs one.
 * CUDA looks when it starts; no other thread may run yet. */
void gc_widen_queues(const gc_options *options);

#endif
