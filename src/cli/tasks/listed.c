#include "cli/tasks/tasks.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/tasks/collisions.h"
#include "cli/tasks/names.h"
#include "cli/terminal/standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Names of a list ------------------------------------------------------------------------- */

/* Names from a file, one after the other, each ended by a newline or by a NUL byte. */
enum { NAME_BYTES_MAX = 1 << 16 }; /* a name with its end has at most this many bytes */

typedef struct name_reader {
    int descriptor;
    char end;    /* '\n' or '\0' */
    bool at_end; /* nothing is left to read from the file */
    size_t first, filled;
    atomic_bool stopped; /* somebody called name_reader_stop */
    char buffer[NAME_BYTES_MAX];
} name_reader;

/* Opens a list. "-" is standard input. */
static gconv_status open_names(const char *path, char end, name_reader **reader, gconv_error *error)
{
    int descriptor = STDIN_FILENO;
    *reader = NULL;
    if (strcmp(path, "-") != 0)
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open the list of files");
    *reader = calloc(1, sizeof **reader);
    if (*reader == NULL) {
        if (descriptor != STDIN_FILENO)
            close(descriptor);
        return gc_fail_memory(error, sizeof **reader);
    }
    (*reader)->descriptor = descriptor;
    (*reader)->end = end;
    return GCONV_OK;
}

/* Waits until there is something to read. False if nobody wants it any more. */
static bool await_input(name_reader *reader)
{
    enum { MILLISECONDS = 50 };
    struct pollfd input = {.fd = reader->descriptor, .events = POLLIN};
    while (!atomic_load(&reader->stopped) && !gc_stop_is_requested()) {
        int ready = poll(&input, 1, MILLISECONDS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
    return false;
}

/* Reads more into the buffer. */
static gconv_status fill(name_reader *reader, gconv_error *error)
{
    memmove(reader->buffer, reader->buffer + reader->first, reader->filled - reader->first);
    reader->filled -= reader->first;
    reader->first = 0;
    ssize_t count;
    do
        count = await_input(reader) ? read(reader->descriptor, reader->buffer + reader->filled,
                                           sizeof reader->buffer - reader->filled)
                                    : 0;
    while (count < 0 && errno == EINTR);
    reader->at_end = count <= 0;
    if (count < 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read the list of files");
    reader->filled += (size_t)count;
    return GCONV_OK;
}

/* Finds the end of the next entry; NULL at the end of the list. */
static gconv_status find_end(name_reader *reader, char **end, gconv_error *error)
{
    for (;;) {
        char *first = reader->buffer + reader->first;
        size_t length = reader->filled - reader->first;
        *end = memchr(first, reader->end, length);
        if (*end != NULL || (reader->at_end && length == 0))
            return GCONV_OK;
        if (length == sizeof reader->buffer) {
            reader->at_end = true;
            reader->filled = reader->first;
            return gc_fail(error, GCONV_ERROR_READ, "a name in the list of files exceeds %d bytes",
                           NAME_BYTES_MAX - 1);
        }
        if (reader->at_end) { /* the last entry may lack its end; the buffer has room for one */
            *end = first + length;
            reader->filled++;
            return GCONV_OK;
        }
        GC_TRY(fill(reader, error));
    }
}

/* Takes the next name. It stays until the next call. NULL at the end. Empty lines are passed over.
 * After a failure about one name the next call takes the next name; after others it ends. */
static gconv_status next_name(name_reader *reader, const char **name, gconv_error *error)
{
    char *end;
    size_t length;
    do {
        *name = NULL; /* an empty entry is none */
        gconv_status status = find_end(reader, &end, error);
        if (status != GCONV_OK || end == NULL || atomic_load(&reader->stopped) ||
            gc_stop_is_requested())
            return status;
        *name = reader->buffer + reader->first;
        length = (size_t)(end - *name);
        reader->first += length + 1;
    } while (length == 0);
    *end = '\0';
    if (strlen(*name) == length)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "a NUL byte in a line of the list of files; --files0-from reads such lists");
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

struct gc_task_stream {
    const gc_options *options;
    gc_walk walk;
    name_reader *names;
    int operands;         /* that were taken */
    bool ended;           /* the list has failed */
    gc_task_list pending; /* the tasks of the last name; those before `next` were handed out */
    size_t next;
    gc_taken_names taken;
};

gconv_status gc_task_stream_create(const gc_options *options, gc_task_stream **stream,
                                   const char **subject, gconv_error *error)
{
    *stream = calloc(1, sizeof **stream);
    GC_TRY_MEMORY(*stream != NULL, error, sizeof **stream);
    (*stream)->options = options;
    GC_TRY(gc_walk_begin(&(*stream)->walk, options, &(*stream)->pending, subject, error));
    GC_TRY(gc_check_input(options->batch.files_from, error));
    *subject = gc_input_name(options->batch.files_from);
    GC_TRY(open_names(options->batch.files_from, options->batch.files_end_in_nul ? '\0' : '\n',
                      &(*stream)->names, error));
    *subject = NULL;
    gc_taken_begin(&(*stream)->taken, options, NULL);
    return GCONV_OK;
}

void gc_task_stream_stop(gc_task_stream *stream)
{
    atomic_store(&stream->names->stopped, true);
}

const gc_images *gc_task_stream_foreign(const gc_task_stream *stream)
{
    return &stream->pending.foreign;
}

void gc_task_stream_free(gc_task_stream *stream)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->next; i++)
        stream->pending.tasks[i] = (gc_task){.input = NULL};
    gc_images_free(&stream->pending.foreign);
    gc_task_list_clear(&stream->pending);
    if (stream->names != NULL && stream->names->descriptor != STDIN_FILENO)
        close(stream->names->descriptor);
    free(stream->names);
    gc_taken_free(&stream->taken);
    free(stream);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Adds a task that fails, for a name that cannot be a task, or for a list that cannot be read.
 * False if memory is out. */
static bool add_failed(gc_task_stream *stream, const char *name, const gconv_error *reason)
{
    const char *list = gc_input_name(stream->options->batch.files_from);
    const char *failed = stream->ended ? list : name;
    gc_task task = gc_task_make(failed, failed);
    gconv_error error;
    task.refused = gc_copy_string(reason->message);
    task.is_list = stream->ended;
    if (task.refused == NULL)
        task.unknown = ENOMEM;
    return gc_task_list_add(&stream->pending, task, &error) == GCONV_OK;
}

/* Makes the tasks of one name. */
static bool add_name(gc_task_stream *stream, const char *name)
{
    gconv_error error;
    const char *subject;
    stream->walk.subject = &subject;
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
    gconv_status status = next_name(stream->names, &name, &error);
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
