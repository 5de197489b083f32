/* gconv bench: implementations over filter sizes on a synthetic image, no file I/O in the timing.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/effects.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/messages.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The image that is timed, and one with odd sides on which every result is checked first. */
enum { TIMED_SIDE = 4096, CHECKED_WIDTH = 257, CHECKED_HEIGHT = 131 };

/* Filters that are timed: of full rank, and of rank 1 for what takes filters apart. */
typedef struct timed_filter {
    int side;
    bool separates;
} timed_filter;

static const timed_filter timed_filters[] = {
    {3, false},  {5, false},  {7, false},  {9, false},  {11, false}, {13, false},
    {15, false}, {17, false}, {21, false}, {25, false}, {31, false}, {43, false},
    {3, true},   {5, true},   {9, true},   {17, true},  {31, true},  {43, true},
};
enum { FILTER_COUNT = sizeof timed_filters / sizeof timed_filters[0] };

/* Never zeros: a linear congruential generator (Knuth, The Art of Computer Programming, volume 2,
 * section 3.3.4), its high bits. */
static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static gconv_status make_picture(uint32_t width, uint32_t height, gc_picture *picture,
                                 gconv_error *error)
{
    picture->shape = (gconv_shape){.width = width, .height = height, .channels = 1, .depth = 8};
    picture->stride = width;
    picture->samples = gc_allocate_array(height, width);
    if (picture->samples == NULL)
        return gc_fail_memory(error, (size_t)height * width);
    uint64_t state = 1;
    for (size_t i = 0; i < (size_t)width * height; i++)
        picture->samples[i] = (unsigned char)(next_random(&state) >> 7);
    return GCONV_OK;
}

/* Random weights from 0 to 1, every one of its own (full rank, so that nothing is gained by taking
 * the filter apart), or whole ones up to 7 that are a column times a row. */
static gconv_status make_filter(timed_filter wanted, gconv_filter **filter, gconv_error *error)
{
    int side = wanted.side;
    gconv_status status = gconv_filter_create(side, side, filter, error);
    if (status != GCONV_OK)
        return status;
    uint64_t state = (uint64_t)side;
    float whole[GCONV_FILTER_SIDE_MAX];
    for (int i = 0; i < side; i++)
        whole[i] = (float)(1 + next_random(&state) % 7);
    for (int i = 0; i < side * side; i++)
        (*filter)->weights[i] = wanted.separates ? whole[i / side] * whole[i % side]
                                                 : (float)next_random(&state) / (float)(1u << 31);
    (*filter)->divisor = side * side;
    return GCONV_OK;
}

enum column {
    COLUMN_FILTER,
    COLUMN_NAME,
    COLUMN_RUNS,
    COLUMN_KERNEL,
    COLUMN_TOTAL,
    COLUMN_BEST,
    COLUMN_PIXELS,
    COLUMN_FLOPS,
    COLUMN_COUNT
};

static const gc_column all_columns[COLUMN_COUNT] = {
    [COLUMN_FILTER] = {.head = "filter", .width = 12, .left = true},
    [COLUMN_NAME] = {.head = "name", .left = true},
    [COLUMN_RUNS] = {.head = "runs", .width = 4, .rank = 2},
    [COLUMN_KERNEL] = {.head = "kernel ms", .width = 9},
    [COLUMN_TOTAL] = {.head = "total ms", .width = 9},
    [COLUMN_BEST] = {.head = "best ms", .width = 9, .rank = 3},
    [COLUMN_PIXELS] = {.head = "Mpixel/s", .width = 9},
    [COLUMN_FLOPS] = {.head = "GFLOP/s", .width = 8, .rank = 1},
};
enum { VERDICT_WIDTH = sizeof "within bound" - 1 };

typedef struct benchmark {
    const gc_options *options;
    gc_column columns[COLUMN_COUNT];
    gc_unusable unusable;
    unsigned met; /* as gc_note_effects takes it */
    gc_picture timed, checked;
    const char **names;
    int name_count;
    double seconds; /* all entries together may take */
    double begin;   /* when the first of them began */
    size_t entry, entry_count;
    bool wrong;   /* some result was */
    bool refused; /* an implementation asked for by name could not be used */
} benchmark;

static const char too_long[] = "one run takes longer than --time";

static void json_row(const char *filter, const gc_measurement *row)
{
    gc_json_open(NULL, '{');
    gc_json_string("filter", filter);
    gc_json_string("name", row->name);
    gc_json_string("implementation", row->implementation);
    gc_json_string("verdict", gc_verdict_name(row->verdict));
    if (row->verdict == GC_VERDICT_UNUSABLE)
        gc_json_string("reason", row->reason.message);
    if (row->too_long)
        gc_json_string("reason", too_long);
    if (row->runs > 0) {
        gc_json_integer("runs", row->runs);
        gc_json_number("seconds", row->seconds);
        gc_json_number("shortest_seconds", row->shortest);
        if (row->kernel_seconds > 0)
            gc_json_number("kernel_seconds", row->kernel_seconds);
        if (row->compile_seconds > 0)
            gc_json_number("compile_seconds", row->compile_seconds);
        gc_json_number("pixels_per_second", row->values_a_second);
        gc_json_number("flops", row->flops);
    }
    gc_json_close('}');
}

static void print_unmeasured(const benchmark *b, const char *filter, const gc_measurement *row)
{
    char label[GC_CELL_BYTES];
    printf("%-*s %-*s  %s", b->columns[COLUMN_FILTER].width, filter, b->columns[COLUMN_NAME].width,
           gc_measurement_label(row, label, sizeof label), gc_verdict_name(row->verdict));
    if (row->too_long)
        printf(", not measured: %s", too_long);
    if (row->verdict == GC_VERDICT_UNUSABLE)
        printf(": %s", row->reason.message);
    putchar('\n');
}

static void print_measured(gc_column *columns, const char *filter, const gc_measurement *row)
{
    snprintf(columns[COLUMN_FILTER].cell, GC_CELL_BYTES, "%s", filter);
    gc_measurement_label(row, columns[COLUMN_NAME].cell, GC_CELL_BYTES);
    snprintf(columns[COLUMN_RUNS].cell, GC_CELL_BYTES, "%d", row->runs);
    gc_figure(1e3 * row->kernel_seconds, "", 4, columns[COLUMN_KERNEL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->seconds, "", 3, columns[COLUMN_TOTAL].cell, GC_CELL_BYTES);
    gc_figure(1e3 * row->shortest, "", 3, columns[COLUMN_BEST].cell, GC_CELL_BYTES);
    gc_figure(row->values_a_second / 1e6, "", 1, columns[COLUMN_PIXELS].cell, GC_CELL_BYTES);
    gc_figure(row->flops / 1e9, "", 1, columns[COLUMN_FLOPS].cell, GC_CELL_BYTES);
    gc_table_print_row(columns, COLUMN_COUNT, gc_verdict_name(row->verdict));
}

static void show_row(benchmark *b, const char *filter, const gc_measurement *row)
{
    gc_progress_clear();
    gc_note_compilation(row);
    if (b->options->json)
        json_row(filter, row);
    else if (row->runs > 0)
        print_measured(b->columns, filter, row);
    else
        print_unmeasured(b, filter, row);
    gc_flush_output();
}

/* What is left of the time, shared by the entries that are left. */
static gc_budget next_budget(const benchmark *b)
{
    double left = b->seconds - (gc_seconds() - b->begin);
    return (gc_budget){
        .seconds = left / (double)(b->entry_count - b->entry), .limit = b->seconds, .runs_min = 1};
}

/* Whether it is known beforehand that one run takes too long: the reference, which gives no row
 * before all are done, takes a time in proportion to the pixels. */
static bool is_hopeless(const benchmark *b, const gc_expectation *expectation, const char *name)
{
    double ratio = (double)TIMED_SIDE * TIMED_SIDE / (CHECKED_WIDTH * CHECKED_HEIGHT);
    return strcmp(name, "reference") == 0 && expectation->seconds * ratio > b->seconds;
}

/* Checks one implementation on the session's chain and times it. */
static gconv_status measure_entry(benchmark *b, gc_session *session, const char *name,
                                  const gc_expectation *expectation, gc_measurement *row,
                                  gconv_error *error)
{
    session->image = b->entry;
    gconv_status status =
        gc_check(session, name, &b->checked, &b->timed, GCONV_ALPHA_KEEP, expectation, row, error);
    row->too_long = is_hopeless(b, expectation, name);
    bool right = row->verdict == GC_VERDICT_EXACT || row->verdict == GC_VERDICT_WITHIN;
    if (status == GCONV_OK && right && !row->too_long)
        status = gc_time(session, &b->timed, GCONV_ALPHA_KEEP, next_budget(b), row, error);
    b->begin += row->compile_seconds; /* not counted */
    b->wrong = b->wrong || row->verdict == GC_VERDICT_WRONG;
    b->refused = b->refused || row->verdict == GC_VERDICT_UNUSABLE;
    b->met |= gc_met_implementation(row->implementation);
    b->entry++;
    gc_tally_add(false, false);
    return status;
}

/* Checks and times every implementation on the session's chain. */
static gconv_status measure_chain(benchmark *b, gc_session *session, const char *label,
                                  gconv_error *error)
{
    gc_expectation expectation;
    session->image = b->entry;
    session->image_count = b->entry_count;
    gconv_status status = gc_expect(session, &b->checked, GCONV_ALPHA_KEEP, &expectation, error);
    for (int i = 0; status == GCONV_OK && i < b->name_count; i++) {
        gc_measurement row;
        status = measure_entry(b, session, b->names[i], &expectation, &row, error);
        if (status == GCONV_OK)
            show_row(b, label, &row);
    }
    gc_expectation_destroy(&expectation);
    return status;
}

/* One filter: `base`, whose chain is replaced by it. */
static gconv_status measure_filter(benchmark *b, const gc_session *base, timed_filter wanted,
                                   gconv_error *error)
{
    gconv_filter *filter;
    gconv_status status = make_filter(wanted, &filter, error);
    if (status != GCONV_OK)
        return status;
    gc_session session = *base;
    session.filters = &filter;
    session.filter_count = 1;
    session.job.filters = (const gconv_filter *const *)session.filters;
    session.job.filter_count = 1;
    session.job.output = GCONV_OUTPUT_SAMPLES;
    char label[32];
    snprintf(label, sizeof label, "%dx%d%s", wanted.side, wanted.side,
             wanted.separates ? " rank 1" : "");
    status = measure_chain(b, &session, label, error);
    gconv_filter_free(filter);
    return status;
}

/* Implementations that cannot run here get one object or line, not one a filter. */
static void drop_unusable(benchmark *b, const gc_session *session)
{
    gc_drop_unusable(session, b->names, &b->name_count, &b->unusable);
    b->refused = b->unusable.count > 0;
    for (int i = 0; b->options->json && i < b->unusable.count; i++)
        json_row("all", &(gc_measurement){.name = b->unusable.names[i],
                                          .implementation = b->unusable.names[i],
                                          .verdict = GC_VERDICT_UNUSABLE,
                                          .reason = b->unusable.reasons[i]});
}

static gconv_status measure_everything(benchmark *b, gc_session *session, gconv_error *error)
{
    bool given = b->options->kernel_count > 0;
    b->entry_count = (size_t)b->name_count * (given ? 1 : FILTER_COUNT + 1);
    gc_tally_begin("measured", false, b->entry_count);
    b->seconds = b->options->time > 0 ? b->options->time : 20;
    b->begin = gc_seconds();
    gconv_status status = measure_chain(b, session, given ? "kernel" : "edges", error);
    for (int i = 0; status == GCONV_OK && !given && i < FILTER_COUNT; i++)
        status = measure_filter(b, session, timed_filters[i], error);
    if (!b->options->json)
        gc_print_unusable(&b->unusable);
    if (b->options->verbose && b->entry > 0)
        gc_note_effects(b->options, b->met);
    return status;
}

static void print_head(benchmark *b)
{
    if (b->options->json) {
        gc_json_open(NULL, '{');
        gc_json_integer("schema", GC_JSON_SCHEMA);
        gc_json_string("command", "bench");
        gc_json_integer("width", TIMED_SIDE);
        gc_json_integer("height", TIMED_SIDE);
        gc_json_open("results", '[');
    } else {
        printf("%dx%d, 1 channel of 8 bits, from memory to memory; border %s\n\n", TIMED_SIDE,
               TIMED_SIDE, gconv_border_name(b->options->border));
        memcpy(b->columns, all_columns, sizeof all_columns);
        b->columns[COLUMN_NAME].width = gc_label_width(b->names, b->name_count);
        b->columns[COLUMN_KERNEL].hidden = !gc_may_use_device(b->names, b->name_count);
        gc_table_fit(b->columns, COLUMN_COUNT, VERDICT_WIDTH);
        gc_table_print_heads(b->columns, COLUMN_COUNT, "verdict");
    }
}

static gconv_status run(benchmark *b, gc_session *session, gconv_error *error)
{
    b->names = gc_implementation_list(b->options, "auto", &b->name_count);
    if (b->names == NULL)
        return gc_fail_memory(error, sizeof *b->names);
    gconv_status status = make_picture(TIMED_SIDE, TIMED_SIDE, &b->timed, error);
    if (status == GCONV_OK)
        status = make_picture(CHECKED_WIDTH, CHECKED_HEIGHT, &b->checked, error);
    if (status != GCONV_OK)
        return status;
    if (b->options->json)
        print_head(b);
    drop_unusable(b, session);
    if (!b->options->json)
        print_head(b);
    status = measure_everything(b, session, error);
    if (b->options->json) {
        gc_json_close(']');
        gc_json_close('}');
        gc_json_end();
    }
    return status;
}

static int finished_code(const benchmark *b)
{
    if (b->wrong)
        return GC_EXIT_MISMATCH;
    return b->refused && gc_is_named_list(b->options) ? GC_EXIT_DEVICE : GC_EXIT_DONE;
}

int gc_run_bench(const gc_options *options)
{
    gconv_error error;
    gc_session session;
    benchmark b = {.options = options};
    gconv_status status = gc_session_create(options, &session, &error);
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        status = run(&b, &session, &error);
        code = status == GCONV_OK ? finished_code(&b) : gc_exit_code(status);
    }
    if (status != GCONV_OK)
        gc_report(session.blamed, &error);
    free(b.names);
    gc_picture_destroy(&b.timed);
    gc_picture_destroy(&b.checked);
    gc_session_destroy(&session);
    return code;
}
