/* What the program says on standard error: errors, warnings, the notes of -v. */
#pragma once

#include "base/status.h"
#include "gconv.h"

#include <stdio.h>

/* How much is said: --quiet and --verbose. */
void gc_messages_set(bool quiet, bool verbose);
bool gc_messages_are_quiet(void);

/* What the calling thread says from now on goes to `stream`, in the place of standard error; NULL:
 * there again. For a process whose reports another one prints. */
void gc_messages_into(FILE *stream);

/* "gconv: FILE:LINE: MESSAGE": an error. Without the line if there is none, without the file if
 * `file` is NULL. */
void gc_report(const char *file, const gconv_error *error);

/* "gconv: MESSAGE", unless --quiet. */
void gc_say(const char *format, ...) GC_PRINTF(1, 2);

/* "gconv: FILE: MESSAGE", even with --quiet: the user asked for it by an option. */
void gc_answer(const char *file, const char *format, ...) GC_PRINTF(2, 3);

/* "gconv: FILE: MESSAGE", only with --verbose. */
void gc_note(const char *file, const char *format, ...) GC_PRINTF(2, 3);

/* A note about an image of a batch. Other images may be reported first, so the note is written to
 * `stream`, and gc_notes_print says it later. If `stream` is NULL it is said at once. Any
 * thread. */
void gc_note_into(FILE *stream, const char *file, const char *message);

/* A warning about an image of a batch, likewise: "gconv: FILE: warning: MESSAGE", unless
 * --quiet. */
void gc_warn_into(FILE *stream, const char *file, const char *message);

/* Says what the two functions above wrote to a stream. */
void gc_notes_print(const char *notes);

/* ---- Warnings -------------------------------------------------------------------------------- */

/* Warnings of readers and writers are said, and kept for --json. */

/* The warnings about one image. A hostile file may cause any number of them: the first 100 are
 * kept, the others are counted. */
typedef struct gc_warning_list {
    char **texts;
    size_t count;
    size_t left_out;
} gc_warning_list;

void gc_warning_list_destroy(gc_warning_list *list);

/* Prints the key `warnings` with the list. */
void gc_warning_list_json(const gc_warning_list *list);

/* The receiver of warnings about one file: the `user` of the functions below. */
typedef struct gc_warning_target {
    const char *name;
    FILE *notes;           /* as in gc_note_into */
    gc_warning_list *list; /* NULL: not kept */
} gc_warning_target;

/* Takes a warning about something that changes no pixel. It is said with --verbose, as
 * "gconv: FILE: warning: MESSAGE". Any thread. */
void gc_take_warning(void *target, const char *message);

/* Takes a warning about damage that --tolerant lets pass. It is said unless --quiet. Any thread. */
void gc_take_damage(void *target, const char *message);

/* ---- Exit codes ------------------------------------------------------------------------------ */

/* contract.md, rule 60, says what each stands for. */
enum {
    GC_EXIT_DONE = 0,
    GC_EXIT_FAILED = 1,
    GC_EXIT_USAGE = 2,
    GC_EXIT_MISMATCH = 3,
    GC_EXIT_DEVICE = 4,
    GC_EXIT_SLOWER = 5,
};

/* The exit code of a failure before anything was started: most are mistakes in the command line. */
int gc_start_code(gconv_status status);

/* The exit code of a failure afterwards; GC_EXIT_DONE for GCONV_OK. */
int gc_exit_code(gconv_status status);
