/* Convolution on the CPU, streamed: rows enter at the top of a chain of windows, one a step, and
 * leave at its end, a band at a time. Memory grows with the image's width and the filters' heights,
 * not with the image's height, and a band's rows are convolved by all threads while they are in
 * cache. Borders cost a few extra samples a row and row pointers that repeat. */
#include "core/implementation.h"
#include "core/memory.h"
#include "core/status.h"
#include "cpu/rows.h"
#include "cpu/window.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Rows that leave at once: enough to feed all threads, few enough to stay in cache. */
enum { BAND_ROWS = 32 };

/* Multiply-adds a thread must have for its start to pay (some 10 us). */
static const double work_per_thread = 2e5;

typedef struct cpu_state {
    const gc_problem *problem;
    int threads;
    gc_window *windows;   /* one a step, on its input */
    float *results;       /* a row a thread: chain values of the last step */
    size_t result_stride; /* samples */
} cpu_state;

/* The buffers and counters of one run. */
typedef struct cpu_run {
    cpu_state *state;
    gc_stream *stream;
    char *input;         /* a band of input samples */
    char *output;        /* a band of output */
    int64_t *rows_ready; /* rows_ready[s]: rows that stand in window s so far */
    gconv_error *error;
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
                  (4 + gc_problem_taps(problem));
    double useful = 1 + work / work_per_thread;
    return useful < threads ? (int)useful : threads;
}

/* Measured on a 2.7 GHz server core with AVX-512: 1 ns a value for conversion and 0.05 ns a tap. */
static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    double values = (double)problem->width * problem->height * problem->channels;
    return 2e-5 + values * (1e-9 + 5e-11 * gc_problem_taps(problem)) / choose_threads(problem);
}

static void release(void *opaque)
{
    cpu_state *state = opaque;
    for (int s = 0; state->windows != NULL && s < state->problem->step_count; s++)
        gc_window_destroy(&state->windows[s]);
    free(state->windows);
    free(state->results);
    free(state);
}

/* Window s serves what later steps ask for at once: a band and all that their filters reach. */
static gconv_status create_windows(cpu_state *state, gconv_error *error)
{
    const gc_problem *problem = state->problem;
    state->windows = calloc((size_t)problem->step_count, sizeof *state->windows);
    if (state->windows == NULL)
        return gc_fail_memory(error, (size_t)problem->step_count * sizeof *state->windows);
    int64_t chunk = BAND_ROWS;
    for (int s = problem->step_count - 1; s >= 0; s--) {
        gconv_status status =
            gc_window_create(&state->windows[s], problem, &problem->steps[s], chunk, error);
        if (status != GCONV_OK)
            return status;
        chunk += problem->steps[s].height;
    }
    return GCONV_OK;
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
    state->result_stride = (size_t)problem->width * (size_t)problem->channels + GC_WINDOW_SLACK;
    size_t row_bytes = state->result_stride * sizeof(float);
    row_bytes += GC_ALIGNMENT - row_bytes % GC_ALIGNMENT;
    state->result_stride = row_bytes / sizeof(float);
    state->results = gc_allocate_aligned((size_t)state->threads, row_bytes);
    gconv_status status =
        state->results != NULL ? create_windows(state, error) : gc_fail_memory(error, row_bytes);
    if (status != GCONV_OK) {
        release(state);
        return status;
    }
    *result = state;
    return GCONV_OK;
}

/* Reads input rows into window 0 until `last` is there. */
static gconv_status fill_first_window(cpu_run *run, int64_t last)
{
    gc_stream *stream = run->stream;
    const gc_window *window = &run->state->windows[0];
    while (run->rows_ready[0] <= last) {
        int64_t first = run->rows_ready[0];
        int64_t count = last - first + 1 < BAND_ROWS ? last - first + 1 : BAND_ROWS;
        gconv_status status =
            gc_stream_read(stream, (uint32_t)count, run->input, stream->input_bytes, run->error);
        if (status != GCONV_OK)
            return status;
#pragma omp parallel for num_threads(run->state->threads) schedule(static)
        for (int64_t i = 0; i < count; i++) {
            gc_stream_load_row(stream, run->input + (size_t)i * stream->input_bytes,
                               gc_window_row(window, first + i));
            gc_window_extend(window, first + i);
        }
        run->rows_ready[0] = first + count;
    }
    return GCONV_OK;
}

static void convolve_row(const gc_window *window, int64_t y, float *out)
{
    const float *rows[GCONV_FILTER_SIDE_MAX];
    gc_window_taps(window, y, rows);
    gc_convolve_row(window->step, rows, (size_t)window->channels,
                    (size_t)window->width * (size_t)window->channels, out);
}

/* Rows first to last of step s's output go into the window of the step after it. */
static void convolve_between(cpu_run *run, int s, int64_t first, int64_t last)
{
    const gc_window *from = &run->state->windows[s];
    const gc_window *to = &run->state->windows[s + 1];
#pragma omp parallel for num_threads(run->state->threads) schedule(static)
    for (int64_t y = first; y <= last; y++) {
        convolve_row(from, y, gc_window_row(to, y));
        gc_window_extend(to, y);
    }
    run->rows_ready[s + 1] = last + 1;
}

/* Rows first to last of the last step's output are converted and handed on. */
static gconv_status convolve_last(cpu_run *run, int64_t first, int64_t last)
{
    const cpu_state *state = run->state;
    gc_stream *stream = run->stream;
    const gc_window *from = &state->windows[state->problem->step_count - 1];
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t y = first; y <= last; y++) {
        float *result = state->results + (size_t)omp_get_thread_num() * state->result_stride;
        convolve_row(from, y, result);
        gc_stream_store_row(stream, (uint32_t)y, result,
                            run->output + (size_t)(y - first) * stream->output_bytes);
    }
    return gc_stream_write(stream, (uint32_t)(last - first + 1), run->output, stream->output_bytes,
                           run->error);
}

/* Produces output rows first to last: asks backwards what each step needs, then works forwards. */
static gconv_status produce_band(cpu_run *run, int64_t *needed, int64_t first, int64_t last)
{
    const cpu_state *state = run->state;
    int steps = state->problem->step_count;
    for (int s = steps - 1; s >= 0; s--) {
        int64_t from = s == steps - 1 ? first : run->rows_ready[s + 1];
        int64_t to = s == steps - 1 ? last : needed[s + 1];
        needed[s] = gc_window_last_needed(&state->windows[s], from, to);
    }
    gconv_status status = fill_first_window(run, needed[0]);
    for (int s = 0; status == GCONV_OK && s + 1 < steps; s++)
        convolve_between(run, s, run->rows_ready[s + 1], needed[s + 1]);
    return status == GCONV_OK ? convolve_last(run, first, last) : status;
}

static gconv_status run_bands(cpu_run *run, int64_t *needed)
{
    int64_t height = run->state->problem->height;
    gconv_status status = GCONV_OK;
    for (int64_t first = 0; status == GCONV_OK && first < height; first += BAND_ROWS) {
        int64_t last = first + BAND_ROWS < height ? first + BAND_ROWS - 1 : height - 1;
        status = produce_band(run, needed, first, last);
    }
    return status;
}

static gconv_status run(void *opaque, gc_stream *stream, gconv_error *error)
{
    cpu_run run = {.state = opaque, .stream = stream, .error = error};
    size_t steps = (size_t)run.state->problem->step_count;
    run.input = gc_allocate_array(BAND_ROWS, stream->input_bytes);
    run.output = gc_allocate_array(BAND_ROWS, stream->output_bytes);
    run.rows_ready = calloc(steps, sizeof *run.rows_ready);
    int64_t *needed = calloc(steps, sizeof *needed);
    gconv_status status;
    if (run.input == NULL || run.output == NULL || run.rows_ready == NULL || needed == NULL)
        status = gc_fail_memory(error, BAND_ROWS * (stream->input_bytes + stream->output_bytes));
    else
        status = run_bands(&run, needed);
    free(needed);
    free(run.rows_ready);
    free(run.output);
    free(run.input);
    return status;
}

const gc_operations gc_cpu_operations = {
    .supports = supports,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .release = release,
};
