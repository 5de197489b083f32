/* How a program ends: `ending FILE COMMAND...` runs the command, hands on the signals that it gets,
 * and writes "exit STATUS" or "signal NUMBER" to FILE. A shell cannot tell the two apart. After 20
 * seconds the command is killed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const int handed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
enum { COUNT = sizeof handed_on / sizeof handed_on[0] };

static volatile pid_t child;

static void hand_on(int number)
{
    kill(child, number == SIGALRM ? SIGKILL : number);
}

static void set_handlers(void (*handler)(int))
{
    for (int i = 0; i < COUNT; i++)
        sigaction(handed_on[i], &(struct sigaction){.sa_handler = handler}, NULL);
}

int main(int argc, char **argv)
{
    sigset_t all, before;
    if (argc < 3)
        return EXIT_FAILURE;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    set_handlers(SIG_DFL);
    child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    set_handlers(hand_on);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = hand_on}, NULL);
    alarm(20);
    sigdelset(&before, SIGALRM); /* the caller may have it blocked */
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        ;
    FILE *file = fopen(argv[1], "w");
    if (file == NULL)
        return EXIT_FAILURE;
    if (WIFSIGNALED(status))
        fprintf(file, "signal %d\n", WTERMSIG(status));
    else
        fprintf(file, "exit %d\n", WEXITSTATUS(status));
    return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
