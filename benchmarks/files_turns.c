/* Runs commands in turns and compares their whole processes, from fork to exit. In turns, a machine
 * whose speed drifts is as fast for one command as for the other.
 *
 *     files_turns RUNS OUTPUT NAME COMMAND [ARGUMENT...] [-- NAME COMMAND [ARGUMENT...]]...
 *
 * OUTPUT is a file that is removed before each run, so that no run replaces another one's output.
 * Prints a line for each command: the medians of wall and processor time (ms), a ratio, and the
 * largest peak memory (MB). The ratio is the median over all pairs of the first command's wall time
 * over this one's. One round before the others is not counted. Output of the commands is discarded;
 * a command that fails ends the program. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 16, RUNS_MAX = 1000 };

typedef struct command {
    const char *name;
    char **arguments;
    double wall[RUNS_MAX], cpu[RUNS_MAX]; /* milliseconds */
    long peak;                            /* KiB */
} command;

static command commands[COMMANDS_MAX];

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void run_child(char **arguments)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
}

static void measure(command *measured, const char *output, int run)
{
    unlink(output);
    double start = milliseconds();
    pid_t child = vfork();
    if (child == 0)
        run_child(measured->arguments);
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "files_turns: %s: failed\n", measured->name);
        exit(1);
    }
    double wall = milliseconds() - start;
    if (run < 0)
        return;
    measured->wall[run] = wall;
    measured->cpu[run] = 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    if (usage.ru_maxrss > measured->peak)
        measured->peak = usage.ru_maxrss;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[RUNS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    return (sorted[count / 2] + sorted[(count - 1) / 2]) / 2;
}

static void print(const command *printed, int runs)
{
    double ratios[RUNS_MAX];
    for (int run = 0; run < runs; run++)
        ratios[run] = commands[0].wall[run] / printed->wall[run];
    printf("  %-22s %9.1f ms %9.1f cpu   ratio %5.2f %8.1f MB\n", printed->name,
           median(printed->wall, runs), median(printed->cpu, runs), median(ratios, runs),
           (double)printed->peak / 1024);
}

int main(int argc, char **argv)
{
    int runs = argc > 4 ? atoi(argv[1]) : 0;
    if (runs < 1 || runs > RUNS_MAX) {
        fputs("usage: files_turns RUNS OUTPUT NAME COMMAND [ARGUMENT...] [-- NAME COMMAND...]...\n",
              stderr);
        return 2;
    }
    int count = 0;
    for (int i = 3; i + 1 < argc && count < COMMANDS_MAX; count++) {
        commands[count].name = argv[i];
        commands[count].arguments = argv + i + 1;
        while (i < argc && strcmp(argv[i], "--") != 0)
            i++;
        argv[i++] = NULL;
    }
    for (int run = -1; run < runs; run++)
        for (int i = 0; i < count; i++)
            measure(&commands[i], argv[2], run);
    for (int i = 0; i < count; i++)
        print(&commands[i], runs);
    return 0;
}
