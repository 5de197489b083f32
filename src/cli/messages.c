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

/* One line to standard error in one call, so that lines of several processes do not mix. */
static void write_line(const char *file, int line, const char *message)
{
    char name[NAME_BYTES];
    flockfile(stderr);
    gc_progress_clear();
    if (file == NULL)
        fprintf(stderr, "gconv: %s\n", message);
    else if (line > 0)
        fprintf(stderr, "gconv: %s:%d: %s\n", gc_escape(file, name, sizeof name), line, message);
    else
        fprintf(stderr, "gconv: %s: %s\n", gc_escape(file, name, sizeof name), message);
    funlockfile(stderr);
}

void gc_report(const char *file, const gconv_error *error)
{
    write_line(file, error->line, error->message);
}

/* Formats and writes one message; what does not fit is cut. */
static void write_formatted(const char *file, const char *format, va_list arguments)
    GC_PRINTF(2, 0);

static void write_formatted(const char *file, const char *format, va_list arguments)
{
    char text[2048], escaped[2048];
    vsnprintf(text, sizeof text, format, arguments);
    write_line(file, 0, gc_escape(text, escaped, sizeof escaped));
}

void gc_say(const char *format, ...)
{
    if (messages.quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    write_formatted(NULL, format, arguments);
    va_end(arguments);
}

void gc_answer(const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_formatted(file, format, arguments);
    va_end(arguments);
}

void gc_note(const char *file, const char *format, ...)
{
    if (!messages.verbose)
        return;
    va_list arguments;
    va_start(arguments, format);
    write_formatted(file, format, arguments);
    va_end(arguments);
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
