/* gconv compare: every implementation on one image, checked first, then timed. */
#include "cli/commands/commands.h"

#include "base/status.h"
#include "cli/commands/compare_table.h"
#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "cli/measure/figures.h"
#include "cli/measure/measure.h"
#include "cli/options/effects.h"
#include "cli/options/implementations.h"
#include "cli/report/exit.h"
#include "cli/report/messages.h"
#include "cli/report/progress.h"
#include "cli/report/tally.h"
#include "cli/report/warnings.h"
#include "cli/tasks/names.h"
#include "cli/tasks/single.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    const gc_options *options;
    gc_session session;
    gc_picture picture;
    gc_warning_list warnings; /* of the input */
    gc_subject subject;
    gc_expectation expectation;
    const char **names;
    int name_count;
    gc_compare_table table;
    char explanation[GC_EXPLANATION_BYTES]; /* of what was measured last */
    double naive_seconds;     /* of the convolution by naive on a GPU; 0: not measured */
    double reference_seconds; /* of a run of the reference */
    gc_unusable unusable;     /* that cannot run here; then those that refuse the job */
    int not_here;             /* how many of them cannot run here */
    gc_points points;         /* all that were measured, for the report */
    unsigned met;             /* as gc_note_effects takes it */
    bool wrong;               /* some implementation's result was */
    bool refused;             /* an implementation could not be used */
} comparison;

/* Fills what compares a point with others. Pixels count here, not samples. */
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

static gconv_status measure_one(comparison *c, const char *name, gc_point *point,
                                gconv_error *error)
{
    double seconds = c->options->measure.time > 0 ? c->options->measure.time : 1;
    gconv_status status =
        gc_check_and_time(&c->subject, name, &c->picture, &c->expectation, seconds, point, error);
    c->subject.entry++;
    gc_tally_add(false, false);
    c->wrong = c->wrong || point->verdict == GC_VERDICT_WRONG;
    c->refused = c->refused || point->verdict == GC_VERDICT_UNUSABLE;
    c->met |= gc_met_implementation(point->implementation);
    if (point->runs > 0)
        compare_point(c, point);
    if (point->verdict == GC_VERDICT_UNUSABLE && point->reason.status != GCONV_ERROR_DEVICE) {
        point->width = (int)c->picture.shape.width; /* it is this image that it refuses */
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
        gc_compare_row(&c->table, point, name, explains ? c->explanation : NULL);
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
    gconv_status status = gconv_reader_open(path, &options, &reader, error);
    if (status != GCONV_OK)
        return status;
    bool more = false;
    status = gc_picture_read(reader, &c->picture, error);
    if (status == GCONV_OK)
        status = gconv_reader_next(reader, &more, error);
    c->met |= gconv_reader_composited(reader) ? GC_MET_BACKGROUND : 0;
    if (more)
        status = gc_fail(error, GCONV_ERROR_FORMAT, "more than one image, and compare takes one");
    gconv_reader_free(reader);
    return status;
}

static gconv_alpha choose_alpha(const comparison *c)
{
    gconv_job job = gc_job_for(&c->session, &c->picture.shape);
    bool opaque = !gconv_alpha_needs_pixels(&job) || gc_picture_is_opaque(&c->picture);
    return gconv_alpha_resolve(&job, opaque);
}

static gconv_status list_names(comparison *c, gconv_error *error)
{
    const char *given = c->options->implementations;
    c->names = gc_expand_names(given != NULL ? given : "all", &c->name_count);
    if (c->names == NULL)
        return gc_fail_memory(error, sizeof *c->names);
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
    gconv_status status = read_input(c, error);
    if (status == GCONV_OK)
        status = list_names(c, error);
    if (status != GCONV_OK)
        return status;
    c->subject = (gc_subject){.session = &c->session,
                              .alpha = choose_alpha(c),
                              .entry_count = (size_t)c->name_count,
                              .explanation = c->explanation};
    gc_tally_begin("measured", false, c->subject.entry_count);
    status = gc_expect(&c->subject, &c->picture, &c->expectation, error);
    if (status != GCONV_OK)
        return status;
    c->reference_seconds = c->expectation.seconds;
    c->table = (gc_compare_table){.session = &c->session, .picture = &c->picture};
    gc_progress_clear();
    gc_compare_head(&c->table, c->names, c->name_count, &c->warnings);
    status = measure_all(c, error);
    if (status == GCONV_OK)
        status =
            gc_unusable_add(&c->unusable, c->not_here, (gc_point){.width = 0}, &c->points, error);
    gc_print_unusable(&c->unusable);
    note_effects(c);
    gc_compare_end(&c->table, &c->points);
    return status;
}

/* Compares and writes the report, whose file is opened first. */
static gconv_status compare_and_report(comparison *c, const gc_reporter *reporter,
                                       const char **blamed, gconv_error *error)
{
    gc_output *report;
    *blamed = c->options->measure.html;
    gconv_status status = reporter->open(c->options, &report, error);
    if (status != GCONV_OK)
        return status;
    *blamed = gc_input_name(c->options->operands[0]);
    status = compare(c, error);
    if (status != GCONV_OK) {
        gc_output_free(report);
        return status;
    }
    size_t size = 0;
    *blamed = c->options->measure.html;
    char *json = gc_compare_document(&c->table, &c->points, &size);
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
    const char *path = options->operands[0], *blamed = NULL;
    gconv_status status = gc_check_input(path, &error);
    if (status == GCONV_OK && reporter != NULL)
        status = reporter->check(options, &error);
    if (status == GCONV_OK)
        status = gc_session_create(options, &c.session, &blamed, &error);
    if (status == GCONV_OK)
        status = gc_session_check_all(&c.session, &error);
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        blamed = gc_input_name(path);
        status = reporter != NULL ? compare_and_report(&c, reporter, &blamed, &error)
                                  : compare(&c, &error);
        code = status == GCONV_OK ? finished_code(&c) : gc_exit_code(status);
    }
    if (status != GCONV_OK)
        gc_report(blamed, &error);
    free(c.names);
    gc_points_destroy(&c.points);
    gc_expectation_destroy(&c.expectation);
    gc_picture_destroy(&c.picture);
    gc_warning_list_destroy(&c.warnings);
    gc_session_destroy(&c.session);
    return code;
}
