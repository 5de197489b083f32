#include "cli/terminal/standard_output.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "gconv.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static int output_failure; /* errno of the first write that failed */

/* Notes that standard output could not be written; `error_number` is an errno. */
static void fail_output(int error_number)
{
    if (output_failure == 0)
        output_failure = error_number != 0 ? error_number : EIO;
}

int gc_flush_output(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        fail_output(errno);
    return output_failure;
}

/* Both are read by a signal handler. */
static atomic_bool line_is_written;
static atomic_int postponed; /* a signal; 0: none */

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2,
               "a signal handler uses them");

/* Postpones a signal if gc_write_line is writing a line: gc_write_line then raises it when the line
 * is out. False if no line is being written. Async-signal-safe. */
static bool postpones(int signal_number)
{
    if (!atomic_load(&line_is_written))
        return false;
    atomic_store(&postponed, signal_number);
    return true;
}

void gc_write_line(const char *line, size_t size)
{
    gc_flush_output();
    atomic_store(&line_is_written, true);
    if (!gc_write_all(STDOUT_FILENO, line, size))
        fail_output(errno);
    atomic_store(&line_is_written, false);
    if (atomic_load(&postponed) != 0)
        raise(atomic_load(&postponed));
}

void gc_json_end(void)
{
    gc_buffer line;
    gc_json_close('}');
    if (!gc_json_end_line(&line))
        return;
    if (line.failed)
        fail_output(ENOMEM);
    else
        gc_write_line(line.bytes, line.size);
    gc_buffer_free(&line);
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Whether SIGALRM was ignored or blocked when the program began. Then only the alarm that the
 * program sets itself ends it. */
static volatile sig_atomic_t alarm_is_own;

/* Ends the program by a signal. It is called up to three times:
 * - At the signal. While a line is being written to standard output, the signal is postponed, an
 *   alarm is set, and the program goes on.
 * - When the line is out: the writer raises the postponed signal again.
 * - At the alarm, a second later, if nobody reads the line. The program then ends by the postponed
 *   signal. */
static void end_program(int number)
{
    int waiting = atomic_load(&postponed), saved = errno;
    if (number == SIGALRM && waiting == 0 && alarm_is_own)
        return;
    if (waiting == 0 && postpones(number)) {
        alarm(1);
        errno = saved;
        return;
    }
    if (waiting != 0)
        number = waiting;
    gc_counts_stop();
    gconv_abandon_outputs();
    gc_counts_tell(gc_messages_are_quiet());
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
    raise(number);
}

static void handle(int number)
{
    struct sigaction action = {.sa_handler = end_program, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Makes sure that SIGALRM arrives, even if the parent process ignores or blocks it. */
static void install_alarm(void)
{
    struct sigaction before;
    sigset_t one, blocked;
    sigemptyset(&one);
    sigaddset(&one, SIGALRM);
    alarm_is_own =
        (sigaction(SIGALRM, NULL, &before) == 0 && before.sa_handler == SIG_IGN) ||
        (sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGALRM) == 1);
    handle(SIGALRM);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void gc_signals_install(void)
{
    static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGUSR1,
                                 SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        struct sigaction action;
        if (sigaction(ending[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue;
        handle(ending[i]);
    }
    install_alarm();
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

void gc_signals_hand_over(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (alarm_is_own)
        sigaction(SIGALRM, &ignore, NULL);
}

/* ---- SIGUSR1 --------------------------------------------------------------------------------- */

static atomic_bool stop_requested;

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler sets it");

static void request_stop(int number)
{
    (void)number;
    atomic_store(&stop_requested, true);
}

void gc_signals_stop_softly(void)
{
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART}, before;
    if (sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGUSR1, &action, NULL);
}

bool gc_stop_is_requested(void)
{
    return atomic_load(&stop_requested);
}

void gc_signals_finish(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    if (!gc_stop_is_requested())
        return;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}
