#include "cli/report/output.h"

#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

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

/* Both are read by a signal handler. */
static atomic_bool line_is_written;
static atomic_int postponed;

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2,
               "a signal handler uses them");

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
