#include "cli/tasks/name_reader.h"

#include "base/status.h"
#include "cli/report/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

gconv_status gc_name_reader_open(const char *path, char end, gc_name_reader **reader,
                                 gconv_error *error)
{
    int descriptor = STDIN_FILENO;
    *reader = NULL;
    if (strcmp(path, "-") != 0)
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open the list of files");
    gc_name_reader *opened = malloc(sizeof *opened);
    if (opened == NULL) {
        if (descriptor != STDIN_FILENO)
            close(descriptor);
        return gc_fail_memory(error, sizeof *opened);
    }
    opened->descriptor = descriptor;
    opened->end = end;
    opened->at_end = false;
    opened->entries = 0;
    opened->first = opened->filled = 0;
    atomic_init(&opened->stopped, false);
    *reader = opened;
    return GCONV_OK;
}

void gc_name_reader_stop(gc_name_reader *reader)
{
    atomic_store(&reader->stopped, true);
}

void gc_name_reader_free(gc_name_reader *reader)
{
    if (reader != NULL && reader->descriptor != STDIN_FILENO)
        close(reader->descriptor);
    free(reader);
}

/* Waits until there is something to read. False where nobody wants it any more. */
static bool await_input(gc_name_reader *reader)
{
    enum { MILLISECONDS = 50 };
    struct pollfd input = {.fd = reader->descriptor, .events = POLLIN};
    while (!atomic_load(&reader->stopped) && !gc_stop_is_requested()) {
        int ready = poll(&input, 1, MILLISECONDS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
    return false;
}

/* Reads more into the buffer. */
static gconv_status fill(gc_name_reader *reader, gconv_error *error)
{
    memmove(reader->buffer, reader->buffer + reader->first, reader->filled - reader->first);
    reader->filled -= reader->first;
    reader->first = 0;
    ssize_t count;
    do
        count = await_input(reader) ? read(reader->descriptor, reader->buffer + reader->filled,
                                           sizeof reader->buffer - reader->filled)
                                    : 0;
    while (count < 0 && errno == EINTR);
    reader->at_end = count <= 0;
    if (count < 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read the list of files");
    reader->filled += (size_t)count;
    return GCONV_OK;
}

/* Finds the end of the next entry; NULL at the end of the list. */
static gconv_status find_end(gc_name_reader *reader, char **end, gconv_error *error)
{
    for (;;) {
        char *first = reader->buffer + reader->first;
        size_t length = reader->filled - reader->first;
        *end = memchr(first, reader->end, length);
        if (*end != NULL || (reader->at_end && length == 0))
            return GCONV_OK;
        if (length == sizeof reader->buffer) {
            reader->at_end = true;
            reader->filled = reader->first;
            return gc_fail(error, GCONV_ERROR_READ, "a name in the list of files exceeds %d bytes",
                           GC_LISTED_NAME_BYTES - 1);
        }
        if (reader->at_end) { /* the last entry may lack its end; the buffer has room for one */
            *end = first + length;
            reader->filled++;
            return GCONV_OK;
        }
        gconv_status status = fill(reader, error);
        if (status != GCONV_OK)
            return status;
    }
}

gconv_status gc_name_reader_next(gc_name_reader *reader, const char **name, gconv_error *error)
{
    char *end;
    size_t length;
    do {
        *name = NULL; /* an empty entry is none */
        gconv_status status = find_end(reader, &end, error);
        if (status != GCONV_OK || end == NULL || atomic_load(&reader->stopped) ||
            gc_stop_is_requested())
            return status;
        *name = reader->buffer + reader->first;
        length = (size_t)(end - *name);
        reader->first += length + 1;
        reader->entries++;
    } while (length == 0);
    *end = '\0';
    if (strlen(*name) == length)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "a NUL byte in a line of the list of files; --files0-from reads such lists");
}
