/* A result of gconv bench for programs: JSON, lines of values, rows of a Markdown table. */
#ifndef GC_CLI_COMMANDS_BENCH_FORMATS_H
#define GC_CLI_COMMANDS_BENCH_FORMATS_H

#include "cli/measure/measure.h"
#include "cli/options/sample_kinds.h"
#include "cli/report/table.h"

typedef struct gc_bench_result {
    int width, height; /* of the image; 0: all images */
    const char *filter;
    const gc_sample_kind *kind; /* NULL: all kinds */
    const gc_measurement *row;
    const char *reason; /* why there are no figures, or "" */
} gc_bench_result;

/* Prints an object of the list of results. */
void gc_bench_json(const gc_bench_result *result);

/* Print the names of the values, and the values of a result, as RFC 4180 has them. Times are in
 * seconds. What is not known is empty. */
void gc_bench_csv_heads(void);
void gc_bench_csv(const gc_bench_result *result);

/* Print the heads of a table, and a row of it. Hidden columns are left out. */
void gc_bench_markdown_heads(const gc_column *columns, int count);
void gc_bench_markdown_row(const gc_column *columns, int count, const char *verdict,
                           const char *reason);

#endif
