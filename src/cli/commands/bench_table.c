#include "cli/commands/bench_table.h"

#include "cli/measure/figures.h"
#include "cli/report/json.h"
#include "cli/report/output.h"

#include <stdio.h>
#include <string.h>

enum column {
    COLUMN_FILTER,
    COLUMN_SAMPLES,
    COLUMN_NAME,
    COLUMN_RUNS,
    COLUMN_KERNEL,
    COLUMN_TOTAL,
    COLUMN_BEST,
    COLUMN_PIXELS,
    COLUMN_FLOPS,
    COLUMN_COUNT
};
_Static_assert((int)COLUMN_COUNT == (int)GC_BENCH_COLUMNS, "the header has as many");

static const gc_column all_columns[COLUMN_COUNT] = {
    [COLUMN_FILTER] = {.head = "filter", .width = 12, .left = true},
    [COLUMN_SAMPLES] = {.head = "samples", .width = 7, .left = true},
    [COLUMN_NAME] = {.head = "name", .left = true},
    [COLUMN_RUNS] = {.head = "runs", .width = 4, .rank = 2},
    [COLUMN_KERNEL] = {.head = "kernel ms", .width = 9},
    [COLUMN_TOTAL] = {.head = "total ms", .width = 9},
    [COLUMN_BEST] = {.head = "best ms", .width = 9, .rank = 3},
    [COLUMN_PIXELS] = {.head = "Mpixel/s", .width = 9},
    [COLUMN_FLOPS] = {.head = "GFLOP/s", .width = 8, .rank = 1},
};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

static const char too_long[] = "one run takes longer than --time";

static void json_row(const char *filter, const gc_sample_kind *kind, const gc_measurement *row)
{
    gc_json_open(NULL, '{');
    gc_json_string("filter", filter);
    if (kind != NULL)
        gc_json_string("samples", kind->name);
    gc_json_string("name", row->name);
    gc_json_string("implementation", row->implementation);
    gc_json_string("verdict", gc_verdict_name(row->verdict));
    if (row->verdict == GC_VERDICT_UNUSABLE)
        gc_json_string("reason", row->reason.message);
    if (row->too_long)
        gc_json_string("reason", too_long);
    if (row->runs > 0) {
        gc_json_integer("runs", row->runs);
        gc_json_number("seconds", row->seconds);
        gc_json_number("shortest_seconds", row->shortest);
        if (row->kernel_seconds > 0)
            gc_json_number("kernel_seconds", row->kernel_seconds);
        if (row->compile_seconds > 0)
            gc_json_number("compile_seconds", row->compile_seconds);
        gc_json_number("pixels_per_second", row->values_a_second);
        gc_json_number("flops", row->flops);
    }
    gc_json_close('}');
}

static void print_unmeasured(const gc_column *columns, const char *filter, const char *samples,
                             const gc_measurement *row)
{
    char label[GC_CELL_BYTES];
    printf("%-*s ", columns[COLUMN_FILTER].width, filter);
    if (!columns[COLUMN_SAMPLES].hidden)
        printf("%-*s ", columns[COLUMN_SAMPLES].width, samples);
    printf("%-*s  %s", columns[COLUMN_NAME].width, gc_measurement_label(row, label, sizeof label),
           gc_verdict_name(row->verdict));
    if (row->too_long)
        printf(", not measured: %s", too_long);
    if (row->verdict == GC_VERDICT_UNUSABLE)
        printf(": %s", row->reason.message);
    putchar('\n');
}

static void print_measured(gc_column *columns, const char *filter, const char *samples,
                           const gc_measurement *row)
{
    snprintf(columns[COLUMN_FILTER].cell, GC_CELL_BYTES, "%s", filter);
    snprintf(columns[COLUMN_SAMPLES].cell, GC_CELL_BYTES, "%s", samples);
    gc_measurement_label(row, columns[COLUMN_NAME].cell, GC_CELL_BYTES);
    snprintf(columns[COLUMN_RUNS].cell, GC_CELL_BYTES, "%d", row->runs);
    gc_figure(1e3 * row->kernel_seconds, "", 4, columns[COLUMN_KERNEL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->seconds, "", 3, columns[COLUMN_TOTAL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->shortest, "", 3, columns[COLUMN_BEST].cell, GC_CELL_BYTES);
    gc_figure(row->values_a_second / 1e6, "", 1, columns[COLUMN_PIXELS].cell, GC_CELL_BYTES);
    gc_figure(row->flops / 1e9, "", 1, columns[COLUMN_FLOPS].cell, GC_CELL_BYTES);
    gc_table_print_row(columns, COLUMN_COUNT, gc_verdict_name(row->verdict));
}

void gc_bench_row(gc_bench_table *table, const char *filter, const gc_measurement *row)
{
    if (table->options->json)
        json_row(filter, table->kind, row);
    else if (row->runs > 0)
        print_measured(table->columns, filter, table->kind->name, row);
    else
        print_unmeasured(table->columns, filter, table->kind->name, row);
    gc_flush_output();
}

void gc_bench_open(const gc_bench_table *table, int side)
{
    if (!table->options->json)
        return;
    gc_json_open(NULL, '{');
    gc_json_integer("schema", GC_JSON_SCHEMA);
    gc_json_string("command", "bench");
    gc_json_integer("width", side);
    gc_json_integer("height", side);
    gc_json_open("results", '[');
}

void gc_bench_heads(gc_bench_table *table, int side, const char *const *names, int name_count)
{
    if (table->options->json)
        return;
    printf("%dx%d, %sfrom memory to memory; border %s\n\n", side, side,
           table->options->samples == 0 ? "1 channel of 8 bits, " : "",
           gconv_border_name(table->options->job.border));
    memcpy(table->columns, all_columns, sizeof all_columns);
    table->columns[COLUMN_NAME].width = gc_label_width(names, name_count);
    table->columns[COLUMN_SAMPLES].hidden = table->options->samples == 0;
    table->columns[COLUMN_KERNEL].hidden = !gc_may_use_device(names, name_count);
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
