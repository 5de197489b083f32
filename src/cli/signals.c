#include "cli/signals.h"

#include "cli/messages.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* A line on its way to standard output is let through, for a second at most: then comes SIGALRM. */
static void end_program(int number)
{
    int waiting = gc_postponed_signal(), saved = errno;
    if (waiting == 0 && gc_line_postpones(number)) {
        alarm(1);
        errno = saved;
        return;
    }
    if (waiting != 0)
        number = waiting;
    gconv_abandon_outputs();
    gc_tally_tell();
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
    raise(number);
}

void gc_signals_install(void)
{
    static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGALRM,
                                 SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        struct sigaction action;
        if (sigaction(ending[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue;
        action = (struct sigaction){.sa_handler = end_program, .sa_flags = SA_RESTART};
        sigfillset(&action.sa_mask);
        sigaction(ending[i], &action, NULL);
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}
