/* Warnings: lines for people. A warning changes no result and no status. */
#ifndef GC_IO_WARNINGS_H
#define GC_IO_WARNINGS_H

#include "base/status.h"

#include <stdio.h>

/* The callbacks for warnings of one reader or writer. */
typedef struct gc_warnings {
    void (*warn)(void *user, const char *message);   /* may be NULL */
    void (*damage)(void *user, const char *message); /* NULL: `warn` takes it */
    void *user;
    gconv_keep keep; /* see gconv_reader_options */
    bool whole;
} gc_warnings;

/* Gives `warn` one line with control characters escaped. Does nothing if `warn` is NULL. */
static inline void gc_warn_by(void (*warn)(void *user, const char *message), void *user,
                              const char *format, va_list arguments) GC_PRINTF(3, 0);

static inline void gc_warn_by(void (*warn)(void *user, const char *message), void *user,
                              const char *format, va_list arguments)
{
    char text[256];
    char escaped[512];
    if (warn == NULL)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    warn(user, gc_escape(text, escaped, sizeof escaped));
}

static inline void gc_warn(const gc_warnings *warnings, const char *format, ...) GC_PRINTF(2, 3);

static inline void gc_warn(const gc_warnings *warnings, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gc_warn_by(warnings->warn, warnings->user, format, arguments);
    va_end(arguments);
}

/* gc_warn for what readers of the pixels have to know: see gconv_reader_options. */
static inline void gc_warn_damage(const gc_warnings *warnings, const char *format, ...)
    GC_PRINTF(2, 3);

static inline void gc_warn_damage(const gc_warnings *warnings, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gc_warn_by(warnings->damage != NULL ? warnings->damage : warnings->warn, warnings->user, format,
               arguments);
    va_end(arguments);
}

#endif
