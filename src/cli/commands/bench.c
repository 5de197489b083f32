/* gconv bench: implementations over image and filter sizes on synthetic images, without files. */
#include "cli/commands/commands.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/commands/bench_inputs.h"
#include "cli/commands/bench_table.h"
#include "cli/image/chain.h"
#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "cli/measure/figures.h"
#include "cli/measure/measure.h"
#include "cli/options/effects.h"
#include "cli/options/implementations.h"
#include "cli/options/presets.h"
#include "cli/options/sample_kinds.h"
#include "cli/options/sweep.h"
#include "cli/report/exit.h"
#include "cli/report/messages.h"
#include "cli/report/progress.h"
#include "cli/report/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The image with odd sides on which every result is checked first. */
enum { CHECKED_WIDTH = 257, CHECKED_HEIGHT = 131 };

/* The image and the filters that are timed where the command line names none. */
static const char default_sizes[] = "4096";
static const char default_filters[] =
    "3..17,21,25,31,43,rank1:3,rank1:5,rank1:9,rank1:17,rank1:31,rank1:43";

typedef struct benchmark {
    const gc_options *options;
    gc_bench_table table;
    gc_unusable unusable;
    unsigned met; /* as gc_note_effects takes it */
    gc_sweep_sizes sizes;
    gc_sweep_filters filters;
    gc_picture timed, checked;
    const char **names;
    int name_count;
    double seconds; /* that all entries together may take */
    double begin;   /* when the first of them began */
    size_t entry, entry_count;
    bool wrong;   /* some result was */
    bool refused; /* an implementation could not be used */
} benchmark;

/* The time that is left, shared by the entries that are left. */
static gc_budget next_budget(const benchmark *b)
{
    double left = b->seconds - (gc_seconds() - b->begin);
    return (gc_budget){
        .seconds = left / (double)(b->entry_count - b->entry), .limit = b->seconds, .runs_min = 1};
}

/* Whether one run is known to take too long. The time of the reference is in proportion to the
 * pixels. The reference gives no row before all are computed, so its run cannot be ended early. */
static bool is_hopeless(const benchmark *b, const gc_expectation *expectation, const char *name)
{
    const gconv_shape *shape = &b->timed.shape;
    double ratio = (double)shape->width * shape->height / (CHECKED_WIDTH * CHECKED_HEIGHT);
    return strcmp(name, "reference") == 0 && expectation->seconds * ratio > b->seconds;
}

/* Checks one implementation on the subject's chain and times it. */
static gconv_status measure_entry(benchmark *b, gc_subject *subject, const char *name,
                                  const gc_expectation *expectation, gc_measurement *row,
                                  gconv_error *error)
{
    subject->entry = b->entry;
    gconv_status status = gc_check(subject, name, &b->checked, &b->timed, expectation, row, error);
    row->too_long = is_hopeless(b, expectation, name);
    bool right = row->verdict == GC_VERDICT_EXACT || row->verdict == GC_VERDICT_WITHIN;
    if (status == GCONV_OK && right && !row->too_long)
        status = gc_time(subject, &b->timed, next_budget(b), row, error);
    b->begin += row->compile_seconds; /* not counted */
    b->wrong = b->wrong || row->verdict == GC_VERDICT_WRONG;
    b->refused = b->refused || row->verdict == GC_VERDICT_UNUSABLE;
    b->met |= gc_met_implementation(row->implementation);
    b->entry++;
    gc_tally_add(false, false);
    return status;
}

/* Checks and times every implementation on the session's chain. */
static gconv_status measure_chain(benchmark *b, const gc_session *session, const char *label,
                                  gconv_error *error)
{
    gc_subject subject = {.session = session,
                          .alpha = GCONV_ALPHA_KEEP,
                          .entry = b->entry,
                          .entry_count = b->entry_count};
    gc_expectation expectation;
    gconv_status status = gc_expect(&subject, &b->checked, &expectation, error);
    for (int i = 0; status == GCONV_OK && i < b->name_count; i++) {
        gc_measurement row;
        status = measure_entry(b, &subject, b->names[i], &expectation, &row, error);
        if (status != GCONV_OK)
            break;
        gc_progress_clear();
        gc_note_compilation(&row);
        gc_bench_row(&b->table, label, &row);
    }
    gc_expectation_destroy(&expectation);
    return status;
}

/* Measures one filter in the place of the session's chain. */
static gconv_status measure_filter(benchmark *b, const gc_session *base, gc_timed_filter wanted,
                                   gconv_error *error)
{
    gconv_filter *filter;
    gconv_status status = gc_timed_filter_make(wanted, &filter, error);
    if (status != GCONV_OK)
        return status;
    gc_session session = *base;
    session.chain = (gc_filter_chain){.filters = &filter, .count = 1};
    session.job.filters = (const gconv_filter *const *)session.chain.filters;
    session.job.filter_count = 1;
    session.job.output = GCONV_OUTPUT_SAMPLES;
    char label[32];
    snprintf(label, sizeof label, "%dx%d%s", wanted.width, wanted.height,
             wanted.separates ? " rank 1" : "");
    status = measure_chain(b, &session, label, error);
    gconv_filter_free(filter);
    return status;
}

/* Whether the chain of the session is measured: that of --kernel, or that of edges, which is for
 * grey images, before the filters that are timed by default. */
static bool has_chain(const benchmark *b, const gc_sample_kind *kind)
{
    return b->options->kernel_count > 0 || (b->options->filters == NULL && kind->channels == 1);
}

static gconv_status measure_chains(benchmark *b, const gc_session *session,
                                   const gc_sample_kind *kind, gconv_error *error)
{
    bool given = b->options->kernel_count > 0;
    gconv_status status = GCONV_OK;
    if (has_chain(b, kind))
        status = measure_chain(b, session, given ? "kernel" : "edges", error);
    for (int i = 0; status == GCONV_OK && i < b->filters.count; i++)
        status = measure_filter(b, session, b->filters.at[i], error);
    return status;
}

/* Makes the images of one size and kind and measures everything on them. */
static gconv_status measure_kind(benchmark *b, const gc_session *session, int size,
                                 const gc_sample_kind *kind, gconv_error *error)
{
    b->table.kind = kind;
    b->table.width = b->sizes.at[size].width;
    b->table.height = b->sizes.at[size].height;
    gconv_status status = gc_synthetic_picture((uint32_t)b->table.width, (uint32_t)b->table.height,
                                               kind, &b->timed, error);
    if (status == GCONV_OK)
        status = gc_synthetic_picture(CHECKED_WIDTH, CHECKED_HEIGHT, kind, &b->checked, error);
    if (status == GCONV_OK)
        status = measure_chains(b, session, kind, error);
    gc_picture_destroy(&b->timed);
    gc_picture_destroy(&b->checked);
    return status;
}

static bool is_wanted(const benchmark *b, int kind)
{
    return b->options->samples != 0 ? (b->options->samples >> kind & 1) != 0 : kind == 0;
}

static size_t count_entries(const benchmark *b)
{
    size_t chains = 0;
    for (int i = 0; gc_sample_kind_at(i) != NULL; i++)
        if (is_wanted(b, i))
            chains += (size_t)b->filters.count + has_chain(b, gc_sample_kind_at(i));
    return (size_t)b->name_count * (size_t)b->sizes.count * chains;
}

static gconv_status measure_size(benchmark *b, const gc_session *session, int size,
                                 gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && gc_sample_kind_at(i) != NULL; i++)
        if (is_wanted(b, i))
            status = measure_kind(b, session, size, gc_sample_kind_at(i), error);
    return status;
}

static gconv_status measure_everything(benchmark *b, const gc_session *session, gconv_error *error)
{
    b->entry_count = count_entries(b);
    gc_tally_begin("measured", false, b->entry_count);
    b->seconds = b->options->time > 0 ? b->options->time : 20;
    b->begin = gc_seconds();
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < b->sizes.count; i++)
        status = measure_size(b, session, i, error);
    if (gc_bench_is_text(&b->table)) {
        if (b->options->markdown && b->unusable.count > 0)
            putchar('\n'); /* ends the table */
        gc_print_unusable(&b->unusable);
    }
    if (b->options->verbose && b->entry > 0)
        gc_note_effects(b->options, b->met);
    return status;
}

/* Implementations that cannot run here get one object or line, not one for each filter. */
static void drop_unusable(benchmark *b, const gc_session *session)
{
    gc_drop_unusable(session, b->names, &b->name_count, &b->unusable);
    b->refused = b->unusable.count > 0;
    for (int i = 0; !gc_bench_is_text(&b->table) && i < b->unusable.count; i++)
        gc_bench_row(&b->table, "all",
                     &(gc_measurement){.name = b->unusable.names[i],
                                       .implementation = b->unusable.names[i],
                                       .verdict = GC_VERDICT_UNUSABLE,
                                       .reason = b->unusable.reasons[i]});
}

static gconv_status run(benchmark *b, const gc_session *session, gconv_error *error)
{
    const char *given = b->options->implementations;
    b->names = gc_expand_names(given != NULL ? given : "auto", &b->name_count);
    if (b->names == NULL)
        return gc_fail_memory(error, sizeof *b->names);
    gc_bench_open(&b->table, &b->sizes);
    drop_unusable(b, session);
    gc_bench_heads(&b->table, &b->sizes, b->names, b->name_count);
    gconv_status status = measure_everything(b, session, error);
    gc_bench_close(&b->table);
    return status;
}

/* An implementation that the user has named must be usable; one that a preset names need not be. */
static int finished_code(const benchmark *b, const gc_options *given)
{
    if (b->wrong)
        return GC_EXIT_MISMATCH;
    return b->refused && gc_names_each(given->implementations) ? GC_EXIT_DEVICE : GC_EXIT_DONE;
}

/* Checks what belongs together, applies the preset, and reads the lists of the sweep. */
static gconv_status prepare(const gc_options *given, gc_options *options, benchmark *b,
                            gconv_error *error)
{
    *options = *given;
    if (given->json + given->csv + given->markdown > 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "give one of --json, --csv and --markdown");
    if (given->kernel_count > 0 && given->filters != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--kernel names the one chain to measure, --filters many; give one");
    gconv_status status = GCONV_OK;
    if (given->preset != NULL)
        status = gc_preset_apply(gc_preset_named(given->preset, NULL), options, error);
    if (status == GCONV_OK)
        status = gc_read_sizes(options->sizes != NULL ? options->sizes : default_sizes, &b->sizes,
                               error);
    const char *filters = options->filters != NULL ? options->filters : default_filters;
    if (status == GCONV_OK && options->kernel_count == 0)
        status = gc_read_filters(filters, &b->filters, error);
    return status;
}

int gc_run_bench(const gc_options *given)
{
    gconv_error error;
    gc_options options;
    gc_session session = {.options = NULL};
    const char *blamed = NULL;
    benchmark b = {.options = &options, .table = {.options = &options}};
    gconv_status status = prepare(given, &options, &b, &error);
    if (status == GCONV_OK)
        status = gc_session_create(&options, &session, &blamed, &error);
    if (status == GCONV_OK && given->preset == NULL)
        status = gc_session_check_all(&session, &error);
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        status = run(&b, &session, &error);
        code = status == GCONV_OK ? finished_code(&b, given) : gc_exit_code(status);
    }
    if (status != GCONV_OK)
        gc_report(blamed, &error);
    free(b.names);
    gc_session_destroy(&session);
    return code;
}
