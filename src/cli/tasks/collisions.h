/* Outputs of a batch that would replace each other, an input or the journal (contract.md, rules 51,
 * 52 and 91). */
#ifndef GC_CLI_TASKS_COLLISIONS_H
#define GC_CLI_TASKS_COLLISIONS_H

#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

/* Refuses two tasks with one output, an output that would replace the input of another task, and,
 * without --in-place, an output that would replace its own input. Refuses an output that would
 * replace the journal. A link counts as the file that it leads to. */
gconv_status gc_refuse_collisions(const gc_options *options, const gc_task_list *list,
                                  gconv_error *error);

#endif
