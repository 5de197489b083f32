/* gconv bench: implementations over filter sizes on a synthetic image, without files. */
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
#include "cli/options/sample_kinds.h"
#include "cli/report/exit.h"
#include "cli/report/messages.h"
#include "cli/report/progress.h"
#include "cli/report/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The image that is timed, and one with odd sides on which every result is checked first. */
enum { TIMED_SIDE = 4096, CHECKED_WIDTH = 257, CHECKED_HEIGHT = 131 };

typedef struct benchmark {
    const gc_options *options;
    gc_bench_table table;
    gc_unusable unusable;
    unsigned met; /* as gc_note_effects takes it */
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
    double ratio = (double)TIMED_SIDE * TIMED_SIDE / (CHECKED_WIDTH * CHECKED_HEIGHT);
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
    snprintf(label, sizeof label, "%dx%d%s", wanted.side, wanted.side,
             wanted.separates ? " rank 1" : "");
    status = measure_chain(b, &session, label, error);
    gconv_filter_free(filter);
    return status;
}

static int count_filters(void)
{
    gc_timed_filter filter;
    int count = 0;
    while (gc_timed_filter_at(count, &filter))
        count++;
    return count;
}

/* The chain of --kernel, or else that of edges, which is for grey images, and all filters. */
static gconv_status measure_chains(benchmark *b, const gc_session *session, gconv_error *error)
{
    bool given = b->options->kernel_count > 0;
    gconv_status status = GCONV_OK;
    if (given || b->timed.shape.channels == 1)
        status = measure_chain(b, session, given ? "kernel" : "edges", error);
    gc_timed_filter filter;
    for (int i = 0; status == GCONV_OK && !given && gc_timed_filter_at(i, &filter); i++)
        status = measure_filter(b, session, filter, error);
    return status;
}

/* Makes the images of one kind and measures everything on them. */
static gconv_status measure_kind(benchmark *b, const gc_session *session,
                                 const gc_sample_kind *kind, gconv_error *error)
{
    b->table.kind = kind;
    gconv_status status = gc_synthetic_picture(TIMED_SIDE, TIMED_SIDE, kind, &b->timed, error);
    if (status == GCONV_OK)
        status = gc_synthetic_picture(CHECKED_WIDTH, CHECKED_HEIGHT, kind, &b->checked, error);
    if (status == GCONV_OK)
        status = measure_chains(b, session, error);
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
        if (is_wanted(b, i) && b->options->kernel_count > 0)
            chains++;
        else if (is_wanted(b, i))
            chains += (size_t)count_filters() + (gc_sample_kind_at(i)->channels == 1 ? 1 : 0);
    return (size_t)b->name_count * chains;
}

static gconv_status measure_everything(benchmark *b, const gc_session *session, gconv_error *error)
{
    b->entry_count = count_entries(b);
    gc_tally_begin("measured", false, b->entry_count);
    b->seconds = b->options->time > 0 ? b->options->time : 20;
    b->begin = gc_seconds();
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && gc_sample_kind_at(i) != NULL; i++)
        if (is_wanted(b, i))
            status = measure_kind(b, session, gc_sample_kind_at(i), error);
    if (!b->options->json)
        gc_print_unusable(&b->unusable);
    if (b->options->verbose && b->entry > 0)
        gc_note_effects(b->options, b->met);
    return status;
}

/* Implementations that cannot run here get one object or line, not one for each filter. */
static void drop_unusable(benchmark *b, const gc_session *session)
{
    gc_drop_unusable(session, b->names, &b->name_count, &b->unusable);
    b->refused = b->unusable.count > 0;
    for (int i = 0; b->options->json && i < b->unusable.count; i++)
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
    gc_bench_open(&b->table, TIMED_SIDE);
    drop_unusable(b, session);
    gc_bench_heads(&b->table, TIMED_SIDE, b->names, b->name_count);
    gconv_status status = measure_everything(b, session, error);
    gc_bench_close(&b->table);
    return status;
}

static int finished_code(const benchmark *b)
{
    if (b->wrong)
        return GC_EXIT_MISMATCH;
    return b->refused && gc_names_each(b->options->implementations) ? GC_EXIT_DEVICE : GC_EXIT_DONE;
}

int gc_run_bench(const gc_options *options)
{
    gconv_error error;
    gc_session session;
    const char *blamed;
    benchmark b = {.options = options, .table = {.options = options}};
    gconv_status status = gc_session_create(options, &session, &blamed, &error);
    if (status == GCONV_OK)
        status = gc_session_check_all(&session, &error);
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        status = run(&b, &session, &error);
        code = status == GCONV_OK ? finished_code(&b) : gc_exit_code(status);
    }
    if (status != GCONV_OK)
        gc_report(blamed, &error);
    free(b.names);
    gc_session_destroy(&session);
    return code;
}
