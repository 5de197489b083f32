/* The tasks of a batch: operands are files, and directories in which images are looked for. */
#ifndef GC_CLI_TASKS_WALK_H
#define GC_CLI_TASKS_WALK_H

#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

#include <sys/stat.h>

/* A walk through operands and directories. */
typedef struct gc_walk {
    const gc_options *options;
    gc_task_list *list; /* that gets the tasks */
    struct stat output; /* of the output directory, if it exists */
    bool output_exists;
    const char **blamed;
    gconv_error *error;
} gc_walk;

/* Checks the options of a batch, and prepares gc_walk_add. */
gconv_status gc_walk_begin(gc_walk *walk, const gc_options *options, gc_task_list *list,
                           const char **blamed, gconv_error *error);

/* Adds the task of a file, or those of the images in a directory. */
gconv_status gc_walk_add(gc_walk *walk, const char *operand);

#endif
