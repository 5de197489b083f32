/* gconv compare: every implementation on one image, checked first, then timed. */
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    const gc_options *options;
    gc_session session;
    gc_picture picture;
    gc_warning_list warnings; /* of the input */
    gconv_alpha alpha;
    gc_expectation expectation;
    const char **names;
    int name_count;
    double reference_seconds;
    double naive_seconds; /* of its kernel; 0 where it was not measured */
    bool wrong;           /* some implementation's result was */
    bool refused;         /* one that was asked for by name could not be used */
} comparison;

static void print_head(const comparison *c)
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
    printf("%-14s %10s %10s %10s %9s %7s %8s %11s %7s %10s  %s\n", "name", "kernel ms", "total ms",
           "Mpixel/s", "GFLOP/s", "FLOP/B", "of roof", "x reference", "x naive", "error",
           "verdict");
}

/* Rates and speed-ups are of the kernel, where there is one beside the transfers. */
static double counted_seconds(const gc_measurement *row)
{
    return row->kernel_seconds > 0 ? row->kernel_seconds : row->seconds;
}

static void print_row(const comparison *c, const gc_measurement *row)
{
    char label[48];
    const char *verdict = gc_verdict_name(row->verdict);
    gc_measurement_label(row, label, sizeof label);
    if (row->verdict == GC_VERDICT_UNUSABLE) {
        printf("%-14s %s: %s\n", label, verdict, row->reason.message);
        return;
    }
    if (row->verdict == GC_VERDICT_WRONG) {
        printf("%-14s %79s %10.4g  %s (bound %g, largest at x %u, y %u)\n", label, "not timed",
               row->difference.largest, verdict, row->difference.bound, row->difference.x,
               row->difference.y);
        return;
    }
    double pixels = (double)c->picture.shape.width * c->picture.shape.height;
    char kernel[32], intensity[32], roof[32], naive[32];
    printf("%-14s %10s %10.3f %10.1f %9.1f %7s %8s %10.1fx %7s %10.4g  %s\n", label,
           gc_figure(1e3 * row->kernel_seconds, "", 4, kernel, sizeof kernel), 1e3 * row->seconds,
           pixels / counted_seconds(row) / 1e6, row->flops / 1e9,
           gc_figure(row->intensity, "", 2, intensity, sizeof intensity),
           gc_figure(row->roofline > 0 ? 100 * row->flops / row->roofline : 0, " %", 1, roof,
                     sizeof roof),
           c->reference_seconds / counted_seconds(row),
           gc_figure(c->naive_seconds / counted_seconds(row), "x", 2, naive, sizeof naive),
           row->difference.largest, verdict);
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

static gconv_status compare(comparison *c, const char *path, gconv_error *error)
{
    gconv_status status = read_input(c, path, error);
    if (status != GCONV_OK)
        return status;
    c->alpha = gc_choose_alpha(&c->session, &c->picture);
    c->names = gc_implementation_list(c->options, "all", &c->name_count);
    if (c->names == NULL)
        return gc_fail_memory(error, sizeof *c->names);
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
