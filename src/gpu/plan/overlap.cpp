/* Runs from memory to memory. Bands k+1, k and k-1 of an image are uploaded, computed and
 * downloaded at one time, so that both directions of the bus are busy:
 *
 *     stream up       | 0 | 1 | 2 | 3 |
 *     slot's stream       | 0 | 1 | 2 | 3 |
 *     stream down             | 0 | 1 | 2 | 3 |
 *
 * The slot's buffers hold the whole image. A band uploads only the rows that no band before it has
 * brought. GPUs copy from and to pinned memory by themselves. Other memory is copied to and from a
 * ring of pinned pieces by the threads of the job, a band a piece. */
#include "gpu/plan/plan.cuh"

#include "gpu/device/check.cuh"
#include "gpu/device/wait.cuh"

extern "C" {
#include "base/processors.h"
#include "base/threads.h"
}

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

/* A band's bytes, of input or output. To enqueue a band takes some 20 us, as long as the bus needs
 * for 1 MiB. */
enum { BAND_BYTES_MIN = 1 << 20, BAND_BYTES_MAX = 4 << 20, BANDS = 16 };

/* Of an image that goes so: less is not worth more than one band. */
enum { IMAGE_BYTES_MIN = 2 * BAND_BYTES_MIN };

/* A band has so many times the rows that it reads beyond its own, which steps compute again. */
enum { REACHES = 16 };

/* Microseconds between questions whether a piece is free or has arrived. */
enum { PAUSE = 20 };

/* One side of a run: the caller's rows, and pieces if these are not pinned. */
struct overlap_side {
    char *rows;
    size_t stride, row_bytes;
    bool staged;
    gc_host_buffer *pieces; /* GC_COPY_PIECES of them, one after the other */
    size_t piece_bytes;
    bool ready[GC_COPY_PIECES]; /* of input: holds its band; of output: is free */
};

struct overlap_run {
    gc_gpu_plan *plan;
    gc_stream *stream;
    gc_copy_streams *copies; /* of the plan's slot */
    gc_plan_result result;
    int64_t band_rows, bands;
    int64_t *ends;          /* band k uploads rows ends[k] to ends[k + 1] - 1 */
    char *samples, *output; /* on the device: row 0 of the whole image */
    overlap_side in, out;
    pthread_mutex_t lock; /* of `ready` and all below */
    pthread_cond_t changed;
    int64_t next_in, next_out; /* bands whose input or output a thread takes next */
    int64_t enqueued;          /* bands */
    bool enqueues;             /* a thread does */
    gconv_status status;
    gconv_error error;
};

/* ---- Bands ----------------------------------------------------------------------------------- */

/* Rows of output of a band: whole slabs. */
static int64_t rows_of_band(const gc_gpu_plan *plan, const gc_stream *stream)
{
    int64_t height = plan->problem->chain.height, reach = 0;
    int64_t row = (int64_t)std::max(stream->input_bytes, stream->output_bytes);
    int64_t bytes =
        std::min<int64_t>(std::max<int64_t>(row * height / BANDS, BAND_BYTES_MIN), BAND_BYTES_MAX);
    for (int s = 0; s < plan->problem->chain.step_count; s++)
        reach += plan->problem->chain.steps[s].height - 1;
    int64_t slab =
        plan->slabs != nullptr ? plan->slabs[plan->problem->chain.step_count - 1].rows : 1;
    int64_t rows = std::max<int64_t>({bytes / row, REACHES * reach, 1});
    return std::min(height, (rows + slab - 1) / slab * slab);
}

bool gc_overlap_applies(const gc_gpu_plan *plan, const gc_stream *stream)
{
    const gconv_job *job = &plan->problem->job;
    size_t row = std::max(stream->input_bytes, stream->output_bytes);
    return stream->image.next != nullptr && stream->result.next != nullptr &&
           (plan->finishes || stream->chain_only) && !plan->by_steps &&
           job->border != GCONV_BORDER_WRAP && job->images_at_once <= 1 &&
           row * plan->problem->chain.height >= IMAGE_BYTES_MIN &&
           rows_of_band(plan, stream) < (int64_t)plan->problem->chain.height;
}

static int64_t most_input_rows(const gc_gpu_plan *plan, int64_t band_rows)
{
    return std::min<int64_t>(gc_band_input_rows(plan->problem, band_rows, plan->slabs),
                             plan->problem->chain.height);
}

size_t gc_overlap_host_bytes(const gc_gpu_plan *plan, const gc_stream *stream)
{
    int64_t rows = rows_of_band(plan, stream);
    return GC_COPY_PIECES * ((size_t)most_input_rows(plan, rows) * stream->input_bytes +
                             (size_t)rows * stream->output_bytes);
}

/* Rows of the caller's image, and a band of them in a piece. */
static char *row_of(const overlap_side *side, int64_t row)
{
    return side->rows + (size_t)row * side->stride;
}

static char *piece_of(const overlap_side *side, int64_t band)
{
    return side->pieces->bytes + (size_t)(band % GC_COPY_PIECES) * side->piece_bytes;
}

static int64_t output_rows(const overlap_run *run, int64_t band)
{
    return std::min<int64_t>(run->band_rows, run->result.rows - band * run->band_rows);
}

/* ---- On the device --------------------------------------------------------------------------- */

static gconv_status upload_band(overlap_run *run, int64_t band, gconv_error *error)
{
    const overlap_side *in = &run->in;
    int64_t first = run->ends[band], count = run->ends[band + 1] - first;
    const char *from = in->staged ? piece_of(in, band) : row_of(in, first);
    if (band == 0)
        GC_CUDA_TRY(error,
                    cudaEventRecord(run->plan->work.slot->marks[GC_MARK_BEGIN], run->copies->up));
    GC_TRY(gc_copy_rows({run->samples + (size_t)first * in->row_bytes, in->row_bytes, from,
                         in->staged ? in->row_bytes : in->stride, in->row_bytes, count},
                        cudaMemcpyHostToDevice, run->copies->up, error));
    GC_CUDA_TRY(error, cudaEventRecord(run->copies->sent[band % GC_COPY_PIECES], run->copies->up));
    GC_CUDA_TRY(error,
                cudaEventRecord(run->plan->work.slot->marks[GC_MARK_UPLOADED], run->copies->up));
    return GCONV_OK;
}

static gconv_status compute_band(overlap_run *run, int64_t band, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    int64_t first = band * run->band_rows, rows = output_rows(run, band);
    gc_owned_event *marks = plan->work.slot->marks;
    gc_band_steps(plan->problem, first, first + rows - 1, plan->slabs, plan->work.steps);
    plan->work.samples = run->samples + (size_t)plan->work.steps[0].input_first * run->in.row_bytes;
    plan->work.result = run->output + (size_t)first * run->result.pitch;
    GC_CUDA_TRY(
        error, cudaStreamWaitEvent(plan->work.stream, run->copies->sent[band % GC_COPY_PIECES], 0));
    if (band == 0)
        GC_CUDA_TRY(error, cudaEventRecord(marks[GC_MARK_DECODED], plan->work.stream));
    GC_TRY(gc_plan_compute(plan, run->stream->chain_only, rows, error));
    GC_CUDA_TRY(error, cudaEventRecord(marks[GC_MARK_COMPUTED], plan->work.stream));
    return GCONV_OK;
}

static gconv_status download_band(overlap_run *run, int64_t band, gconv_error *error)
{
    const overlap_side *out = &run->out;
    gc_owned_event *marks = run->plan->work.slot->marks;
    GC_CUDA_TRY(error, cudaStreamWaitEvent(run->copies->down, marks[GC_MARK_COMPUTED], 0));
    if (band == 0)
        GC_CUDA_TRY(error, cudaEventRecord(marks[GC_MARK_OTHER_ARRIVED], run->copies->down));
    GC_TRY(gc_copy_rows({out->staged ? piece_of(out, band) : row_of(out, band * run->band_rows),
                         out->staged ? out->row_bytes : out->stride, run->plan->work.result,
                         run->result.pitch, out->row_bytes, output_rows(run, band)},
                        cudaMemcpyDeviceToHost, run->copies->down, error));
    GC_CUDA_TRY(error,
                cudaEventRecord(run->copies->arrived[band % GC_COPY_PIECES], run->copies->down));
    GC_CUDA_TRY(error, cudaEventRecord(marks[GC_MARK_ARRIVED], run->copies->down));
    return GCONV_OK;
}

static gconv_status enqueue_band(overlap_run *run, int64_t band, gconv_error *error)
{
    GC_TRY(upload_band(run, band, error));
    GC_TRY(compute_band(run, band, error));
    return download_band(run, band, error);
}

/* ---- The order ------------------------------------------------------------------------------- */

/* Under the lock. The first failure counts; every thread then ends. */
static void note(overlap_run *run, gconv_status status, const gconv_error *error)
{
    if (status != GCONV_OK && run->status == GCONV_OK) {
        run->status = status;
        run->error = *error;
    }
    pthread_cond_broadcast(&run->changed);
}

/* Whether a side has what the next band needs. Under the lock. */
static bool is_ready(const overlap_side *side, int64_t band)
{
    return !side->staged || side->ready[band % GC_COPY_PIECES];
}

/* Enqueues the next bands in their order, as far as their input is there and their output has a
 * place. If another thread does so already, that one goes on. */
static void enqueue_ready(overlap_run *run)
{
    pthread_mutex_lock(&run->lock);
    while (!run->enqueues && run->status == GCONV_OK && run->enqueued < run->bands &&
           is_ready(&run->in, run->enqueued) && is_ready(&run->out, run->enqueued)) {
        int64_t band = run->enqueued;
        gconv_error error;
        run->in.ready[band % GC_COPY_PIECES] = run->out.ready[band % GC_COPY_PIECES] = false;
        run->enqueues = true;
        pthread_mutex_unlock(&run->lock);
        gconv_status status = enqueue_band(run, band, &error);
        pthread_mutex_lock(&run->lock);
        run->enqueues = false;
        run->enqueued++;
        note(run, status, &error);
    }
    pthread_mutex_unlock(&run->lock);
}

/* Waits until a band is enqueued, and then for its event; false after a failure. */
static bool await_band(overlap_run *run, int64_t band, cudaEvent_t event)
{
    gconv_error error;
    pthread_mutex_lock(&run->lock);
    while (run->enqueued <= band && run->status == GCONV_OK)
        pthread_cond_wait(&run->changed, &run->lock);
    bool goes_on = run->status == GCONV_OK;
    pthread_mutex_unlock(&run->lock);
    if (!goes_on)
        return false;
    gconv_status status = gc_await_event(event, PAUSE, &error);
    if (status == GCONV_OK)
        return true;
    pthread_mutex_lock(&run->lock);
    note(run, status, &error);
    pthread_mutex_unlock(&run->lock);
    return false;
}

static void set_ready(overlap_run *run, overlap_side *side, int64_t band)
{
    pthread_mutex_lock(&run->lock);
    side->ready[band % GC_COPY_PIECES] = true;
    pthread_mutex_unlock(&run->lock);
    enqueue_ready(run);
}

/* ---- Copying --------------------------------------------------------------------------------- */

static void copy(char *to, size_t to_stride, const char *from, size_t from_stride, size_t bytes,
                 int64_t rows)
{
    if (to_stride == bytes && from_stride == bytes)
        memcpy(to, from, (size_t)rows * bytes);
    else
        for (int64_t y = 0; y < rows; y++, to += to_stride, from += from_stride)
            memcpy(to, from, bytes);
}

/* Fills the piece of a band, once the band that had it has been uploaded. */
static void take_input(overlap_run *run, int64_t band)
{
    overlap_side *in = &run->in;
    int64_t before = band - GC_COPY_PIECES, first = run->ends[band];
    if (before >= 0 && !await_band(run, before, run->copies->sent[band % GC_COPY_PIECES]))
        return;
    copy(piece_of(in, band), in->row_bytes, row_of(in, first), in->stride, in->row_bytes,
         run->ends[band + 1] - first);
    set_ready(run, in, band);
}

static void give_output(overlap_run *run, int64_t band)
{
    overlap_side *out = &run->out;
    if (!await_band(run, band, run->copies->arrived[band % GC_COPY_PIECES]))
        return;
    copy(row_of(out, band * run->band_rows), out->stride, piece_of(out, band), out->row_bytes,
         out->row_bytes, output_rows(run, band));
    set_ready(run, out, band);
}

/* The next thing to copy; false if nothing is left. Input is GC_COPY_PIECES bands ahead of output.
 * So a copy waits only for copies that were taken before it: one thread can do all. */
static bool take_work(overlap_run *run, bool *takes_input, int64_t *band)
{
    pthread_mutex_lock(&run->lock);
    int64_t ahead = run->next_in - run->next_out;
    *takes_input = run->next_in < run->bands && ahead < GC_COPY_PIECES;
    *band = *takes_input ? run->next_in : run->next_out;
    bool found = run->status == GCONV_OK && *band < run->bands;
    if (found)
        (*takes_input ? run->next_in : run->next_out)++;
    pthread_mutex_unlock(&run->lock);
    return found;
}

static void work(void *user, int member)
{
    overlap_run *run = (overlap_run *)user;
    gc_current_device current(run->plan->device.index);
    bool takes_input;
    int64_t band;
    (void)member;
    enqueue_ready(run);
    while (take_work(run, &takes_input, &band))
        if (takes_input && run->in.staged)
            take_input(run, band);
        else if (!takes_input && run->out.staged)
            give_output(run, band);
}

/* ---- A run ----------------------------------------------------------------------------------- */

bool gc_rows_are_pinned(const void *rows, size_t stride, size_t row_bytes, int64_t count)
{
    const char *first = (const char *)rows;
    const char *ends[] = {first, first + (size_t)(count - 1) * stride + row_bytes - 1};
    for (const char *end : ends) {
        cudaPointerAttributes found = {};
        bool pinned = cudaPointerGetAttributes(&found, end) == cudaSuccess &&
                      found.type == cudaMemoryTypeHost;
        cudaGetLastError();
        if (!pinned)
            return false;
    }
    return true;
}

/* Takes pieces for a side that is not pinned. */
static gconv_status open_side(overlap_side *side, int device, int64_t rows, int64_t most_rows,
                              bool ready, gconv_error *error)
{
    side->staged = !gc_rows_are_pinned(side->rows, side->stride, side->row_bytes, rows);
    side->piece_bytes = (size_t)most_rows * side->row_bytes;
    for (bool &one : side->ready)
        one = ready;
    if (!side->staged)
        return GCONV_OK;
    side->pieces = gc_host_take(GC_COPY_PIECES * side->piece_bytes, device);
    return side->pieces != nullptr ? GCONV_OK
                                   : gc_fail_memory(error, GC_COPY_PIECES * side->piece_bytes);
}

static gconv_status open_run(overlap_run *run, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    int64_t height = plan->problem->chain.height;
    run->bands = (height + run->band_rows - 1) / run->band_rows;
    run->ends = (int64_t *)calloc((size_t)run->bands + 1, sizeof *run->ends);
    GC_TRY_MEMORY(run->ends != nullptr, error, ((size_t)run->bands + 1) * sizeof *run->ends);
    for (int64_t band = 0; band < run->bands; band++) {
        int64_t first = band * run->band_rows;
        gc_band_steps(plan->problem, first, first + output_rows(run, band) - 1, plan->slabs,
                      plan->work.steps);
        run->ends[band + 1] = std::max(run->ends[band], plan->work.steps[0].input_last + 1);
    }
    GC_TRY(gc_slot_open_copies(plan->work.slot, error));
    GC_TRY(open_side(&run->in, plan->device.index, height, most_input_rows(plan, run->band_rows),
                     false, error));
    return open_side(&run->out, plan->device.index, height, run->band_rows, true, error);
}

/* Waits for the last band, and adds the times. Each is that from the first band's beginning to the
 * last band's end. */
static gconv_status end_work(overlap_run *run, gconv_error *error)
{
    const gc_gpu_plan *plan = run->plan;
    gconv_timings *timings = &run->stream->timings;
    GC_TRY(gc_await_event(plan->work.slot->marks[GC_MARK_ARRIVED], PAUSE, error));
    GC_TRY(
        gc_slot_seconds(plan->work.slot, GC_MARK_BEGIN, GC_MARK_UPLOADED, &timings->upload, error));
    GC_TRY(gc_slot_seconds(plan->work.slot, GC_MARK_DECODED, GC_MARK_COMPUTED, &timings->compute,
                           error));
    return gc_slot_seconds(plan->work.slot, GC_MARK_OTHER_ARRIVED, GC_MARK_ARRIVED,
                           &timings->download, error);
}

static gconv_status run_threads(overlap_run *run, gconv_error *error)
{
    int wanted = run->plan->problem->job.threads;
    int64_t copies = (run->in.staged ? run->bands : 0) + (run->out.staged ? run->bands : 0);
    int64_t threads = std::min<int64_t>(gc_thread_count(wanted), copies);
    gc_team_run((int)threads, wanted > 0, work, run);
    if (run->status == GCONV_OK)
        return end_work(run, error);
    *error = run->error;
    return run->status;
}

gconv_status gc_overlap_run(gc_gpu_plan *plan, gc_stream *stream, gconv_error *error)
{
    overlap_run run = {};
    run.plan = plan;
    run.stream = stream;
    run.copies = &plan->work.slot->copies;
    run.result = gc_plan_result_of(plan, stream->chain_only, plan->problem->chain.height);
    run.band_rows = rows_of_band(plan, stream);
    run.samples = plan->work.samples;
    run.output = plan->work.result;
    run.in.rows = (char *)stream->image.next; /* is read alone */
    run.in.stride = stream->image.stride;
    run.in.row_bytes = stream->input_bytes;
    run.out.rows = stream->result.next;
    run.out.stride = stream->result.stride;
    run.out.row_bytes = run.result.bytes;
    pthread_mutex_init(&run.lock, nullptr);
    pthread_cond_init(&run.changed, nullptr);
    gconv_status status = open_run(&run, error);
    GC_THEN(status, run_threads(&run, error));
    gc_slot_wait(plan->work.slot); /* after a failure, copies may be on their way */
    gc_host_give(run.in.pieces);
    gc_host_give(run.out.pieces);
    free(run.ends);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    return status;
}
