/* The time of an image on the device, from samples to samples in its memory: no transfers. */
#include "gpu/device/owned.cuh"
#include "gpu/plan/plan.cuh"

extern "C" {
#include "base/clock.h"
}

#include <algorithm>

enum { TIMES_MIN = 5, TIMES_MAX = 1000 };

/* ---- Parts of a run -------------------------------------------------------------------------- */

/* Each time that a part is at work lies between two events. */
struct part_span {
    gc_owned_event begin, end; /* null before the first use */
    gc_part part;
};

/* Spans of a run that are timed: an extended image a step, and conversions at both ends. */
enum { SPANS_MAX = 256 };

struct gc_part_watch {
    int count;
    part_span spans[SPANS_MAX];
};

gconv_status gc_plan_begin_part(gc_gpu_plan *plan, gc_part part, gconv_error *error)
{
    gc_part_watch *watch = plan->work.watch;
    if (watch == nullptr || watch->count == SPANS_MAX)
        return GCONV_OK;
    part_span *span = &watch->spans[watch->count];
    for (cudaEvent_t *event : {&span->begin, &span->end})
        if (*event == nullptr)
            GC_CUDA_TRY(error, cudaEventCreate(event));
    span->part = part;
    GC_CUDA_TRY(error, cudaEventRecord(span->begin, plan->work.stream));
    return GCONV_OK;
}

gconv_status gc_plan_end_part(gc_gpu_plan *plan, gconv_error *error)
{
    gc_part_watch *watch = plan->work.watch;
    if (watch == nullptr || watch->count == SPANS_MAX)
        return GCONV_OK;
    GC_CUDA_TRY(error, cudaEventRecord(watch->spans[watch->count++].end, plan->work.stream));
    return GCONV_OK;
}

static gconv_status read_parts(const gc_part_watch *watch, float milliseconds[GC_PARTS],
                               gconv_error *error)
{
    std::fill_n(milliseconds, (int)GC_PARTS, 0.0f);
    for (int i = 0; i < watch->count; i++) {
        const part_span *span = &watch->spans[i];
        float of_span;
        GC_CUDA_TRY(error, cudaEventElapsedTime(&of_span, span->begin, span->end));
        milliseconds[span->part] += of_span;
    }
    return GCONV_OK;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* What one measurement holds. */
struct stopwatch {
    gc_owned_event begin, end;
    gc_owned_memory<char> flush; /* larger than the second-level cache */
    size_t flush_bytes;
    gc_part_watch parts;
};

static gconv_status run_once(gc_gpu_plan *plan, const stopwatch *watch, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaMemsetAsync(watch->flush, 1, watch->flush_bytes, plan->work.stream));
    GC_CUDA_TRY(error, cudaEventRecord(watch->begin, plan->work.stream));
    GC_TRY(gc_plan_compute(plan, false, plan->problem->chain.height, error));
    GC_CUDA_TRY(error, cudaEventRecord(watch->end, plan->work.stream));
    GC_CUDA_TRY(error, cudaEventSynchronize(watch->end));
    return GCONV_OK;
}

static double median_seconds(float *milliseconds, int count)
{
    std::sort(milliseconds, milliseconds + count);
    return 1e-3 * (double)(milliseconds[count / 2] + milliseconds[(count - 1) / 2]) / 2;
}

/* The median of whole runs. The first two warm up and do not count. */
static gconv_status time_whole(gc_gpu_plan *plan, const stopwatch *watch, double seconds,
                               double *median, gconv_error *error)
{
    float times[TIMES_MAX];
    int count = 0;
    double begin = gc_seconds();
    for (int run = -2; run < TIMES_MAX; run++) {
        if (run >= TIMES_MIN && gc_seconds() - begin > seconds)
            break;
        GC_TRY(run_once(plan, watch, error));
        float *to = &times[std::max(run, 0)];
        GC_CUDA_TRY(error, cudaEventElapsedTime(to, watch->begin, watch->end));
        if (run >= 0)
            count++;
    }
    *median = median_seconds(times, count);
    return GCONV_OK;
}

/* The medians of parts. Nothing has to warm up any more. */
static gconv_status time_parts(gc_gpu_plan *plan, stopwatch *watch, double seconds,
                               double medians[GC_PARTS], gconv_error *error)
{
    float times[GC_PARTS][TIMES_MAX];
    int count = 0;
    double begin = gc_seconds();
    while (count < TIMES_MAX && (count < TIMES_MIN || gc_seconds() - begin <= seconds)) {
        float parts[GC_PARTS];
        watch->parts.count = 0;
        GC_TRY(run_once(plan, watch, error));
        GC_TRY(read_parts(&watch->parts, parts, error));
        for (int p = 0; p < GC_PARTS; p++)
            times[p][count] = parts[p];
        count++;
        if (watch->parts.count == 0)
            break;
    }
    for (int p = 0; p < GC_PARTS; p++)
        medians[p] = median_seconds(times[p], count);
    return GCONV_OK;
}

/* Two thirds of the time are for whole runs. */
static gconv_status time_many(gc_gpu_plan *plan, stopwatch *watch, double seconds,
                              gconv_device_times *times, gconv_error *error)
{
    double parts[GC_PARTS];
    watch->flush_bytes = (size_t)std::max<uint64_t>(2 * plan->device.l2_bytes, 64 << 20);
    GC_CUDA_TRY(error, cudaEventCreate(&watch->begin));
    GC_CUDA_TRY(error, cudaEventCreate(&watch->end));
    GC_CUDA_TRY(error, cudaMalloc(&watch->flush, watch->flush_bytes));
    GC_TRY(time_whole(plan, watch, seconds * 2 / 3, &times->total, error));
    plan->work.watch = &watch->parts;
    gconv_status status = time_parts(plan, watch, seconds / 3, parts, error);
    plan->work.watch = nullptr;
    if (status == GCONV_OK) {
        times->border = parts[GC_PART_BORDER];
        times->conversion = parts[GC_PART_CONVERSION];
    }
    return status;
}

/* In a slot that holds the whole image. */
static gconv_status time_image(gc_gpu_plan *plan, const char *input, size_t stride, double seconds,
                               gconv_device_times *times, gconv_error *error)
{
    int64_t height = plan->problem->chain.height;
    gc_band_steps(plan->problem, 0, height - 1, plan->slabs, plan->work.steps);
    GC_TRY(gc_plan_upload(plan, input, stride, plan->work.steps[0].input_first,
                          plan->work.steps[0].input_last, cudaMemcpyHostToDevice, error));
    stopwatch watch = {};
    return time_many(plan, &watch, seconds, times, error);
}

gconv_status gc_gpu_time(void *state, const void *input, size_t stride, double seconds,
                         gconv_device_times *times, gconv_error *error)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    GC_TRY(gc_plan_await_start(plan, error));
    gc_current_device current(plan->device.index);
    int64_t rows;
    size_t compressing = 0;
    GC_TRY(gc_plan_take_slot(plan, false, 0, &compressing, &rows, error));
    gconv_status status =
        rows < plan->problem->chain.height
            ? gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                      "the image does not fit in the device's memory at once")
            : time_image(plan, (const char *)input, stride, seconds, times, error);
    gc_plan_give_slot(plan);
    return status;
}
