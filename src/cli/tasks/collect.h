/* From operands to tasks (contract.md, rules 45 to 49). */
#ifndef GC_CLI_TASKS_COLLECT_H
#define GC_CLI_TASKS_COLLECT_H

#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

/* Fills `list` from the operands. Nothing has been started yet, so most failures are mistakes in
 * the command line. `*blamed` is the operand that the message is about, or NULL. */
gconv_status gc_task_list_create(const gc_options *options, gc_task_list *list, const char **blamed,
                                 gconv_error *error);

void gc_task_list_destroy(gc_task_list *list);

#endif
