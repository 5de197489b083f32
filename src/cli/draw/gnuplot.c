#include "cli/draw/gnuplot.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const double seconds_max = 60;
enum { POLL_MILLISECONDS = 5 };

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

static gconv_status open_channels(channels *c, const char *script, gconv_error *error)
{
    for (int i = 0; i < 3; i++)
        if ((c->file[i] = tmpfile()) == NULL)
            return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot make a temporary file");
    if (!gc_write_all(fileno(c->file[0]), script, strlen(script)) ||
        lseek(fileno(c->file[0]), 0, SEEK_SET) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write a temporary file");
    return GCONV_OK;
}

/* Starts the program. It reads no files of the user's (-d), and takes the signals that gconv
 * ignores. 0, or an errno. */
static int start(const channels *c, pid_t *process)
{
    static char name[] = "gnuplot", plain[] = "-d";
    char *arguments[] = {name, plain, NULL};
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

/* Waits for the end of the program, which is killed when it takes too long. */
static gconv_status await(pid_t process, gconv_error *error)
{
    int state = 0;
    double begin = gc_seconds();
    bool killed = false;
    for (pid_t ended = 0; ended == 0;) {
        ended = waitpid(process, &state, killed ? 0 : WNOHANG);
        if (ended < 0 && errno == EINTR)
            ended = 0;
        else if (ended < 0)
            return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot wait for gnuplot");
        if (ended == 0 && !killed) {
            poll(NULL, 0, POLL_MILLISECONDS);
            killed = gc_seconds() - begin > seconds_max && kill(process, SIGKILL) == 0;
        }
    }
    if (killed)
        return gc_fail(error, GCONV_ERROR_CANCELLED, "gnuplot took more than %.0f seconds",
                       seconds_max);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return GCONV_OK;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127) /* as some systems report a failed start */
        return gc_fail(error, GCONV_ERROR_OPEN, "gnuplot could not be started");
    return gc_fail(error, GCONV_ERROR_WRITE, "gnuplot failed");
}

/* All that a channel holds, as a string; free releases it. */
static gconv_status read_channel(FILE *file, char **text, gconv_error *error)
{
    off_t size = lseek(fileno(file), 0, SEEK_END);
    size_t length = 0;
    *text = malloc((size_t)(size > 0 ? size : 0) + 1);
    if (*text == NULL)
        return gc_fail_memory(error, (size_t)size + 1);
    if (size < 0 || lseek(fileno(file), 0, SEEK_SET) != 0 ||
        !gc_read_all(fileno(file), *text, (size_t)size, &length))
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read what gnuplot wrote");
    (*text)[length] = '\0';
    return GCONV_OK;
}

static gconv_status run(const channels *c, char **image, gconv_error *error)
{
    pid_t process;
    int failure = start(c, &process);
    if (failure == ENOENT)
        return gc_fail(error, GCONV_ERROR_OPEN, "gnuplot is not installed");
    if (failure != 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, failure, "cannot start gnuplot");
    gconv_status status = await(process, error);
    if (status == GCONV_OK)
        status = read_channel(c->file[1], image, error);
    if (status == GCONV_OK && strstr(*image, "</svg>") == NULL)
        status = gc_fail(error, GCONV_ERROR_WRITE, "gnuplot drew nothing");
    return status;
}

gconv_status gc_gnuplot_draw(const char *script, char **image, gconv_error *error)
{
    channels c = {.file = {NULL}};
    *image = NULL;
    gconv_status status = open_channels(&c, script, error);
    if (status == GCONV_OK)
        status = run(&c, image, error);
    close_channels(&c);
    if (status != GCONV_OK) {
        free(*image);
        *image = NULL;
    }
    return status;
}
