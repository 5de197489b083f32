/* Convolution on the CPU: a pipeline over bands of rows. One task reads a band, one computes it,
 * one writes it; tasks of a band wait only for what they need, so that decoding, computing on all
 * threads and encoding overlap, and no thread waits at a barrier for one that the system has put
 * aside. Input rows live in a ring, so that memory grows with the image's width and the filters'
 * heights and not with its height; only a border that wraps needs the whole image, and an alpha
 * channel that is kept is held for all rows (core/stream.c). Between images in memory there is neither
 * reading nor writing, and bands are computed in place. */
#include "core/implementation.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "cpu/strip.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Values in a band: enough that a task outweighs its scheduling, few enough to stay in cache. */
enum { BAND_VALUES = 1 << 18, BAND_ROWS_MIN = 16, BAND_ROWS_MAX = 1024 };

/* Rows of a band at least, in rows that the chain reaches. */
enum { BAND_REACHES = 4 };

/* Bands between reading and writing, beside those that the threads work on. */
enum { BANDS_AHEAD = 4 };

/* Multiply-adds that a thread must have for its start to pay (some 50 us). */
static const double work_per_thread = 1e6;

typedef struct cpu_state {
    const gc_problem *problem;
    int threads;
    gc_passes passes;
    gc_strip *strips; /* one a thread */
    int64_t band_rows;
    int64_t band_count; /* of the image */
    int64_t ring_bands; /* held at once */
    int64_t neighbours; /* bands above and below that a band's rows come from */
} cpu_state;

/* The buffers of one run, and its first error. */
typedef struct cpu_run {
    const cpu_state *state;
    gc_stream *stream;
    char *input;       /* ring_bands bands of samples; NULL where the image lies in memory */
    char *output;      /* ring_bands bands of output; NULL where they go to memory */
    char *slots;       /* a byte a band of the ring: what tasks name as their dependences */
    atomic_int status; /* the first failure sets it, and then `error`, to be read after the tasks */
    gconv_error error;
} cpu_run;

static gconv_status supports(const gc_problem *problem, const gconv_device_info *device,
                             gconv_error *error)
{
    (void)problem;
    (void)device;
    (void)error;
    return GCONV_OK;
}

static int choose_threads(const gc_problem *problem)
{
    int threads = problem->job.threads > 0 ? problem->job.threads : omp_get_max_threads();
    double work = (double)problem->width * problem->height * problem->channels *
                  (8 + gc_problem_taps(problem));
    double useful = 1 + work / work_per_thread;
    return useful < threads ? (int)useful : threads;
}

/* Measured on the machine of docs/performance-cpu.md: what a value costs beside the passes. */
static const double start_seconds = 2e-5;

static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    double values = (double)problem->width * problem->height * problem->channels;
    double seconds = values * gc_passes_estimate(problem);
    return start_seconds + seconds / choose_threads(problem);
}

static void describe(void *opaque, char *text, size_t size)
{
    const cpu_state *state = opaque;
    gc_passes_describe(&state->passes, text, size);
}

static void release(void *opaque)
{
    cpu_state *state = opaque;
    for (int t = 0; state->strips != NULL && t < state->threads; t++)
        gc_strip_destroy(&state->strips[t]);
    free(state->strips);
    gc_passes_destroy(&state->passes);
    free(state);
}

/* How far from an output row of the chain the input rows lie that it comes from. A border reflects
 * what one step reaches above to below, where the next step reaches on: the larger sides add up. */
static int64_t chain_reach(const gc_problem *problem)
{
    int64_t reach = 0;
    for (int s = 0; s < problem->step_count; s++) {
        const gc_step *step = &problem->steps[s];
        if (step->height > (int64_t)problem->height)
            return problem->height; /* reflected to and fro it reads any row */
        reach += gc_larger(gc_step_above(step), gc_step_below(step));
    }
    return reach;
}

static void choose_bands(cpu_state *state)
{
    const gc_problem *problem = state->problem;
    int64_t rows = BAND_VALUES / ((int64_t)problem->width * problem->channels);
    int64_t reach = chain_reach(problem);
    rows = gc_smaller(gc_larger(rows, BAND_ROWS_MIN), BAND_ROWS_MAX);
    /* The first rows of a band repeat what the band above has done: keep that a small part. */
    rows = gc_larger(rows, BAND_REACHES * reach);
    rows = gc_smaller(rows, (problem->height + state->threads - 1) / state->threads);
    int64_t together = state->passes.rows_at_once;
    rows = (rows + together - 1) / together * together;
    state->band_rows = rows;
    state->band_count = (problem->height + rows - 1) / rows;
    /* A reflected row lies as far inside as the row itself lies outside, under mirror101 one
     * further. */
    state->neighbours = (reach + 1 + rows - 1) / rows;
    state->ring_bands = 2 * state->neighbours + state->threads + BANDS_AHEAD;
    if (problem->job.border == GCONV_BORDER_WRAP || state->ring_bands > state->band_count)
        state->ring_bands = state->band_count;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            void **result, gconv_error *error)
{
    (void)device;
    cpu_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return gc_fail_memory(error, sizeof *state);
    state->problem = problem;
    state->threads = choose_threads(problem);
    gconv_status status = gc_passes_create(&state->passes, problem, error);
    if (status == GCONV_OK)
        choose_bands(state);
    state->strips = calloc((size_t)state->threads, sizeof *state->strips);
    if (status == GCONV_OK && state->strips == NULL)
        status = gc_fail_memory(error, (size_t)state->threads * sizeof *state->strips);
    for (int t = 0; status == GCONV_OK && t < state->threads; t++)
        status = gc_strip_create(&state->strips[t], problem, &state->passes, error);
    if (status != GCONV_OK) {
        release(state);
        return status;
    }
    *result = state;
    return GCONV_OK;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static bool has_failed(cpu_run *run)
{
    return atomic_load(&run->status) != GCONV_OK;
}

/* Keeps the first error of the run. */
static void fail(cpu_run *run, gconv_status status, const gconv_error *error)
{
    int none = GCONV_OK;
    if (atomic_compare_exchange_strong(&run->status, &none, (int)status))
        run->error = *error;
}

static int64_t rows_of_band(const cpu_state *state, int64_t band)
{
    return gc_smaller(state->problem->height - band * state->band_rows, state->band_rows);
}

static void read_band(cpu_run *run, int64_t band)
{
    const cpu_state *state = run->state;
    size_t bytes = run->stream->input_bytes;
    gconv_error error = {.status = GCONV_OK};
    if (has_failed(run))
        return;
    char *rows = run->input + (size_t)(band % state->ring_bands * state->band_rows) * bytes;
    gconv_status status =
        gc_stream_read(run->stream, (uint32_t)rows_of_band(state, band), rows, bytes, &error);
    if (status != GCONV_OK)
        fail(run, status, &error);
}

static char *output_of_band(const cpu_run *run, int64_t band)
{
    const cpu_state *state = run->state;
    if (run->output == NULL)
        return run->stream->result + (size_t)(band * state->band_rows) * run->stream->result_stride;
    return run->output +
           (size_t)(band % state->ring_bands * state->band_rows) * run->stream->output_bytes;
}

static gc_sample_rows input_rows(const cpu_run *run)
{
    const cpu_state *state = run->state;
    const gc_stream *stream = run->stream;
    if (run->input == NULL)
        return (gc_sample_rows){stream->image, stream->image_stride, state->problem->height};
    return (gc_sample_rows){run->input, stream->input_bytes, state->ring_bands * state->band_rows};
}

static void compute_band(cpu_run *run, int64_t band)
{
    const cpu_state *state = run->state;
    if (has_failed(run))
        return;
    double start = gc_seconds();
    gc_sample_rows input = input_rows(run);
    int64_t first = band * state->band_rows;
    gc_strip_compute(&state->strips[omp_get_thread_num()], run->stream, &input, first,
                     first + rows_of_band(state, band) - 1, output_of_band(run, band),
                     run->output == NULL ? run->stream->result_stride : run->stream->output_bytes);
    double seconds = gc_seconds() - start;
#pragma omp atomic
    run->stream->timings.compute += seconds;
}

static void write_band(cpu_run *run, int64_t band)
{
    gconv_error error = {.status = GCONV_OK};
    if (has_failed(run))
        return;
    gconv_status status =
        gc_stream_write(run->stream, (uint32_t)rows_of_band(run->state, band),
                        output_of_band(run, band), run->stream->output_bytes, &error);
    if (status != GCONV_OK)
        fail(run, status, &error);
}

/* Computing band b reads the samples of its neighbours. Slots stand for bands of the ring: reading
 * into one waits until all that read from it before are done. */
static void make_compute_task(cpu_run *run, int64_t band)
{
    const cpu_state *state = run->state;
    int64_t ring = state->ring_bands;
    int64_t first = gc_larger(band - state->neighbours, 0);
    int64_t last = gc_smaller(band + state->neighbours, state->band_count - 1);
    if (last - first + 1 > ring || state->problem->job.border == GCONV_BORDER_WRAP) {
        first = 0;
        last = ring - 1;
    }
    char *slots = run->slots;
    char *result = slots + ring + band % ring;
#pragma omp task firstprivate(band) depend(iterator(int64_t b = first                              \
                                                    : last + 1),                                   \
                                           in                                                      \
                                           : slots[b % ring]) depend(out                           \
                                                                     : *result)
    compute_band(run, band);
}

static void make_read_task(cpu_run *run, int64_t band)
{
    char *slot = run->slots + band % run->state->ring_bands;
    char *reader = run->slots + 2 * run->state->ring_bands;
#pragma omp task firstprivate(band) depend(out : *slot) depend(inout : *reader)
    read_band(run, band);
}

static void make_write_task(cpu_run *run, int64_t band)
{
    char *result = run->slots + run->state->ring_bands + band % run->state->ring_bands;
    char *writer = run->slots + 2 * run->state->ring_bands + 1;
#pragma omp task firstprivate(band) depend(in : *result) depend(inout : *writer)
    write_band(run, band);
}

/* Tasks in an order in which each comes after all it depends on. */
static void make_tasks(cpu_run *run)
{
    const cpu_state *state = run->state;
    int64_t count = state->band_count;
    int64_t lead = state->problem->job.border == GCONV_BORDER_WRAP ? count : state->neighbours;
    for (int64_t band = 0; band < count + lead; band++) {
        if (band < count)
            make_read_task(run, band);
        if (band >= lead) {
            make_compute_task(run, band - lead);
            make_write_task(run, band - lead);
        }
    }
}

/* Source and sink are memory: every band can be computed at any time, in its place. */
static void compute_image(cpu_run *run)
{
#pragma omp parallel for num_threads(run->state->threads) schedule(dynamic)
    for (int64_t band = 0; band < run->state->band_count; band++)
        compute_band(run, band);
}

static gconv_status run(void *opaque, gc_stream *stream, gconv_error *error)
{
    cpu_state *state = opaque;
    cpu_run run = {.state = state, .stream = stream, .status = GCONV_OK};
    size_t ring_rows = (size_t)(state->ring_bands * state->band_rows);
    if (stream->image != NULL) {
        compute_image(&run);
        return GCONV_OK;
    }
    run.input = gc_allocate_array(ring_rows, stream->input_bytes);
    run.output = gc_allocate_array(ring_rows, stream->output_bytes);
    run.slots = calloc((size_t)state->ring_bands + 1, 2);
    if (run.input == NULL || run.output == NULL || run.slots == NULL) {
        run.status =
            gc_fail_memory(error, ring_rows * (stream->input_bytes + stream->output_bytes));
    } else {
        /* Not `single`: libgomp (of gcc 12) leaks what tasks with dependences leave behind when
         * another thread than the first one makes them. */
#pragma omp parallel num_threads(state->threads)
#pragma omp master
        make_tasks(&run);
        if (run.status != GCONV_OK && error != NULL)
            *error = run.error;
    }
    free(run.slots);
    free(run.output);
    free(run.input);
    return (gconv_status)run.status;
}

const gc_operations gc_cpu_operations = {
    .supports = supports,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .release = release,
    .extra_terms = gc_passes_extra_terms,
    .describe = describe,
};
