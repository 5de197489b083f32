#include "cli/messages.h"

#include "core/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Long enough for a path of PATH_MAX bytes, each escaped. */
enum { NAME_BYTES = 4 * 4096 + 1 };

static struct {
    bool quiet;
    bool verbose;
    bool progress;
    /* Changed under the lock of stderr: readers and writers run in threads. */
    bool drawn;  /* a progress line stands on the terminal */
    double next; /* when it may be drawn again, in seconds */
} messages;

void gc_messages_set(bool quiet, bool verbose, bool progress, double delay)
{
    messages.quiet = quiet;
    messages.verbose = verbose;
    messages.progress = progress;
    messages.next = gc_seconds() + delay;
}

void gc_progress_clear(void)
{
    flockfile(stderr);
    if (messages.drawn)
        fputs("\r\033[K", stderr);
    messages.drawn = false;
    funlockfile(stderr);
}

void gc_progress_show(const char *name, double done)
{
    if (!messages.progress)
        return;
    double now = gc_seconds();
    flockfile(stderr);
    if (now >= messages.next) {
        char escaped[64];
        fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * done,
                gc_escape(name, escaped, sizeof escaped));
        messages.next = now + 0.1;
        messages.drawn = true;
    }
    funlockfile(stderr);
}

void gc_progress_begin(const char *name, double done)
{
    flockfile(stderr);
    messages.next = 0;
    gc_progress_show(name, done);
    funlockfile(stderr);
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
    if (messages.quiet)
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
    if (!messages.verbose)
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
    else if (messages.verbose)
        print_line(stream, file, 0, message);
}

void gc_warn_into(FILE *stream, const char *file, const char *message)
{
    if (messages.quiet)
        return;
    if (stream == NULL)
        write_line(file, 0, message);
    else
        print_line(stream, file, 0, message);
}

void gc_notes_print(const char *notes)
{
    flockfile(stderr);
    gc_progress_clear();
    fputs(notes, stderr);
    funlockfile(stderr);
}

int gc_flush_output(void)
{
    static int failure;
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout) != 0) && failure == 0)
        failure = errno != 0 ? errno : EIO;
    return failure;
}

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
