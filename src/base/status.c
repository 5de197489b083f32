#include "base/status.h"

#include <stdio.h>
#include <string.h>

static const char *const status_texts[GCONV_STATUS_COUNT] = {
    [GCONV_OK] = "done",
    [GCONV_ERROR_MEMORY] = "out of memory",
    [GCONV_ERROR_ARGUMENT] = "a value is not allowed",
    [GCONV_ERROR_FILTER] = "the filter cannot be used",
    [GCONV_ERROR_OPEN] = "the file cannot be opened",
    [GCONV_ERROR_READ] = "the file cannot be read",
    [GCONV_ERROR_FORMAT] = "the image cannot be decoded",
    [GCONV_ERROR_LIMIT] = "the image is larger than a limit",
    [GCONV_ERROR_WRITE] = "the file cannot be written",
    [GCONV_ERROR_EXISTS] = "the file exists",
    [GCONV_ERROR_UNSUPPORTED] = "the implementation cannot do this job",
    [GCONV_ERROR_DEVICE] = "the device cannot be used",
    [GCONV_ERROR_CANCELLED] = "the run was cancelled",
};

const char *gconv_status_text(gconv_status status)
{
    if ((int)status < 0 || status >= GCONV_STATUS_COUNT)
        return "unknown status";
    return status_texts[status];
}

/* Length of the valid UTF-8 sequence of a printable character at `text`; 0 if there is none. */
static size_t printable_length(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool surrogate = text[0] == 0xed && text[1] >= 0xa0;
    bool beyond = text[0] == 0xf4 && text[1] >= 0x90;
    bool control = text[0] == 0xc2 && text[1] < 0xa0;
    return overlong || surrogate || beyond || control ? 0 : length;
}

char *gc_escape(const char *text, char *buffer, size_t size)
{
    size_t used = 0;
    const unsigned char *next = (const unsigned char *)text;
    while (*next != '\0') {
        char piece[5];
        size_t length = printable_length(next);
        size_t consumed = length > 0 ? length : 1;
        if (length > 0)
            memcpy(piece, next, length);
        else if (*next == '\n' || *next == '\t' || *next == '\r')
            length = (size_t)snprintf(piece, sizeof piece, "\\%c",
                                      *next == '\n'   ? 'n'
                                      : *next == '\t' ? 't'
                                                      : 'r');
        else
            length = (size_t)snprintf(piece, sizeof piece, "\\x%02x", *next);
        if (used + length >= size)
            break;
        memcpy(buffer + used, piece, length);
        used += length;
        next += consumed;
    }
    buffer[used] = '\0';
    return buffer;
}

static void set_error(gconv_error *error, gconv_status status, int line, const char *format,
                      va_list arguments) GC_PRINTF(4, 0);

static void set_error(gconv_error *error, gconv_status status, int line, const char *format,
                      va_list arguments)
{
    if (error == NULL)
        return;
    char text[sizeof error->message];
    vsnprintf(text, sizeof text, format, arguments);
    error->status = status;
    error->line = line;
    gc_escape(text, error->message, sizeof error->message);
}

gconv_status gc_fail(gconv_error *error, gconv_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_error(error, status, 0, format, arguments);
    va_end(arguments);
    return status;
}

gconv_status gc_fail_line(gconv_error *error, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_error(error, GCONV_ERROR_FILTER, line, format, arguments);
    va_end(arguments);
    return GCONV_ERROR_FILTER;
}

gconv_status gc_fail_errno(gconv_error *error, gconv_status status, int error_number,
                           const char *what)
{
    char reason[128];
    if (strerror_r(error_number, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error_number);
    return gc_fail(error, status, "%s: %s", what, reason);
}

gconv_status gc_fail_memory(gconv_error *error, size_t bytes)
{
    return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory (%zu bytes)", bytes);
}

bool gc_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}
