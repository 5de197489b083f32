/* The warnings of readers and writers: said, and kept for --json. */
#ifndef GC_CLI_WARNINGS_H
#define GC_CLI_WARNINGS_H

#include "gconv.h"

#include <stdio.h>

/* The texts of one image. A hostile file may cause any number: the first ones are kept, the others
 * counted. */
typedef struct gc_warning_list {
    char **texts;
    size_t count;
    size_t left_out;
} gc_warning_list;

void gc_warning_list_destroy(gc_warning_list *list);

/* Prints the key `warnings` with its list. */
void gc_warning_list_json(const gc_warning_list *list);

/* Where the warnings about one file go: the `user` of the functions below. */
typedef struct gc_warning_place {
    const char *name;
    FILE *stream;          /* as in gc_note_into */
    gc_warning_list *list; /* NULL: not kept */
} gc_warning_place;

/* A warning that changes nothing is said with -v. Any thread. */
void gc_take_warning(void *place, const char *message);

/* Damage that --tolerant lets pass is said unless -q. Any thread. */
void gc_take_damage(void *place, const char *message);

#endif
