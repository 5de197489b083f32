/* Convolution on the CPU: a pipeline over bands of rows. One task reads a band, one computes it, or
 * each panel of it, one writes it; tasks of a band wait only for what they need, so that decoding, computing on all
 * threads and encoding overlap, and no thread waits at a barrier for one that the system has put
 * aside. Input rows live in a ring, so that memory grows with the image's width and the filters'
 * heights and not with its height; only a border that wraps needs the whole image. Between images in
 * memory there is neither reading nor writing, and bands are computed in place. */
#include "core/implementation.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"
#include "cpu/division.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Bands whose tasks exist at one time at most: far more than the rings hold, so that nobody waits for
 * tasks to be made. libgomp makes tasks that wait for others without limit, and notes with each one
 * all that wait for it: for 30000 rows at once that would be 30 MB. */
enum { BANDS_IN_TASKS = 64 };

/* Multiply-adds that a thread must have for its start to pay (some 50 us). */
static const double work_per_thread = 1e6;

typedef struct cpu_state {
    const gc_problem *problem;
    int threads;
    gc_passes passes;
    gc_strip *strips; /* one a thread */
    gc_division division;
} cpu_state;

/* The buffers of one run, and its first error. */
typedef struct cpu_run {
    const cpu_state *state;
    gc_stream *stream;
    char *input;       /* the ring of samples; NULL where the image lies in memory */
    char *output;      /* the ring of output; NULL where it goes to memory */
    char *slots;       /* what tasks name as their dependences: a byte a band of samples, a byte a
                        * panel of output, BANDS_IN_TASKS for bands written, one for who reads and
                        * one for who writes */
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

/* Measured on the machine of docs/performance-cpu.md: what an image costs beside its values, and a row
 * of it in each step (up to 0.25 us where that is a column and a row), or in all where edges are one
 * pass. */
static const double start_seconds = 2e-5, row_seconds = 1e-7, edges_row_seconds = 5e-8;

static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    double values = (double)problem->width * problem->height * problem->channels;
    double row = gc_edges_apply(problem) ? edges_row_seconds : problem->step_count * row_seconds;
    double seconds = values * gc_passes_estimate(problem) + problem->height * row;
    return start_seconds + seconds / gc_smaller(choose_threads(problem), omp_get_num_procs());
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
        gc_division_choose(&state->division, problem, &state->passes, state->threads);
    state->strips = calloc((size_t)state->threads, sizeof *state->strips);
    if (status == GCONV_OK && state->strips == NULL)
        status = gc_fail_memory(error, (size_t)state->threads * sizeof *state->strips);
    for (int t = 0; status == GCONV_OK && t < state->threads; t++)
        status = gc_strip_create(&state->strips[t], problem, &state->passes,
                                 state->division.columns_max, error);
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

static void read_band(cpu_run *run, int64_t band)
{
    const gc_division *division = &run->state->division;
    size_t bytes = run->stream->input_bytes;
    gconv_error error = {.status = GCONV_OK};
    if (has_failed(run))
        return;
    char *rows = run->input + (size_t)(band % division->input_ring * division->rows) * bytes;
    uint32_t count = (uint32_t)gc_division_band_rows(division, band);
    gconv_status status = gc_stream_read(run->stream, count, rows, bytes, &error);
    if (status != GCONV_OK)
        fail(run, status, &error);
}

static char *output_of_band(const cpu_run *run, int64_t band)
{
    const gc_division *division = &run->state->division;
    const gc_stream *stream = run->stream;
    if (run->output == NULL)
        return stream->result + (size_t)(band * division->rows) * stream->result_stride;
    return run->output +
           (size_t)(band % division->output_ring * division->rows) * stream->output_bytes;
}

static gc_sample_rows input_rows(const cpu_run *run)
{
    const gc_division *division = &run->state->division;
    const gc_stream *stream = run->stream;
    if (run->input == NULL)
        return (gc_sample_rows){stream->image, stream->image_stride, division->problem->height};
    return (gc_sample_rows){run->input, stream->input_bytes, division->input_ring * division->rows};
}

static void compute_panel(cpu_run *run, int64_t band, int64_t panel)
{
    const cpu_state *state = run->state;
    if (has_failed(run))
        return;
    double start = gc_seconds();
    gc_sample_rows input = input_rows(run);
    gc_strip_compute(&state->strips[omp_get_thread_num()], run->stream, &input,
                     gc_division_area(&state->division, band, panel), output_of_band(run, band),
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
    uint32_t count = (uint32_t)gc_division_band_rows(&run->state->division, band);
    gconv_status status = gc_stream_write(run->stream, count, output_of_band(run, band),
                                          run->stream->output_bytes, &error);
    if (status != GCONV_OK)
        fail(run, status, &error);
}

/* Slot of the first panel of a band in the ring of output. */
static int64_t result_slot(const gc_division *division, int64_t band)
{
    return division->input_ring + band % division->output_ring * division->panels;
}

/* Slot of a band that is written: at its end no task of the band is left. */
static int64_t written_slot(const gc_division *division, int64_t band)
{
    return division->input_ring + division->output_ring * division->panels + band % BANDS_IN_TASKS;
}

static size_t slot_count(const gc_division *division)
{
    return (size_t)written_slot(division, 0) + BANDS_IN_TASKS + 2;
}

/* Computing band b reads the samples of its neighbours. Slots stand for bands of the ring: reading
 * into one waits until all that read from it before are done. */
static void make_compute_task(cpu_run *run, int64_t band, int64_t panel)
{
    const gc_division *division = &run->state->division;
    int64_t ring = division->input_ring;
    int64_t first = gc_larger(band - division->neighbours, 0);
    int64_t last = gc_smaller(band + division->neighbours, division->bands - 1);
    if (last - first + 1 > ring || division->problem->job.border == GCONV_BORDER_WRAP) {
        first = 0;
        last = ring - 1;
    }
    char *slots = run->slots;
    char *result = slots + result_slot(division, band) + panel;
#pragma omp task firstprivate(band, panel) depend(iterator(int64_t b = first                       \
                                                           : last + 1),                            \
                                                  in                                               \
                                                  : slots[b % ring]) depend(out                    \
                                                                            : *result)
    compute_panel(run, band, panel);
}

static void make_read_task(cpu_run *run, int64_t band)
{
    const gc_division *division = &run->state->division;
    char *slot = run->slots + band % division->input_ring;
    char *reader = run->slots + slot_count(division) - 2;
#pragma omp task firstprivate(band) depend(out : *slot) depend(inout : *reader)
    read_band(run, band);
}

static void make_write_task(cpu_run *run, int64_t band)
{
    const gc_division *division = &run->state->division;
    char *slots = run->slots;
    char *written = slots + written_slot(division, band);
    char *writer = slots + slot_count(division) - 1;
#pragma omp task firstprivate(band) depend(iterator(int64_t p = 0                                  \
                                                    : division->panels),                           \
                                           in                                                      \
                                           : slots[result_slot(division, band) + p])               \
    depend(inout                                                                                   \
           : *writer) depend(out                                                                   \
                             : *written)
    write_band(run, band);
}

/* Does other tasks until the band is written whose slot this one takes. */
static void wait_for_room(cpu_run *run, int64_t band)
{
    char *written = run->slots + written_slot(&run->state->division, band);
#pragma omp task if (0) depend(in : *written)
    (void)written;
}

/* Tasks in an order in which each comes after all it depends on. */
static void make_tasks(cpu_run *run)
{
    const gc_division *division = &run->state->division;
    int64_t count = division->bands;
    int64_t lead =
        division->problem->job.border == GCONV_BORDER_WRAP ? count : division->neighbours;
    for (int64_t band = 0; band < count + lead; band++) {
        if (band < count)
            make_read_task(run, band);
        if (band < lead)
            continue;
        wait_for_room(run, band - lead);
        for (int64_t panel = 0; panel < division->panels; panel++)
            make_compute_task(run, band - lead, panel);
        make_write_task(run, band - lead);
    }
}

/* Source and sink are memory: every panel can be computed at any time, in its place. */
static void compute_image(cpu_run *run)
{
    int64_t bands = run->state->division.bands, panels = run->state->division.panels;
#pragma omp parallel for num_threads(run->state->threads) schedule(dynamic) collapse(2)
    for (int64_t band = 0; band < bands; band++)
        for (int64_t panel = 0; panel < panels; panel++)
            compute_panel(run, band, panel);
}

static gconv_status run(void *opaque, gc_stream *stream, gconv_error *error)
{
    cpu_state *state = opaque;
    cpu_run run = {.state = state, .stream = stream, .status = GCONV_OK};
    const gc_division *division = &state->division;
    size_t input_rows = (size_t)(division->input_ring * division->rows);
    size_t output_rows = (size_t)(division->output_ring * division->rows);
    if (stream->image != NULL) {
        compute_image(&run);
        return GCONV_OK;
    }
    run.input = gc_allocate_array(input_rows, stream->input_bytes);
    run.output = gc_allocate_array(output_rows, stream->output_bytes);
    run.slots = calloc(slot_count(division), 1);
    if (run.input == NULL || run.output == NULL || run.slots == NULL) {
        run.status = gc_fail_memory(error, input_rows * stream->input_bytes +
                                               output_rows * stream->output_bytes);
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
