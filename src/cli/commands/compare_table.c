#include "cli/commands/compare_table.h"

#include "base/memory.h"
#include "cli/measure/clocks.h"
#include "cli/measure/facts.h"
#include "cli/measure/figures.h"
#include "cli/report/json.h"
#include "cli/report/messages.h"
#include "cli/report/output.h"
#include "cli/tasks/names.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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

#define AT(member) offsetof(gc_point, member)

/* `on_device`: hidden if no device can fill it. A column without a factor has no figure. */
static const struct {
    gc_column column;
    gc_figure figure;
    bool on_device;
} all_columns[COLUMN_COUNT] = {
    [COLUMN_NAME] = {{.head = "name", .left = true}},
    [COLUMN_KERNEL] = {{"kernel ms", 10}, {AT(kernel_seconds), 1e3, 4, ""}, true},
    [COLUMN_BORDER] = {{"border ms", 9, .rank = 5}, {AT(border_seconds), 1e3, 4, ""}, true},
    [COLUMN_TOTAL] = {{"total ms", 9}},
    [COLUMN_SPREAD] = {{"spread %", 8, .rank = 6}},
    [COLUMN_PIXELS] = {{"Mpixel/s", 8}, {AT(values_a_second), 1e-6, 1, ""}},
    [COLUMN_FLOPS] = {{"GFLOP/s", 7, .rank = 2}, {AT(flops), 1e-9, 1, ""}},
    [COLUMN_INTENSITY] = {{"FLOP/B", 6, .rank = 4}, {AT(intensity), 1, 2, ""}, true},
    [COLUMN_ROOF] = {{"of roof", 7, .rank = 3}, .on_device = true},
    [COLUMN_SPEED_UP] = {{"x ref", 8}, {AT(speed_up), 1, 1, "x"}},
    [COLUMN_OVER_NAIVE] = {{"x naive", 7, .rank = 1}, {AT(naive_speed_up), 1, 2, "x"}, true},
    [COLUMN_ERROR] = {{"error", 8}},
};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

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
    bool device = gc_may_use_device(names, name_count);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        table->columns[i] = all_columns[i].column;
        table->columns[i].hidden = all_columns[i].on_device && !device;
    }
    table->columns[COLUMN_NAME].width = gc_label_width(names, name_count);
    gc_table_fit(table->columns, COLUMN_COUNT, VERDICT_WIDTH);
    gc_table_print_heads(table->columns, COLUMN_COUNT, "verdict");
}

static void fill_cells(gc_compare_table *table, const gc_point *point)
{
    gc_column *columns = table->columns;
    double roof = point->roofline > 0 ? 100 * point->flops / point->roofline : 0;
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (all_columns[i].figure.factor > 0)
            gc_figure_print(&all_columns[i].figure, point, columns[i].cell);
    gc_label_print(point, columns[COLUMN_NAME].cell);
    gc_total_print(point, columns[COLUMN_SPREAD].hidden, columns[COLUMN_TOTAL].cell);
    gc_spread_print(point, columns[COLUMN_SPREAD].cell);
    gc_number_print(roof, " %", 1, columns[COLUMN_ROOF].cell);
    snprintf(columns[COLUMN_ERROR].cell, GC_CELL_BYTES, "%.3g", point->difference.largest);
}

/* Explanations go to standard error: between rows they would tear the table on a terminal. */
static void keep_explanation(gc_compare_table *table, const char *name, const char *explanation)
{
    char *text = table->explained_count < GC_EXPLAINED_MAX ? gc_copy_string(explanation) : NULL;
    if (text != NULL)
        table->explained[table->explained_count++] = (gc_explanation){name, text};
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

static void print_row(gc_compare_table *table, const gc_point *point, const char *name,
                      const char *explanation)
{
    char label[GC_CELL_BYTES];
    const char *verdict = gc_verdict_name(point->verdict);
    const gconv_difference *difference = &point->difference;
    int width = table->columns[COLUMN_NAME].width;
    gc_label_print(point, label);
    if (point->verdict == GC_VERDICT_UNUSABLE) {
        printf("%-*s %s: %s\n", width, label, verdict, point->reason.message);
        return;
    }
    if (point->verdict == GC_VERDICT_WRONG) {
        printf("%-*s %s (bound %g, largest %.4g at x %u, y %u); not timed\n", width, label, verdict,
               difference->bound, difference->largest, difference->x, difference->y);
        return;
    }
    fill_cells(table, point);
    gc_table_print_row(table->columns, COLUMN_COUNT, verdict);
    if (explanation != NULL)
        keep_explanation(table, name, explanation);
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
        gc_point_json(&points->at[i], NULL);
    json_end(table, points);
    return gc_json_end_apart(size);
}

/* ---- Both ------------------------------------------------------------------------------------ */

void gc_compare_head(gc_compare_table *table, const char *const *names, int name_count,
                     const gc_warning_list *warnings)
{
    if (table->session->options->report.json) {
        json_head(table, warnings);
        return;
    }
    gc_compare_print_image(table, stdout);
    fputs("\n\n", stdout);
    print_heads(table, names, name_count);
}

void gc_compare_row(gc_compare_table *table, const gc_point *point, const char *name,
                    const char *explanation)
{
    if (table->session->options->report.json)
        gc_point_json(point, explanation);
    else
        print_row(table, point, name, explanation);
    gc_flush_output();
}

void gc_compare_end(gc_compare_table *table, const gc_points *points)
{
    if (!table->session->options->report.json) {
        print_explanations(table);
        return;
    }
    json_end(table, points);
    gc_json_end();
}
