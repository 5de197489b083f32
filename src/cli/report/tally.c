#include "cli/report/tally.h"

#include "cli/report/messages.h"
#include "cli/report/progress.h"

#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

/* Changed by threads, read by a signal handler. */
static struct {
    const char *what; /* set before `items`, like the next one */
    const char *advice;
    bool may_fail;
    atomic_size_t items, finished, failed, skipped;
    atomic_bool several; /* `items` is not known */
    atomic_bool stopped; /* nothing counts any more */
} tally;

_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2,
               "a signal handler reads them");

void gc_tally_begin(const char *what, bool may_fail, size_t items)
{
    tally.what = what;
    tally.may_fail = may_fail;
    atomic_store(&tally.finished, 0);
    atomic_store(&tally.items, items);
}

void gc_tally_advise(const char *advice)
{
    tally.advice = advice;
}

void gc_tally_add(bool failed, bool skipped)
{
    if (atomic_load(&tally.stopped))
        return;
    atomic_fetch_add(&tally.failed, failed);
    atomic_fetch_add(&tally.skipped, skipped);
    atomic_fetch_add(&tally.finished, 1);
}

void gc_tally_several(const char *what, bool may_fail)
{
    if (atomic_load(&tally.several))
        return;
    tally.what = what;
    tally.may_fail = may_fail;
    atomic_store(&tally.several, true);
}

void gc_tally_stop(void)
{
    atomic_store(&tally.stopped, true);
}

bool gc_tally_is_stopped(void)
{
    return atomic_load(&tally.stopped);
}

size_t gc_tally_finished(void)
{
    return atomic_load(&tally.finished);
}

size_t gc_tally_failed(void)
{
    return atomic_load(&tally.failed);
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
    if (atomic_load(&tally.several)) {
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
    bool complete = !atomic_load(&tally.several) && finished == atomic_load(&tally.items);
    if (tally.advice != NULL && !complete) {
        used = append(line, used, "; ");
        used = append(line, used, tally.advice);
    }
    return append(line, used, "\n");
}

void gc_tally_tell(void)
{
    char line[TELLING_BYTES];
    size_t used = append(line, 0, gc_progress_clear_text());
    bool many = atomic_load(&tally.items) > 1 || atomic_load(&tally.several);
    if (many && !gc_messages_are_quiet())
        used = append_tally(line, used);
    struct pollfd standard_error = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (used > 0 && poll(&standard_error, 1, 0) == 1 && (standard_error.revents & POLLOUT) != 0 &&
        write(STDERR_FILENO, line, used) < 0)
        return; /* there is nobody to read it */
}
