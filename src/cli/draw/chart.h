/* A chart as data: what is to be drawn, before a script or a table is made of it. */
#ifndef GC_CLI_DRAW_CHART_H
#define GC_CLI_DRAW_CHART_H

#include "gconv.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum gc_chart_kind {
    GC_CHART_LINES,   /* values over a number; each series is a line, or marks, or both */
    GC_CHART_ROWS,    /* one row a series, with a bar for its only dot */
    GC_CHART_SURFACE, /* cells over two numbers, coloured by their value; one series */
    GC_CHART_RATIOS,  /* the same; colours part at 1, and the scale is that of log2 */
    GC_CHART_FACTORS, /* the same; values are whole numbers and stand in the cells */
    GC_CHART_CLASSES /* cells over two numbers; each series is a class with a colour and a letter */
} gc_chart_kind;

typedef enum gc_series_role {
    GC_SERIES_MEASURED,  /* filled marks, joined */
    GC_SERIES_MARKS,     /* filled marks alone */
    GC_SERIES_PUBLISHED, /* hollow marks, joined by dashes */
    GC_SERIES_LIMIT      /* a line without marks: a bound, or a formula */
} gc_series_role;

enum { GC_CHART_TEXT_BYTES = 192, GC_SERIES_NAME_BYTES = 96, GC_CHART_COLOURS = 8 };

/* A place in a chart. */
typedef struct gc_dot {
    double x, y;
    double low, high; /* the quartiles of y, in the chart's unit; 0: not known */
    double value;     /* of a cell; NAN: the cell is empty */
} gc_dot;

typedef struct gc_series {
    char name[GC_SERIES_NAME_BYTES];
    gc_series_role role;
    int colour; /* from 0 on; it also decides on the mark. -1: that of text */
    gc_dot *dots;
    size_t count, capacity;
} gc_series;

typedef struct gc_chart {
    gc_chart_kind kind;
    char title[GC_CHART_TEXT_BYTES];
    char note[4 * GC_CHART_TEXT_BYTES]; /* what a reader should know; "" where nothing */
    char x_label[GC_CHART_TEXT_BYTES], y_label[GC_CHART_TEXT_BYTES];
    char value_label[GC_CHART_TEXT_BYTES]; /* of cells */
    bool x_log, y_log;
    bool x_everywhere; /* every x of a dot gets a tick of its own */
    double value_max;  /* upper end of the colours of a surface; 0: that of its values */
    gc_series *series;
    size_t count, capacity;
    bool failed; /* memory ran out, so that something is missing */
} gc_chart;

typedef struct gc_charts {
    gc_chart *at;
    size_t count, capacity;
} gc_charts;

/* Adds a series without dots. NULL, and the chart has failed, where memory is short. The pointer
 * stays valid until the next series is added. */
gc_series *gc_chart_series(gc_chart *chart, const char *name, gc_series_role role, int colour);

/* Adds a dot to a series of the chart. `series` may be NULL. */
void gc_chart_dot(gc_chart *chart, gc_series *series, gc_dot dot);

/* How many dots all series have. */
size_t gc_chart_dots(const gc_chart *chart);

void gc_chart_destroy(gc_chart *chart);

/* Moves a chart to the end of the list. A chart without dots is destroyed instead. On failure the
 * chart is destroyed, too. */
gconv_status gc_charts_add(gc_charts *charts, gc_chart *chart, gconv_error *error);

void gc_charts_destroy(gc_charts *charts);

/* Whether a chart consists of cells over two numbers. */
bool gc_chart_has_cells(const gc_chart *chart);

#endif
