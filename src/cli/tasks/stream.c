#include "cli/tasks/stream.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/tasks/identity.h"
#include "cli/tasks/name_reader.h"
#include "cli/tasks/names.h"
#include "cli/tasks/seen.h"
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
    gc_seen seen;
    gc_hash journal;                   /* the path of --journal, where there is one */
    bool no_linked_outputs;            /* the output directory was empty: no output is a link */
    gc_identity_cache inputs, outputs; /* the directories that were looked up last */
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
        status = gc_check_input(options->files_from, error);
    if (status != GCONV_OK)
        return status;
    *blamed = gc_input_name(options->files_from);
    status = gc_name_reader_open(options->files_from, options->files_end_in_nul ? '\0' : '\n',
                                 &(*stream)->names, error);
    if (status == GCONV_OK && options->journal != NULL)
        (*stream)->journal = gc_identify(&(*stream)->outputs, options->journal);
    if (status == GCONV_OK)
        *blamed = NULL;
    const char *directory = options->output_directory;
    (*stream)->no_linked_outputs = directory != NULL && gc_is_empty_directory(directory);
    return status;
}

void gc_task_stream_stop(gc_task_stream *stream)
{
    gc_name_reader_stop(stream->names);
}

void gc_task_stream_free(gc_task_stream *stream)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->next; i++)
        stream->pending.tasks[i] = (gc_task){.input = NULL};
    gc_task_list_clear(&stream->pending);
    gc_name_reader_free(stream->names);
    gc_seen_free(&stream->seen);
    free(stream);
}

/* ---- Collisions ------------------------------------------------------------------------------ */

/* The task fails with this message. */
static void refuse(gc_task *task, const char *format, ...) GC_PRINTF(2, 3);

static void refuse(gc_task *task, const char *format, ...)
{
    gconv_error error;
    char text[sizeof error.message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    task->refused = gc_copy_string(text);
    if (task->refused == NULL)
        task->unknown = ENOMEM;
}

/* The number of the input at work: operands first, then the entries of the list. */
static uint32_t input_number(const gc_task_stream *stream)
{
    uint64_t number = (uint64_t)stream->operands + stream->names->entries;
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* Refuses what --in-place does not allow of a task that replaces its own input. */
static void check_own(const gc_task_stream *stream, gc_task *task)
{
    struct stat about;
    if (!stream->options->in_place)
        refuse(task,
               "the output '%.200s' would replace its input; name another directory, or give "
               "--in-place",
               task->output);
    else if (stat(task->input, &about) == 0 && !S_ISREG(about.st_mode))
        refuse(task, "not a regular file; --in-place replaces nothing else");
}

/* Its record in a journal would take the place of the other one's. */
static void refuse_repeated(gc_task *task, uint32_t other)
{
    refuse(task, "named twice: it is input %u, too", other);
    task->repeated = true;
}

/* Refuses a task whose output was or would replace another name of the stream. */
static void check_names(const gc_task_stream *stream, gc_task *task, gc_hash input, gc_hash output)
{
    bool replaces = !stream->options->writer.no_clobber;
    bool own = input.high == output.high && input.low == output.low;
    uint32_t same = gc_seen_find(&stream->seen, output, GC_SEEN_OUTPUT);
    uint32_t source = gc_seen_find(&stream->seen, output, GC_SEEN_INPUT);
    uint32_t result = gc_seen_find(&stream->seen, input, GC_SEEN_OUTPUT);
    bool twice = same != 0 && gc_seen_find(&stream->seen, input, GC_SEEN_INPUT) == same;
    if (twice || (same != 0 && own && stream->options->in_place))
        refuse_repeated(task, same);
    else if (same != 0 && same == input_number(stream))
        refuse(task,
               "would be written to '%.200s', as another file of input %u is; --name "
               "'{dir}/{name}.{ext}' keeps them apart",
               task->output, same);
    else if (same != 0)
        refuse(task,
               "would be written to '%.200s', as input %u is; --parents or --name "
               "'{dir}/{name}.{ext}' keeps them apart",
               task->output, same);
    else if (replaces && own)
        check_own(stream, task);
    else if (replaces && source != 0)
        refuse(task, "its output '%.200s' would replace input %u", task->output, source);
    else if (replaces && result != 0)
        refuse(task, "is the output of input %u", result);
}

/* `is_plain`: the path is known to be no link, so nobody has to look at it. In the output directory
 * a look would wait for the threads that create files there, and they would wait for it. */
static gc_hash identify(gc_identity_cache *cache, const char *path, bool is_plain)
{
    return is_plain ? gc_identify_plain(cache, path) : gc_identify(cache, path);
}

/* Checks a task against those before it, and notes its names. */
static void check_task(gc_task_stream *stream, gc_task *task)
{
    if (task->unlisted != 0 || task->unknown != 0 || task->refused != NULL)
        return;
    gc_hash input = identify(&stream->inputs, task->input, task->is_plain);
    gc_hash output = identify(&stream->outputs, task->output, stream->no_linked_outputs);
    const char *journal = stream->options->journal;
    if (journal != NULL && output.high == stream->journal.high && output.low == stream->journal.low)
        refuse(task, "its output would replace the journal '%.300s'", journal);
    else
        check_names(stream, task, input, output);
    if (task->refused != NULL || task->unknown != 0)
        return;
    uint32_t number = input_number(stream);
    bool noted = gc_seen_add(&stream->seen, output, GC_SEEN_OUTPUT, number);
    if (noted && gc_seen_find(&stream->seen, input, GC_SEEN_INPUT) == 0)
        noted = gc_seen_add(&stream->seen, input, GC_SEEN_INPUT, number);
    if (!noted)
        task->unknown = ENOMEM;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Makes a task that fails of a name that could not become one, or of the list where that cannot be
 * read. False where memory is out. */
static bool add_failed(gc_task_stream *stream, const char *name, const gconv_error *reason)
{
    const char *list = gc_input_name(stream->options->files_from);
    const char *failed = stream->ended ? list : name;
    gc_task task = {.input = gc_copy_string(failed),
                    .output = gc_copy_string(failed),
                    .is_list = stream->ended};
    gconv_error error;
    refuse(&task, "%s", reason->message);
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
        check_task(stream, task);
        if (task->is_list || gc_shard_has(&stream->options->shard, task->input))
            return true;
        gc_task_destroy(task);
    }
}
