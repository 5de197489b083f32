/* Outputs of a batch that would meet each other or an input (contract.md, rules 51 and 52). */
#ifndef GC_CLI_COLLISIONS_H
#define GC_CLI_COLLISIONS_H

#include "cli/operands.h"

/* Refuses two inputs for one output, an output that would replace the input of another task, and,
 * without --in-place, one that would replace its own input. Links count as the files they lead to. */
gconv_status gc_refuse_collisions(const gc_options *options, const gc_task_list *list,
                                  gconv_error *error);

#endif
