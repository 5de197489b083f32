/* gconv tune: searches the fastest configurations of the kernels that are compiled for one filter,
 * on one GPU. */
#include "gpu/tune/tune.h"
#include "base/clock.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/options/options.h"
#include "cli/options/sweep.h"
#include "cli/report/exit.h"
#include "cli/report/json.h"
#include "cli/report/messages.h"
#include "cli/report/output.h"
#include "cli/report/progress.h"
#include "cli/report/tally.h"
#include "gconv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The filters that are searched, in this order, each for both sample types and all forms. Forms of
 * rank 2 and 3 are left out where they do not pay. Tiles are searched for float32 alone, which they
 * read; the other forms not for filters with more weights than direct takes. */
static const struct {
    int width, height;
} sizes[] = {{3, 3},   {5, 5},   {7, 7},   {9, 9},   {11, 11}, {13, 13}, {15, 15},
             {17, 17}, {19, 19}, {21, 21}, {3, 15},  {15, 3},  {5, 17},  {17, 5},
             {25, 25}, {31, 31}, {37, 37}, {43, 43}, {17, 43}, {43, 17}};
enum { SMALL_SIZES = 14 }; /* for all forms; the sizes after them are for tiles */
static const gc_sample_type types[] = {GC_FLOAT, GC_BYTE};
static const struct {
    const char *implementation, *rank;
    gc_form form;
} forms[] = {{"direct", "", GC_FORM_BLOCK},
             {"separable", "", GC_FORM_RANK1},
             {"separable", ", rank 2", GC_FORM_RANK2},
             {"separable", ", rank 3", GC_FORM_RANK3},
             {"adaptive:unrolled", "", GC_FORM_TILES}};
enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    TYPES = sizeof types / sizeof types[0],
    FORMS = sizeof forms / sizeof forms[0],
    CASES_MAX = GC_TUNED_MAX /* that the file of results holds */
};
_Static_assert((int)SIZES *(int)TYPES *(int)FORMS <= (int)CASES_MAX, "all are listed");

typedef struct tune_case {
    const char *implementation;
    gc_layout layout;
    char label[48];
} tune_case;

/* In seconds. Writing a result takes milliseconds: a process that holds the lock for longer was
 * stopped. */
enum { LOCK_PATIENCE = 5 };

typedef struct tuning {
    const gc_options *options;
    gconv_device_info device;
    char *path; /* of the file that keeps the results */
    gc_tuner *tuner;
    tune_case cases[CASES_MAX];
    int case_count, current; /* `current` is the case that is searched */
    int found, known;        /* results of this search, and of searches before */
    double patience; /* seconds that are left to wait for another process that writes results */
    double begin;
} tuning;

/* ---- What to do ------------------------------------------------------------------------------ */

/* Tiles are searched where they are named. */
static bool is_wanted(const gc_options *options, int form)
{
    const char *given = options->implementations;
    bool all = given == NULL || strcmp(given, "auto") == 0;
    return all ? forms[form].form != GC_FORM_TILES : strcmp(given, forms[form].implementation) == 0;
}

static bool is_taken(gc_form form, int size, gc_sample_type type)
{
    if (form == GC_FORM_TILES)
        return type == GC_FLOAT;
    return size < SMALL_SIZES && (gc_form_products(form) <= 1 ||
                                  gc_form_pays(form, sizes[size].width, sizes[size].height));
}

static void add_case(tuning *t, int width, int height, int type, int form)
{
    tune_case *c = &t->cases[t->case_count++];
    c->implementation = forms[form].implementation;
    c->layout = gc_candidate_layout(forms[form].form, width, height, types[type]);
    snprintf(c->label, sizeof c->label, "%s %dx%d %s%s", c->implementation, width, height,
             gc_sample_type_name(types[type]), forms[form].rank);
}

/* Lists the filters of --filters, for tiles. */
static gconv_status list_filters(tuning *t, gconv_error *error)
{
    gc_sweep_filters filters;
    int form = FORMS - 1, type = 0;
    if (!is_wanted(t->options, form))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--filters' is for --impl %s: the others take fixed sizes",
                       forms[form].implementation);
    gconv_status status = gc_read_filters(t->options->filters, &filters, error);
    if (status == GCONV_OK && filters.count > CASES_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--filters': %d filters are more than the %d of a table",
                       filters.count, (int)CASES_MAX);
    for (int i = 0; status == GCONV_OK && i < filters.count; i++) {
        if (filters.at[i].separates)
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "option '--filters': the rank does not matter here; leave out 'rank1:'");
        add_case(t, filters.at[i].width, filters.at[i].height, type, form);
    }
    return status;
}

static gconv_status list_cases(tuning *t, gconv_error *error)
{
    if (t->options->filters != NULL)
        return list_filters(t, error);
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < TYPES; k++)
            for (int f = 0; f < FORMS; f++)
                if (is_wanted(t->options, f) && is_taken(forms[f].form, s, types[k]))
                    add_case(t, sizes[s].width, sizes[s].height, k, f);
    if (t->case_count == 0)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "there is nothing to tune: '%s' has no configurations; direct, separable "
                       "and adaptive:unrolled have",
                       t->options->implementations);
    return GCONV_OK;
}

static gconv_status find_device(tuning *t, gconv_error *error)
{
    static const char nothing[] = "there is nothing to tune";
    gconv_device_choice wanted = gconv_device_choice_default();
    gconv_status status = gconv_device_parse(t->options->job.device, &wanted, error);
    if (status != GCONV_OK)
        return status;
    if (!wanted.any && wanted.kind == GCONV_DEVICE_CPU)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s: a CPU has no configurations", nothing);
    if (gconv_cuda_reason()[0] != '\0')
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s: %s", nothing, gconv_cuda_reason());
    t->device = gconv_device_info_default();
    status = gconv_device_describe(1 + wanted.index, &t->device, error);
    if (status == GCONV_OK && !t->device.usable)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s: %s is not usable: %s", nothing,
                       t->device.name, t->device.reason);
    if (status == GCONV_OK && gconv_nvrtc_version() == 0)
        return gc_fail(error, GCONV_ERROR_DEVICE,
                       "%s: kernels are compiled for the search, and there is no NVRTC here "
                       "(libnvrtc of the CUDA toolkit)",
                       nothing);
    return status;
}

/* ---- What is printed ------------------------------------------------------------------------- */

/* Columns of the longest name that is searched. */
static int name_width(const tuning *t)
{
    size_t width = sizeof "separable" - 1;
    for (int i = 0; i < t->case_count; i++)
        if (strlen(t->cases[i].implementation) > width)
            width = strlen(t->cases[i].implementation);
    return (int)width;
}

static void print_head(const tuning *t)
{
    int side = gc_tuner_side(t->tuner);
    if (t->options->json) {
        gc_json_open(NULL, '{');
        gc_json_integer("schema", GC_JSON_SCHEMA);
        gc_json_string("command", "tune");
        gc_json_string("device", t->device.name);
        gc_json_string("file", t->path);
        gc_json_integer("width", side);
        gc_json_integer("height", side);
        gc_json_open("results", '[');
    } else {
        printf("%s, %dx%d, 1 channel\n\n%-*s %-7s %-8s %-6s %4s %5s %-8s %5s %10s %9s\n",
               t->device.name, side, side, name_width(t), "name", "filter", "type", "form", "rows",
               "warps", "schedule", "tiles", "us", "x untuned");
    }
    gc_flush_output();
}

/* Over the configuration that is taken without tuning. */
static double speed_up(const gc_tune_result *result)
{
    return result->untuned_microseconds / result->best.microseconds;
}

static void json_result(const tune_case *c, const gc_tune_result *result)
{
    const gc_tuning *best = &result->best.tuning;
    char filter[32];
    snprintf(filter, sizeof filter, "%dx%d", c->layout.width, c->layout.height);
    gc_json_open(NULL, '{');
    gc_json_string("implementation", c->implementation);
    gc_json_string("filter", filter);
    gc_json_string("type", gc_sample_type_name(c->layout.input));
    gc_json_string("form", gc_form_name(best->form));
    gc_json_integer("rows", best->rows);
    gc_json_integer("warps", best->warps);
    gc_json_string("schedule", gc_schedule_name(best->schedule));
    gc_json_integer("tiles", best->tiles);
    gc_json_number("seconds", 1e-6 * result->best.microseconds);
    if (result->untuned_microseconds > 0)
        gc_json_number("speed_up_over_untuned", speed_up(result));
    gc_json_integer("tried", result->tried);
    gc_json_integer("left_out", result->left_out);
    gc_json_close('}');
}

static void print_result(const tuning *t, const tune_case *c, const gc_tune_result *result)
{
    const gc_tuning *best = &result->best.tuning;
    char filter[32], ratio[32] = "-";
    snprintf(filter, sizeof filter, "%dx%d", c->layout.width, c->layout.height);
    if (result->untuned_microseconds > 0)
        snprintf(ratio, sizeof ratio, "%.3f", speed_up(result));
    printf("%-*s %-7s %-8s %-6s %4d %5d %-8s %5d %10.2f %9s\n", name_width(t), c->implementation,
           filter, gc_sample_type_name(c->layout.input), gc_form_name(best->form), best->rows,
           best->warps, gc_schedule_name(best->schedule), best->tiles, result->best.microseconds,
           ratio);
}

static void show_result(const tuning *t, const tune_case *c, const gc_tune_result *result)
{
    gc_progress_clear();
    if (result->left_out > 0)
        gc_say("%s: %d of %d configurations failed or were wrong, and were left out", c->label,
               result->left_out, result->tried);
    if (t->options->json)
        json_result(c, result);
    else
        print_result(t, c, result);
    gc_flush_output();
}

static void print_end(const tuning *t)
{
    int left = t->case_count - t->found - t->known;
    if (t->options->json) {
        gc_json_close(']');
        gc_json_integer("known", t->known);
        gc_json_integer("left", left);
        gc_json_close('}');
        gc_json_end();
    }
    gc_say("%d of %d searched, %d known before, %d left%s", t->found, t->case_count, t->known, left,
           left > 0 ? ": run it again to go on" : "");
}

/* ---- The search ------------------------------------------------------------------------------ */

/* A gc_tune_goes_on. Shows which part of all cases is done, or which part of --time is spent where
 * that is more. */
static bool goes_on(void *user, const gc_tune_progress *progress)
{
    const tuning *t = user;
    double limit = t->options->time, spent = gc_seconds() - t->begin;
    double done = (t->current + (double)progress->done / progress->count) / t->case_count;
    if (limit > 0 && spent > limit * done)
        done = spent / limit;
    if (done < 1)
        gc_progress_show(t->cases[t->current].label, done, (size_t)(t->found + t->known),
                         (size_t)t->case_count);
    return limit <= 0 || spent < limit;
}

/* Keeps a result. Where another process holds the lock for LOCK_PATIENCE seconds, the result is
 * written without the lock. */
static gconv_status keep(tuning *t, const gc_tuned *found, gconv_error *error)
{
    bool waited = t->patience > 0;
    gconv_status status = gc_tuning_keep(&t->device, found, &t->patience, error);
    if (waited && !(t->patience > 0))
        gc_say("another process has kept %s locked for %d seconds: going on without the lock",
               t->path, LOCK_PATIENCE);
    return status;
}

static gconv_status search_case(tuning *t, bool *finished, gconv_error *error)
{
    const tune_case *c = &t->cases[t->current];
    gc_tune_result result;
    gconv_status status = gc_tuner_search(t->tuner, &c->layout, goes_on, t, &result, error);
    *finished = status == GCONV_OK && result.finished;
    if (!*finished)
        return status;
    t->found++;
    gc_tally_add(false, false);
    show_result(t, c, &result);
    return keep(t, &result.best, error);
}

static gconv_status search_all(tuning *t, gconv_error *error)
{
    gc_tuned_list *before = malloc(sizeof *before);
    if (before == NULL)
        return gc_fail_memory(error, sizeof *before);
    gc_tuning_read(&t->device, before);
    gconv_status status = GCONV_OK;
    bool finished = true;
    gc_tally_begin("searched or known before", false, (size_t)t->case_count);
    for (t->current = 0; status == GCONV_OK && t->current < t->case_count; t->current++) {
        if (gc_tuned_find(before, &t->cases[t->current].layout) != NULL) {
            t->known++;
            gc_tally_add(false, false);
        } else if (finished)
            status = search_case(t, &finished, error);
    }
    free(before);
    return status;
}

/* Checks everything that could make the search useless before it begins. */
static gconv_status run(tuning *t, gconv_error *error)
{
    gconv_status status = list_cases(t, error);
    if (status == GCONV_OK)
        status = find_device(t, error);
    if (status == GCONV_OK)
        status = gc_tuning_path(&t->device, &t->path, error);
    if (status == GCONV_OK)
        status = keep(t, NULL, error);
    if (status != GCONV_OK)
        return status;
    gc_note(NULL, "what is found is kept in %s", t->path);
    t->begin = gc_seconds();
    status = gc_tuner_create(&t->device, &t->tuner, error);
    if (status != GCONV_OK)
        return status;
    print_head(t);
    status = search_all(t, error);
    gc_progress_clear();
    print_end(t);
    return status;
}

int gc_run_tune(const gc_options *options)
{
    tuning t = {.options = options, .patience = LOCK_PATIENCE};
    gconv_error error;
    gconv_status status = run(&t, &error);
    if (status != GCONV_OK)
        gc_report(NULL, &error);
    gc_tuner_destroy(t.tuner);
    free(t.path);
    return status == GCONV_ERROR_ARGUMENT ? gc_start_code(status) : gc_exit_code(status);
}
