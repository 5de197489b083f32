/* Points of gconv bench as lines of values and as rows of a Markdown table. */
#pragma once

#include "cli/measure/point.h"
#include "cli/terminal/table.h"

/* Print the names of the values, and the values of a point, as RFC 4180 has them. Times are in
 * seconds. What is not known is empty. */
void gc_bench_csv_heads(void);
void gc_bench_csv(const gc_point *point);

/* Print the heads of a table, and a row of it. Hidden columns are left out. */
void gc_bench_markdown_heads(const gc_column *columns, int count);
void gc_bench_markdown_row(const gc_column *columns, int count, const char *verdict,
                           const char *reason);
