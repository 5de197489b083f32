#include "cli/report/messages.h"

#include "cli/report/progress.h"

#include <stdio.h>

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

static void write_line(const char *file, int line, const char *message)
{
    flockfile(stderr);
    gc_progress_clear();
    print_line(stderr, file, line, message);
    funlockfile(stderr);
}

void gc_report(const char *file, const gconv_error *error)
{
    write_line(file, error->line, error->message);
}

enum { MESSAGE_BYTES = 2048 };

/* Formats one message; what does not fit is cut. */
static const char *format_message(char message[MESSAGE_BYTES], const char *format,
                                  va_list arguments) GC_PRINTF(2, 0);

static const char *format_message(char message[MESSAGE_BYTES], const char *format,
                                  va_list arguments)
{
    char text[MESSAGE_BYTES];
    vsnprintf(text, sizeof text, format, arguments);
    return gc_escape(text, message, MESSAGE_BYTES);
}

void gc_say(const char *format, ...)
{
    if (said.quiet)
        return;
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    write_line(NULL, 0, format_message(message, format, arguments));
    va_end(arguments);
}

void gc_answer(const char *file, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    write_line(file, 0, format_message(message, format, arguments));
    va_end(arguments);
}

void gc_note(const char *file, const char *format, ...)
{
    if (!said.verbose)
        return;
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    write_line(file, 0, format_message(message, format, arguments));
    va_end(arguments);
}

void gc_note_into(FILE *stream, const char *file, const char *message)
{
    if (stream == NULL)
        gc_note(file, "%s", message);
    else if (said.verbose)
        print_line(stream, file, 0, message);
}

void gc_warn_into(FILE *stream, const char *file, const char *message)
{
    char marked[MESSAGE_BYTES];
    if (said.quiet)
        return;
    snprintf(marked, sizeof marked, "warning: %s", message);
    if (stream == NULL)
        write_line(file, 0, marked);
    else
        print_line(stream, file, 0, marked);
}

void gc_notes_print(const char *notes)
{
    flockfile(stderr);
    gc_progress_clear();
    fputs(notes, stderr);
    funlockfile(stderr);
}
