/* The table and the JSON that gconv bench prints. */
#ifndef GC_CLI_COMMANDS_BENCH_TABLE_H
#define GC_CLI_COMMANDS_BENCH_TABLE_H

#include "cli/measure/measure.h"
#include "cli/options/options.h"
#include "cli/options/sample_kinds.h"
#include "cli/report/table.h"

enum { GC_BENCH_COLUMNS = 9 };

typedef struct gc_bench_table {
    const gc_options *options;
    gc_column columns[GC_BENCH_COLUMNS];
    const gc_sample_kind *kind; /* of the rows that come; NULL: all kinds */
} gc_bench_table;

/* Begins the object of --json for a square image of this side. Does nothing without --json. */
void gc_bench_open(const gc_bench_table *table, int side);

/* Prints the image and the heads of the columns for these names. Does nothing with --json. */
void gc_bench_heads(gc_bench_table *table, int side, const char *const *names, int name_count);

/* Prints the row of an implementation on a filter, or its object with --json. */
void gc_bench_row(gc_bench_table *table, const char *filter, const gc_measurement *row);

/* Ends the object of --json. */
void gc_bench_close(const gc_bench_table *table);

#endif
