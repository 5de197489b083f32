/* Tasks whose names come from a list, so that work starts before the list has ended. */
#ifndef GC_CLI_TASKS_STREAM_H
#define GC_CLI_TASKS_STREAM_H

#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

typedef struct gc_task_stream gc_task_stream;

/* Opens the list of --files-from. Otherwise as gc_task_list_create. */
gconv_status gc_task_stream_create(const gc_options *options, gc_task_stream **stream,
                                   const char **blamed, gconv_error *error);

/* Takes the next task: those of the operands, then those of the list. A name that cannot become a
 * task becomes one that fails, and so does the second name of an output. False at the end. One
 * thread at a time. */
bool gc_task_stream_next(gc_task_stream *stream, gc_task *task);

/* Makes gc_task_stream_next return false soon, also if it waits for a pipe. Any thread. */
void gc_task_stream_stop(gc_task_stream *stream);

/* How many image files of other formats the directories so far hold. */
size_t gc_task_stream_foreign(const gc_task_stream *stream);

/* NULL is allowed. */
void gc_task_stream_free(gc_task_stream *stream);

#endif
