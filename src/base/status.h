/* Errors. The function that detects one writes the message with gc_fail; its callers pass it up. */
#pragma once

#include "gconv.h"

#include <stdarg.h>

#if defined(__GNUC__)
#define GC_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define GC_PRINTF(format_index, first)
#endif

/* Writes status and message (one line; control characters are escaped) to `error`, which may be
 * NULL, and returns the status. */
gconv_status gc_fail(gconv_error *error, gconv_status status, const char *format, ...)
    GC_PRINTF(3, 4);

/* gc_fail for a line of a filter text. */
gconv_status gc_fail_line(gconv_error *error, int line, const char *format, ...) GC_PRINTF(3, 4);

/* gc_fail with the text of an errno value appended: "cannot open: No such file or directory". */
gconv_status gc_fail_errno(gconv_error *error, gconv_status status, int error_number,
                           const char *what);

/* "out of memory" with the number of bytes asked for. */
gconv_status gc_fail_memory(gconv_error *error, size_t bytes);

/* Returns from the calling function with the status of a call that fails. */
#define GC_TRY(call)                                                                               \
    do {                                                                                           \
        gconv_status gc_status = (call);                                                           \
        if (gc_status != GCONV_OK)                                                                 \
            return gc_status;                                                                      \
    } while (0)

/* The same if there is no memory: `found` is false. */
#define GC_TRY_MEMORY(found, error, bytes) GC_TRY((found) ? GCONV_OK : gc_fail_memory(error, bytes))

/* Makes a call unless one before it has failed. For functions that have something to release. */
#define GC_THEN(status, call) ((status) = (status) == GCONV_OK ? (call) : (status))

/* Copies `text` into `buffer` with control characters, and bytes that are not valid UTF-8, written
 * as \n, \t, \xNN. Always NUL-terminated; returns the buffer. */
char *gc_escape(const char *text, char *buffer, size_t size);

bool gc_ends_with(const char *text, const char *end);
