/* One task alone. */
#ifndef GC_CLI_TASKS_SINGLE_H
#define GC_CLI_TASKS_SINGLE_H

#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

/* Fills `list` for IN OUT or a pipe. Otherwise as gc_task_list_create. */
gconv_status gc_collect_single(const gc_options *options, gc_task_list *list, const char **blamed,
                               gconv_error *error);

/* Refuses "-" where standard input is a terminal. */
gconv_status gc_check_input(const char *path, gconv_error *error);

#endif
