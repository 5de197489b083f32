/* Warnings: lines for people that change nothing. */
#ifndef GC_IO_WARNINGS_H
#define GC_IO_WARNINGS_H

#include "core/status.h"

#include <stdio.h>

/* Where the warnings of one reader or writer go. */
typedef struct gc_warnings {
    void (*warn)(void *user, const char *message); /* may be NULL */
    void *user;
} gc_warnings;

static inline void gc_warn(const gc_warnings *warnings, const char *format, ...) GC_PRINTF(2, 3);

/* One line; control characters are escaped. */
static inline void gc_warn(const gc_warnings *warnings, const char *format, ...)
{
    if (warnings->warn == NULL)
        return;
    char text[256];
    char escaped[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    warnings->warn(warnings->user, gc_escape(text, escaped, sizeof escaped));
}

#endif
