#include "lab/bench/table.h"

#include "base/json.h"
#include "cli/measure/facts.h"
#include "cli/measure/figures.h"
#include "cli/terminal/standard_output.h"
#include "lab/bench/beside.h"
#include "lab/bench/formats.h"
#include "lab/bench/presets.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum column {
    COLUMN_SIZE,
    COLUMN_FILTER,
    COLUMN_SAMPLES,
    COLUMN_NAME,
    COLUMN_RUNS,
    COLUMN_KERNEL,
    COLUMN_BORDER,
    COLUMN_TOTAL,
    COLUMN_BEST,
    COLUMN_SPREAD,
    COLUMN_PIXELS,
    COLUMN_INTENSITY,
    COLUMN_FLOPS,
    COLUMN_ROOF,
    COLUMN_THEORY,
    COLUMN_SPEED_UP,
    COLUMN_STEP,
    COLUMN_CHANGE,
    COLUMN_COUNT
};
_Static_assert((int)COLUMN_COUNT == (int)GC_BENCH_COLUMNS, "the header has as many");

#define AT(member) offsetof(gc_point, member)

/* A column without a factor has no figure. */
static const struct {
    gc_column column;
    gc_figure figure;
} all_columns[COLUMN_COUNT] = {
    [COLUMN_SIZE] = {{"image", 11, .left = true, .rank = 3}},
    [COLUMN_FILTER] = {{"filter", 12, .left = true}},
    [COLUMN_SAMPLES] = {{"samples", 7, .left = true}},
    [COLUMN_NAME] = {{"name", .left = true}},
    [COLUMN_RUNS] = {{"runs", 4, .rank = 5}},
    [COLUMN_KERNEL] = {{"kernel ms", 9}, {AT(kernel_seconds), 1e3, 4, ""}},
    [COLUMN_BORDER] = {{"border ms", 9, .rank = 8}, {AT(border_seconds), 1e3, 4, ""}},
    [COLUMN_TOTAL] = {{"total ms", 9}},
    [COLUMN_BEST] = {{"best ms", 9, .rank = 6}, {AT(shortest), 1e3, 3, ""}},
    [COLUMN_SPREAD] = {{"spread %", 8, .rank = 7}},
    [COLUMN_PIXELS] = {{"Mpixel/s", 9, .rank = 2}, {AT(values_a_second), 1e-6, 1, ""}},
    [COLUMN_INTENSITY] = {{"FLOP/B", 6}, {AT(intensity), 1, 2, ""}},
    [COLUMN_ROOF] = {{"of roof", 7}},
    [COLUMN_FLOPS] = {{"GFLOP/s", 8, .rank = 4}, {AT(flops), 1e-9, 1, ""}},
    [COLUMN_THEORY] = {{"theory", 8, .rank = 9}, {AT(theory), 1e-9, 1, ""}},
    [COLUMN_SPEED_UP] = {{"x ref", 8}},
    [COLUMN_STEP] = {{"x step", 7, .rank = 1}},
    [COLUMN_CHANGE] = {{"change %", 8}},
};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

/* A ratio; two digits of it behind a tilde if it is rough. */
static void print_ratio(double ratio, bool rough, char cell[GC_CELL_BYTES])
{
    double step = pow(10, floor(log10(fmax(ratio, 1e-9))) - 1);
    if (rough && ratio > 0)
        snprintf(cell, GC_CELL_BYTES, "~%gx", round(ratio / step) * step);
    else
        gc_number_print(ratio, "x", 0, cell);
}

static double share_of_roof(const gc_point *point)
{
    return point->roofline > 0 ? 100 * point->flops / point->roofline : 0;
}

static void fill_cells(gc_bench_table *table, const gc_point *point)
{
    gc_column *columns = table->columns;
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (all_columns[i].figure.factor > 0)
            gc_figure_print(&all_columns[i].figure, point, columns[i].cell);
    snprintf(columns[COLUMN_SIZE].cell, GC_CELL_BYTES, "%dx%d", point->width, point->height);
    snprintf(columns[COLUMN_FILTER].cell, GC_CELL_BYTES, "%s", point->filter);
    snprintf(columns[COLUMN_SAMPLES].cell, GC_CELL_BYTES, "%s", point->samples);
    gc_label_print(point, columns[COLUMN_NAME].cell);
    snprintf(columns[COLUMN_RUNS].cell, GC_CELL_BYTES, "%d", point->runs);
    gc_total_print(point, columns[COLUMN_SPREAD].hidden, columns[COLUMN_TOTAL].cell);
    gc_spread_print(point, columns[COLUMN_SPREAD].cell);
    gc_number_print(share_of_roof(point), "%", 1, columns[COLUMN_ROOF].cell);
    print_ratio(point->speed_up, table->rough_speed_up, columns[COLUMN_SPEED_UP].cell);
    print_ratio(point->step_speed_up, table->rough_step, columns[COLUMN_STEP].cell);
    snprintf(columns[COLUMN_CHANGE].cell, GC_CELL_BYTES, point->has_baseline ? "%+.1f" : "-",
             point->change);
}

/* Where there is no room for the column of images, an image has a line above its rows. */
static void print_image(gc_bench_table *table, const gc_point *point)
{
    bool same = point->width == table->width && point->height == table->height;
    if (table->sizes->count > 1 && table->columns[COLUMN_SIZE].hidden && !same)
        printf("%s%dx%d\n", table->width > 0 ? "\n" : "", point->width, point->height);
    table->width = point->width;
    table->height = point->height;
}

/* The cells that say what was measured, then why there are no times. */
static void print_unmeasured(const gc_bench_table *table, const gc_point *point)
{
    static const int cells[] = {COLUMN_SIZE, COLUMN_FILTER, COLUMN_SAMPLES, COLUMN_NAME};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (!table->columns[cells[i]].hidden)
            printf("%-*s ", table->columns[cells[i]].width, table->columns[cells[i]].cell);
    printf(" %s", gc_verdict_name(point->verdict));
    if (point->reason.message[0] != '\0')
        printf("%s: %s", point->verdict == GC_VERDICT_UNUSABLE ? "" : ", not measured",
               point->reason.message);
    putchar('\n');
}

bool gc_bench_is_text(const gc_bench_table *table)
{
    return !table->options->report.json && !table->options->measure.csv;
}

/* Whether a point is listed behind the table. */
static bool is_collected(const gc_bench_table *table, const gc_point *point)
{
    return gc_bench_is_text(table) && !table->options->measure.markdown && point->width > 0 &&
           point->verdict == GC_VERDICT_UNUSABLE;
}

/* Whether one implementation refused both for one reason. */
static bool is_same_refusal(const gc_point *a, const gc_point *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->reason.message, b->reason.message) == 0;
}

/* What the visible columns say of the image and the filter of a point. */
static void print_case(const gc_bench_table *table, const gc_point *point)
{
    if (table->sizes->count > 1)
        printf("%dx%d ", point->width, point->height);
    printf("%s", point->filter);
    if (!table->columns[COLUMN_SAMPLES].hidden)
        printf(" %s", point->samples);
}

/* One line for all points that were refused like the point at `first`. */
static void print_refusal(const gc_bench_table *table, const gc_points *points, size_t first)
{
    enum { CASES_MAX = 6 };
    const gc_point *refused = &points->at[first];
    size_t count = 0;
    printf("%s not usable: %s (", refused->name, refused->reason.message);
    for (size_t i = first; i < points->count; i++) {
        if (!is_collected(table, &points->at[i]) || !is_same_refusal(refused, &points->at[i]) ||
            count++ >= CASES_MAX)
            continue;
        if (count > 1)
            printf(", ");
        print_case(table, &points->at[i]);
    }
    if (count > CASES_MAX)
        printf(", and %zu more", count - CASES_MAX);
    puts(")");
}

void gc_bench_refusals(const gc_bench_table *table, const gc_points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        bool known = !is_collected(table, &points->at[i]);
        for (size_t j = 0; j < i && !known; j++)
            known = is_collected(table, &points->at[j]) &&
                    is_same_refusal(&points->at[i], &points->at[j]);
        if (!known)
            print_refusal(table, points, i);
    }
}

void gc_bench_not_usable(const gc_points *points)
{
    int used = 0, most = gc_line_width() - (int)strlen(", ... (-v says why)");
    bool all = true;
    for (size_t i = 0; i < points->count; i++) {
        const char *name = points->at[i].name;
        bool known = points->at[i].verdict != GC_VERDICT_UNUSABLE;
        for (size_t j = 0; j < i && !known; j++)
            known = points->at[j].verdict == GC_VERDICT_UNUSABLE &&
                    strcmp(points->at[j].name, name) == 0;
        if (known || !all)
            continue;
        all = used + (int)strlen(name) + 2 <= most || used == 0;
        if (all)
            used += printf("%s%s", used == 0 ? "not usable: " : ", ", name);
    }
    if (used > 0)
        puts(all ? " (-v says why)" : ", ... (-v says why)");
}

static bool is_above_roof(const gc_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        if (share_of_roof(&points->at[i]) > 100)
            return true;
    return false;
}

void gc_bench_warn(const gc_bench_table *table, const gc_points *points)
{
    size_t noisy = 0, rough = 0, timed = 0;
    for (size_t i = 0; i < points->count; i++) {
        timed += points->at[i].runs > 0;
        rough += points->at[i].runs == 1 || points->at[i].runs == 2;
        noisy += gc_point_is_noisy(&points->at[i]);
    }
    if (table->options->measure.markdown)
        return;
    if (noisy > 0)
        printf("! noisy: %zu of %zu measurements; something disturbed the machine\n", noisy, timed);
    if (rough > 0 && !table->columns[COLUMN_SPEED_UP].hidden)
        printf("~ rough: fewer than 3 runs of %zu of %zu measurements; --time gives more\n", rough,
               timed);
    if (!table->columns[COLUMN_ROOF].hidden &&
        (is_above_roof(points) || is_above_roof(table->beside)))
        puts("above 100 %: caches serve counted loads, transforms save counted products");
}

void gc_bench_row(gc_bench_table *table, const gc_point *point)
{
    if (table->options->report.json) {
        gc_point_json(point, NULL);
    } else if (table->options->measure.csv) {
        gc_bench_csv(point);
    } else {
        fill_cells(table, point);
        const char *verdict =
            gc_point_is_published(point) ? "printed" : gc_verdict_name(point->verdict);
        if (is_collected(table, point))
            return;
        print_image(table, point);
        if (table->options->measure.markdown)
            gc_bench_markdown_row(table->columns, COLUMN_COUNT, verdict, point->reason.message);
        else if (point->runs > 0)
            gc_table_print(table->columns, COLUMN_COUNT, false, verdict);
        else
            print_unmeasured(table, point);
    }
    gc_flush_output();
}

static void json_head(const gc_bench_table *table)
{
    gc_json_begin("bench");
    if (table->options->measure.preset != NULL)
        gc_json_string("preset", table->options->measure.preset);
    if (table->sizes->count == 1) {
        gc_json_integer("width", table->sizes->at[0].width);
        gc_json_integer("height", table->sizes->at[0].height);
    }
    if (table->cpu.peak > 0) {
        gc_json_number("cpu_bandwidth", table->cpu.bandwidth);
        gc_json_number("cpu_peak_flops", table->cpu.peak);
    }
    gc_json_open("results", '[');
}

static void json_end(const gc_bench_table *table, const char *subject, const gc_points *points)
{
    gc_json_close(']');
    if (table->options->measure.with != NULL) {
        gc_json_open("with", '{');
        gc_json_name("source", table->options->measure.with);
        if (table->beside->gpu.peak > 0) {
            gc_json_number("memory_bandwidth", table->beside->gpu.bandwidth);
            gc_json_number("peak_flops", table->beside->gpu.peak);
        }
        gc_json_open("results", '[');
        for (size_t i = 0; i < table->beside->count; i++)
            gc_point_json(&table->beside->at[i], NULL);
        gc_json_close(']');
        gc_json_close('}');
    }
    gc_facts_json(table->options, subject, gc_points_have_gpu(points));
}

void gc_bench_open(const gc_bench_table *table)
{
    if (table->options->measure.csv)
        gc_bench_csv_heads();
    if (table->options->report.json)
        json_head(table);
}

static bool has_transforms(const gc_bench_table *table)
{
    return table->preset != NULL && table->preset->has_transforms;
}

/* Whether all images have samples of one kind, which then needs no column. */
static bool has_one_kind(const gc_bench_table *table)
{
    const char *samples = table->options->measure.samples;
    return samples == NULL || (strchr(samples, ',') == NULL && strcmp(samples, "all") != 0);
}

static void print_plan(const gc_bench_table *table)
{
    if (table->count == 0)
        return;
    bool minutes = table->seconds >= 120;
    double time = minutes ? table->seconds / 60 : table->seconds;
    printf("%zu measurement%s in about %.*f %s (--time)\n", table->count,
           table->count == 1 ? "" : "s", time < 10, time, minutes ? "min" : "s");
}

static void print_title(const gc_bench_table *table)
{
    if (has_transforms(table)) {
        puts("Fourier transforms of complex numbers of two float32, from memory to memory");
        print_plan(table);
        putchar('\n');
        return;
    }
    const char *samples = table->options->measure.samples;
    if (table->sizes->count == 1)
        printf("%dx%d, ", table->sizes->at[0].width, table->sizes->at[0].height);
    if (has_one_kind(table))
        printf("%s, ", samples != NULL ? samples : "1 channel of 8 bits");
    printf("from memory to memory; border %s\n", gconv_border_name(table->options->job.border));
    print_plan(table);
    if (table->cpu.peak > 0)
        printf("roofs of the CPU, measured: %.1f GB/s, %.0f GFLOP/s of float32; small integers\n"
               "and transforms may exceed them\n",
               1e-9 * table->cpu.bandwidth, 1e-9 * table->cpu.peak);
    putchar('\n');
}

static int label_width(const gc_bench_table *table, const char *const *names, int name_count)
{
    int width = gc_label_width(names, name_count);
    const gc_points *others[] = {table->beside, table->published};
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < others[i]->count; j++)
            if ((int)strlen(others[i]->at[j].name) > width)
                width = (int)strlen(others[i]->at[j].name);
    return width;
}

/* For a roofline its columns come before those of times. */
static void show_roofs(gc_bench_table *table, bool shown)
{
    static const int times[] = {COLUMN_KERNEL, COLUMN_TOTAL, COLUMN_PIXELS};
    table->columns[COLUMN_INTENSITY].hidden = table->columns[COLUMN_ROOF].hidden = !shown;
    if (!shown)
        return;
    table->columns[COLUMN_FLOPS].rank = 0;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        table->columns[times[i]].rank = 10 + (int)i;
}

void gc_bench_heads(gc_bench_table *table, const char *const *names, int name_count)
{
    if (table->options->report.json || table->options->measure.csv)
        return;
    print_title(table);
    for (int i = 0; i < COLUMN_COUNT; i++)
        table->columns[i] = all_columns[i].column;
    table->columns[COLUMN_NAME].width = label_width(table, names, name_count);
    table->columns[COLUMN_SIZE].hidden = table->sizes->count <= 1;
    table->columns[COLUMN_SAMPLES].hidden = has_one_kind(table);
    table->columns[COLUMN_CHANGE].hidden = table->options->measure.baseline == NULL;
    table->columns[COLUMN_KERNEL].hidden =
        !gc_may_use_device(names, name_count) && !gc_points_have_gpu(table->beside);
    table->columns[COLUMN_BORDER].hidden = table->columns[COLUMN_KERNEL].hidden;
    const gc_preset *preset = table->preset;
    bool has_steps = preset != NULL && preset->has_steps;
    table->columns[COLUMN_SPEED_UP].hidden = !has_steps;
    /* Of two names the step before the second is the reference. */
    table->columns[COLUMN_STEP].hidden =
        !has_steps || (name_count <= 2 && table->beside->count + table->published->count == 0);
    show_roofs(table, preset != NULL && preset->has_roofs);
    table->columns[COLUMN_THEORY].hidden =
        preset == NULL || !preset->has_theory ||
        (table->columns[COLUMN_KERNEL].hidden && !preset->has_transforms);
    if (has_transforms(table)) {
        table->columns[COLUMN_FILTER].head = "transform";
        table->columns[COLUMN_PIXELS].head = "Mnumber/s";
        table->columns[COLUMN_RUNS].hidden = table->columns[COLUMN_BEST].hidden = true;
        table->columns[COLUMN_KERNEL].hidden = table->columns[COLUMN_BORDER].hidden = true;
    }
    if (table->options->measure.markdown) {
        gc_bench_markdown_heads(table->columns, COLUMN_COUNT);
        return;
    }
    gc_table_fit(table->columns, COLUMN_COUNT, VERDICT_WIDTH);
    gc_table_print(table->columns, COLUMN_COUNT, true, "verdict");
}

void gc_bench_close(const gc_bench_table *table, const char *subject, const gc_points *points)
{
    if (!table->options->report.json)
        return;
    json_end(table, subject, points);
    gc_json_end();
}

char *gc_bench_document(const gc_bench_table *table, const char *subject, const gc_points *points,
                        size_t *size)
{
    gc_json_begin_apart();
    json_head(table);
    for (size_t i = 0; i < points->count; i++)
        gc_point_json(&points->at[i], NULL);
    json_end(table, subject, points);
    gc_json_close('}');
    return gc_json_end_apart(size);
}
