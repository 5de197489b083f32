#include "cli/commands/bench_table.h"

#include "cli/commands/bench_formats.h"
#include "cli/measure/figures.h"
#include "cli/report/json.h"
#include "cli/report/output.h"

#include <stdio.h>
#include <string.h>

enum column {
    COLUMN_SIZE,
    COLUMN_FILTER,
    COLUMN_SAMPLES,
    COLUMN_NAME,
    COLUMN_RUNS,
    COLUMN_KERNEL,
    COLUMN_TOTAL,
    COLUMN_BEST,
    COLUMN_SPREAD,
    COLUMN_PIXELS,
    COLUMN_FLOPS,
    COLUMN_COUNT
};
_Static_assert((int)COLUMN_COUNT == (int)GC_BENCH_COLUMNS, "the header has as many");

static const gc_column all_columns[COLUMN_COUNT] = {
    [COLUMN_SIZE] = {.head = "image", .width = 11, .left = true},
    [COLUMN_FILTER] = {.head = "filter", .width = 12, .left = true},
    [COLUMN_SAMPLES] = {.head = "samples", .width = 7, .left = true},
    [COLUMN_NAME] = {.head = "name", .left = true},
    [COLUMN_RUNS] = {.head = "runs", .width = 4, .rank = 2},
    [COLUMN_KERNEL] = {.head = "kernel ms", .width = 9},
    [COLUMN_TOTAL] = {.head = "total ms", .width = 9},
    [COLUMN_BEST] = {.head = "best ms", .width = 9, .rank = 3},
    [COLUMN_SPREAD] = {.head = "spread %", .width = 8, .rank = 4},
    [COLUMN_PIXELS] = {.head = "Mpixel/s", .width = 9},
    [COLUMN_FLOPS] = {.head = "GFLOP/s", .width = 8, .rank = 1},
};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

/* Why there are no figures; "" where there is nothing to say. */
static const char *reason_of(const gc_measurement *row)
{
    return row->verdict == GC_VERDICT_UNUSABLE ? row->reason.message
           : row->too_long                     ? "one run takes longer than --time"
                                               : "";
}

static void print_size(const gc_bench_table *table, char *cell)
{
    snprintf(cell, GC_CELL_BYTES, "%dx%d", table->width, table->height);
}

static void print_unmeasured(gc_bench_table *table, const char *filter, const gc_measurement *row)
{
    gc_column *columns = table->columns;
    char label[GC_CELL_BYTES];
    if (!columns[COLUMN_SIZE].hidden) {
        print_size(table, columns[COLUMN_SIZE].cell);
        printf("%-*s ", columns[COLUMN_SIZE].width, columns[COLUMN_SIZE].cell);
    }
    printf("%-*s ", columns[COLUMN_FILTER].width, filter);
    if (!columns[COLUMN_SAMPLES].hidden)
        printf("%-*s ", columns[COLUMN_SAMPLES].width, table->kind->name);
    printf("%-*s  %s", columns[COLUMN_NAME].width, gc_measurement_label(row, label, sizeof label),
           gc_verdict_name(row->verdict));
    if (row->verdict == GC_VERDICT_UNUSABLE)
        printf(": %s", reason_of(row));
    else if (row->too_long)
        printf(", not measured: %s", reason_of(row));
    putchar('\n');
}

static void fill_cells(gc_bench_table *table, const char *filter, const gc_measurement *row)
{
    gc_column *columns = table->columns;
    print_size(table, columns[COLUMN_SIZE].cell);
    snprintf(columns[COLUMN_FILTER].cell, GC_CELL_BYTES, "%s", filter);
    snprintf(columns[COLUMN_SAMPLES].cell, GC_CELL_BYTES, "%s",
             table->kind != NULL ? table->kind->name : "");
    gc_measurement_label(row, columns[COLUMN_NAME].cell, GC_CELL_BYTES);
    snprintf(columns[COLUMN_RUNS].cell, GC_CELL_BYTES, "%d", row->runs);
    gc_figure(1e3 * row->kernel_seconds, "", 4, columns[COLUMN_KERNEL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->seconds, "", 3, columns[COLUMN_TOTAL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->shortest, "", 3, columns[COLUMN_BEST].cell, GC_CELL_BYTES);
    gc_figure(row->seconds > 0 ? 100 * row->spread / row->seconds : 0, "", 1,
              columns[COLUMN_SPREAD].cell, GC_CELL_BYTES);
    gc_figure(row->values_a_second / 1e6, "", 1, columns[COLUMN_PIXELS].cell, GC_CELL_BYTES);
    gc_figure(row->flops / 1e9, "", 1, columns[COLUMN_FLOPS].cell, GC_CELL_BYTES);
}

bool gc_bench_is_text(const gc_bench_table *table)
{
    return !table->options->json && !table->options->csv;
}

void gc_bench_row(gc_bench_table *table, const char *filter, const gc_measurement *row)
{
    gc_bench_result result = {table->width, table->height, filter,
                              table->kind,  row,           reason_of(row)};
    if (table->options->json) {
        gc_bench_json(&result);
    } else if (table->options->csv) {
        gc_bench_csv(&result);
    } else if (table->options->markdown) {
        fill_cells(table, filter, row);
        gc_bench_markdown_row(table->columns, GC_BENCH_COLUMNS, gc_verdict_name(row->verdict),
                              result.reason);
    } else if (row->runs > 0) {
        fill_cells(table, filter, row);
        gc_table_print_row(table->columns, COLUMN_COUNT, gc_verdict_name(row->verdict));
    } else {
        print_unmeasured(table, filter, row);
    }
    gc_flush_output();
}

void gc_bench_open(const gc_bench_table *table, const gc_sweep_sizes *sizes)
{
    if (table->options->csv)
        gc_bench_csv_heads();
    if (!table->options->json)
        return;
    gc_json_open(NULL, '{');
    gc_json_integer("schema", GC_JSON_SCHEMA);
    gc_json_string("command", "bench");
    if (table->options->preset != NULL)
        gc_json_string("preset", table->options->preset);
    if (sizes->count == 1) {
        gc_json_integer("width", sizes->at[0].width);
        gc_json_integer("height", sizes->at[0].height);
    }
    gc_json_open("results", '[');
}

static void print_title(const gc_bench_table *table, const gc_sweep_sizes *sizes)
{
    if (sizes->count == 1)
        printf("%dx%d, ", sizes->at[0].width, sizes->at[0].height);
    printf("%sfrom memory to memory; border %s\n\n",
           table->options->samples == 0 ? "1 channel of 8 bits, " : "",
           gconv_border_name(table->options->job.border));
}

void gc_bench_heads(gc_bench_table *table, const gc_sweep_sizes *sizes, const char *const *names,
                    int name_count)
{
    if (table->options->json || table->options->csv)
        return;
    print_title(table, sizes);
    memcpy(table->columns, all_columns, sizeof all_columns);
    table->columns[COLUMN_NAME].width = gc_label_width(names, name_count);
    table->columns[COLUMN_SIZE].hidden = sizes->count == 1;
    table->columns[COLUMN_SAMPLES].hidden = table->options->samples == 0;
    table->columns[COLUMN_KERNEL].hidden = !gc_may_use_device(names, name_count);
    if (table->options->markdown) {
        gc_bench_markdown_heads(table->columns, COLUMN_COUNT);
        return;
    }
    gc_table_fit(table->columns, COLUMN_COUNT, VERDICT_WIDTH);
    gc_table_print_heads(table->columns, COLUMN_COUNT, "verdict");
}

void gc_bench_close(const gc_bench_table *table)
{
    if (!table->options->json)
        return;
    gc_json_close(']');
    gc_json_close('}');
    gc_json_end();
}
