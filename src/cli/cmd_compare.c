/* gconv compare: every implementation on one image, checked first, then timed. */
#include "cli/cli.h"
#include "cli/effects.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/messages.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_NAME,
    COLUMN_KERNEL,
    COLUMN_TOTAL,
    COLUMN_PIXELS,
    COLUMN_FLOPS,
    COLUMN_INTENSITY,
    COLUMN_ROOF,
    COLUMN_SPEED_UP,
    COLUMN_OVER_NAIVE,
    COLUMN_ERROR,
    COLUMN_COUNT
};

/* Those that only a device has stand away where there is none. */
static const gc_column all_columns[COLUMN_COUNT] = {
    [COLUMN_NAME] = {.head = "name", .left = true},
    [COLUMN_KERNEL] = {.head = "kernel ms", .width = 10},
    [COLUMN_TOTAL] = {.head = "total ms", .width = 9},
    [COLUMN_PIXELS] = {.head = "Mpixel/s", .width = 9},
    [COLUMN_FLOPS] = {.head = "GFLOP/s", .width = 8, .rank = 2},
    [COLUMN_INTENSITY] = {.head = "FLOP/B", .width = 6, .rank = 4},
    [COLUMN_ROOF] = {.head = "of roof", .width = 7, .rank = 3},
    [COLUMN_SPEED_UP] = {.head = "x ref", .width = 8},
    [COLUMN_OVER_NAIVE] = {.head = "x naive", .width = 7, .rank = 1},
    [COLUMN_ERROR] = {.head = "error", .width = 8},
};
static const int device_columns[] = {COLUMN_KERNEL, COLUMN_INTENSITY, COLUMN_ROOF,
                                     COLUMN_OVER_NAIVE};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

typedef struct comparison {
    const gc_options *options;
    gc_session session;
    gc_picture picture;
    gc_warning_list warnings; /* of the input */
    gconv_alpha alpha;
    gc_expectation expectation;
    const char **names;
    int name_count;
    gc_column columns[COLUMN_COUNT];
    gc_unusable unusable;
    unsigned met; /* as gc_note_effects takes it */
    double reference_seconds;
    double naive_seconds; /* of its kernel; 0 where it was not measured */
    bool wrong;           /* some implementation's result was */
    bool refused;         /* one that was asked for by name could not be used */
} comparison;

static void print_head(comparison *c)
{
    const gconv_shape *shape = &c->picture.shape;
    printf("%ux%u, %d channel%s of %d bits;", shape->width, shape->height, shape->channels,
           shape->channels == 1 ? "" : "s", shape->depth);
    for (int i = 0; i < c->session.filter_count; i++) {
        const gconv_filter *filter = c->session.filters[i];
        printf(" %s %dx%d%s", filter->name != NULL ? filter->name : "filter", filter->width,
               filter->height, i + 1 < c->session.filter_count ? "," : "");
    }
    printf("; border %s\n\n", gconv_border_name(c->options->border));
    memcpy(c->columns, all_columns, sizeof all_columns);
    c->columns[COLUMN_NAME].width = gc_label_width(c->names, c->name_count);
    bool device = gc_may_use_device(c->names, c->name_count);
    for (size_t i = 0; i < sizeof device_columns / sizeof device_columns[0]; i++)
        c->columns[device_columns[i]].hidden = !device;
    gc_table_fit(c->columns, COLUMN_COUNT, VERDICT_WIDTH);
    gc_table_print_heads(c->columns, COLUMN_COUNT, "verdict");
}

/* Rates and speed-ups are of the kernel, where there is one beside the transfers. */
static double counted_seconds(const gc_measurement *row)
{
    return row->kernel_seconds > 0 ? row->kernel_seconds : row->seconds;
}

static void fill_cells(comparison *c, const gc_measurement *row)
{
    gc_column *columns = c->columns;
    double seconds = counted_seconds(row);
    double pixels = (double)c->picture.shape.width * c->picture.shape.height;
    double roof = row->roofline > 0 ? 100 * row->flops / row->roofline : 0;
    gc_measurement_label(row, columns[COLUMN_NAME].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->kernel_seconds, "", 4, columns[COLUMN_KERNEL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->seconds, "", 3, columns[COLUMN_TOTAL].cell, GC_CELL_BYTES);
    gc_figure(pixels / seconds / 1e6, "", 1, columns[COLUMN_PIXELS].cell, GC_CELL_BYTES);
    gc_figure(row->flops / 1e9, "", 1, columns[COLUMN_FLOPS].cell, GC_CELL_BYTES);
    gc_figure(row->intensity, "", 2, columns[COLUMN_INTENSITY].cell, GC_CELL_BYTES);
    gc_figure(roof, " %", 1, columns[COLUMN_ROOF].cell, GC_CELL_BYTES);
    gc_figure(c->reference_seconds / seconds, "x", 1, columns[COLUMN_SPEED_UP].cell, GC_CELL_BYTES);
    gc_figure(c->naive_seconds / seconds, "x", 2, columns[COLUMN_OVER_NAIVE].cell, GC_CELL_BYTES);
    snprintf(columns[COLUMN_ERROR].cell, GC_CELL_BYTES, "%.3g", row->difference.largest);
}

static void print_row(comparison *c, const gc_measurement *row)
{
    char label[48];
    const char *verdict = gc_verdict_name(row->verdict);
    int width = c->columns[COLUMN_NAME].width;
    gc_measurement_label(row, label, sizeof label);
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
    fill_cells(c, row);
    gc_table_print_row(c->columns, COLUMN_COUNT, verdict);
    if (c->options->explain) {
        gc_flush_output();
        gc_answer(gc_input_name(c->options->operands[0]), "how '%s' was chosen:", row->name);
        fputs(row->explanation, stderr);
    }
}

static void json_row(const comparison *c, const gc_measurement *row)
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
    if (row->runs > 0) {
        double pixels = (double)c->picture.shape.width * c->picture.shape.height;
        gc_json_integer("runs", row->runs);
        gc_json_number("seconds", row->seconds);
        gc_json_number("shortest_seconds", row->shortest);
        if (row->kernel_seconds > 0)
            gc_json_number("kernel_seconds", row->kernel_seconds);
        if (row->compile_seconds > 0)
            gc_json_number("compile_seconds", row->compile_seconds);
        gc_json_number("pixels_per_second", pixels / counted_seconds(row));
        gc_json_number("flops", row->flops);
        if (row->intensity > 0) {
            gc_json_number("intensity", row->intensity);
            gc_json_number("roofline_flops", row->roofline);
        }
        gc_json_number("speed_up", c->reference_seconds / counted_seconds(row));
        if (c->naive_seconds > 0)
            gc_json_number("speed_up_over_naive", c->naive_seconds / counted_seconds(row));
        if (c->options->explain)
            gc_json_string("explanation", row->explanation);
    }
    gc_json_close('}');
}

static gconv_status measure_one(comparison *c, const char *name, gc_measurement *row,
                                gconv_error *error)
{
    double seconds = c->options->time > 0 ? c->options->time : 1;
    gconv_status status = gc_check_and_time(&c->session, name, &c->picture, c->alpha,
                                            &c->expectation, seconds, row, error);
    c->session.image++;
    gc_tally_add(false, false);
    c->wrong = c->wrong || row->verdict == GC_VERDICT_WRONG;
    c->refused = c->refused || row->verdict == GC_VERDICT_UNUSABLE;
    c->met |= gc_met_implementation(row->implementation);
    return status;
}

static gconv_status measure_all(comparison *c, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < c->name_count; i++) {
        gc_measurement row;
        status = measure_one(c, c->names[i], &row, error);
        if (status != GCONV_OK)
            break;
        if (strcmp(row.name, "reference") == 0 && row.runs > 0)
            c->reference_seconds = row.seconds;
        if (strcmp(row.name, "naive") == 0)
            c->naive_seconds = row.kernel_seconds;
        gc_progress_clear();
        gc_note_compilation(&row);
        if (c->options->json)
            json_row(c, &row);
        else
            print_row(c, &row);
        gc_flush_output();
    }
    return status;
}

static gconv_status read_input(comparison *c, const char *path, gconv_error *error)
{
    gc_warning_place place = {gc_input_name(path), NULL, &c->warnings};
    gconv_reader_options options = gc_reader_options(c->options, &place);
    gconv_reader *reader;
    gconv_status status = gconv_reader_open(path, &options, &reader, error);
    if (status != GCONV_OK)
        return status;
    bool more = false;
    status = gc_picture_read(reader, &c->picture, error);
    if (status == GCONV_OK)
        status = gconv_reader_next(reader, &more, error);
    if (more)
        status = gc_fail(error, GCONV_ERROR_FORMAT, "more than one image, and compare takes one");
    gconv_reader_free(reader);
    return status;
}

static void json_head(const comparison *c, const char *path)
{
    gc_json_open(NULL, '{');
    gc_json_integer("schema", GC_JSON_SCHEMA);
    gc_json_string("command", "compare");
    gc_json_string("input", path);
    gc_json_integer("width", c->picture.shape.width);
    gc_json_integer("height", c->picture.shape.height);
    gc_json_integer("channels", c->picture.shape.channels);
    gc_json_integer("depth", c->picture.shape.depth);
    gc_warning_list_json(&c->warnings);
    gc_json_open("implementations", '[');
}

static void note_effects(const comparison *c)
{
    bool filters = c->options->kernel_count > 0;
    unsigned met = c->met | (filters ? 0 : GC_MET_EDGES);
    met |= filters && c->picture.shape.channels % 2 == 0 ? GC_MET_ALPHA : 0;
    if (c->options->verbose && c->session.image > 0)
        gc_note_effects(c->options, met);
}

static gconv_status compare(comparison *c, const char *path, gconv_error *error)
{
    gconv_status status = read_input(c, path, error);
    if (status != GCONV_OK)
        return status;
    c->alpha = gc_choose_alpha(&c->session, &c->picture);
    c->names = gc_implementation_list(c->options, "all", &c->name_count);
    if (c->names == NULL)
        return gc_fail_memory(error, sizeof *c->names);
    if (!c->options->json) /* there each has an object of its own */
        gc_drop_unusable(&c->session, c->names, &c->name_count, &c->unusable);
    c->refused = c->unusable.count > 0;
    c->session.image_count = (size_t)c->name_count;
    gc_tally_begin("measured", false, c->session.image_count);
    status = gc_expect(&c->session, &c->picture, c->alpha, &c->expectation, error);
    if (status != GCONV_OK)
        return status;
    c->reference_seconds = c->expectation.seconds;
    gc_progress_clear();
    if (c->options->json)
        json_head(c, path);
    else
        print_head(c);
    status = measure_all(c, error);
    gc_print_unusable(&c->unusable);
    note_effects(c);
    if (c->options->json) {
        gc_json_close(']');
        gc_json_close('}');
        gc_json_end();
    }
    return status;
}

static int finished_code(const comparison *c)
{
    if (c->wrong)
        return GC_EXIT_MISMATCH;
    return c->refused && gc_is_named_list(c->options) ? GC_EXIT_DEVICE : GC_EXIT_DONE;
}

int gc_run_compare(const gc_options *options)
{
    gconv_error error;
    comparison c = {.options = options};
    const char *path = options->operands[0], *blamed = NULL;
    gconv_status status = gc_check_input(path, &error);
    if (status == GCONV_OK) {
        status = gc_session_create(options, &c.session, &error);
        blamed = c.session.blamed;
    }
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        blamed = gc_input_name(path);
        status = compare(&c, path, &error);
        code = status == GCONV_OK ? finished_code(&c) : gc_exit_code(status);
    }
    if (status != GCONV_OK)
        gc_report(blamed, &error);
    free(c.names);
    gc_expectation_destroy(&c.expectation);
    gc_picture_destroy(&c.picture);
    gc_warning_list_destroy(&c.warnings);
    gc_session_destroy(&c.session);
    return code;
}
