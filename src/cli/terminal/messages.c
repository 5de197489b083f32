#include "cli/terminal/messages.h"

#include "base/json.h"
#include "base/memory.h"
#include "cli/terminal/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Long enough for a path of PATH_MAX bytes, each escaped. */
enum { NAME_BYTES = 4 * 4096 + 1 };

static struct {
    bool quiet;
    bool verbose;
} said;

void gc_messages_set(bool quiet, bool verbose)
{
    said.quiet = quiet;
    said.verbose = verbose;
}

bool gc_messages_are_quiet(void)
{
    return said.quiet;
}

/* One line in one call, so that lines of several processes do not mix. */
static void print_line(FILE *stream, const char *file, int line, const char *message)
{
    char name[NAME_BYTES];
    if (file == NULL)
        fprintf(stream, "gconv: %s\n", message);
    else if (line > 0)
        fprintf(stream, "gconv: %s:%d: %s\n", gc_escape(file, name, sizeof name), line, message);
    else
        fprintf(stream, "gconv: %s: %s\n", gc_escape(file, name, sizeof name), message);
}

static _Thread_local FILE *aside; /* NULL: standard error */

void gc_messages_into(FILE *stream)
{
    aside = stream;
}

/* Locks the stream of messages, and removes the progress line there. */
static FILE *begin_message(void)
{
    FILE *stream = aside != NULL ? aside : stderr;
    flockfile(stream);
    if (aside == NULL)
        gc_progress_clear();
    return stream;
}

static void write_line(const char *file, int line, const char *message)
{
    FILE *stream = begin_message();
    print_line(stream, file, line, message);
    funlockfile(stream);
}

void gc_report(const char *file, const gconv_error *error)
{
    write_line(file, error->line, error->message);
}

enum { MESSAGE_BYTES = 2048 };

/* Says one message; what does not fit is cut. */
static void say(const char *file, const char *format, va_list arguments) GC_PRINTF(2, 0);

static void say(const char *file, const char *format, va_list arguments)
{
    char text[MESSAGE_BYTES], message[MESSAGE_BYTES];
    vsnprintf(text, sizeof text, format, arguments);
    write_line(file, 0, gc_escape(text, message, sizeof message));
}

void gc_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!said.quiet)
        say(NULL, format, arguments);
    va_end(arguments);
}

void gc_answer(const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(file, format, arguments);
    va_end(arguments);
}

void gc_note(const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (said.verbose)
        say(file, format, arguments);
    va_end(arguments);
}

/* Says a message of the library, which is escaped already, or keeps it in `stream`. */
static void say_into(FILE *stream, const char *file, const char *mark, const char *message)
{
    char marked[MESSAGE_BYTES];
    snprintf(marked, sizeof marked, "%s%s", mark, message);
    if (stream == NULL)
        write_line(file, 0, marked);
    else
        print_line(stream, file, 0, marked);
}

void gc_note_into(FILE *stream, const char *file, const char *message)
{
    if (said.verbose)
        say_into(stream, file, "", message);
}

void gc_warn_into(FILE *stream, const char *file, const char *message)
{
    if (!said.quiet)
        say_into(stream, file, "warning: ", message);
}

void gc_notes_print(const char *notes)
{
    FILE *stream = begin_message();
    fputs(notes, stream);
    funlockfile(stream);
}

/* ---- Warnings -------------------------------------------------------------------------------- */

enum { TEXTS_MAX = 100 };

/* The reader and the writer of an image warn from different threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(gc_warning_list *list, const char *message)
{
    if (list == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (list->texts == NULL)
        list->texts = calloc(TEXTS_MAX, sizeof *list->texts);
    char *text = list->texts != NULL && list->count < TEXTS_MAX ? gc_copy_string(message) : NULL;
    if (text != NULL)
        list->texts[list->count++] = text;
    else
        list->left_out++;
    pthread_mutex_unlock(&lock);
}

void gc_take_warning(void *target, const char *message)
{
    const gc_warning_target *to = target;
    keep(to->list, message);
    if (said.verbose)
        say_into(to->notes, to->name, "warning: ", message);
}

void gc_take_damage(void *target, const char *message)
{
    const gc_warning_target *to = target;
    keep(to->list, message);
    gc_warn_into(to->notes, to->name, message);
}

void gc_warning_list_json(const gc_warning_list *list)
{
    char more[64];
    gc_json_open("warnings", '[');
    for (size_t i = 0; i < list->count; i++)
        gc_json_string(NULL, list->texts[i]);
    snprintf(more, sizeof more, "%zu more warnings", list->left_out);
    if (list->left_out > 0)
        gc_json_string(NULL, more);
    gc_json_close(']');
}

void gc_warning_list_destroy(gc_warning_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->texts[i]);
    free(list->texts);
    *list = (gc_warning_list){.texts = NULL};
}

/* ---- Exit codes ------------------------------------------------------------------------------ */

int gc_start_code(gconv_status status)
{
    switch (status) {
    case GCONV_ERROR_DEVICE:
    case GCONV_ERROR_UNSUPPORTED:
        return GC_EXIT_DEVICE;
    case GCONV_ERROR_MEMORY:
    case GCONV_ERROR_OPEN:
    case GCONV_ERROR_READ:
        return GC_EXIT_FAILED;
    default:
        return GC_EXIT_USAGE;
    }
}

int gc_exit_code(gconv_status status)
{
    if (status == GCONV_OK)
        return GC_EXIT_DONE;
    bool device = status == GCONV_ERROR_DEVICE || status == GCONV_ERROR_UNSUPPORTED;
    return device ? GC_EXIT_DEVICE : GC_EXIT_FAILED;
}
