/* Tasks: which file is read, which one is written, and in which format. */
#ifndef GC_CLI_TASKS_TASKS_H
#define GC_CLI_TASKS_TASKS_H

#include "gconv.h"

/* One input and its output. */
typedef struct gc_task {
    char *input;         /* a path, or "-" */
    char *output;        /* a path, or "-" */
    gconv_format format; /* of the output; GCONV_FORMAT_UNKNOWN: the input's own */
    bool either_pnm;     /* the format is PGM where the result is grey, else PPM */
    /* An errno where reading the operands showed that the input cannot be read; else 0. The task
     * then fails when its turn comes, not before. */
    int unlisted; /* `input` is a directory that could not be listed */
    int unknown;  /* `input` could not be looked into */
} gc_task;

typedef struct gc_task_list {
    gc_task *tasks;
    size_t count, capacity;
    bool batch; /* -o DIR, --in-place: failures are counted, parents of outputs are made */
} gc_task_list;

void gc_task_list_destroy(gc_task_list *list);

/* Appends a task and takes over its strings, which may be NULL for lack of memory. */
gconv_status gc_task_list_add(gc_task_list *list, gc_task task, gconv_error *error);

#endif
