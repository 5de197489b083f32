/* gconv bench: implementations over image and filter sizes on synthetic images, without files. */
#include "lab/lab.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/image/session.h"
#include "cli/measure/figures.h"
#include "cli/options/effects.h"
#include "cli/options/implementations.h"
#include "cli/options/table.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/standard_output.h"
#include "lab/bench/baseline.h"
#include "lab/bench/beside.h"
#include "lab/bench/circumstances.h"
#include "lab/bench/lists.h"
#include "lab/bench/presets.h"
#include "lab/bench/resume.h"
#include "lab/bench/roofs.h"
#include "lab/bench/sweep.h"
#include "lab/bench/table.h"
#include "lab/bench/transforms.h"
#include "lab/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 20 }; /* that measuring takes if the command line does not say it */

typedef struct benchmark {
    const gc_options *options; /* with those of the preset */
    const gc_preset *preset;   /* NULL: none */
    gc_lists lists;
    gc_unusable unusable;
    gc_sweep sweep;
    char subject[128 + GC_PRESET_TEXT_BYTES]; /* a sentence: what is measured */
} benchmark;

/* Opens the file of --resume, if there is one. On failure *subject is its path. */
static gconv_status open_resume(benchmark *b, const char **subject, gconv_error *error)
{
    const char *path = b->options->measure.resume, *preset = b->options->measure.preset;
    if (path == NULL)
        return GCONV_OK;
    *subject = path;
    size_t size;
    char *line = gc_circumstances_line(b->sweep.session, &b->sweep.machine, &size);
    GC_TRY_MEMORY(line != NULL, error, sizeof b->sweep.machine);
    gconv_status status =
        gc_resume_open(path, line, size, preset != NULL ? preset : "", &b->sweep.resume, error);
    free(line);
    return status;
}

/* Reads the file of --baseline, if there is one. On failure *subject is its path. */
static gconv_status read_baseline(benchmark *b, const char **subject, gconv_error *error)
{
    const char *path = b->options->measure.baseline, *preset = b->options->measure.preset;
    gc_sweep *sweep = &b->sweep;
    if (path == NULL)
        return GCONV_OK;
    *subject = path;
    GC_TRY(gc_baseline_read(path, preset != NULL ? preset : "", &sweep->baseline, error));
    size_t there = gc_sweep_count(sweep, &sweep->baseline);
    size_t all = gc_sweep_count(sweep, NULL);
    if (there == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "holds no time of what is measured here");
    if (there < all)
        gc_say("%s: times of %zu of the %zu measurements", path, there, all);
    *subject = NULL;
    return GCONV_OK;
}

/* Says what is slower than the baseline, even with --quiet: the exit status comes from it. */
static void report_slower(const benchmark *b)
{
    const gc_points *points = &b->sweep.points;
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *p = &points->at[i];
        if (p->slower)
            gc_answer(b->options->measure.baseline, "%dx%d, filter %s, %s, %s takes %.1f %% longer",
                      p->width, p->height, p->filter, p->samples, p->name, p->change);
    }
}

/* Applies --sample. */
static gconv_status thin(benchmark *b, gconv_error *error)
{
    gc_cases *cases = &b->sweep.cases;
    size_t all = cases->count;
    gconv_status status = gc_cases_thin(cases, gc_share_of(b->lists.sample, all), error);
    if (status == GCONV_OK && cases->count < all)
        gc_say("--sample: %zu of the %zu filters and images of the sweep", cases->count, all);
    return status;
}

static bool has_transforms(const benchmark *b)
{
    return b->preset != NULL && b->preset->has_transforms;
}

/* Leaves out implementations that have no transforms of lines, and names all that the others are
 * measured by. */
static gconv_status keep_transforms(gc_sweep *sweep, gconv_error *error)
{
    int taken = 0, count = 0;
    const char *names[2 * GC_TRANSFORM_NAMES];
    for (int i = 0; i < sweep->name_count; i++) {
        int more = gc_transforms_names(sweep->names[i], &names[count]);
        count += more;
        taken += more > 0;
    }
    if (taken == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--impl': only 'cpu' and 'fft' transform lines");
    if (taken < sweep->name_count)
        gc_say("--impl: of these only 'cpu' and 'fft' transform lines, and are measured");
    const char **kept = gc_allocate_array((size_t)count, sizeof *kept);
    GC_TRY_MEMORY(kept != NULL, error, (size_t)count * sizeof *kept);
    memcpy(kept, names, (size_t)count * sizeof *kept);
    free(sweep->names);
    sweep->names = kept;
    sweep->name_count = count;
    return GCONV_OK;
}

static gconv_status list_cases(benchmark *b, gconv_error *error)
{
    if (!has_transforms(b))
        return gc_cases_list(b->options, &b->lists, &b->sweep.cases, error);
    GC_TRY(keep_transforms(&b->sweep, error));
    return gc_cases_list_transforms(&b->sweep.cases, error);
}

/* Measures the roofs of the processors if the preset wants them. */
static gconv_status measure_roofs(benchmark *b, gconv_error *error)
{
    if (b->preset == NULL || !b->preset->has_roofs)
        return GCONV_OK;
    gconv_status status =
        gc_cpu_measure_roofs(b->sweep.session->job.threads, &b->sweep.machine.cpu, error);
    b->sweep.table.cpu = b->sweep.machine.cpu;
    return status;
}

static void describe(benchmark *b)
{
    char blocks[GC_PRESET_TEXT_BYTES];
    if (has_transforms(b)) {
        snprintf(b->subject, sizeof b->subject, "Fourier transforms of random complex numbers.");
        return;
    }
    gc_preset_describe_blocks(b->options, b->sweep.names, b->sweep.name_count, blocks);
    snprintf(b->subject, sizeof b->subject, "Synthetic images of random samples, border %s.%s",
             gconv_border_name(b->options->job.border), blocks);
}

/* Lists what is measured. */
static gconv_status plan(benchmark *b, const char **subject, gconv_error *error)
{
    gc_sweep *sweep = &b->sweep;
    const char *given = b->options->implementations;
    sweep->seconds = b->options->measure.time > 0 ? b->options->measure.time : SECONDS;
    sweep->names = gc_expand_names(given != NULL ? given : "auto", &sweep->name_count);
    GC_TRY_MEMORY(sweep->names != NULL, error, sizeof *sweep->names);
    gc_drop_unusable(sweep->session, sweep->names, &sweep->name_count, &b->unusable);
    sweep->refused = b->unusable.count > 0;
    gc_say_whom_options_reach(b->options, sweep->names, sweep->name_count);
    gc_machine_describe(sweep->session, sweep->names, sweep->name_count, &sweep->machine);
    describe(b);
    GC_TRY(list_cases(b, error));
    GC_TRY(thin(b, error));
    GC_TRY(measure_roofs(b, error));
    GC_TRY(read_baseline(b, subject, error));
    GC_TRY(gc_beside_read(b->options, &sweep->beside, subject, error));
    if (b->options->measure.with != NULL && b->preset != NULL)
        GC_TRY(gc_published_read(b->preset->name, &sweep->published, error));
    return open_resume(b, subject, error);
}

/* Implementations that cannot run here get one object or line, not one for each filter. */
static gconv_status add_unusable(benchmark *b, gconv_error *error)
{
    const char *preset = b->options->measure.preset;
    const gc_points *points = &b->sweep.points;
    gc_point point = {.filter = "all"};
    snprintf(point.preset, sizeof point.preset, "%s", preset != NULL ? preset : "");
    gconv_status status =
        gc_unusable_add(&b->unusable, b->unusable.count, point, &b->sweep.points, error);
    for (size_t i = 0; i < points->count && !gc_bench_is_text(&b->sweep.table); i++)
        gc_bench_row(&b->sweep.table, &points->at[i]);
    return status;
}

/* Prints what cannot be used: with reasons if it was asked for by name or with --verbose, else the
 * names in one line. */
static void print_unusable(benchmark *b)
{
    bool asked =
        b->options->report.verbose || b->preset == NULL || gc_option_given(b->options, "impl");
    if (asked) {
        gc_bench_refusals(&b->sweep.table, &b->sweep.points);
        gc_print_unusable(&b->unusable);
    } else {
        gc_bench_not_usable(&b->sweep.points);
    }
}

static void print_rest(benchmark *b)
{
    if (gc_bench_is_text(&b->sweep.table)) {
        if (b->options->measure.markdown && b->unusable.count > 0)
            putchar('\n'); /* ends the table */
        gc_bench_warn(&b->sweep.table, &b->sweep.points);
        print_unusable(b);
    }
    if (b->options->report.verbose && b->sweep.entry > 0)
        gc_note_effects(b->options, b->sweep.met);
    gc_bench_close(&b->sweep.table, b->subject, &b->sweep.points);
    gc_flush_output();
    report_slower(b);
}

static gconv_status run(benchmark *b, gconv_error *error)
{
    gc_sweep *sweep = &b->sweep;
    gc_bench_open(&sweep->table);
    gconv_status status = add_unusable(b, error);
    gc_sweep_keep(sweep, &sweep->beside);
    gc_sweep_keep(sweep, &sweep->published);
    gc_sweep_plan(sweep, &sweep->table.count, &sweep->table.seconds);
    gc_bench_heads(&sweep->table, sweep->names, sweep->name_count);
    GC_THEN(status, gc_sweep_run(sweep, error));
    print_rest(b);
    return status;
}

/* Runs the sweep and writes the report of --html. The file is opened first: a sweep is long. */
static gconv_status run_and_report(benchmark *b, const char **subject, gconv_error *error)
{
    gc_output *report;
    *subject = b->options->measure.html;
    GC_TRY(gc_html_reporter.open(b->options, &report, error));
    gconv_status status = run(b, error);
    if (status != GCONV_OK) {
        *subject = status == GCONV_ERROR_WRITE ? b->options->measure.resume : NULL;
        gc_output_free(report);
        return status;
    }
    if (report == NULL)
        return GCONV_OK;
    *subject = b->options->measure.html;
    size_t size = 0;
    char *json = gc_bench_document(&b->sweep.table, b->subject, &b->sweep.points, &size);
    return gc_html_reporter.close(b->options, json, size, report, error);
}

/* An implementation that the user has named must be usable; one that a preset names need not be. */
static int finished_code(const benchmark *b, const gc_options *given)
{
    if (b->sweep.wrong)
        return GC_EXIT_MISMATCH;
    if (b->sweep.refused && gc_names_each(given->implementations))
        return GC_EXIT_DEVICE;
    return b->sweep.slower ? GC_EXIT_SLOWER : GC_EXIT_DONE;
}

/* Checks what belongs together, applies the preset, and reads the lists of the sweep. */
static gconv_status prepare(const gc_options *given, gc_options *options, benchmark *b,
                            gconv_error *error)
{
    *options = *given;
    if (given->report.json + given->measure.csv + given->measure.markdown > 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "give one of --json, --csv and --markdown");
    if (given->kernel_count > 0 && given->measure.filters != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--kernel names the one chain to measure, --filters many; give one");
    if (given->measure.fail_above >= 0 && given->measure.baseline == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--fail-above needs a --baseline");
    gconv_status status = gc_html_reporter.check(given, error);
    if (status == GCONV_OK && given->measure.preset != NULL) {
        b->preset = b->sweep.table.preset = gc_preset_named(given->measure.preset, error);
        if (b->preset == NULL)
            return gc_blame_option("preset", error);
        status = gc_preset_apply(b->preset, options, error);
    }
    GC_THEN(status, gc_lists_read(options, &b->lists, error));
    if (has_transforms(b))
        b->lists.sizes.count = 0; /* of images, which there are none of */
    return status;
}

int gc_run_bench(const gc_options *given)
{
    gconv_error error;
    gc_options options;
    gc_session session = {.options = NULL};
    const char *subject = NULL;
    benchmark b = {.options = &options};
    b.sweep.table.options = &options;
    b.sweep.table.sizes = &b.lists.sizes;
    b.sweep.table.beside = &b.sweep.beside;
    b.sweep.table.published = &b.sweep.published;
    b.sweep.session = &session;
    b.sweep.resume.descriptor = -1;
    gconv_status status = prepare(given, &options, &b, &error);
    GC_THEN(status, gc_session_create(&options, &session, &subject, &error));
    if (status == GCONV_OK && given->measure.preset == NULL)
        status = gc_session_check_all(&session, &error);
    GC_THEN(status, plan(&b, &subject, &error));
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        status = run_and_report(&b, &subject, &error);
        code = status == GCONV_OK ? finished_code(&b, given) : gc_exit_code(status);
    }
    if (status != GCONV_OK)
        gc_report(subject, &error);
    free(b.sweep.names);
    gc_resume_close(&b.sweep.resume);
    gc_cases_destroy(&b.sweep.cases);
    gc_sweep_destroy(&b.sweep);
    gc_session_destroy(&session);
    return code;
}
