/* How measurements are printed: figures, labels, and implementations that cannot run. */
#pragma once

#include "cli/image/session.h"
#include "cli/measure/point.h"
#include "cli/terminal/table.h"

/* How a column shows a number: times `factor`, with so many decimals, then the unit. A dash stands
 * for 0, which is not known. */
typedef struct gc_figure {
    size_t at; /* offset of a double in gc_point */
    double factor;
    int decimals;
    const char *unit;
} gc_figure;

void gc_figure_print(const gc_figure *figure, const gc_point *point, char cell[GC_CELL_BYTES]);

/* Prints a number, or a dash for 0. */
void gc_number_print(double value, const char *unit, int decimals, char cell[GC_CELL_BYTES]);

/* From the first to the third quartile of runs as a percentage of their median, with a mark if that
 * is noise. */
void gc_spread_print(const gc_point *point, char cell[GC_CELL_BYTES]);

/* Milliseconds of the median; with the mark of noise, if `marks` and the spread is noise. */
void gc_total_print(const gc_point *point, bool marks, char cell[GC_CELL_BYTES]);

/* The name of a point, and what auto chose for it. */
void gc_label_print(const gc_point *point, char cell[GC_CELL_BYTES]);

/* Columns that the longest label of these names takes, and the word above them. */
int gc_label_width(const char *const *names, int count);

/* Whether a point of these names may be timed on a device alone. */
bool gc_may_use_device(const char *const *names, int count);

/* Says with -v how long the kernels of a point took to compile, if they were. */
void gc_note_compilation(const gc_point *point);

/* Implementations that cannot run here, each with its reason. */
enum { GC_UNUSABLE_MAX = 64 };

typedef struct gc_unusable {
    const char *names[GC_UNUSABLE_MAX];
    gconv_error reasons[GC_UNUSABLE_MAX];
    int count;
} gc_unusable;

/* Moves the names that cannot run here from a list to `unusable`. */
void gc_drop_unusable(const gc_session *session, const char **names, int *count,
                      gc_unusable *unusable);

/* Adds a point for each of the first `count` of them. `point` says the rest. */
gconv_status gc_unusable_add(const gc_unusable *unusable, int count, gc_point point,
                             gc_points *points, gconv_error *error);

/* Prints them, those that share a reason in one line, and forgets them. */
void gc_print_unusable(gc_unusable *unusable);
