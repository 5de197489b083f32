/* gconv tune: searches the fastest configurations of the kernels that are compiled for one filter,
 * on one GPU. */
#include "base/clock.h"
#include "base/json.h"
#include "base/status.h"
#include "cli/options/table.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"
#include "gconv_lab.h"
#include "lab/bench/lists.h"
#include "lab/lab.h"
#include "lab/tiles.h"

#include <stdio.h>
#include <string.h>

/* The filters that are searched, in this order, each for both sample types and all forms. Sums of
 * two and three products are left out if they do not pay. Tiles are searched for float32 alone,
 * which they read; the other forms not for filters with more weights than direct takes. */
static const struct {
    int width, height;
} sizes[] = {{3, 3},   {5, 5},   {7, 7},   {9, 9},   {11, 11}, {13, 13}, {15, 15},
             {17, 17}, {19, 19}, {21, 21}, {3, 15},  {15, 3},  {5, 17},  {17, 5},
             {25, 25}, {31, 31}, {37, 37}, {43, 43}, {17, 43}, {43, 17}};
enum { SMALL_SIZES = 14 }; /* for all forms; the sizes after them are for tiles */
static const char tiles[] = "adaptive:unrolled";
static const struct {
    const char *implementation, *rank;
    int products;
} forms[] = {{"direct", "", 0},
             {"separable", "", 1},
             {"separable", ", rank 2", 2},
             {"separable", ", rank 3", 3},
             {tiles, "", 0}};
enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    FORMS = sizeof forms / sizeof forms[0],
    CASES_MAX = GCONV_TUNINGS_MAX
};
_Static_assert(2 * (int)SIZES * (int)FORMS <= (int)CASES_MAX, "all are listed");

typedef struct tune_case {
    gconv_tuning_case what;
    char filter[16], label[48];
} tune_case;

typedef struct tuning {
    const gc_options *options;
    gconv_device_info device;
    gconv_tuner *tuner;
    int side; /* of the planes that are timed */
    tune_case cases[CASES_MAX];
    int case_count, current; /* `current` is the case that is searched */
    int found, known;        /* results of this search, and of searches before */
    gc_tile_counts counts;   /* of all results of GC_FORM_TILES, found and known */
    double begin;
} tuning;

static const char *type_name(const tune_case *c)
{
    return c->what.bytes ? "8-bit" : "float32";
}

/* ---- What to do ------------------------------------------------------------------------------ */

/* Tiles are searched if they are named. */
static bool is_wanted(const gc_options *options, const char *implementation)
{
    const char *given = options->implementations;
    bool all = given == NULL || strcmp(given, "auto") == 0;
    return all ? implementation != tiles : strcmp(given, implementation) == 0;
}

static bool is_taken(const gconv_tuning_case *one, int size)
{
    if (one->implementation == tiles)
        return !one->bytes;
    return size < SMALL_SIZES && (one->products <= 1 || gconv_tuning_pays(one));
}

static void add_case(tuning *t, const gconv_tuning_case *one, const char *rank)
{
    tune_case *c = &t->cases[t->case_count++];
    c->what = *one;
    snprintf(c->filter, sizeof c->filter, "%dx%d", one->width, one->height);
    snprintf(c->label, sizeof c->label, "%s %dx%d %s%s", one->implementation, one->width,
             one->height, type_name(c), rank);
}

/* Lists the filters of --filters, for tiles. */
static gconv_status list_filters(tuning *t, gconv_error *error)
{
    gc_sweep_filters filters;
    if (!is_wanted(t->options, tiles))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--filters' is for --impl %s: the others take fixed sizes", tiles);
    if (gc_read_filters(t->options->measure.filters, &filters, error) != GCONV_OK)
        return gc_blame_option("filters", error);
    if (filters.count > CASES_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--filters': %d filters are more than the %d of a table",
                       filters.count, (int)CASES_MAX);
    for (int i = 0; i < filters.count; i++) {
        if (filters.at[i].separates)
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "option '--filters': the rank does not matter here; leave out 'rank1:'");
        add_case(t,
                 &(gconv_tuning_case){tiles, 0, filters.at[i].width, filters.at[i].height, false},
                 "");
    }
    return GCONV_OK;
}

static gconv_status list_cases(tuning *t, gconv_error *error)
{
    if (t->options->measure.filters != NULL)
        return list_filters(t, error);
    for (int s = 0; s < SIZES; s++)
        for (int bytes = 0; bytes < 2; bytes++)
            for (int f = 0; f < FORMS; f++) {
                const gconv_tuning_case one = {forms[f].implementation, forms[f].products,
                                               sizes[s].width, sizes[s].height, bytes != 0};
                if (is_wanted(t->options, one.implementation) && is_taken(&one, s))
                    add_case(t, &one, forms[f].rank);
            }
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
    GC_TRY(gconv_device_parse(t->options->job.device, &wanted, error));
    if (!wanted.any && wanted.kind == GCONV_DEVICE_CPU)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s: a CPU has no configurations", nothing);
    if (gconv_cuda_reason()[0] != '\0')
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s: %s", nothing, gconv_cuda_reason());
    t->device = gconv_device_info_default();
    gconv_status status = gconv_device_describe(1 + wanted.index, &t->device, error);
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
    return t->cases[0].what.implementation == tiles ? (int)sizeof tiles - 1
                                                    : (int)sizeof "separable" - 1;
}

static void print_head(const tuning *t)
{
    if (t->options->report.json) {
        gc_json_begin("tune");
        gc_json_string("device", t->device.name);
        gc_json_integer("width", t->side);
        gc_json_integer("height", t->side);
        gc_json_open("results", '[');
    } else {
        printf("%s, %dx%d, 1 channel\n\n%-*s %-7s %-8s %-6s %4s %5s %-8s %5s %10s %9s\n",
               t->device.name, t->side, t->side, name_width(t), "name", "filter", "type", "form",
               "rows", "warps", "schedule", "tiles", "us", "x untuned");
    }
    gc_flush_output();
}

static void json_result(const tune_case *c, const gconv_tuning_result *best)
{
    gc_json_open(NULL, '{');
    gc_json_string("implementation", c->what.implementation);
    gc_json_string("filter", c->filter);
    gc_json_string("type", type_name(c));
    gc_json_string("form", best->form);
    gc_json_integer("rows", best->rows);
    gc_json_integer("warps", best->warps);
    gc_json_string("schedule", best->schedule);
    gc_json_integer("tiles", best->tiles);
    gc_json_number("seconds", best->seconds);
    if (best->untuned_seconds > 0)
        gc_json_number("speed_up_over_untuned", best->untuned_seconds / best->seconds);
    gc_json_integer("tried", best->tried);
    gc_json_integer("left_out", best->left_out);
    gc_json_close('}');
}

static void print_result(const tuning *t, const tune_case *c, const gconv_tuning_result *best)
{
    char ratio[32] = "-";
    if (best->untuned_seconds > 0)
        snprintf(ratio, sizeof ratio, "%.3f", best->untuned_seconds / best->seconds);
    printf("%-*s %-7s %-8s %-6s %4d %5d %-8s %5d %10.2f %9s\n", name_width(t),
           c->what.implementation, c->filter, type_name(c), best->form, best->rows, best->warps,
           best->schedule, best->tiles, 1e6 * best->seconds, ratio);
}

static void show_result(const tuning *t, const tune_case *c, const gconv_tuning_result *result)
{
    gc_progress_clear();
    if (result->left_out > 0)
        gc_say("%s: %d of %d configurations failed or were wrong, and were left out", c->label,
               result->left_out, result->tried);
    if (t->options->report.json)
        json_result(c, result);
    else
        print_result(t, c, result);
    gc_flush_output();
}

static void print_end(const tuning *t)
{
    int left = t->case_count - t->found - t->known;
    if (t->options->report.json) {
        gc_json_close(']');
        gc_json_integer("known", t->known);
        gc_json_integer("left", left);
        gc_json_end();
    }
    if (!t->options->report.json && t->counts.sizes > 0)
        gc_tiles_print(&t->counts);
    gc_say("%d of %d searched, %d known before, %d left%s", t->found, t->case_count, t->known, left,
           left > 0 ? ": run it again to go on" : "");
}

/* ---- The search ------------------------------------------------------------------------------ */

/* A gconv_tuning_goes_on. Shows which part of all cases is done, or which part of --time is spent
 * if that is more. */
static bool goes_on(void *user, int tried, int count)
{
    const tuning *t = user;
    double limit = t->options->measure.time, spent = gc_seconds() - t->begin;
    double done = (t->current + (double)tried / count) / t->case_count;
    if (limit > 0 && spent > limit * done)
        done = spent / limit;
    if (done < 1)
        gc_progress_show(t->cases[t->current].label, done, (size_t)(t->found + t->known),
                         (size_t)t->case_count);
    return limit <= 0 || spent < limit;
}

static gconv_status search_case(tuning *t, bool *finished, gconv_error *error)
{
    const tune_case *c = &t->cases[t->current];
    gconv_tuning_result result;
    gconv_status status = gconv_tuner_search(t->tuner, &c->what, goes_on, t, &result, error);
    *finished = status == GCONV_OK && result.finished;
    if (!*finished)
        return status;
    t->found++;
    gc_tiles_count(&t->counts, &c->what, &result);
    gc_counts_add(false, false);
    show_result(t, c, &result);
    return gconv_tuner_keep(t->tuner, error);
}

static gconv_status search_all(tuning *t, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    bool finished = true;
    gc_counts_begin("searched or known before", false, (size_t)t->case_count);
    for (t->current = 0; status == GCONV_OK && t->current < t->case_count; t->current++) {
        gconv_tuning_result known;
        if (gconv_tuner_knows(t->tuner, &t->cases[t->current].what, &known)) {
            t->known++;
            gc_tiles_count(&t->counts, &t->cases[t->current].what, &known);
            gc_counts_add(false, false);
            show_result(t, &t->cases[t->current], &known);
        } else if (finished)
            status = search_case(t, &finished, error);
    }
    return status;
}

/* Checks everything that could make the search useless before it begins. */
static gconv_status run(tuning *t, gconv_error *error)
{
    GC_TRY(list_cases(t, error));
    GC_TRY(find_device(t, error));
    GC_TRY(gconv_tuner_create(&t->device, &t->tuner, error));
    GC_TRY(gconv_tuner_keep(t->tuner, error));
    t->begin = gc_seconds();
    GC_TRY(gconv_tuner_begin(t->tuner, &t->side, error));
    print_head(t);
    gconv_status status = search_all(t, error);
    gc_progress_clear();
    print_end(t);
    return status;
}

int gc_run_tune(const gc_options *options)
{
    tuning t = {.options = options};
    gconv_error error;
    gconv_status status = run(&t, &error);
    if (status != GCONV_OK)
        gc_report(NULL, &error);
    gconv_tuner_free(t.tuner);
    return status == GCONV_ERROR_ARGUMENT ? gc_start_code(status) : gc_exit_code(status);
}
