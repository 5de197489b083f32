#include "lab/html/python.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const double seconds_max = 60;
enum { POLL_MILLISECONDS = 5, NO_MATPLOTLIB = 3 /* an exit status of report.py */ };

#define TO_INSTALL "(Debian, Ubuntu: apt install python3-matplotlib)"

gconv_status gc_python_find(char *path, size_t size, gconv_error *error)
{
    static const char *const places[] = {"", "lab/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        int directory = (int)(slash - program) + 1;
        int end = snprintf(path, size, "%.*s%sreport.py", directory, program, places[i]);
        if (end < (int)size && access(path, R_OK) == 0)
            return GCONV_OK;
    }
    return gc_fail(error, GCONV_ERROR_OPEN, "report.py, which draws it, is not installed");
}

/* Standard input, output and error of the program: files without a name. */
typedef struct channels {
    FILE *file[3];
} channels;

static void close_channels(channels *c)
{
    for (int i = 0; i < 3; i++)
        if (c->file[i] != NULL)
            fclose(c->file[i]);
}

static gconv_status open_channels(channels *c, const char *input, size_t size, gconv_error *error)
{
    for (int i = 0; i < 3; i++)
        if ((c->file[i] = tmpfile()) == NULL)
            return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot make a temporary file");
    if (!gc_write_all(fileno(c->file[0]), input, size) ||
        lseek(fileno(c->file[0]), 0, SEEK_SET) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write a temporary file");
    return GCONV_OK;
}

/* Starts Python, without a shell. It writes no bytecode beside the program, and takes the signals
 * that gconv ignores. 0, or an errno. */
static int start(const channels *c, const char *path, pid_t *process)
{
    static char name[] = "python3", plain[] = "-B", from[] = "-", to[] = "-o", here[] = "-";
    char *arguments[] = {name, plain, (char *)path, from, to, here, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t ignored;
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failure = 0;
    for (int i = 0; failure == 0 && i < 3; i++)
        failure = posix_spawn_file_actions_adddup2(&actions, fileno(c->file[i]), i);
    if (failure == 0)
        failure = posix_spawnp(process, name, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* Waits for the end of the program, which is killed when it takes too long. *state is that of
 * waitpid. */
static gconv_status await(pid_t process, int *state, gconv_error *error)
{
    double begin = gc_seconds();
    bool killed = false;
    for (pid_t ended = 0; ended == 0;) {
        ended = waitpid(process, state, killed ? 0 : WNOHANG);
        if (ended < 0 && errno == EINTR)
            ended = 0;
        else if (ended < 0)
            return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot wait for python3");
        if (ended == 0 && !killed) {
            poll(NULL, 0, POLL_MILLISECONDS);
            killed = gc_seconds() - begin > seconds_max && kill(process, SIGKILL) == 0;
        }
    }
    if (killed)
        return gc_fail(error, GCONV_ERROR_CANCELLED, "drawing took more than %.0f seconds",
                       seconds_max);
    return GCONV_OK;
}

/* All that a channel holds, as a string; free releases it. */
static gconv_status read_channel(FILE *file, char **text, size_t *length, gconv_error *error)
{
    off_t size = lseek(fileno(file), 0, SEEK_END);
    *text = malloc((size_t)(size > 0 ? size : 0) + 1);
    if (*text == NULL)
        return gc_fail_memory(error, (size_t)size + 1);
    if (size < 0 || lseek(fileno(file), 0, SEEK_SET) != 0 ||
        !gc_read_all(fileno(file), *text, (size_t)size, length)) {
        free(*text);
        *text = NULL;
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read what python3 wrote");
    }
    (*text)[*length] = '\0';
    return GCONV_OK;
}

/* Says what the program wrote last to its standard error. */
static gconv_status refuse(const channels *c, gconv_error *error)
{
    char *text;
    size_t length;
    gconv_status status = read_channel(c->file[2], &text, &length, error);
    if (status != GCONV_OK)
        return status;
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *line = strrchr(text, '\n');
    status = gc_fail(error, GCONV_ERROR_WRITE, "drawing failed: %.200s",
                     length == 0    ? "python3 was killed"
                     : line != NULL ? line + 1
                                    : text);
    free(text);
    return status;
}

static gconv_status run(const channels *c, const char *path, char **text, size_t *length,
                        gconv_error *error)
{
    pid_t process;
    int state = 0, failure = start(c, path, &process);
    if (failure != 0 && failure != ENOENT)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, failure, "cannot start python3");
    gconv_status status = failure == 0 ? await(process, &state, error) : GCONV_OK;
    if (status != GCONV_OK)
        return status;
    int code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    if (failure == ENOENT || code == 127) /* as some systems report a failed start */
        return gc_fail(error, GCONV_ERROR_OPEN, "python3 is not installed " TO_INSTALL);
    if (code == NO_MATPLOTLIB)
        return gc_fail(error, GCONV_ERROR_OPEN, "python3 has no matplotlib " TO_INSTALL);
    return code == 0 ? read_channel(c->file[1], text, length, error) : refuse(c, error);
}

gconv_status gc_python_run(const char *path, const char *input, size_t size, char **text,
                           size_t *length, gconv_error *error)
{
    channels c = {.file = {NULL}};
    gconv_status status = open_channels(&c, input, size, error);
    if (status == GCONV_OK)
        status = run(&c, path, text, length, error);
    close_channels(&c);
    return status;
}
