/* Warnings of readers and writers: they are said, and kept for --json. */
#ifndef GC_CLI_REPORT_WARNINGS_H
#define GC_CLI_REPORT_WARNINGS_H

#include <stdio.h>

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

/* Where the warnings about one file go: the `user` of the functions below. */
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

#endif
