/* Convolution on the CPU: a pipeline over bands of rows. A piece of work reads a band, computes a
 * panel of one, or writes one. cpu/pipeline/dispatcher.h says when a piece may begin, so that
 * decoding, computing on all threads and encoding overlap. Threads take pieces as they come. The
 * caller of the library is one of these threads; it waits for another only while that one has a
 * piece.
 *
 * Input rows live in a ring. So memory grows with the image's width and the filters' heights, and
 * not with the image's height. Only a border that wraps needs the whole image. Where input and
 * output lie in memory nothing is read or written, and bands are computed in place. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "core/file_time.h"
#include "core/implementation.h"
#include "cpu/cost.h"
#include "cpu/pipeline/dispatcher.h"
#include "cpu/pipeline/division.h"

#include <stdlib.h>

typedef struct cpu_state {
    const gc_problem *problem;
    int threads; /* at most */
    gc_stages stages;
    gc_workspace *workspaces; /* one a thread */
    gc_division division;
} cpu_state;

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
    int threads = gc_thread_count(problem->job.threads);
    double work = (double)problem->chain.width * problem->chain.height * problem->chain.channels *
                  gc_chain_work(&problem->chain);
    double useful = 1 + work / GC_WORK_PER_THREAD;
    return useful < threads ? (int)useful : threads;
}

static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    if (gc_counts_throughput(problem))
        return gc_cpu_throughput(problem, GC_START_SECONDS + gc_stages_seconds(problem),
                                 gc_thread_count(problem->job.threads));
    int64_t threads = gc_smaller(choose_threads(problem), gc_processor_count());
    return GC_START_SECONDS + gc_stages_seconds(problem) / (double)threads;
}

static void describe(void *opaque, char *text, size_t size)
{
    const cpu_state *state = opaque;
    gc_stages_describe(&state->stages, text, size);
}

static void release(void *opaque)
{
    cpu_state *state = opaque;
    for (int t = 0; state->workspaces != NULL && t < state->threads; t++)
        gc_workspace_destroy(&state->workspaces[t]);
    free(state->workspaces);
    gc_stages_destroy(&state->stages);
    free(state);
}

/* Each thread needs a workspace. Where memory is short there are fewer threads, but at least
 * one. */
static gconv_status create_workspaces(cpu_state *state, gconv_error *error)
{
    int count = state->threads;
    state->threads = 0;
    state->workspaces = calloc((size_t)count, sizeof *state->workspaces);
    if (state->workspaces == NULL)
        return gc_fail_memory(error, (size_t)count * sizeof *state->workspaces);
    for (int t = 0; t < count; t++) {
        gconv_status status =
            gc_workspace_create(&state->workspaces[t], state->problem, &state->stages,
                                state->division.columns_max, t == 0 ? error : NULL);
        if (status != GCONV_OK) {
            gc_workspace_destroy(&state->workspaces[t]);
            return t == 0 ? status : GCONV_OK;
        }
        state->threads++;
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
    gconv_status status = gc_stages_create(&state->stages, problem, error);
    if (status == GCONV_OK) {
        state->threads = choose_threads(problem);
        gc_division_choose(&state->division, problem, &state->stages, state->threads, true);
        status = create_workspaces(state, error);
    }
    if (status != GCONV_OK) {
        release(state);
        return status;
    }
    *result = state;
    return GCONV_OK;
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* The buffers of one run. */
typedef struct cpu_run {
    const cpu_state *state;
    gc_division division;
    gc_dispatcher dispatcher;
    gc_stream *stream;
    char *input;  /* the ring of samples; NULL where the image lies in memory */
    char *output; /* the ring of output; NULL where it goes to memory */
} cpu_run;

static gconv_status read_band(cpu_run *run, int64_t band, gconv_error *error)
{
    const gc_division *division = &run->division;
    size_t bytes = run->stream->input_bytes;
    char *rows = run->input + (size_t)(band % division->input_ring * division->rows) * bytes;
    uint32_t count = (uint32_t)gc_division_band_rows(division, band);
    return gc_stream_read(run->stream, count, rows, bytes, error);
}

static char *output_of_band(const cpu_run *run, int64_t band)
{
    const gc_division *division = &run->division;
    const gc_stream *stream = run->stream;
    if (run->output == NULL)
        return stream->result.next + (size_t)(band * division->rows) * stream->result.stride;
    return run->output +
           (size_t)(band % division->output_ring * division->rows) * stream->output_bytes;
}

static gc_sample_rows input_rows(const cpu_run *run)
{
    const gc_division *division = &run->division;
    const gc_stream *stream = run->stream;
    if (run->input == NULL)
        return (gc_sample_rows){stream->image.next, stream->image.stride,
                                division->problem->chain.height};
    return (gc_sample_rows){run->input, stream->input_bytes, division->input_ring * division->rows};
}

static void compute_panel(const cpu_run *run, gc_workspace *workspace, int64_t band, int64_t panel)
{
    const gc_stream *stream = run->stream;
    gc_sample_rows input = input_rows(run);
    gc_workspace_compute(workspace, stream, &input, gc_division_area(&run->division, band, panel),
                         output_of_band(run, band),
                         run->output == NULL ? stream->result.stride : stream->output_bytes);
}

static gconv_status write_band(cpu_run *run, int64_t band, gconv_error *error)
{
    uint32_t count = (uint32_t)gc_division_band_rows(&run->division, band);
    return gc_stream_write(run->stream, count, output_of_band(run, band), run->stream->output_bytes,
                           error);
}

/* Takes pieces until none is left: a gc_team_function. */
static void work(void *user, int member)
{
    cpu_run *run = user;
    gc_piece piece = {.kind = GC_PIECE_NONE};
    gconv_status status = GCONV_OK;
    gconv_error error;
    while (gc_dispatcher_next(&run->dispatcher, &piece, status, &error)) {
        double start = gc_seconds();
        if (piece.kind == GC_PIECE_READ)
            status = read_band(run, piece.band, &error);
        else if (piece.kind == GC_PIECE_WRITE)
            status = write_band(run, piece.band, &error);
        else
            compute_panel(run, &run->state->workspaces[member], piece.band, piece.panel);
        piece.seconds = gc_seconds() - start;
    }
}

/* Allocates the two rings, for one thread where memory is short. The result does not depend on
 * it. */
static gconv_status allocate_rings(cpu_run *run, gconv_error *error)
{
    const cpu_state *state = run->state;
    for (int threads = state->threads;; threads = 1) {
        gc_division *division = &run->division;
        gc_division_choose(division, state->problem, &state->stages, threads, false);
        size_t input_rows = (size_t)(division->input_ring * division->rows);
        size_t output_rows = (size_t)(division->output_ring * division->rows);
        run->input = gc_allocate_array(input_rows, run->stream->input_bytes);
        run->output = gc_allocate_array(output_rows, run->stream->output_bytes);
        if (run->input != NULL && run->output != NULL)
            return GCONV_OK;
        free(run->input);
        free(run->output);
        run->input = run->output = NULL;
        if (threads == 1)
            return gc_fail_memory(error, input_rows * run->stream->input_bytes +
                                             output_rows * run->stream->output_bytes);
    }
}

static gconv_status run(void *opaque, gc_stream *stream, gconv_error *error)
{
    cpu_state *state = opaque;
    cpu_run run = {.state = state, .division = state->division, .stream = stream};
    bool in_place = stream->image.next != NULL && stream->alpha.blocks == NULL;
    gconv_status status = in_place ? GCONV_OK : allocate_rings(&run, error);
    if (status == GCONV_OK)
        status = gc_dispatcher_create(&run.dispatcher, &run.division, in_place, error);
    if (status == GCONV_OK) {
        gc_team_run(state->threads, state->problem->job.threads > 0, work, &run);
        stream->timings.compute += run.dispatcher.seconds;
        status = run.dispatcher.status;
        if (status != GCONV_OK && error != NULL)
            *error = run.dispatcher.error;
    }
    gc_dispatcher_destroy(&run.dispatcher);
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
    .extra_terms = gc_stages_extra_terms,
    .describe = describe,
};
