/* Runs commands in turns and compares their whole processes, from fork to exit. In turns, a machine
 * whose speed drifts is as fast for one command as for the other.
 *
 *     files_turns [-c] [-i IMAGES] RUNS OUTPUT NAME COMMAND [ARGUMENT...] [-- NAME COMMAND...]...
 *
 * OUTPUT is a file, or a directory with what is in it. It is removed before each run, so that no run
 * replaces another one's output. Prints a line for each command: the medians of wall and processor
 * time (ms), a ratio, and the largest peak memory (MB); with -i also how many images a second the
 * median means where a run takes IMAGES. The ratio is the median over all pairs of the first
 * command's wall time over this one's. One round before the others is not counted; with -c there is
 * none. Output of the commands is discarded. A command that fails is not run again: its messages and
 * a line say so, and the exit status is 1. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
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
    bool failed;
} command;

static command commands[COMMANDS_MAX];

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    bool is_device =
        !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode) && !S_ISLNK(status->st_mode);
    (void)kind;
    (void)place;
    return is_device ? 0 : remove(path); /* /dev/null stays */
}

static void run_child(char **arguments, int messages)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
}

static void report_failure(command *failed, FILE *messages)
{
    char line[512];
    failed->failed = true;
    fprintf(stderr, "files_turns: %s: failed\n", failed->name);
    rewind(messages);
    while (fgets(line, sizeof line, messages) != NULL)
        fputs(line, stderr);
}

static void measure(command *measured, const char *output, int run, FILE *messages)
{
    nftw(output, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    rewind(messages);
    if (ftruncate(fileno(messages), 0) != 0)
        perror("files_turns");
    double start = milliseconds();
    pid_t child = vfork();
    if (child == 0)
        run_child(measured->arguments, fileno(messages));
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        report_failure(measured, messages);
        return;
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

/* images: of a run; 0: it is not told. */
static void print(const command *printed, int runs, double images)
{
    double ratios[RUNS_MAX];
    if (printed->failed) {
        printf("  %-28s    failed\n", printed->name);
        return;
    }
    for (int run = 0; run < runs; run++)
        ratios[run] = commands[0].wall[run] / printed->wall[run];
    double wall = median(printed->wall, runs);
    printf("  %-28s %9.1f ms %9.1f cpu ", printed->name, wall, median(printed->cpu, runs));
    if (commands[0].failed)
        printf("  ratio     -");
    else
        printf("  ratio %5.2f", median(ratios, runs));
    printf(" %8.1f MB", (double)printed->peak / 1024);
    if (images > 0)
        printf(" %8.1f images/s", 1e3 * images / wall);
    putchar('\n');
}

/* Returns how many commands the arguments from the third on name. */
static int read_commands(int argc, char **argv)
{
    int count = 0;
    for (int i = 3; i + 1 < argc && count < COMMANDS_MAX; count++) {
        commands[count].name = argv[i];
        commands[count].arguments = argv + i + 1;
        while (i < argc && strcmp(argv[i], "--") != 0)
            i++;
        argv[i++] = NULL;
    }
    return count;
}

int main(int argc, char **argv)
{
    double images = 0;
    int first = -1, option;
    while ((option = getopt(argc, argv, "+ci:")) != -1) {
        if (option == 'c')
            first = 0;
        else if (option == 'i')
            images = atof(optarg);
        else
            argc = 0; /* usage */
    }
    argc -= optind - 1;
    argv += optind - 1;
    int runs = argc > 4 ? atoi(argv[1]) : 0;
    FILE *messages = tmpfile();
    if (runs < 1 || runs > RUNS_MAX || messages == NULL) {
        fputs("usage: files_turns [-c] [-i IMAGES] RUNS OUTPUT NAME COMMAND [ARGUMENT...] "
              "[-- NAME COMMAND...]...\n",
              stderr);
        return 2;
    }
    int count = read_commands(argc, argv);
    bool failed = false;
    for (int run = first; run < runs; run++)
        for (int i = 0; i < count; i++)
            if (!commands[i].failed)
                measure(&commands[i], argv[2], run, messages);
    for (int i = 0; i < count; i++) {
        print(&commands[i], runs, images);
        failed = failed || commands[i].failed;
    }
    return failed ? 1 : 0;
}
