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
    gc_unusable unusable;
    unsigned met; /* as gc_note_effects takes it */
    bool wrong;   /* some implementation's result was */
    bool refused; /* an implementation could not be used */
} comparison;

static gconv_status measure_one(comparison *c, const char *name, gc_measurement *row,
                                gconv_error *error)
{
    double seconds = c->options->time > 0 ? c->options->time : 1;
    gconv_status status =
        gc_check_and_time(&c->subject, name, &c->picture, &c->expectation, seconds, row, error);
    c->subject.entry++;
    gc_tally_add(false, false);
    c->wrong = c->wrong || row->verdict == GC_VERDICT_WRONG;
    c->refused = c->refused || row->verdict == GC_VERDICT_UNUSABLE;
    c->met |= gc_met_implementation(row->implementation);
    if (strcmp(row->name, "reference") == 0 && row->runs > 0)
        c->table.reference_seconds = row->seconds;
    if (strcmp(row->name, "naive") == 0)
        c->table.naive_seconds = row->kernel_seconds;
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
        gc_progress_clear();
        gc_note_compilation(&row);
        gc_compare_row(&c->table, &row);
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
    if (!c->options->json) /* with --json each has an object of its own */
        gc_drop_unusable(&c->session, c->names, &c->name_count, &c->unusable);
    c->refused = c->unusable.count > 0;
    return GCONV_OK;
}

static void note_effects(const comparison *c)
{
    bool filters = c->options->kernel_count > 0;
    unsigned met = c->met | (filters ? 0 : GC_MET_EDGES);
    met |= filters && c->picture.shape.channels % 2 == 0 ? GC_MET_ALPHA : 0;
    if (c->options->verbose && c->subject.entry > 0)
        gc_note_effects(c->options, met);
}

static gconv_status compare(comparison *c, gconv_error *error)
{
    gconv_status status = read_input(c, error);
    if (status == GCONV_OK)
        status = list_names(c, error);
    if (status != GCONV_OK)
        return status;
    c->subject = (gc_subject){
        .session = &c->session, .alpha = choose_alpha(c), .entry_count = (size_t)c->name_count};
    gc_tally_begin("measured", false, c->subject.entry_count);
    status = gc_expect(&c->subject, &c->picture, &c->expectation, error);
    if (status != GCONV_OK)
        return status;
    c->table = (gc_compare_table){.session = &c->session,
                                  .picture = &c->picture,
                                  .reference_seconds = c->expectation.seconds};
    gc_progress_clear();
    gc_compare_head(&c->table, c->names, c->name_count, &c->warnings);
    status = measure_all(c, error);
    gc_print_unusable(&c->unusable);
    note_effects(c);
    gc_compare_end(&c->table);
    return status;
}

static int finished_code(const comparison *c)
{
    if (c->wrong)
        return GC_EXIT_MISMATCH;
    return c->refused && gc_names_each(c->options->implementations) ? GC_EXIT_DEVICE : GC_EXIT_DONE;
}

int gc_run_compare(const gc_options *options)
{
    gconv_error error;
    comparison c = {.options = options};
    const char *path = options->operands[0], *blamed = NULL;
    gconv_status status = gc_check_input(path, &error);
    if (status == GCONV_OK)
        status = gc_session_create(options, &c.session, &blamed, &error);
    if (status == GCONV_OK)
        status = gc_session_check_all(&c.session, &error);
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        blamed = gc_input_name(path);
        status = compare(&c, &error);
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
