#include "cli/tasks/stream.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/tasks/collisions.h"
#include "cli/tasks/name_reader.h"
#include "cli/tasks/names.h"
#include "cli/tasks/single.h"
#include "cli/tasks/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct gc_task_stream {
    const gc_options *options;
    gc_walk walk;
    gc_name_reader *names;
    int operands;         /* that were taken */
    bool ended;           /* the list has failed */
    gc_task_list pending; /* the tasks of the last name; those before `next` were handed out */
    size_t next;
    gc_taken_names taken;
};

gconv_status gc_task_stream_create(const gc_options *options, gc_task_stream **stream,
                                   const char **blamed, gconv_error *error)
{
    *stream = calloc(1, sizeof **stream);
    if (*stream == NULL)
        return gc_fail_memory(error, sizeof **stream);
    (*stream)->options = options;
    gconv_status status =
        gc_walk_begin(&(*stream)->walk, options, &(*stream)->pending, blamed, error);
    if (status == GCONV_OK)
        status = gc_check_input(options->batch.files_from, error);
    if (status != GCONV_OK)
        return status;
    *blamed = gc_input_name(options->batch.files_from);
    status = gc_name_reader_open(options->batch.files_from,
                                 options->batch.files_end_in_nul ? '\0' : '\n', &(*stream)->names,
                                 error);
    if (status == GCONV_OK)
        *blamed = NULL;
    gc_taken_begin(&(*stream)->taken, options, NULL);
    return status;
}

void gc_task_stream_stop(gc_task_stream *stream)
{
    gc_name_reader_stop(stream->names);
}

size_t gc_task_stream_foreign(const gc_task_stream *stream)
{
    return stream->pending.foreign;
}

void gc_task_stream_free(gc_task_stream *stream)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->next; i++)
        stream->pending.tasks[i] = (gc_task){.input = NULL};
    gc_task_list_clear(&stream->pending);
    gc_name_reader_free(stream->names);
    gc_taken_free(&stream->taken);
    free(stream);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Makes a task that fails of a name that could not become one, or of the list where that cannot be
 * read. False where memory is out. */
static bool add_failed(gc_task_stream *stream, const char *name, const gconv_error *reason)
{
    const char *list = gc_input_name(stream->options->batch.files_from);
    const char *failed = stream->ended ? list : name;
    gc_task task = {.input = gc_copy_string(failed),
                    .output = gc_copy_string(failed),
                    .refused = gc_copy_string(reason->message),
                    .is_list = stream->ended};
    gconv_error error;
    if (task.refused == NULL)
        task.unknown = ENOMEM;
    return gc_task_list_add(&stream->pending, task, &error) == GCONV_OK;
}

/* Makes the tasks of one name. */
static bool add_name(gc_task_stream *stream, const char *name)
{
    gconv_error error;
    const char *blamed;
    stream->walk.blamed = &blamed;
    stream->walk.error = &error;
    return gc_walk_add(&stream->walk, name) == GCONV_OK || add_failed(stream, name, &error);
}

/* Makes the tasks of the next operand or of the next entry of the list. False at the end. */
static bool take_name(gc_task_stream *stream)
{
    const gc_options *options = stream->options;
    const char *name;
    gconv_error error;
    stream->pending.count = stream->next = 0;
    if (stream->operands < options->operand_count)
        return add_name(stream, options->operands[stream->operands++]);
    if (stream->ended)
        return false;
    gconv_status status = gc_name_reader_next(stream->names, &name, &error);
    if (status == GCONV_OK)
        return name != NULL && add_name(stream, name);
    stream->ended = name == NULL;
    return add_failed(stream, name, &error);
}

bool gc_task_stream_next(gc_task_stream *stream, gc_task *task)
{
    for (;;) {
        while (stream->next == stream->pending.count)
            if (!take_name(stream))
                return false;
        *task = stream->pending.tasks[stream->next++];
        gc_taken_add(&stream->taken, task);
        if (task->is_list || gc_shard_has(&stream->options->batch.shard, task->input))
            return true;
        gc_task_destroy(task);
    }
}
