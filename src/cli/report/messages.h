/* What the program says on standard error: errors, warnings, the notes of -v. */
#ifndef GC_CLI_REPORT_MESSAGES_H
#define GC_CLI_REPORT_MESSAGES_H

#include "base/status.h"
#include "gconv.h"

#include <stdio.h>

/* How much is said: --quiet and --verbose. */
void gc_messages_set(bool quiet, bool verbose);
bool gc_messages_are_quiet(void);

/* "gconv: FILE:LINE: MESSAGE": an error. Without the line where there is none, without the file
 * where `file` is NULL. */
void gc_report(const char *file, const gconv_error *error);

/* "gconv: MESSAGE", unless --quiet. */
void gc_say(const char *format, ...) GC_PRINTF(1, 2);

/* "gconv: FILE: MESSAGE", even with --quiet: the user asked for it by an option. */
void gc_answer(const char *file, const char *format, ...) GC_PRINTF(2, 3);

/* "gconv: FILE: MESSAGE", only with --verbose. */
void gc_note(const char *file, const char *format, ...) GC_PRINTF(2, 3);

/* A note about an image of a batch. Other images may be reported first, so the note is written to
 * `stream`, and gc_notes_print says it later. Where `stream` is NULL it is said at once. Any
 * thread. */
void gc_note_into(FILE *stream, const char *file, const char *message);

/* The same for a warning, "gconv: FILE: warning: MESSAGE", which is said unless --quiet. */
void gc_warn_into(FILE *stream, const char *file, const char *message);

/* Says what the two functions above wrote to a stream. */
void gc_notes_print(const char *notes);

#endif
