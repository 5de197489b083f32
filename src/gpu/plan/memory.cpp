/* The memory of a run: how large a band fits in the device's memory, and the buffers for it. */
#include "gpu/device/check.cuh"
#include "gpu/jpeg/jpeg.h"
#include "gpu/plan/plan.cuh"

extern "C" {
#include "base/number.h"
}

#include <algorithm>
#include <cstdlib>

/* ---- Sizes ----------------------------------------------------------------------------------- */

int64_t gc_plan_input_rows(const gc_gpu_plan *plan)
{
    return gc_band_input_rows(plan->problem, plan->memory.band_rows, plan->slabs);
}

gc_gpu_planes gc_plan_planes(const gc_gpu_plan *plan, float *values, int64_t rows, int64_t width)
{
    int64_t pitch = gc_device_pitch(width);
    return {values, pitch, pitch * rows, rows, (int)width, plan->problem->chain.channels};
}

int64_t gc_plan_input_pitch(const gc_gpu_plan *plan)
{
    const gconv_shape *shape = &plan->problem->job.input;
    return gc_device_pitch((int64_t)shape->width * shape->channels);
}

bool gc_plan_has_whole_rows(const gc_gpu_plan *plan)
{
    const gconv_shape *shape = &plan->problem->job.input;
    return gc_plan_input_pitch(plan) == (int64_t)shape->width * shape->channels;
}

int64_t gc_plan_output_pitch(const gc_gpu_plan *plan, gc_sample_type type)
{
    int64_t width = plan->problem->chain.width;
    if (type == GC_BIT)
        return (width + 127) / 128 * 16;
    if (type == GC_FLOAT)
        return gc_device_pitch(width);
    return gc_device_pitch((width + 3) / 4 * 4 * plan->problem->conversion.output.channels);
}

/* ---- The band -------------------------------------------------------------------------------- */

/* Share of the free memory that all runs take. */
static const double memory_share = 0.9;

/* How many runs share the device's memory at most. A method keeps its own buffers between runs,
 * beside those of the slot, so each plan has its own share. A run that waits does not count in
 * images_at_once: for each image that is computed several may have a slot. A batch of the command
 * line has as many workers (cli/image/batch.c). */
static int most_sharers(const gc_gpu_plan *plan)
{
    enum { RUNS_PER_IMAGE = 3 };
    int images = std::max(1, plan->problem->job.images_at_once);
    if (plan->memory.extra_bytes != nullptr || images == 1)
        return images;
    return std::min<int>(images * RUNS_PER_IMAGE, GC_SLOTS_MAX);
}

/* What all runs may take of the device's memory: a share of what is free or in slots, or what the
 * user says. */
static gconv_status memory_budget(const gc_gpu_plan *plan, double *bytes, gconv_error *error)
{
    size_t available = 0, total = 0;
    GC_CUDA_TRY(error, cudaMemGetInfo(&available, &total));
    available += gc_slot_bytes(plan->device.index);
    *bytes = memory_share * (double)available;
    const char *limit = getenv("GCONV_CUDA_MEMORY");
    long long number;
    if (limit == nullptr || limit[0] == '\0')
        return GCONV_OK;
    if (!gc_parse_integer(limit, 1, INT64_MAX, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "GCONV_CUDA_MEMORY: '%s' is not a number of bytes", limit);
    *bytes = std::min(*bytes, (double)number);
    return GCONV_OK;
}

/* The most rows of output whose input pixels a grid can number, even with blocks of 1x1 threads. */
static int64_t rows_of_a_grid(const gc_gpu_plan *plan)
{
    int64_t reach = gc_plan_input_rows(plan) - plan->memory.band_rows;
    return std::max<int64_t>(1, INT32_MAX / (int64_t)plan->problem->chain.width - reach);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Bytes of the extended image of that step which needs most. */
static size_t extended_bytes_of(const gc_gpu_plan *plan, int64_t rows)
{
    const gc_problem *problem = plan->problem;
    size_t most = 0;
    for (int s = 0; s < problem->chain.step_count; s++) {
        int64_t pitch =
            gc_device_pitch((int64_t)problem->chain.width + problem->chain.steps[s].width - 1);
        size_t bytes = (size_t)(pitch * rows * problem->chain.channels) * sizeof(float);
        most = std::max(most, bytes);
    }
    return most;
}

/* Bytes of the result in the device's memory: output, or chain values. */
static size_t result_bytes_of(const gc_gpu_plan *plan, bool chain_only, int64_t rows)
{
    const gc_problem *problem = plan->problem;
    gc_sample_type type = gc_finish_type(problem);
    if (gc_plan_stores_output(plan, chain_only))
        return (size_t)(gc_plan_output_pitch(plan, type) * rows) * (type == GC_SHORT ? 2 : 1);
    if (plan->finishes && !chain_only)
        return (size_t)rows * gconv_shape_row_bytes(&problem->conversion.output);
    return (size_t)rows * gc_chain_row_values(&problem->chain) * sizeof(float);
}

static size_t plane_bytes_of(const gc_gpu_plan *plan, gc_plane_use use, int64_t rows)
{
    const gc_problem *problem = plan->problem;
    if (use == GC_PLANE_OF_SAMPLES)
        return (size_t)(gc_plan_input_pitch(plan) * rows) * (size_t)(problem->job.input.depth / 8);
    size_t values = (size_t)(gc_device_pitch(problem->chain.width) * rows);
    return use == GC_PLANE_OF_VALUES ? values * problem->chain.channels * sizeof(float) : 0;
}

void gc_plan_buffer_sizes(const gc_gpu_plan *plan, bool chain_only, int64_t rows,
                          size_t sizes[GC_BUFFERS])
{
    int64_t input_rows = gc_band_input_rows(plan->problem, rows, plan->slabs);
    gc_plane_use use[2] = {GC_PLANE_UNUSED, GC_PLANE_UNUSED};
    gc_plan_use_planes(plan, chain_only, use);
    sizes[GC_BUFFER_SAMPLES] =
        (size_t)input_rows * gconv_shape_row_bytes(&plan->problem->job.input);
    sizes[GC_BUFFER_PLANE] = plane_bytes_of(plan, use[0], input_rows);
    sizes[GC_BUFFER_OTHER_PLANE] = plane_bytes_of(plan, use[1], input_rows);
    sizes[GC_BUFFER_EXTENDED] = std::max(plan->by_steps ? extended_bytes_of(plan, input_rows) : 0,
                                         result_bytes_of(plan, chain_only, rows));
}

/* ---- The share ------------------------------------------------------------------------------- */

/* Chooses the largest band that fits in `bytes`. */
static void choose_rows(gc_gpu_plan *plan, double bytes)
{
    plan->memory.band_rows =
        gc_band_rows(plan->problem, bytes, plan->slabs, plan->memory.extra_bytes);
    int64_t rows = std::min(plan->memory.band_rows, rows_of_a_grid(plan));
    plan->memory.band_rows = gc_band_whole(plan->problem, rows, plan->slabs);
}

/* What is left, for decoding and compressing, of a share in which the whole image fits. */
static size_t left_of_share(const gc_gpu_plan *plan, double bytes)
{
    size_t sizes[GC_BUFFERS];
    gc_plan_buffer_sizes(plan, false, plan->problem->chain.height, sizes);
    for (int i = 0; i < GC_BUFFER_DECODING; i++)
        bytes -= (double)sizes[i];
    return bytes > 0 ? (size_t)bytes : 0;
}

/* Whether a share is enough: the whole image fits, and so does what decodes it if it may come as a
 * JPEG. */
static bool share_does(const gc_gpu_plan *plan)
{
    const gconv_job *job = &plan->problem->job;
    double pixels = (double)job->input.width * job->input.height;
    double decoding = gc_packed_bytes_a_pixel(job->input.channels) * pixels;
    return plan->memory.band_rows == plan->problem->chain.height &&
           (job->source_format != GCONV_FORMAT_JPEG ||
            (double)plan->memory.spare_bytes >= decoding);
}

gconv_status gc_plan_choose_band(gc_gpu_plan *plan, gconv_error *error)
{
    enum { SHARERS_BUSY = 4 }; /* they keep a device busy */
    const int least = std::min<int>(std::max(1, plan->problem->job.images_at_once), SHARERS_BUSY);
    double bytes = 0;
    int64_t fewest =
        plan->slabs != nullptr ? plan->slabs[plan->problem->chain.step_count - 1].rows : 1;
    GC_TRY(memory_budget(plan, &bytes, error));
    int sharers = most_sharers(plan);
    for (;; sharers = std::max(sharers / 2, least)) {
        choose_rows(plan, bytes / sharers);
        bool whole = plan->memory.band_rows == plan->problem->chain.height;
        plan->memory.spare_bytes = whole ? left_of_share(plan, bytes / sharers) : 0;
        if (sharers <= least || plan->memory.extra_bytes != nullptr || share_does(plan))
            break;
    }
    plan->memory.shares = std::max(1, (GC_SLOTS_MAX + sharers - 1) / sharers);
    plan->memory.bytes = bytes / sharers;
    if (plan->memory.band_rows > 0)
        return GCONV_OK;
    bool is_small = plan->memory.bytes < (1 << 20);
    return gc_fail(error, GCONV_ERROR_MEMORY,
                   "not even %lld row%s in the %.1f %s that may be taken of %s", (long long)fewest,
                   fewest > 1 ? "s fit" : " fits",
                   plan->memory.bytes / (is_small ? 1 << 10 : 1 << 20), is_small ? "KiB" : "MiB",
                   plan->device.name);
}

/* ---- The slot -------------------------------------------------------------------------------- */

void gc_plan_use_buffers(gc_gpu_plan *plan, gc_slot *slot)
{
    const gconv_shape *shape = &plan->problem->job.input;
    plan->work.samples = (char *)slot->buffers[GC_BUFFER_SAMPLES];
    plan->work.samples_pitch = (int64_t)shape->width * shape->channels;
    plan->work.samples_padded = false;
    plan->work.planes[0] = (float *)slot->buffers[GC_BUFFER_PLANE];
    plan->work.planes[1] = (float *)slot->buffers[GC_BUFFER_OTHER_PLANE];
    plan->work.extended = (float *)slot->buffers[GC_BUFFER_EXTENDED];
    plan->work.result = (char *)slot->buffers[GC_BUFFER_EXTENDED];
}

/* Gives the slot back if that fails. */
static gconv_status use_slot(gc_gpu_plan *plan, gc_slot *slot, gconv_error *error)
{
    plan->work.slot = slot;
    plan->work.stream = slot->cuda_stream;
    gc_plan_use_buffers(plan, slot);
    gconv_status status = gc_plan_await_device_run(plan, error);
    if (status != GCONV_OK)
        gc_plan_give_slot(plan);
    return status;
}

gconv_status gc_plan_take_slot(gc_gpu_plan *plan, bool chain_only, size_t decoding_bytes,
                               size_t *compressing_bytes, int64_t *rows, gconv_error *error)
{
    gc_slot *slot;
    GC_TRY(gc_slot_take(plan->device.index, plan->memory.shares, &slot, error));
    for (*rows = plan->memory.band_rows;;) {
        size_t sizes[GC_BUFFERS];
        gc_plan_buffer_sizes(plan, chain_only, *rows, sizes);
        sizes[GC_BUFFER_DECODING] = *rows < plan->memory.band_rows ? 0 : decoding_bytes;
        sizes[GC_BUFFER_COMPRESSING] = *compressing_bytes;
        gconv_status status = gc_slot_reserve(slot, sizes, plan->memory.bytes, error);
        int64_t fewer = gc_band_whole(plan->problem, *rows / 2, plan->slabs);
        if (status == GCONV_OK)
            return use_slot(plan, slot, error);
        if (status != GCONV_ERROR_MEMORY || (fewer == 0 && *compressing_bytes == 0)) {
            gc_slot_give(slot);
            return status;
        }
        if (*compressing_bytes == 0) /* another process may have taken memory meanwhile */
            *rows = fewer;
        *compressing_bytes = 0;
    }
}

void gc_plan_give_slot(gc_gpu_plan *plan)
{
    gc_slot *slot = plan->work.slot;
    plan->work.slot = nullptr;
    if (slot != nullptr)
        gc_slot_give(slot);
}
