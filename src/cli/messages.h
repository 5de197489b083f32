/* What the program says on standard error: errors, notes of -v, progress. */
#ifndef GC_CLI_MESSAGES_H
#define GC_CLI_MESSAGES_H

#include "core/status.h"

#include <stdio.h>

/* Exit codes (contract, "Failing well"). */
enum {
    GC_EXIT_DONE = 0,
    GC_EXIT_FAILED = 1,
    GC_EXIT_USAGE = 2,
    GC_EXIT_MISMATCH = 3,
    GC_EXIT_DEVICE = 4,
};

/* How much is said; `progress` is whether a progress line is drawn, the first after `delay`
 * seconds. */
void gc_messages_set(bool quiet, bool verbose, bool progress, double delay);

/* "gconv: FILE:LINE: MESSAGE", the line where there is one, the file where it is not NULL. */
void gc_report(const char *file, const gconv_error *error);

/* "gconv: MESSAGE" on standard error, unless -q. */
void gc_say(const char *format, ...) GC_PRINTF(1, 2);

/* "gconv: FILE: MESSAGE" on standard error, even with -q: what was asked for by an option. */
void gc_answer(const char *file, const char *format, ...) GC_PRINTF(2, 3);

/* The same where -v was given. */
void gc_note(const char *file, const char *format, ...) GC_PRINTF(2, 3);

/* A note that goes to `stream`, which keeps it until its turn, where that is not NULL. Any thread. */
void gc_note_into(FILE *stream, const char *file, const char *message);

/* The same for what is said unless -q. */
void gc_warn_into(FILE *stream, const char *file, const char *message);

/* Writes notes that were kept. */
void gc_notes_print(const char *notes);

/* Draws the progress line: `name`, and how much of the whole is done (0 to 1). At most ten times a
 * second. */
void gc_progress_show(const char *name, double done);

/* The same at once, before work that may be long and says nothing. */
void gc_progress_begin(const char *name, double done);

/* Removes the progress line. */
void gc_progress_clear(void);

/* Flushes standard output. 0, or the errno of the first time that failed. */
int gc_flush_output(void);

/* The exit code that stands for a failure before anything was started, and for one afterwards. */
int gc_start_code(gconv_status status);
int gc_exit_code(gconv_status status);

#endif
