#include "cli/commands/compare_table.h"

#include "base/memory.h"
#include "cli/measure/clocks.h"
#include "cli/measure/facts.h"
#include "cli/measure/figures.h"
#include "cli/report/json.h"
#include "cli/report/messages.h"
#include "cli/report/output.h"
#include "cli/tasks/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_NAME,
    COLUMN_KERNEL,
    COLUMN_BORDER,
    COLUMN_TOTAL,
    COLUMN_SPREAD,
    COLUMN_PIXELS,
    COLUMN_FLOPS,
    COLUMN_INTENSITY,
    COLUMN_ROOF,
    COLUMN_SPEED_UP,
    COLUMN_OVER_NAIVE,
    COLUMN_ERROR,
    COLUMN_COUNT
};
_Static_assert((int)COLUMN_COUNT == (int)GC_COMPARE_COLUMNS, "the header has as many");

/* Columns that only a device fills are hidden where there is none. */
static const gc_column all_columns[COLUMN_COUNT] = {
    [COLUMN_NAME] = {.head = "name", .left = true},
    [COLUMN_KERNEL] = {.head = "kernel ms", .width = 10},
    [COLUMN_BORDER] = {.head = "border ms", .width = 9, .rank = 5},
    [COLUMN_TOTAL] = {.head = "total ms", .width = 9},
    [COLUMN_SPREAD] = {.head = "spread %", .width = 8, .rank = 6},
    [COLUMN_PIXELS] = {.head = "Mpixel/s", .width = 8},
    [COLUMN_FLOPS] = {.head = "GFLOP/s", .width = 7, .rank = 2},
    [COLUMN_INTENSITY] = {.head = "FLOP/B", .width = 6, .rank = 4},
    [COLUMN_ROOF] = {.head = "of roof", .width = 7, .rank = 3},
    [COLUMN_SPEED_UP] = {.head = "x ref", .width = 8},
    [COLUMN_OVER_NAIVE] = {.head = "x naive", .width = 7, .rank = 1},
    [COLUMN_ERROR] = {.head = "error", .width = 8},
};
static const int device_columns[] = {COLUMN_KERNEL, COLUMN_BORDER, COLUMN_INTENSITY, COLUMN_ROOF,
                                     COLUMN_OVER_NAIVE};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

/* Pixels a second and speed-ups over the reference are of the kernel where its time is known.
 * Operations a second and speed-ups over naive are of the convolution alone. */
static double counted_seconds(const gc_measurement *row)
{
    return row->kernel_seconds > 0 ? row->kernel_seconds : row->seconds;
}

static double pixels_of(const gc_compare_table *table)
{
    return (double)table->picture->shape.width * table->picture->shape.height;
}

/* ---- Text ------------------------------------------------------------------------------------ */

void gc_compare_print_image(const gc_compare_table *table, FILE *stream)
{
    const gconv_shape *shape = &table->picture->shape;
    const gc_filter_chain *chain = &table->session->chain;
    fprintf(stream, "%ux%u, %d channel%s of %d bits;", shape->width, shape->height, shape->channels,
            shape->channels == 1 ? "" : "s", shape->depth);
    for (int i = 0; i < chain->count; i++) {
        const gconv_filter *filter = chain->filters[i];
        fprintf(stream, " %s %dx%d%s", filter->name != NULL ? filter->name : "filter",
                filter->width, filter->height, i + 1 < chain->count ? "," : "");
    }
    fprintf(stream, "; border %s", gconv_border_name(table->session->job.border));
}

static void print_heads(gc_compare_table *table, const char *const *names, int name_count)
{
    memcpy(table->columns, all_columns, sizeof all_columns);
    table->columns[COLUMN_NAME].width = gc_label_width(names, name_count);
    bool device = gc_may_use_device(names, name_count);
    for (size_t i = 0; i < sizeof device_columns / sizeof device_columns[0]; i++)
        table->columns[device_columns[i]].hidden = !device;
    gc_table_fit(table->columns, COLUMN_COUNT, VERDICT_WIDTH);
    gc_table_print_heads(table->columns, COLUMN_COUNT, "verdict");
}

static void fill_cells(gc_compare_table *table, const gc_measurement *row)
{
    gc_column *columns = table->columns;
    double seconds = counted_seconds(row);
    double roof = row->roofline > 0 ? 100 * row->flops / row->roofline : 0;
    gc_row_label(row->name, row->implementation, columns[COLUMN_NAME].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->kernel_seconds, "", 4, columns[COLUMN_KERNEL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->border_seconds, "", 4, columns[COLUMN_BORDER].cell, GC_CELL_BYTES);
    gc_total_figure(row->seconds, row->upper_quartile - row->lower_quartile,
                    columns[COLUMN_SPREAD].hidden, columns[COLUMN_TOTAL].cell, GC_CELL_BYTES);
    gc_spread_figure(row->seconds, row->upper_quartile - row->lower_quartile,
                     columns[COLUMN_SPREAD].cell, GC_CELL_BYTES);
    gc_figure(pixels_of(table) / seconds / 1e6, "", 1, columns[COLUMN_PIXELS].cell, GC_CELL_BYTES);
    gc_figure(row->flops / 1e9, "", 1, columns[COLUMN_FLOPS].cell, GC_CELL_BYTES);
    gc_figure(row->intensity, "", 2, columns[COLUMN_INTENSITY].cell, GC_CELL_BYTES);
    gc_figure(roof, " %", 1, columns[COLUMN_ROOF].cell, GC_CELL_BYTES);
    gc_figure(table->reference_seconds / seconds, "x", 1, columns[COLUMN_SPEED_UP].cell,
              GC_CELL_BYTES);
    gc_figure(table->naive_seconds / gc_convolution_seconds(row), "x", 2,
              columns[COLUMN_OVER_NAIVE].cell, GC_CELL_BYTES);
    snprintf(columns[COLUMN_ERROR].cell, GC_CELL_BYTES, "%.3g", row->difference.largest);
}

/* Explanations go to standard error: between rows they would tear the table on a terminal. */
static void keep_explanation(gc_compare_table *table, const gc_measurement *row)
{
    char *text =
        table->explained_count < GC_EXPLAINED_MAX ? gc_copy_string(row->explanation) : NULL;
    if (text != NULL)
        table->explained[table->explained_count++] = (gc_explanation){row->name, text};
}

static void print_explanations(gc_compare_table *table)
{
    gc_flush_output();
    for (int i = 0; i < table->explained_count; i++) {
        gc_answer(gc_input_name(table->session->options->operands[0]),
                  "how '%s' was chosen:", table->explained[i].name);
        fputs(table->explained[i].text, stderr);
        free(table->explained[i].text);
    }
    table->explained_count = 0;
}

static void print_row(gc_compare_table *table, const gc_measurement *row)
{
    char label[48];
    const gc_options *options = table->session->options;
    const char *verdict = gc_verdict_name(row->verdict);
    int width = table->columns[COLUMN_NAME].width;
    gc_row_label(row->name, row->implementation, label, sizeof label);
    if (row->verdict == GC_VERDICT_UNUSABLE) {
        printf("%-*s %s: %s\n", width, label, verdict, row->reason.message);
        return;
    }
    if (row->verdict == GC_VERDICT_WRONG) {
        printf("%-*s %s (bound %g, largest %.4g at x %u, y %u); not timed\n", width, label, verdict,
               row->difference.bound, row->difference.largest, row->difference.x,
               row->difference.y);
        return;
    }
    fill_cells(table, row);
    gc_table_print_row(table->columns, COLUMN_COUNT, verdict);
    if (options->explain)
        keep_explanation(table, row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_filters(const gc_filter_chain *chain)
{
    gc_json_open("filters", '[');
    for (int i = 0; i < chain->count; i++) {
        const gconv_filter *filter = chain->filters[i];
        gc_json_open(NULL, '{');
        gc_json_string("name", filter->name != NULL ? filter->name : "");
        gc_json_integer("width", filter->width);
        gc_json_integer("height", filter->height);
        gc_json_close('}');
    }
    gc_json_close(']');
}

static void json_head(const gc_compare_table *table, const gc_warning_list *warnings)
{
    const gconv_shape *shape = &table->picture->shape;
    gc_json_open(NULL, '{');
    gc_json_integer("schema", GC_JSON_SCHEMA);
    gc_json_string("command", "compare");
    gc_json_string("input", table->session->options->operands[0]);
    gc_json_integer("width", shape->width);
    gc_json_integer("height", shape->height);
    gc_json_integer("channels", shape->channels);
    gc_json_integer("depth", shape->depth);
    json_filters(&table->session->chain);
    if (warnings != NULL)
        gc_warning_list_json(warnings);
    gc_json_open("implementations", '[');
}

static void json_times(const gc_compare_table *table, const gc_measurement *row)
{
    double seconds = counted_seconds(row);
    gc_json_integer("runs", row->runs);
    gc_json_number("seconds", row->seconds);
    gc_json_number("shortest_seconds", row->shortest);
    gc_json_number("lower_quartile_seconds", row->lower_quartile);
    gc_json_number("upper_quartile_seconds", row->upper_quartile);
    gc_json_number("spread_seconds", row->upper_quartile - row->lower_quartile);
    if (row->transfer_seconds > 0)
        gc_json_number("transfer_seconds", row->transfer_seconds);
    if (row->kernel_seconds > 0)
        gc_json_number("kernel_seconds", row->kernel_seconds);
    if (row->border_seconds > 0)
        gc_json_number("border_seconds", row->border_seconds);
    if (row->conversion_seconds > 0)
        gc_json_number("convert_seconds", row->conversion_seconds);
    if (row->compile_seconds > 0)
        gc_json_number("compile_seconds", row->compile_seconds);
    gc_json_number("pixels_per_second", pixels_of(table) / seconds);
    gc_json_number("flops", row->flops);
    if (row->intensity > 0) {
        gc_json_number("intensity", row->intensity);
        gc_json_number("roofline_flops", row->roofline);
    }
    gc_json_number("speed_up", table->reference_seconds / seconds);
    if (table->naive_seconds > 0)
        gc_json_number("speed_up_over_naive", table->naive_seconds / gc_convolution_seconds(row));
    if (table->session->options->explain)
        gc_json_string("explanation", row->explanation);
}

static void json_row(const gc_compare_table *table, const gc_measurement *row)
{
    gc_json_open(NULL, '{');
    gc_json_string("name", row->name);
    gc_json_string("implementation", row->implementation);
    gc_json_string("verdict", gc_verdict_name(row->verdict));
    if (row->verdict == GC_VERDICT_UNUSABLE) {
        gc_json_string("reason", row->reason.message);
    } else {
        gc_json_number("largest_error", row->difference.largest);
        gc_json_number("bound", row->difference.bound);
        gc_json_integer("mismatches", (int64_t)row->difference.mismatches);
    }
    if (row->runs > 0)
        json_times(table, row);
    gc_json_close('}');
}

/* The sentence about the image is in the facts, too. */
static void json_end(const gc_compare_table *table, const gc_points *points)
{
    char *subject = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&subject, &size);
    if (stream != NULL) {
        gc_compare_print_image(table, stream);
        fclose(stream);
    }
    gc_json_close(']');
    gc_clocks_json();
    gc_facts_json(table->session->options, subject != NULL ? subject : "",
                  gc_points_have_gpu(points));
    gc_json_close('}');
    free(subject);
}

char *gc_compare_document(const gc_compare_table *table, const gc_points *points, size_t *size)
{
    gc_json_begin_apart();
    json_head(table, NULL);
    for (size_t i = 0; i < points->count; i++)
        gc_point_json(&points->at[i]);
    json_end(table, points);
    return gc_json_end_apart(size);
}

/* ---- Both ------------------------------------------------------------------------------------ */

void gc_compare_head(gc_compare_table *table, const char *const *names, int name_count,
                     const gc_warning_list *warnings)
{
    if (table->session->options->json) {
        json_head(table, warnings);
        return;
    }
    gc_compare_print_image(table, stdout);
    fputs("\n\n", stdout);
    print_heads(table, names, name_count);
}

void gc_compare_row(gc_compare_table *table, const gc_measurement *row)
{
    if (table->session->options->json)
        json_row(table, row);
    else
        print_row(table, row);
    gc_flush_output();
}

void gc_compare_end(gc_compare_table *table, const gc_points *points)
{
    if (!table->session->options->json) {
        print_explanations(table);
        return;
    }
    json_end(table, points);
    gc_json_end();
}
