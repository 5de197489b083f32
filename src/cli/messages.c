#include "cli/messages.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Long enough for a path of PATH_MAX bytes, each escaped. */
enum { NAME_BYTES = 4 * 4096 + 1 };

static struct {
    bool quiet;
    bool verbose;
    bool progress;
    double start; /* of the program, in seconds */
    /* Changed under the lock of stderr: readers and writers run in threads. */
    double next;       /* when a progress line may be drawn again */
    double done;       /* the most that one has told */
    atomic_bool drawn; /* a progress line stands on the terminal */
} messages;

void gc_messages_set(bool quiet, bool verbose, bool progress, double delay)
{
    messages.quiet = quiet;
    messages.verbose = verbose;
    messages.progress = progress;
    messages.start = gc_seconds();
    messages.next = messages.start + delay;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static const char clear_line[] = "\r\033[K";

void gc_progress_clear(void)
{
    flockfile(stderr);
    if (atomic_exchange(&messages.drawn, false))
        fputs(clear_line, stderr);
    funlockfile(stderr);
}

/* ", 1:05 left": what is done foretells the rest, after a second and a hundredth of it. */
static void describe_rest(double done, double elapsed, char *text, size_t size)
{
    text[0] = '\0';
    if (elapsed < 1 || done < 0.01 || done >= 1)
        return;
    double seconds = elapsed * (1 - done) / done + 0.5;
    if (seconds >= 100 * 3600.0)
        return;
    int rest = (int)seconds;
    if (rest >= 3600)
        snprintf(text, size, ", %d:%02d:%02d left", rest / 3600, rest / 60 % 60, rest % 60);
    else
        snprintf(text, size, ", %d:%02d left", rest / 60, rest % 60);
}

static void draw_progress(const char *name, double now, size_t item, size_t items)
{
    enum { WIDTH = 79 }; /* in the last column a terminal may begin a new line */
    char many[64] = "", rest[32], line[WIDTH + 1], escaped[WIDTH + 1];
    if (items > 1)
        snprintf(many, sizeof many, ", %zu of %zu done", item, items);
    describe_rest(messages.done, now - messages.start, rest, sizeof rest);
    int used = items > 0
                   ? snprintf(line, sizeof line, "%3.0f %%%s%s  ", 100 * messages.done, many, rest)
                   : snprintf(line, sizeof line, "%zu done  ", item);
    size_t room = used < WIDTH ? (size_t)(WIDTH - used) : 0;
    fprintf(stderr, "%s%s%s", clear_line, line, gc_escape(name, escaped, room + 1));
    messages.next = now + 0.1;
    atomic_store(&messages.drawn, true);
}

void gc_progress_show(const char *name, double done, size_t item, size_t items)
{
    if (!messages.progress)
        return;
    double now = gc_seconds();
    flockfile(stderr);
    /* Images that are worked on at one time do not know of each other. */
    if (done > messages.done)
        messages.done = done;
    if (now >= messages.next)
        draw_progress(name, now, item, items);
    funlockfile(stderr);
}

void gc_progress_begin(const char *name, double done, size_t item, size_t items)
{
    flockfile(stderr);
    messages.next = 0;
    gc_progress_show(name, done, item, items);
    funlockfile(stderr);
}

/* ---- What was done --------------------------------------------------------------------------- */

/* Changed by threads, read by a signal handler. */
static struct {
    const char *what; /* set before `items`, like the next one */
    bool may_fail;
    atomic_size_t items, finished, failed, skipped;
    atomic_bool stream; /* `items` is not known */
} tally;

_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2 &&
                   ATOMIC_BOOL_LOCK_FREE == 2,
               "a signal handler uses them");

void gc_tally_begin(const char *what, bool may_fail, size_t items)
{
    tally.what = what;
    tally.may_fail = may_fail;
    atomic_store(&tally.finished, 0);
    atomic_store(&tally.items, items);
}

void gc_tally_add(bool failed, bool skipped)
{
    atomic_fetch_add(&tally.failed, failed);
    atomic_fetch_add(&tally.skipped, skipped);
    atomic_fetch_add(&tally.finished, 1);
}

void gc_tally_stream(const char *what, bool may_fail)
{
    if (atomic_load(&tally.stream))
        return;
    tally.what = what;
    tally.may_fail = may_fail;
    atomic_store(&tally.stream, true);
}

size_t gc_tally_finished(void)
{
    return atomic_load(&tally.finished);
}

enum { TELLING_BYTES = 256 };

/* Text at the end of a line, without the functions that a signal handler must not call. */
static size_t append(char line[TELLING_BYTES], size_t used, const char *text)
{
    while (*text != '\0' && used < TELLING_BYTES)
        line[used++] = *text++;
    return used;
}

static size_t append_number(char line[TELLING_BYTES], size_t used, size_t number)
{
    char digits[24];
    size_t first = sizeof digits - 1;
    digits[first] = '\0';
    do
        digits[--first] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return append(line, used, digits + first);
}

static size_t append_tally(char line[TELLING_BYTES], size_t used)
{
    size_t failed = atomic_load(&tally.failed), skipped = atomic_load(&tally.skipped);
    size_t finished = atomic_load(&tally.finished), other = failed + skipped;
    used = append(line, used, "gconv: stopped: ");
    used = append_number(line, used, finished > other ? finished - other : 0);
    if (atomic_load(&tally.stream)) {
        used = append(line, used, finished == 1 ? " image " : " images ");
    } else {
        used = append(line, used, " of ");
        used = append_number(line, used, atomic_load(&tally.items));
        used = append(line, used, " ");
    }
    used = append(line, used, tally.what);
    if (tally.may_fail) {
        used = append(line, used, ", ");
        used = append_number(line, used, failed);
        used = append(line, used, " failed, ");
        used = append_number(line, used, skipped);
        used = append(line, used, " skipped");
    }
    return append(line, used, "\n");
}

void gc_tally_tell(void)
{
    char line[TELLING_BYTES];
    size_t used = append(line, 0, atomic_load(&messages.drawn) ? clear_line : "");
    bool several = atomic_load(&tally.items) > 1 || atomic_load(&tally.stream);
    if (several && !messages.quiet)
        used = append_tally(line, used);
    struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (used > 0 && poll(&standard_error, 1, 0) == 1 && (standard_error.revents & POLLOUT) != 0 &&
        write(STDERR_FILENO, line, used) < 0)
        return; /* nobody is left to be told */
}

/* ---- Messages -------------------------------------------------------------------------------- */

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

/* ---- Standard output ------------------------------------------------------------------------- */

static int output_failure; /* errno of the first write that failed */

void gc_fail_output(int error_number)
{
    if (output_failure == 0)
        output_failure = error_number != 0 ? error_number : EIO;
}

int gc_flush_output(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        gc_fail_output(errno);
    return output_failure;
}

static atomic_bool line_is_written;
static atomic_int postponed;

bool gc_line_postpones(int signal_number)
{
    if (!atomic_load(&line_is_written))
        return false;
    atomic_store(&postponed, signal_number);
    return true;
}

int gc_postponed_signal(void)
{
    return atomic_load(&postponed);
}

void gc_write_line(const char *line, size_t size)
{
    gc_flush_output();
    atomic_store(&line_is_written, true);
    if (!gc_write_all(STDOUT_FILENO, line, size))
        gc_fail_output(errno);
    atomic_store(&line_is_written, false);
    if (gc_postponed_signal() != 0)
        raise(gc_postponed_signal());
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
