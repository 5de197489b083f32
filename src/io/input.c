#include "io/input.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gconv_status too_large(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_LIMIT, "larger than 4 GiB, the limit for an input file");
}

static gconv_status open_descriptor(const char *path, gc_input *input, gconv_error *error)
{
    if (strcmp(path, "-") == 0) {
        input->descriptor = STDIN_FILENO;
        return GCONV_OK;
    }
    do
        input->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (input->descriptor < 0 && errno == EINTR);
    if (input->descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open");
    input->owned = true;
    return GCONV_OK;
}

static gconv_status check_kind(gc_input *input, gconv_error *error)
{
    struct stat about;
    if (fstat(input->descriptor, &about) != 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open");
    if (S_ISDIR(about.st_mode))
        return gc_fail_errno(error, GCONV_ERROR_OPEN, EISDIR, "cannot read");
    input->regular = S_ISREG(about.st_mode);
    if (input->regular && (uint64_t)about.st_size > GC_INPUT_BYTES_MAX)
        return too_large(error);
    return GCONV_OK;
}

gconv_status gc_input_open(const char *path, gc_input *input, gconv_error *error)
{
    *input = (gc_input){.descriptor = -1};
    gconv_status status = open_descriptor(path, input, error);
    GC_THEN(status, check_kind(input, error));
    if (status == GCONV_OK) {
        input->bytes = malloc(GC_INPUT_BUFFER_BYTES);
        if (input->bytes == NULL)
            status = gc_fail_memory(error, GC_INPUT_BUFFER_BYTES);
    }
    if (status != GCONV_OK)
        gc_input_close(input);
    return status;
}

void gc_input_close(gc_input *input)
{
    if (input->owned)
        close(input->descriptor);
    free(input->bytes);
    *input = (gc_input){.descriptor = -1};
}

/* One read(2) of at most `size` bytes into `bytes`. */
static gconv_status read_once(gc_input *input, void *bytes, size_t size, size_t *got,
                              gconv_error *error)
{
    *got = 0;
    if (input->ended)
        return GCONV_OK;
    ssize_t count;
    while ((count = read(input->descriptor, bytes, size)) < 0 &&
           (errno == EINTR || errno == EAGAIN))
        if (errno == EAGAIN) /* a pipe that somebody else made non-blocking */
            poll(&(struct pollfd){.fd = input->descriptor, .events = POLLIN}, 1, -1);
    if (count < 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    input->ended = count == 0;
    if (count > 0 && input->shown != NULL)
        input->shown(input->shown_user, input->offset, bytes, (size_t)count);
    input->offset += (uint64_t)count;
    input->taken += (uint64_t)count;
    if (input->taken > GC_INPUT_BYTES_MAX)
        return too_large(error);
    *got = (size_t)count;
    return GCONV_OK;
}

gconv_status gc_input_peek(gc_input *input, size_t wanted, const unsigned char **bytes,
                           size_t *available, gconv_error *error)
{
    if (GC_INPUT_BUFFER_BYTES - input->start < wanted) {
        memmove(input->bytes, input->bytes + input->start, input->end - input->start);
        input->end -= input->start;
        input->start = 0;
    }
    while (input->end - input->start < wanted && !input->ended) {
        size_t got;
        GC_TRY(read_once(input, input->bytes + input->end, GC_INPUT_BUFFER_BYTES - input->end, &got,
                         error));
        input->end += got;
    }
    *bytes = input->bytes + input->start;
    *available = input->end - input->start;
    return GCONV_OK;
}

void gc_input_skip(gc_input *input, size_t count)
{
    input->start += count;
}

gconv_status gc_input_read(gc_input *input, void *bytes, size_t wanted, size_t *got,
                           gconv_error *error)
{
    unsigned char *next = bytes;
    *got = 0;
    while (*got < wanted) {
        size_t buffered = input->end - input->start;
        size_t left = wanted - *got;
        gconv_status status = GCONV_OK;
        size_t count = 0;
        if (buffered > 0) {
            count = buffered < left ? buffered : left;
            memcpy(next, input->bytes + input->start, count);
            input->start += count;
        } else if (left >= GC_INPUT_BUFFER_BYTES) {
            status = read_once(input, next, left, &count, error);
        } else {
            input->start = 0;
            status = read_once(input, input->bytes, GC_INPUT_BUFFER_BYTES, &input->end, error);
        }
        GC_TRY(status);
        if (input->ended && input->end == input->start && count == 0)
            return GCONV_OK;
        next += count;
        *got += count;
    }
    return GCONV_OK;
}

gconv_status gc_input_pass(gc_input *input, uint64_t count, gconv_error *error)
{
    for (;;) {
        uint64_t buffered = input->end - input->start;
        uint64_t some = count < buffered ? count : buffered;
        input->start += (size_t)some;
        count -= some;
        if (count == 0 || input->ended)
            return GCONV_OK;
        if (input->regular && lseek(input->descriptor, (off_t)count, SEEK_CUR) >= 0) {
            input->offset += count;
            return GCONV_OK;
        }
        input->start = 0;
        GC_TRY(read_once(input, input->bytes, GC_INPUT_BUFFER_BYTES, &input->end, error));
    }
}

gconv_status gc_input_take(gc_input *input, const unsigned char **bytes, size_t *size,
                           gconv_error *error)
{
    size_t available;
    if (input->start == input->end)
        input->start = input->end = 0;
    GC_TRY(gc_input_peek(input, 1, bytes, &available, error));
    *size = available;
    input->start = input->end;
    return GCONV_OK;
}

gconv_status gc_input_collect(gc_input *input, uint64_t most, gc_buffer *buffer, bool *more,
                              gconv_error *error)
{
    const unsigned char *bytes;
    size_t size;
    do {
        GC_TRY(gc_input_take(input, &bytes, &size, error));
        *more = size > most;
        size = *more ? (size_t)most : size;
        gc_buffer_add(buffer, bytes, size);
        most -= size;
    } while (size > 0 && !*more && !buffer->failed);
    return buffer->failed ? gc_fail_memory(error, buffer->size) : GCONV_OK;
}

ssize_t gc_input_read_at(const gc_input *input, void *bytes, size_t size, uint64_t offset)
{
    ssize_t count;
    do
        count = pread(input->descriptor, bytes, size, (off_t)offset);
    while (count < 0 && errno == EINTR);
    if (count > 0 && input->shown != NULL)
        input->shown(input->shown_user, offset, bytes, (size_t)count);
    return count;
}

/* Reads `size` bytes from the beginning. False if that fails or the file is shorter. The pieces are
 * small, so that the function to which they are shown finds them in the cache. */
static bool read_again(const gc_input *input, unsigned char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        size_t piece =
            size - done < GC_INPUT_BUFFER_BYTES ? size - done : (size_t)GC_INPUT_BUFFER_BYTES;
        ssize_t count = gc_input_read_at(input, bytes + done, piece, done);
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

bool gc_input_measure(const gc_input *input, size_t limit, size_t *size, const char **reason)
{
    struct stat about;
    if (!input->owned || !input->regular || fstat(input->descriptor, &about) != 0 ||
        about.st_size <= 0) {
        *reason = "an input that cannot be read twice";
        return false;
    }
    *size = (size_t)about.st_size;
    if ((uint64_t)about.st_size <= limit)
        return true;
    *reason = "a large file";
    return false;
}

bool gc_input_load(const gc_input *input, size_t size, unsigned char **bytes, const char **reason)
{
    *bytes = malloc(size);
    if (*bytes != NULL && read_again(input, *bytes, size))
        return true;
    *reason =
        *bytes == NULL ? "too little memory for the file" : "a file that cannot be read twice";
    free(*bytes);
    *bytes = NULL;
    return false;
}

size_t gc_input_head(const gc_input *input, const unsigned char **bytes)
{
    *bytes = input->bytes;
    return input->offset == input->end ? input->end : 0;
}

bool gc_input_reads_twice(const gc_input *input)
{
    return input->owned && input->regular;
}

gconv_status gc_input_rewind(gc_input *input, gconv_error *error)
{
    if (lseek(input->descriptor, 0, SEEK_SET) != 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read again");
    input->start = input->end = 0;
    input->offset = 0;
    input->taken = 0;
    input->ended = false;
    return GCONV_OK;
}

void gc_input_restart(gc_input *input)
{
    input->taken = input->end - input->start;
}

bool gc_input_has_more(gc_input *input, int patience)
{
    const unsigned char *bytes;
    size_t available = input->end - input->start;
    struct pollfd arrives = {.fd = input->descriptor, .events = POLLIN};
    if (available == 0 && (input->regular || (patience > 0 && poll(&arrives, 1, patience) > 0)) &&
        gc_input_peek(input, 1, &bytes, &available, NULL) != GCONV_OK)
        return false;
    return available > 0;
}
