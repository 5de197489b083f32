/* gconv compare: every implementation on one image, checked first, then timed. */
#include "cli/commands/commands.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/status.h"
#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "cli/image/verify.h"
#include "cli/measure/facts.h"
#include "cli/measure/figures.h"
#include "cli/measure/measure.h"
#include "cli/measure/point.h"
#include "cli/options/effects.h"
#include "cli/options/implementations.h"
#include "cli/tasks/names.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"
#include "cli/terminal/table.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

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

typedef struct compare_table {
    const gc_session *session;
    const gc_picture *picture;
    gc_column columns[COLUMN_COUNT];
    gc_buffer image;        /* "640x480, 1 channel of 8 bits; ...; border mirror" */
    gc_buffer explanations; /* for --explain, until the table has ended */
} compare_table;

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
    [COLUMN_SPEED_UP] = {{"x ref", 8}, {AT(speed_up), 1, 0, "x"}},
    [COLUMN_OVER_NAIVE] = {{"x naive", 7, .rank = 1}, {AT(naive_speed_up), 1, 0, "x"}, true},
    [COLUMN_ERROR] = {{"error", 8}},
};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

/* ---- Text ------------------------------------------------------------------------------------ */

static gconv_status describe_image(compare_table *table, gconv_error *error)
{
    gc_buffer *text = &table->image;
    const gconv_shape *shape = &table->picture->shape;
    const gc_filter_chain *chain = &table->session->chain;
    gc_buffer_print(text, "%ux%u, %d channel%s of %d bits;", shape->width, shape->height,
                    shape->channels, shape->channels == 1 ? "" : "s", shape->depth);
    for (int i = 0; i < chain->count; i++) {
        const gconv_filter *filter = chain->filters[i];
        gc_buffer_print(text, " %s %dx%d%s", filter->name != NULL ? filter->name : "filter",
                        filter->width, filter->height, i + 1 < chain->count ? "," : "");
    }
    gc_buffer_print(text, "; border %s", gconv_border_name(table->session->job.border));
    return text->failed ? gc_fail_memory(error, text->size) : GCONV_OK;
}

static void print_heads(compare_table *table, const char *const *names, int name_count)
{
    bool device = gc_may_use_device(names, name_count);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        table->columns[i] = all_columns[i].column;
        table->columns[i].hidden = all_columns[i].on_device && !device;
    }
    table->columns[COLUMN_NAME].width = gc_label_width(names, name_count);
    gc_table_fit(table->columns, COLUMN_COUNT, VERDICT_WIDTH);
    gc_table_print(table->columns, COLUMN_COUNT, true, "verdict");
}

static void fill_cells(compare_table *table, const gc_point *point)
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

static void print_row(compare_table *table, const gc_point *point, const char *explanation)
{
    char label[GC_CELL_BYTES], file[512];
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
    gc_table_print(table->columns, COLUMN_COUNT, false, verdict);
    if (explanation == NULL)
        return;
    /* For standard error: between rows it would tear the table on a terminal. */
    gc_escape(gc_input_name(table->session->options->operands[0]), file, sizeof file);
    gc_buffer_print(&table->explanations, "gconv: %s: how '%s' was chosen:\n%s", file, point->name,
                    explanation);
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

static void json_head(const compare_table *table, const gc_warning_list *warnings)
{
    const gconv_shape *shape = &table->picture->shape;
    gc_json_begin("compare");
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
static void json_end(const compare_table *table, const gc_points *points)
{
    gc_json_close(']');
    gc_facts_json(table->session->options, table->image.bytes, gc_points_have_gpu(points));
}

/* The object of --json with these points, as a line of `size` bytes; free releases it. NULL if
 * memory is short. */
static char *make_document(const compare_table *table, const gc_points *points, size_t *size)
{
    gc_json_begin_apart();
    json_head(table, NULL);
    for (size_t i = 0; i < points->count; i++)
        gc_point_json(&points->at[i], NULL);
    json_end(table, points);
    gc_json_close('}');
    return gc_json_end_apart(size);
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Prints what stands before the rows: the image and the heads of the columns for these names, or
 * the beginning of the object with --json. */
static void begin_table(compare_table *table, const char *const *names, int name_count,
                        const gc_warning_list *warnings)
{
    if (table->session->options->report.json) {
        json_head(table, warnings);
        return;
    }
    printf("%s\n\n", table->image.bytes);
    print_heads(table, names, name_count);
}

/* `explanation` may be NULL. */
static void add_row(compare_table *table, const gc_point *point, const char *explanation)
{
    if (table->session->options->report.json)
        gc_point_json(point, explanation);
    else
        print_row(table, point, explanation);
    gc_flush_output();
}

/* Ends the object of --json, or says behind the table what --explain asks for. */
static void end_table(compare_table *table, const gc_points *points)
{
    gc_flush_output();
    if (table->explanations.bytes != NULL)
        fputs(table->explanations.bytes, stderr);
    gc_buffer_free(&table->explanations);
    if (!table->session->options->report.json)
        return;
    json_end(table, points);
    gc_json_end();
}

/* ---- The command ----------------------------------------------------------------------------- */

typedef struct comparison {
    const gc_options *options;
    gc_session session;
    gc_picture picture;
    gc_warning_list warnings; /* of the input */
    gc_subject subject;
    gc_expectation expectation;
    const char **names;
    int name_count;
    compare_table table;
    char explanation[GC_EXPLANATION_BYTES]; /* of what was measured last */
    double naive_seconds;     /* of the convolution by naive on a GPU; 0: not measured */
    double reference_seconds; /* of a run of the reference */
    gc_unusable unusable;     /* first what cannot run here, then what refuses the job */
    int not_here;             /* how many of them cannot run here */
    gc_points points;         /* all that were measured, for the report */
    unsigned met;             /* as gc_note_effects takes it */
    gc_buffer methods;        /* lines that say how `cpu` computes */
    bool noisy;               /* the runs of some implementation */
    bool wrong;               /* the result of some implementation */
    bool refused;             /* an implementation could not be used */
} comparison;

/* Fills the ratios of a point to others. Rates count pixels here, not samples. */
static void compare_point(comparison *c, gc_point *point)
{
    const gconv_shape *shape = &c->picture.shape;
    if (strcmp(point->name, "reference") == 0)
        c->reference_seconds = point->seconds;
    if (strcmp(point->name, "naive") == 0 && point->kernel_seconds > 0)
        c->naive_seconds = gc_point_counted_seconds(point);
    point->values_a_second = (double)shape->width * shape->height / gc_point_seconds(point);
    point->speed_up = c->reference_seconds / gc_point_seconds(point);
    point->naive_speed_up = c->naive_seconds / gc_point_counted_seconds(point);
}

/* Checks a plan, then times it. If one run takes longer than `seconds`, it is not run again: the
 * time is that of the checked run, or of the expectation for the reference. */
static gconv_status check_and_time(comparison *c, gconv_plan *plan, double seconds, gc_point *point,
                                   gconv_error *error)
{
    const gc_budget budget = {.seconds = seconds, .runs_min = 3};
    bool adopts = strcmp(point->name, "reference") == 0 && c->expectation.seconds > seconds;
    gconv_status status =
        adopts ? gc_adopt_expectation(plan, &c->picture, &c->expectation, point, error)
               : gc_check_plan(plan, &c->picture, &c->expectation, seconds, point, error);
    GC_TRY(status);
    if (point->verdict == GC_VERDICT_WRONG)
        point->runs = 0;
    else if (point->runs > 0)
        gc_fill_rates(&c->subject, plan, &c->picture, point);
    else
        status = gc_time_plan(&c->subject, plan, &c->picture, budget, point, error);
    return status;
}

static gconv_status measure(comparison *c, const char *name, gc_point *point, gconv_error *error)
{
    double seconds = c->options->measure.time > 0 ? c->options->measure.time : 1;
    gconv_plan *plan = NULL;
    gc_point_set_name(point, name);
    gc_subject_begin_progress(&c->subject, name);
    gconv_status status =
        gc_subject_ready_plan(&c->subject, point, &c->picture, &plan, &point->reason);
    if (status == GCONV_OK) {
        snprintf(point->implementation, sizeof point->implementation, "%s",
                 gconv_plan_implementation(plan));
        status = check_and_time(c, plan, seconds, point, &point->reason);
    }
    gconv_plan_free(plan);
    return gc_settle_verdict(status, point, error);
}

static gconv_status measure_one(comparison *c, const char *name, gc_point *point,
                                gconv_error *error)
{
    gconv_status status = measure(c, name, point, error);
    c->subject.entry++;
    gc_counts_add(false, false);
    c->noisy = c->noisy || gc_point_is_noisy(point);
    c->wrong = c->wrong || point->verdict == GC_VERDICT_WRONG;
    c->refused = c->refused || point->verdict == GC_VERDICT_UNUSABLE;
    c->met |= gc_met_implementation(point->implementation);
    if (point->runs > 0) {
        const char *methods = strstr(c->explanation, "\ncpu: ");
        if (strcmp(name, "cpu") == 0 && methods != NULL)
            gc_buffer_put(&c->methods, methods + 1);
        compare_point(c, point);
    }
    if (point->verdict == GC_VERDICT_UNUSABLE && point->reason.status != GCONV_ERROR_DEVICE) {
        point->width = (int)c->picture.shape.width; /* it refuses this image, and may take others */
        point->height = (int)c->picture.shape.height;
    }
    return status;
}

/* Prints a point. In a table what cannot be used is listed at the end. */
static void show(comparison *c, const gc_point *point, const char *name)
{
    gc_unusable *unusable = &c->unusable;
    bool lists = !c->options->report.json && point->verdict == GC_VERDICT_UNUSABLE &&
                 unusable->count < GC_UNUSABLE_MAX;
    if (!lists) {
        bool explains = c->options->report.explain && point->runs > 0;
        add_row(&c->table, point, explains ? c->explanation : NULL);
        return;
    }
    unusable->names[unusable->count] = name;
    unusable->reasons[unusable->count++] = point->reason;
}

static gconv_status measure_all(comparison *c, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < c->name_count; i++) {
        gc_point point = {.width = 0};
        status = measure_one(c, c->names[i], &point, error);
        if (status != GCONV_OK)
            break;
        gc_progress_clear();
        gc_note_compilation(&point);
        show(c, &point, c->names[i]);
        status = gc_points_add(&c->points, &point, error);
    }
    return status;
}

static gconv_status read_input(comparison *c, gconv_error *error)
{
    const char *path = c->options->operands[0];
    gc_warning_target target = {gc_input_name(path), NULL, &c->warnings};
    gconv_reader_options options = gc_reader_options(c->options);
    options.warn = gc_take_warning;
    options.warn_damage = gc_take_damage;
    options.warn_user = &target;
    gconv_reader *reader;
    if (gc_is_directory(path))
        return gc_fail(error, GCONV_ERROR_OPEN, "a directory, and compare takes one image");
    GC_TRY(gconv_reader_open(path, &options, &reader, error));
    bool more = false;
    gconv_status status = gc_picture_read(reader, &c->picture, error);
    GC_THEN(status, gconv_reader_next(reader, &more, error));
    c->met |= gconv_reader_composited(reader) ? GC_MET_BACKGROUND : 0;
    if (more)
        status = gc_fail(error, GCONV_ERROR_FORMAT, "more than one image, and compare takes one");
    gconv_reader_free(reader);
    return status;
}

static gconv_status list_names(comparison *c, gconv_error *error)
{
    const char *given = c->options->implementations;
    c->names = gc_expand_names(given != NULL ? given : "all", &c->name_count);
    GC_TRY_MEMORY(c->names != NULL, error, sizeof *c->names);
    if (!c->options->report.json) /* with --json each has an object of its own */
        gc_drop_unusable(&c->session, c->names, &c->name_count, &c->unusable);
    gc_say_whom_options_reach(c->options, c->names, c->name_count);
    c->not_here = c->unusable.count;
    c->refused = c->not_here > 0;
    return GCONV_OK;
}

static void note_effects(const comparison *c)
{
    bool filters = c->options->kernel_count > 0;
    unsigned met = c->met | (filters ? 0 : GC_MET_EDGES);
    met |= filters && c->picture.shape.channels % 2 == 0 ? GC_MET_ALPHA : 0;
    if (c->options->report.verbose && c->subject.entry > 0)
        gc_note_effects(c->options, met);
}

static gconv_status compare(comparison *c, gconv_error *error)
{
    GC_TRY(read_input(c, error));
    GC_TRY(list_names(c, error));
    gconv_job job = gc_job_for(&c->session, &c->picture.shape);
    bool opaque = !gconv_alpha_needs_pixels(&job) || gc_picture_is_opaque(&c->picture);
    c->subject = (gc_subject){.session = &c->session,
                              .alpha = gconv_alpha_resolve(&job, opaque),
                              .entry_count = (size_t)c->name_count,
                              .explanation = c->explanation};
    gc_counts_begin("measured", false, c->subject.entry_count);
    GC_TRY(gc_expect(&c->subject, &c->picture, &c->expectation, error));
    c->reference_seconds = c->expectation.seconds;
    c->table = (compare_table){.session = &c->session, .picture = &c->picture};
    gc_progress_clear();
    GC_TRY(describe_image(&c->table, error));
    begin_table(&c->table, c->names, c->name_count, &c->warnings);
    gconv_status status = measure_all(c, error);
    if (status == GCONV_OK)
        status =
            gc_unusable_add(&c->unusable, c->not_here, (gc_point){.width = 0}, &c->points, error);
    if (!c->options->report.json)
        printf("%s%s", c->methods.bytes != NULL ? c->methods.bytes : "",
               c->noisy
                   ? "! noisy: runs spread over more than 10 %; something disturbed the machine\n"
                   : "");
    gc_print_unusable(&c->unusable);
    note_effects(c);
    end_table(&c->table, &c->points);
    return status;
}

/* Compares and writes the report, whose file is opened first. */
static gconv_status compare_and_report(comparison *c, const gc_reporter *reporter,
                                       const char **subject, gconv_error *error)
{
    gc_output *report;
    *subject = c->options->measure.html;
    GC_TRY(reporter->open(c->options, &report, error));
    *subject = gc_input_name(c->options->operands[0]);
    gconv_status status = compare(c, error);
    if (status != GCONV_OK) {
        gc_output_free(report);
        return status;
    }
    size_t size = 0;
    *subject = c->options->measure.html;
    char *json = make_document(&c->table, &c->points, &size);
    return reporter->close(c->options, json, size, report, error);
}

static int finished_code(const comparison *c)
{
    if (c->wrong)
        return GC_EXIT_MISMATCH;
    return c->refused && gc_names_each(c->options->implementations) ? GC_EXIT_DEVICE : GC_EXIT_DONE;
}

int gc_run_compare(const gc_options *options, const gc_reporter *reporter)
{
    gconv_error error;
    comparison c = {.options = options};
    const char *path = options->operands[0], *subject = NULL;
    gconv_status status = gc_check_input(path, &error);
    if (status == GCONV_OK && reporter != NULL)
        status = reporter->check(options, &error);
    GC_THEN(status, gc_session_create(options, &c.session, &subject, &error));
    GC_THEN(status, gc_session_check_all(&c.session, &error));
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        subject = gc_input_name(path);
        status = reporter != NULL ? compare_and_report(&c, reporter, &subject, &error)
                                  : compare(&c, &error);
        code = status == GCONV_OK ? finished_code(&c) : gc_exit_code(status);
    }
    if (status != GCONV_OK)
        gc_report(subject, &error);
    free(c.names);
    gc_buffer_free(&c.table.image);
    gc_buffer_free(&c.methods);
    gc_points_destroy(&c.points);
    gc_results_free(&c.expectation.of);
    gc_picture_destroy(&c.picture);
    gc_warning_list_destroy(&c.warnings);
    gc_session_destroy(&c.session);
    return code;
}
