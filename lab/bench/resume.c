#include "lab/bench/resume.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/status.h"
#include "lab/bench/circumstances.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char not_ours[] = "--resume did not make this file; name another one";

/* ---- What differs between two first lines ---------------------------------------------------- */

enum { VALUE_BYTES = 160 };

static void print_value(const gc_json_value *value, char text[VALUE_BYTES])
{
    if (value->text != NULL && value->text[0] == '\0')
        snprintf(text, VALUE_BYTES, "the default");
    else if (value->text != NULL)
        snprintf(text, VALUE_BYTES, "'%.150s'", value->text);
    else
        snprintf(text, VALUE_BYTES, "%.9g", value->number);
}

typedef struct lookup {
    const char *key;
    char value[VALUE_BYTES];
} lookup;

static gconv_status look_up(void *user, const gc_json_value *value, gconv_error *error)
{
    lookup *l = user;
    (void)error;
    if (strcmp(value->key, l->key) == 0)
        print_value(value, l->value);
    return GCONV_OK;
}

/* Finds the value of a key, as people read it; "nothing" if there is none. */
static void look_up_in(const char *line, size_t size, lookup *l)
{
    const gc_json_events events = {.value = look_up, .user = l};
    snprintf(l->value, sizeof l->value, "nothing");
    gc_json_read(line, size, &events, NULL);
}

typedef struct first_line {
    const char *text;
    size_t size;
} first_line;

/* Fails if the value differs from that in the first line of the file, which is `user`. */
static gconv_status compare_value(void *user, const gc_json_value *value, gconv_error *error)
{
    const first_line *theirs = user;
    char ours[VALUE_BYTES];
    lookup l = {.key = value->key};
    look_up_in(theirs->text, theirs->size, &l);
    print_value(value, ours);
    if (strcmp(ours, l.value) == 0)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "made under other circumstances: '%s' was %s and is %s now; name another file",
                   value->key, l.value, ours);
}

/* Whether the file may be gone on with. */
static gconv_status check_first_line(first_line theirs, first_line ours, gconv_error *error)
{
    if (theirs.size == ours.size && memcmp(theirs.text, ours.text, ours.size) == 0)
        return GCONV_OK;
    lookup command = {.key = "command"};
    look_up_in(theirs.text, theirs.size, &command);
    if (strcmp(command.value, "'" GC_CIRCUMSTANCES_COMMAND "'") != 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s", not_ours);
    const gc_json_events events = {.value = compare_value, .user = &theirs};
    GC_TRY(gc_json_read(ours.text, ours.size, &events, error));
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "made under other circumstances; name another file");
}

/* ---- The file -------------------------------------------------------------------------------- */

static gconv_status write_line(int descriptor, const char *text, size_t size, gconv_error *error)
{
    if (gc_write_all(descriptor, text, size))
        return GCONV_OK;
    return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
}

/* Reads the lines of points. A line that is damaged is named. */
static gconv_status read_points(const char *text, size_t size, const char *preset,
                                gc_points *points, gconv_error *error)
{
    for (int number = 2; size > 0; number++) {
        size_t length = (size_t)((const char *)memchr(text, '\n', size) - text) + 1;
        size_t before = points->count;
        gconv_error reason;
        gconv_status status = gc_points_read(text, length, preset, points, &reason);
        if (status == GCONV_ERROR_MEMORY)
            return gc_fail_memory(error, size);
        if (status != GCONV_OK || points->count != before + 1)
            return gc_fail_line(error, number, "no measurement; remove this line");
        text += length;
        size -= length;
    }
    return GCONV_OK;
}

/* Takes what the file holds, and cuts off what is left of a last line. */
static gconv_status take_text(gc_resume *resume, const char *text, size_t size, first_line ours,
                              const char *preset, gconv_error *error)
{
    size_t whole = gc_whole_lines(text, size);
    if (whole == 0 && (size > ours.size || memcmp(text, ours.text, size) != 0))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s", not_ours);
    first_line theirs = {.text = text};
    if (whole > 0) {
        theirs.size = (size_t)((const char *)memchr(text, '\n', whole) - text) + 1;
        GC_TRY(check_first_line(theirs, ours, error));
    }
    GC_TRY(read_points(text + theirs.size, whole - theirs.size, preset, &resume->kept, error));
    if (whole < size && ftruncate(resume->descriptor, (off_t)whole) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
    return whole == 0 ? write_line(resume->descriptor, ours.text, ours.size, error) : GCONV_OK;
}

static gconv_status read_file(gc_resume *resume, first_line ours, const char *preset,
                              gconv_error *error)
{
    struct stat status;
    if (fstat(resume->descriptor, &status) != 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    if (!S_ISREG(status.st_mode))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "not a regular file");
    char *text;
    size_t size;
    gconv_status result = gc_read_kept(resume->descriptor, &text, &size, error);
    if (result == GCONV_OK)
        result = take_text(resume, text, size, ours, preset, error);
    free(text);
    return result;
}

gconv_status gc_resume_open(const char *path, const char *circumstances, size_t size,
                            const char *preset, gc_resume *resume, gconv_error *error)
{
    *resume = (gc_resume){.descriptor = -1};
    /* O_NONBLOCK: a pipe does not hold up the program before it is refused. */
    resume->descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    gconv_status status;
    if (resume->descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open");
    if (flock(resume->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status = gc_fail(error, GCONV_ERROR_OPEN, "another gconv writes to it");
    else
        status = read_file(resume, (first_line){circumstances, size}, preset, error);
    if (status != GCONV_OK)
        gc_resume_close(resume);
    return status;
}

gconv_status gc_resume_add(const gc_resume *resume, const gc_point *point, gconv_error *error)
{
    size_t size;
    gc_json_begin_apart();
    gc_point_json(point, NULL);
    char *line = gc_json_end_apart(&size);
    GC_TRY_MEMORY(line != NULL, error, sizeof *point);
    gconv_status status = write_line(resume->descriptor, line, size, error);
    free(line);
    return status;
}

void gc_resume_close(gc_resume *resume)
{
    gc_points_destroy(&resume->kept);
    if (resume->descriptor >= 0)
        close(resume->descriptor);
    resume->descriptor = -1;
}
