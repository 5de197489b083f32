/* What gconv bench prints: a table, lines of values, or JSON. */
#pragma once

#include "cli/measure/point.h"
#include "cli/measure/traffic.h"
#include "cli/options/options.h"
#include "cli/terminal/table.h"
#include "lab/bench/lists.h"
#include "lab/bench/presets.h"

enum { GC_BENCH_COLUMNS = 18 };

typedef struct gc_bench_table {
    const gc_options *options;
    const gc_preset *preset; /* NULL: none */
    const gc_sweep_sizes *sizes;
    const gc_points *beside, *published; /* of --with */
    gc_roofs cpu;                        /* of the processors; 0 if they were not measured */
    size_t count;                        /* how many points are to be measured */
    double seconds;                      /* that this may take */
    bool rough_speed_up, rough_step;     /* those of the next row say little */
    int width, height;                   /* of the image of the last row */
    gc_column columns[GC_BENCH_COLUMNS];
} gc_bench_table;

/* Whether the table is text for people, which says by itself what cannot run here. */
bool gc_bench_is_text(const gc_bench_table *table);

/* Begins the object of --json, or prints the names of the values of --csv. */
void gc_bench_open(const gc_bench_table *table);

/* Prints the image and the heads of the columns for these names, if there are such. */
void gc_bench_heads(gc_bench_table *table, const char *const *names, int name_count);

/* Prints the row of a point, its values, or its object. In a table for people,
 * gc_bench_refusals prints the points that are not usable. */
void gc_bench_row(gc_bench_table *table, const gc_point *point);

/* Prints behind the table which implementations refused which cases, a line for each reason. */
void gc_bench_refusals(const gc_bench_table *table, const gc_points *points);

/* Prints in one line what could not be used, without reasons. */
void gc_bench_not_usable(const gc_points *points);

/* Says how many points are noisy or rough, and why a share of the roof is above 100 %. */
void gc_bench_warn(const gc_bench_table *table, const gc_points *points);

/* Ends the object of --json. `subject` says in a sentence what was measured. */
void gc_bench_close(const gc_bench_table *table, const char *subject, const gc_points *points);

/* The object of --json with all points, as a line of `size` bytes; free releases it. NULL if memory
 * is short. */
char *gc_bench_document(const gc_bench_table *table, const char *subject, const gc_points *points,
                        size_t *size);
