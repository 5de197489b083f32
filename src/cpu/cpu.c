/* Convolution on the CPU: a pipeline over bands of rows. A piece of work reads a band, computes a
 * panel of one, or writes one. cpu/pipeline/dispatcher.h says when a piece may begin, so that
 * decoding, computing on all threads and encoding overlap. Threads take pieces as they come. The
 * caller of the library is one of these threads; it waits for another only while that one has a
 * piece.
 *
 * Input rows live in a ring. So memory grows with the image's width and the filters' heights, and
 * not with the image's height. Only a border that wraps needs the whole image. If input and output
 * lie in memory nothing is read or written, and bands are computed in place. */
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
    int room;    /* threads more, if other images leave processors to this one */
    gc_stages stages;
    gc_workspace *workspaces; /* one a thread; of a thread more, once it has come */
    bool *created;            /* whether the workspace is */
    gc_division division;
} cpu_state;

static gconv_status supports(const gc_problem *problem, const gconv_device_info *device,
                             gconv_error *error)
{
    (void)device;
    return gc_stages_check(problem, error);
}

/* As many of `threads` as have enough to do. */
static int limit_threads(const gc_problem *problem, int threads)
{
    double work = (double)problem->chain.width * problem->chain.height * problem->chain.channels *
                  gc_chain_work(&problem->chain);
    double useful = 1 + work / GC_WORK_PER_THREAD;
    return useful < threads ? (int)useful : threads;
}

static int choose_threads(const gc_problem *problem)
{
    return limit_threads(problem, gc_thread_count(problem->job.threads));
}

/* Threads that one of several images between files may have beside its own: those of the others,
 * once these are done. */
static int choose_room(const gc_problem *problem)
{
    int own = gc_thread_count(problem->job.threads), all = own * problem->job.images_at_once;
    return gc_counts_throughput(problem) ? limit_threads(problem, all) - limit_threads(problem, own)
                                         : 0;
}

static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    if (gc_counts_throughput(problem))
        return gc_cpu_throughput(problem, GC_START_SECONDS + gc_stages_seconds(problem),
                                 gc_thread_count(problem->job.threads));
    int64_t threads = choose_threads(problem);
    if (threads > 1) /* reading the quota takes longer than a small image */
        threads = gc_smaller(threads, gc_processor_count());
    return GC_START_SECONDS + (threads > 1 ? GC_THREADS_SECONDS : 0) +
           gc_stages_seconds(problem) / (double)threads;
}

static bool rounds_once(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    return gc_cpu_settles(problem) || gc_cpu_rounds_values(problem) ||
           gc_cpu_sums_in_double(problem);
}

static void describe(void *opaque, char *text, size_t size)
{
    const cpu_state *state = opaque;
    gc_stages_describe(&state->stages, text, size);
}

static void release(void *opaque)
{
    cpu_state *state = opaque;
    for (int t = 0; state->created != NULL && t < state->threads + state->room; t++)
        if (state->created[t])
            gc_workspace_destroy(&state->workspaces[t]);
    free(state->workspaces);
    free(state->created);
    gc_stages_destroy(&state->stages);
    free(state);
}

static gconv_status create_workspace(cpu_state *state, int thread, gconv_error *error)
{
    gc_workspace *workspace = &state->workspaces[thread];
    gconv_status status = gc_workspace_create(workspace, state->problem, &state->stages,
                                              state->division.columns_max, error);
    state->created[thread] = status == GCONV_OK;
    if (status != GCONV_OK)
        gc_workspace_destroy(workspace);
    return status;
}

/* Each thread needs a workspace. If memory is short there are fewer threads, but at least one. */
static gconv_status create_workspaces(cpu_state *state, gconv_error *error)
{
    size_t most = (size_t)(state->threads + state->room);
    state->workspaces = calloc(most, sizeof *state->workspaces);
    state->created = calloc(most, sizeof *state->created);
    GC_TRY_MEMORY(state->workspaces != NULL && state->created != NULL, error,
                  most * sizeof *state->workspaces);
    gconv_status status = create_workspace(state, 0, error);
    int created = 1;
    while (status == GCONV_OK && created < state->threads &&
           create_workspace(state, created, NULL) == GCONV_OK)
        created++;
    if (created < state->threads) {
        state->threads = created;
        state->room = 0;
    }
    return status;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            void **result, gconv_error *error)
{
    (void)device;
    cpu_state *state = calloc(1, sizeof *state);
    GC_TRY_MEMORY(state != NULL, error, sizeof *state);
    state->problem = problem;
    gconv_status status = gc_stages_create(&state->stages, problem, error);
    if (status == GCONV_OK) {
        state->threads = choose_threads(problem);
        state->room = choose_room(problem);
        gc_division_choose(&state->division, problem, &state->stages, state->threads, true);
        status = create_workspaces(state, error);
    }
    if (status == GCONV_OK)
        *result = state;
    else
        release(state);
    return status;
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* The buffers of one run. */
typedef struct cpu_run {
    cpu_state *state;
    gc_division division;
    gc_dispatcher dispatcher;
    gc_stream *stream;
    char *input;  /* the ring of samples; NULL if the image lies in memory */
    char *output; /* the ring of output; NULL if it goes to memory */
} cpu_run;

/* Reads the rows of a band that the run needs. */
static gconv_status read_band(cpu_run *run, int64_t band, gconv_error *error)
{
    const gc_division *division = &run->division;
    size_t bytes = run->stream->input_bytes;
    char *rows = run->input + (size_t)(band % division->input_ring * division->rows) * bytes;
    int64_t top = band * division->rows;
    int64_t first = gc_larger(top, division->from);
    int64_t end = gc_smaller(top + division->rows, division->to);
    return gc_stream_read(run->stream, (uint32_t)(end - first),
                          rows + (size_t)(first - top) * bytes, bytes, error);
}

/* The place of the first row of a band. */
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
    gc_area area = gc_division_area(&run->division, band, panel);
    size_t stride = run->output == NULL ? stream->result.stride : stream->output_bytes;
    size_t above = (size_t)(area.top - band * run->division.rows);
    gc_workspace_compute(workspace, stream, &input, area,
                         output_of_band(run, band) + above * stride, stride);
}

/* Whether the pass writes the output once all bands are computed. */
static bool is_finished_later(const cpu_run *run)
{
    return gc_detects_canny(&run->state->problem->detector) && !run->stream->chain_only;
}

/* Writes the rows of a band that are wanted. */
static gconv_status write_band(cpu_run *run, int64_t band, gconv_error *error)
{
    gc_stream *stream = run->stream;
    if (is_finished_later(run))
        return GCONV_OK;
    int64_t top = band * run->division.rows;
    int64_t first = gc_larger(top, stream->first);
    int64_t end = gc_smaller(top + run->division.rows, stream->end);
    return gc_stream_write(stream, (uint32_t)(end - first),
                           output_of_band(run, band) + (size_t)(first - top) * stream->output_bytes,
                           stream->output_bytes, error);
}

/* Takes pieces until none is left: a gc_team_function. */
static void work(void *user, int member)
{
    cpu_run *run = user;
    cpu_state *state = run->state;
    gc_piece piece = {.kind = GC_PIECE_NONE};
    if (!state->created[member] && create_workspace(state, member, NULL) != GCONV_OK)
        return;
    gconv_status status = GCONV_OK;
    gconv_error error;
    while (gc_dispatcher_next(&run->dispatcher, &piece, status, &error)) {
        double start = gc_seconds();
        if (piece.kind == GC_PIECE_READ)
            status = read_band(run, piece.band, &error);
        else if (piece.kind == GC_PIECE_WRITE)
            status = write_band(run, piece.band, &error);
        else if (piece.kind == GC_PIECE_HELP_READ)
            piece.found = run->stream->source.help(run->stream->source.user);
        else if (piece.kind == GC_PIECE_HELP_WRITE)
            piece.found = run->stream->sink.help(run->stream->sink.user);
        else
            compute_panel(run, &state->workspaces[member], piece.band, piece.panel);
        piece.seconds = gc_seconds() - start;
    }
}

/* Allocates the two rings, for one thread if memory is short. The result does not depend on it. */
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

static gconv_status finish(cpu_run *run, gconv_error *error)
{
    double start = gc_seconds();
    gconv_status status =
        run->state->stages.pass->finish(run->state->stages.shared, run->stream, error);
    run->stream->timings.compute += gc_seconds() - start;
    return status;
}

static gconv_status run(void *opaque, gc_stream *stream, gconv_error *error)
{
    cpu_state *state = opaque;
    cpu_run run = {.state = state, .division = state->division, .stream = stream};
    /* The stream stores alpha that is kept, unless a pass does. */
    bool finds_alpha = stream->alpha.blocks == NULL || state->stages.pass != NULL;
    bool in_place = stream->image.next != NULL && finds_alpha;
    gconv_status status = in_place ? GCONV_OK : allocate_rings(&run, error);
    gc_division_limit(&run.division, &state->stages, stream->first, stream->end);
    if (status == GCONV_OK && !in_place)
        status =
            gc_stream_select(stream, (uint32_t)run.division.from, (uint32_t)run.division.to, error);
    GC_THEN(status, gc_dispatcher_create(&run.dispatcher, &run.division, in_place, error));
    if (status == GCONV_OK) {
        if (!in_place)
            gc_stream_spread(stream, state->threads);
        run.dispatcher.reader.wanted = !in_place && stream->source.help != NULL;
        run.dispatcher.writer.wanted = !in_place && stream->sink.help != NULL;
        gc_team_run_with_room(state->threads, state->room, state->problem->job.threads > 0, work,
                              &run);
        stream->timings.decode += run.dispatcher.reader.seconds;
        stream->timings.compute += run.dispatcher.seconds;
        stream->timings.encode += run.dispatcher.writer.seconds;
        status = run.dispatcher.status;
        if (status != GCONV_OK && error != NULL)
            *error = run.dispatcher.error;
    }
    gc_dispatcher_destroy(&run.dispatcher);
    free(run.output);
    free(run.input);
    return status == GCONV_OK && is_finished_later(&run) ? finish(&run, error) : status;
}

const gc_operations gc_cpu_operations = {
    .supports = supports,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .release = release,
    .extra_terms = gc_stages_extra_terms,
    .rounds_once = rounds_once,
    .rounded_once = "small filters, and with --exact nearly all that reference does",
    .describe = describe,
    .detects = true,
};
