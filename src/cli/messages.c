#include "cli/messages.h"

#include "core/stream.h"

#include <stdio.h>
#include <string.h>

/* Long enough for a path of PATH_MAX bytes, each escaped. */
enum { NAME_BYTES = 4 * 4096 + 1 };

static struct {
    bool quiet;
    bool verbose;
    bool progress;
    bool drawn;         /* a progress line stands on the terminal */
    double first, last; /* seconds of the first and latest call for progress */
} messages;

void gc_messages_set(bool quiet, bool verbose, bool progress)
{
    messages.quiet = quiet;
    messages.verbose = verbose;
    messages.progress = progress;
}

void gc_progress_clear(void)
{
    if (messages.drawn)
        fputs("\r\033[K", stderr);
    messages.drawn = false;
}

void gc_progress_show(const char *name, double done)
{
    if (!messages.progress)
        return;
    double now = gc_seconds();
    if (messages.first == 0)
        messages.first = now;
    if (now - messages.first < 0.5 || now - messages.last < 0.1)
        return;
    messages.last = now;
    char escaped[64];
    fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * done, gc_escape(name, escaped, sizeof escaped));
    fflush(stderr);
    messages.drawn = true;
}

/* One line to standard error in one call, so that lines of several processes do not mix. */
static void write_line(const char *file, int line, const char *message)
{
    char name[NAME_BYTES];
    gc_progress_clear();
    if (file == NULL)
        fprintf(stderr, "gconv: %s\n", message);
    else if (line > 0)
        fprintf(stderr, "gconv: %s:%d: %s\n", gc_escape(file, name, sizeof name), line, message);
    else
        fprintf(stderr, "gconv: %s: %s\n", gc_escape(file, name, sizeof name), message);
}

void gc_report(const char *file, const gconv_error *error)
{
    write_line(file, error->line, error->message);
}

void gc_say(const char *format, ...)
{
    if (messages.quiet)
        return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_line(NULL, 0, text);
}

void gc_note(const char *file, const char *format, ...)
{
    if (!messages.verbose)
        return;
    char text[512], escaped[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_line(file, 0, gc_escape(text, escaped, sizeof escaped));
}

int gc_exit_code(gconv_status status)
{
    if (status == GCONV_OK)
        return GC_EXIT_DONE;
    bool device = status == GCONV_ERROR_DEVICE || status == GCONV_ERROR_UNSUPPORTED;
    return device ? GC_EXIT_DEVICE : GC_EXIT_FAILED;
}
