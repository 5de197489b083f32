/* The tasks of a batch. */
#ifndef GC_CLI_TASKS_BATCH_H
#define GC_CLI_TASKS_BATCH_H

#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

/* Fills `list` for -o DIR or --in-place: files, and the images in directories. Otherwise as
 * gc_task_list_create. */
gconv_status gc_collect_batch(const gc_options *options, gc_task_list *list, const char **blamed,
                              gconv_error *error);

#endif
