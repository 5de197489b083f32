#include "lab/html.h"

#include "base/file.h"
#include "base/status.h"
#include "cli/tasks/names.h"
#include "cli/terminal/messages.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MAX = 60, NO_MATPLOTLIB = 3 /* an exit status of report.py */ };

#define TO_INSTALL "(Debian, Ubuntu: apt install python3-matplotlib)"

/* ---- Files ----------------------------------------------------------------------------------- */

/* FILE.json; NULL if memory is short. free releases it. */
static char *name_of_data(const gc_options *options)
{
    size_t size = strlen(options->measure.html) + sizeof ".json";
    char *name = malloc(size);
    if (name != NULL)
        snprintf(name, size, "%s.json", options->measure.html);
    return name;
}

static gconv_status refuse_file(const gc_options *options, const char *data, const char *path,
                                const char *what, gconv_error *error)
{
    if (!gc_is_one_path(options->measure.html, path) && !gc_is_one_path(data, path))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "the report of --html would replace %s, '%.300s'; name another file", what,
                   path);
}

static gconv_status check(const gc_options *options, gconv_error *error)
{
    if (options->measure.html == NULL)
        return GCONV_OK;
    char *data = name_of_data(options);
    GC_TRY_MEMORY(data != NULL, error, strlen(options->measure.html));
    gconv_status status =
        refuse_file(options, data, options->measure.resume, "the file of --resume", error);
    if (status == GCONV_OK)
        status =
            refuse_file(options, data, options->measure.baseline, "the file of --baseline", error);
    GC_THEN(status, refuse_file(options, data, options->measure.with, "the file of --with", error));
    for (int i = 0; status == GCONV_OK && i < options->operand_count; i++)
        status = refuse_file(options, data, options->operands[i], "the input", error);
    for (int i = 0; status == GCONV_OK && i < options->kernel_count; i++)
        status = refuse_file(options, data, options->kernels[i], "the filter", error);
    free(data);
    return status;
}

static gconv_status open_report(const gc_options *options, gc_output **output, gconv_error *error)
{
    *output = NULL;
    if (options->measure.html == NULL)
        return GCONV_OK;
    return gc_output_open(options->measure.html, &(gc_output_options){.sync = false}, output,
                          error);
}

static gconv_status complete(gc_output *output, const char *text, size_t size, gconv_error *error)
{
    GC_TRY(gc_output_write(output, text, size, error));
    return gc_output_commit(output, error);
}

static gconv_status write_data(const char *name, const char *json, size_t size, gconv_error *error)
{
    gc_output *output;
    gconv_status status = gc_output_open(name, &(gc_output_options){.sync = false}, &output, error);
    GC_THEN(status, complete(output, json, size, error));
    gc_output_free(output);
    return status;
}

/* ---- The program that draws ------------------------------------------------------------------ */

bool gc_find_lab_file(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"", "lab/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        int directory = (int)(slash - program) + 1;
        int end = snprintf(path, size, "%.*s%s%s", directory, program, places[i], name);
        if (end < (int)size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static gconv_status find_program(char *path, size_t size, gconv_error *error)
{
    if (gc_find_lab_file("report.py", path, size))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_OPEN, "report.py, which draws it, is not installed");
}

/* Standard input, output and error of the program: files without a name. */
typedef struct channels {
    FILE *file[3];
} channels;

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

/* In a child process: becomes Python, without a shell. It writes no bytecode beside the program,
 * takes the signals that gconv ignores, and ends after a minute. */
static void become_python(const channels *c, const char *path)
{
    alarm(SECONDS_MAX);
    signal(SIGALRM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    for (int i = 0; i < 3; i++)
        if (dup2(fileno(c->file[i]), i) < 0)
            _exit(1);
    execlp("python3", "python3", "-B", path, "-", "-o", "-", (char *)NULL);
    _exit(errno == ENOENT ? 127 : 126);
}

/* All that a channel holds, as a string; free releases it. */
static gconv_status read_channel(FILE *file, char **text, size_t *length, gconv_error *error)
{
    off_t size = lseek(fileno(file), 0, SEEK_END);
    *text = malloc((size_t)(size > 0 ? size : 0) + 1);
    GC_TRY_MEMORY(*text != NULL, error, (size_t)size + 1);
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
    GC_TRY(read_channel(c->file[2], &text, &length, error));
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *line = strrchr(text, '\n');
    gconv_status status = gc_fail(error, GCONV_ERROR_WRITE, "drawing failed: %.200s",
                                  length == 0    ? "python3 was killed"
                                  : line != NULL ? line + 1
                                                 : text);
    free(text);
    return status;
}

/* Runs the program at `path` with `input`. *text becomes what it writes, which free releases. An
 * error says in a few words why there is none. */
static gconv_status run(const channels *c, const char *path, char **text, size_t *length,
                        gconv_error *error)
{
    int state = 0;
    pid_t process = fork(), ended;
    if (process == 0)
        become_python(c, path);
    if (process < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot start python3");
    do
        ended = waitpid(process, &state, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot wait for python3");
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
        return gc_fail(error, GCONV_ERROR_CANCELLED, "drawing took more than %d seconds",
                       SECONDS_MAX);
    int code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    if (code == 126)
        return gc_fail(error, GCONV_ERROR_OPEN, "python3 cannot be run");
    if (code == 127)
        return gc_fail(error, GCONV_ERROR_OPEN, "python3 is not installed " TO_INSTALL);
    if (code == NO_MATPLOTLIB)
        return gc_fail(error, GCONV_ERROR_OPEN, "python3 has no matplotlib " TO_INSTALL);
    return code == 0 ? read_channel(c->file[1], text, length, error) : refuse(c, error);
}

static gconv_status run_program(const char *path, const char *input, size_t size, char **text,
                                size_t *length, gconv_error *error)
{
    channels c = {.file = {NULL}};
    gconv_status status = open_channels(&c, input, size, error);
    GC_THEN(status, run(&c, path, text, length, error));
    for (int i = 0; i < 3; i++)
        if (c.file[i] != NULL)
            fclose(c.file[i]);
    return status;
}

/* ---- The report ------------------------------------------------------------------------------ */

/* Keeps the data of a report that nothing drew, beside a file: not beside a pipe or a device. Says
 * why, and how to draw it later. */
static void keep(const gc_options *options, const char *json, size_t size, bool is_file,
                 const char *program, const gconv_error *reason)
{
    char *data = is_file ? name_of_data(options) : NULL;
    gconv_error error;
    char text[PATH_MAX + sizeof error.message + 128];
    gconv_status status = data != NULL ? write_data(data, json, size, &error) : GCONV_ERROR_WRITE;
    snprintf(text, sizeof text, "no report: %s%s%s%s", reason->message,
             status == GCONV_OK ? "; FILE.json has its data, for python3 " : "",
             status == GCONV_OK ? program : "", status == GCONV_OK ? " FILE.json -o FILE" : "");
    gc_warn_into(NULL, options->measure.html, text);
    if (data != NULL && status != GCONV_OK)
        gc_warn_into(NULL, data, error.message);
    free(data);
}

static gconv_status draw(const gc_options *options, char *json, size_t size, gc_output *output,
                         gconv_error *error)
{
    char program[PATH_MAX] = "report.py", *page = NULL;
    size_t length = 0;
    gconv_error reason;
    gconv_status status = json == NULL ? gc_fail_memory(error, BUFSIZ) : GCONV_OK;
    if (status == GCONV_OK && find_program(program, sizeof program, &reason) == GCONV_OK &&
        run_program(program, json, size, &page, &length, &reason) == GCONV_OK)
        status = complete(output, page, length, error);
    else if (status == GCONV_OK)
        keep(options, json, size, gc_output_seeks(output), program, &reason);
    free(page);
    free(json);
    gc_output_free(output);
    return status;
}

const gc_reporter gc_html_reporter = {check, open_report, draw};
