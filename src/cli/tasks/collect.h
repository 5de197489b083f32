/* The two ways from operands to tasks. Each fills `list`; see gc_task_list_create. */
#ifndef GC_CLI_TASKS_COLLECT_H
#define GC_CLI_TASKS_COLLECT_H

#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

/* IN OUT, or a pipe. */
gconv_status gc_collect_single(const gc_options *options, gc_task_list *list, const char **blamed,
                               gconv_error *error);

/* -o DIR or --in-place: files, and the images in directories. */
gconv_status gc_collect_batch(const gc_options *options, gc_task_list *list, const char **blamed,
                              gconv_error *error);

#endif
