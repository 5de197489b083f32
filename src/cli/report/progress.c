#include "cli/report/progress.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdio.h>

/* Changed under the lock of stderr: readers and writers run in threads. */
static struct {
    bool drawn;
    double start;       /* in seconds */
    double next;        /* when a line may be drawn again */
    double done;        /* the largest part that was told */
    atomic_bool stands; /* a line stands on the terminal */
} progress;

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler reads it");

static const char clear_line[] = "\r\033[K";

void gc_progress_set(bool drawn, double delay)
{
    progress.drawn = drawn;
    progress.start = gc_seconds();
    progress.next = progress.start + delay;
}

void gc_progress_clear(void)
{
    flockfile(stderr);
    if (atomic_exchange(&progress.stands, false))
        fputs(clear_line, stderr);
    funlockfile(stderr);
}

const char *gc_progress_clear_text(void)
{
    return atomic_load(&progress.stands) ? clear_line : "";
}

/* ", 1:05 left", estimated from what is done; "" in the first second, and before a hundredth is
 * done. */
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

static void draw(const char *name, double now, size_t item, size_t items)
{
    enum { WIDTH = 79 }; /* in the last column a terminal may begin a new line */
    char many[64] = "", rest[32], line[WIDTH + 1], escaped[WIDTH + 1];
    if (items > 1)
        snprintf(many, sizeof many, ", %zu of %zu done", item, items);
    describe_rest(progress.done, now - progress.start, rest, sizeof rest);
    int used = items > 0
                   ? snprintf(line, sizeof line, "%3.0f %%%s%s  ", 100 * progress.done, many, rest)
                   : snprintf(line, sizeof line, "%zu done  ", item);
    size_t room = used < WIDTH ? (size_t)(WIDTH - used) : 0;
    fprintf(stderr, "%s%s%s", clear_line, line, gc_escape(name, escaped, room + 1));
    progress.next = now + 0.1;
    atomic_store(&progress.stands, true);
}

void gc_progress_show(const char *name, double done, size_t item, size_t items)
{
    if (!progress.drawn)
        return;
    double now = gc_seconds();
    flockfile(stderr);
    /* Images that are computed at one time do not know of each other: the largest part counts. */
    if (done > progress.done)
        progress.done = done;
    if (now >= progress.next)
        draw(name, now, item, items);
    funlockfile(stderr);
}

void gc_progress_begin(const char *name, double done, size_t item, size_t items)
{
    flockfile(stderr);
    progress.next = 0;
    gc_progress_show(name, done, item, items);
    funlockfile(stderr);
}
