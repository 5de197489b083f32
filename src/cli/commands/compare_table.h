/* The table and the JSON that gconv compare prints. */
#ifndef GC_CLI_COMMANDS_COMPARE_TABLE_H
#define GC_CLI_COMMANDS_COMPARE_TABLE_H

#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "cli/measure/point.h"
#include "cli/report/table.h"
#include "cli/report/warnings.h"

#include <stdio.h>

enum { GC_COMPARE_COLUMNS = 12, GC_EXPLAINED_MAX = 64 };

/* How the implementation of a point was chosen. */
typedef struct gc_explanation {
    const char *name; /* of the point */
    char *text;       /* lines, owned */
} gc_explanation;

typedef struct gc_compare_table {
    const gc_session *session;
    const gc_picture *picture;
    gc_column columns[GC_COMPARE_COLUMNS];
    gc_explanation explained[GC_EXPLAINED_MAX]; /* for --explain, until the table has ended */
    int explained_count;
} gc_compare_table;

/* Prints a line that says what is compared: "640x480, 1 channel of 8 bits; ...; border mirror". */
void gc_compare_print_image(const gc_compare_table *table, FILE *stream);

/* Prints what stands before the rows: the image and the heads of the columns for these names, or
 * the beginning of the object with --json. */
void gc_compare_head(gc_compare_table *table, const char *const *names, int name_count,
                     const gc_warning_list *warnings);

/* `name` is that of the point, and stays valid until the end. `explanation` may be NULL. */
void gc_compare_row(gc_compare_table *table, const gc_point *point, const char *name,
                    const char *explanation);

/* Ends the object of --json, or says behind the table what --explain asks for. */
void gc_compare_end(gc_compare_table *table, const gc_points *points);

/* The object of --json with these points, as a line of `size` bytes; free releases it. NULL where
 * memory is short. */
char *gc_compare_document(const gc_compare_table *table, const gc_points *points, size_t *size);

#endif
