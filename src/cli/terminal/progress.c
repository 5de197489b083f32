#include "cli/terminal/progress.h"

#include "base/clock.h"
#include "base/status.h"

#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Changed by threads, read by a signal handler. */
static struct {
    const char *what; /* set before `items`, like the next one */
    const char *advice;
    bool may_fail;
    atomic_size_t items, finished, failed, skipped;
    atomic_bool several; /* `items` is not known */
    atomic_bool stopped; /* nothing counts any more */
} counts;

_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2,
               "a signal handler reads them");

void gc_counts_begin(const char *what, bool may_fail, size_t items)
{
    counts.what = what;
    counts.may_fail = may_fail;
    atomic_store(&counts.finished, 0);
    atomic_store(&counts.items, items);
}

void gc_counts_advise(const char *advice)
{
    counts.advice = advice;
}

void gc_counts_add(bool failed, bool skipped)
{
    if (atomic_load(&counts.stopped))
        return;
    atomic_fetch_add(&counts.failed, failed);
    atomic_fetch_add(&counts.skipped, skipped);
    atomic_fetch_add(&counts.finished, 1);
}

void gc_counts_several(const char *what, bool may_fail)
{
    if (atomic_load(&counts.several))
        return;
    counts.what = what;
    counts.may_fail = may_fail;
    atomic_store(&counts.several, true);
}

void gc_counts_stop(void)
{
    atomic_store(&counts.stopped, true);
}

bool gc_counts_are_stopped(void)
{
    return atomic_load(&counts.stopped);
}

size_t gc_counts_finished(void)
{
    return atomic_load(&counts.finished);
}

/* ---- The line -------------------------------------------------------------------------------- */

enum { SAMPLES = 8 };

/* Changed under the lock of stderr: readers and writers run in threads. */
static struct {
    bool drawn;
    bool was_drawn;
    double start; /* in seconds */
    double next;  /* when a line may be drawn again */
    double done;  /* the largest part that was told */
    /* How many images were finished at some time, once a second: a ring. */
    struct {
        double time;
        size_t finished;
    } samples[SAMPLES];
    size_t sampled;     /* samples that were taken; at least 1 */
    atomic_bool stands; /* a line stands on the terminal */
} progress;

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler reads it");

static const char clear_line[] = "\r\033[K";

void gc_progress_set(bool drawn, double delay)
{
    progress.drawn = drawn;
    progress.start = gc_seconds();
    progress.next = progress.start + delay;
    progress.samples[0].time = progress.start;
    progress.sampled = 1;
}

bool gc_progress_was_drawn(void)
{
    return progress.was_drawn;
}

void gc_progress_clear(void)
{
    flockfile(stderr);
    if (atomic_exchange(&progress.stands, false))
        fputs(clear_line, stderr);
    funlockfile(stderr);
}

/* ---- What the line says ---------------------------------------------------------------------- */

/* ", 1:05 left" */
static void describe_seconds(double seconds, char *text, size_t size)
{
    if (seconds >= 100 * 3600.0)
        return;
    int rest = (int)(seconds + 0.5);
    if (rest >= 3600)
        snprintf(text, size, ", %d:%02d:%02d left", rest / 3600, rest / 60 % 60, rest % 60);
    else
        snprintf(text, size, ", %d:%02d left", rest / 60, rest % 60);
}

/* The time that is left, estimated from what is done; "" in the first second, and before a
 * hundredth is done. */
static void describe_rest(double now, char *text, size_t size)
{
    double elapsed = now - progress.start, done = progress.done;
    text[0] = '\0';
    if (elapsed >= 1 && done >= 0.01 && done < 1)
        describe_seconds(elapsed * (1 - done) / done, text, size);
}

/* Images in a second, of the last seconds: images that were skipped at the beginning count no more.
 * 0 if too few are finished to tell. */
static double measure_rate(double now, size_t finished)
{
    enum { FEW = 4 };
    size_t newest = (progress.sampled - 1) % SAMPLES;
    size_t oldest = progress.sampled < SAMPLES ? 0 : progress.sampled % SAMPLES;
    double elapsed = now - progress.samples[oldest].time;
    size_t before = progress.samples[oldest].finished;
    size_t images = finished > before ? finished - before : 0;
    if (now - progress.samples[newest].time >= 1) {
        size_t next = progress.sampled++ % SAMPLES;
        progress.samples[next].time = now;
        progress.samples[next].finished = finished;
    }
    return elapsed >= 1 && images >= FEW ? (double)images / elapsed : 0;
}

/* ", 2 failed, 350/s, 1:05 left" */
static void describe_images(size_t finished, size_t count, double now, char *text, size_t size)
{
    double rate = measure_rate(now, finished);
    size_t count_failed = atomic_load(&counts.failed);
    char failed[32] = "", speed[32] = "", rest[32] = "";
    if (count_failed > 0)
        snprintf(failed, sizeof failed, ", %zu failed", count_failed);
    if (rate > 0)
        snprintf(speed, sizeof speed, rate < 9.95 ? ", %.1f/s" : ", %.0f/s", rate);
    if (rate > 0 && count > finished)
        describe_seconds((double)(count - finished) / rate, rest, sizeof rest);
    else
        describe_rest(now, rest, sizeof rest);
    snprintf(text, size, "%s%s%s", failed, speed, rest);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

enum { WIDTH_MAX = 79 };

/* Columns of a line. In the last column a terminal may begin a new line. */
static size_t measure_width(void)
{
    struct winsize size;
    bool is_narrow =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_col <= WIDTH_MAX;
    return is_narrow ? size.ws_col - 1u : WIDTH_MAX;
}

/* `rest` is what follows the number of items. */
static void draw(const char *name, double now, size_t item, size_t items, const char *rest)
{
    char many[64] = "", line[WIDTH_MAX + 1], escaped[WIDTH_MAX + 1];
    const size_t width = measure_width();
    if (items > 1)
        snprintf(many, sizeof many, ", %zu of %zu done", item, items);
    int used = items > 0 ? snprintf(line, width + 1, "%3.0f %%%s%s  ", floor(100 * progress.done),
                                    many, rest)
                         : snprintf(line, width + 1, "%zu done%s  ", item, rest);
    size_t room = (size_t)used < width ? width - (size_t)used : 0;
    fprintf(stderr, "%s%s%s", clear_line, line, gc_escape(name, escaped, room + 1));
    progress.next = now + 0.1;
    progress.was_drawn = true;
    atomic_store(&progress.stands, true);
}

static void show_line(const char *name, double done, size_t item, size_t items, bool are_images)
{
    char rest[96] = "";
    if (!progress.drawn)
        return;
    double now = gc_seconds();
    flockfile(stderr);
    /* Images that are computed at one time do not know of each other: the largest part counts. */
    if (done > progress.done)
        progress.done = done;
    if (now >= progress.next && !gc_counts_are_stopped()) {
        if (are_images)
            describe_images(item, items, now, rest, sizeof rest);
        else if (items > 0)
            describe_rest(now, rest, sizeof rest);
        draw(name, now, item, items, rest);
    }
    funlockfile(stderr);
}

void gc_progress_show(const char *name, double done, size_t item, size_t items)
{
    show_line(name, done, item, items, false);
}

void gc_progress_show_images(const char *name, double part, size_t count)
{
    size_t finished = gc_counts_finished();
    double done = count > 0 ? ((double)finished + part) / (double)count : 0;
    show_line(name, done, finished, count, true);
}

void gc_progress_begin(const char *name, double done, size_t item, size_t items)
{
    flockfile(stderr);
    progress.next = 0;
    gc_progress_show(name, done, item, items);
    funlockfile(stderr);
}

/* ---- The last words -------------------------------------------------------------------------- */

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

static size_t append_counts(char line[TELLING_BYTES], size_t used)
{
    size_t failed = atomic_load(&counts.failed), skipped = atomic_load(&counts.skipped);
    size_t finished = atomic_load(&counts.finished), other = failed + skipped;
    used = append(line, used, "gconv: stopped: ");
    used = append_number(line, used, finished > other ? finished - other : 0);
    if (atomic_load(&counts.several)) {
        used = append(line, used, finished == 1 ? " image " : " images ");
    } else {
        used = append(line, used, " of ");
        used = append_number(line, used, atomic_load(&counts.items));
        used = append(line, used, " ");
    }
    used = append(line, used, counts.what);
    if (counts.may_fail) {
        used = append(line, used, ", ");
        used = append_number(line, used, failed);
        used = append(line, used, " failed, ");
        used = append_number(line, used, skipped);
        used = append(line, used, " skipped");
    }
    bool complete = !atomic_load(&counts.several) && finished == atomic_load(&counts.items);
    if (counts.advice != NULL && !complete) {
        used = append(line, used, "; ");
        used = append(line, used, counts.advice);
    }
    return append(line, used, "\n");
}

void gc_counts_tell(bool quiet)
{
    char line[TELLING_BYTES];
    size_t used = append(line, 0, atomic_load(&progress.stands) ? clear_line : "");
    bool many = atomic_load(&counts.items) > 1 || atomic_load(&counts.several);
    if (many && !quiet)
        used = append_counts(line, used);
    struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (used > 0 && poll(&standard_error, 1, 0) == 1 && (standard_error.revents & POLLOUT) != 0 &&
        write(STDERR_FILENO, line, used) < 0)
        return; /* there is nobody to read it */
}
