/* What the program says on standard error: errors, notes of -v, progress. */
#ifndef GC_CLI_MESSAGES_H
#define GC_CLI_MESSAGES_H

#include "base/status.h"

#include <stdio.h>

/* Exit codes (contract.md, rule 60). */
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

/* Draws the progress line: how much of the whole is done (0 to 1), how many of how many things are,
 * the time that is left as far as it can be told, and a name. At most ten times a second. Where `items`
 * is 0 nobody knows how many there will be: how many are done is all that is drawn. */
void gc_progress_show(const char *name, double done, size_t item, size_t items);

/* The same at once, before work that may be long and says nothing. */
void gc_progress_begin(const char *name, double done, size_t item, size_t items);

/* Removes the progress line. */
void gc_progress_clear(void);

/* Counts what is done, for the progress line and for who stops the program: `what` says of `items`
 * things what happens to them, "images done", and `may_fail` whether failures are told too. */
void gc_tally_begin(const char *what, bool may_fail, size_t items);
void gc_tally_add(bool failed, bool skipped);

/* Counts on without a known end: what was thought to be one image is a stream of them. `what` says what
 * happens to these, "done". */
void gc_tally_stream(const char *what, bool may_fail);
size_t gc_tally_finished(void);

/* Removes the progress line, and says how much was done of several things, on standard error unless it
 * is blocked. Async-signal-safe. */
void gc_tally_tell(void);

/* Writes a line to standard output in one piece: a signal waits until it is there, or a second. */
void gc_write_line(const char *line, size_t size);

/* Whether a line is on its way, so that the signal must wait. Async-signal-safe. */
bool gc_line_postpones(int signal_number);

/* The signal that waits; 0 where none does. Async-signal-safe. */
int gc_postponed_signal(void);

/* Standard output could not be written: `error_number` is an errno. */
void gc_fail_output(int error_number);

/* Flushes standard output. 0, or the errno of the first time that failed. */
int gc_flush_output(void);

/* The exit code that stands for a failure before anything was started, and for one afterwards. */
int gc_start_code(gconv_status status);
int gc_exit_code(gconv_status status);

#endif
