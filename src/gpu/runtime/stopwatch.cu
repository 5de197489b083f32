/* The time of an image on the device, from samples to samples in its memory: no transfers. */
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/plan.cuh"

extern "C" {
#include "base/clock.h"
}

#include <algorithm>

enum { TIMES_MIN = 5, TIMES_MAX = 1000 };

/* What one measurement holds, freed in one place. */
struct stopwatch {
    cudaEvent_t begin, end;
    char *flush; /* device: larger than the second-level cache */
    size_t flush_bytes;
};

static gconv_status time_once(gc_gpu_plan *plan, const stopwatch *watch, float *milliseconds,
                              gconv_error *error)
{
    GC_CUDA_TRY(error, cudaMemsetAsync(watch->flush, 1, watch->flush_bytes, plan->cuda_stream));
    GC_CUDA_TRY(error, cudaEventRecord(watch->begin, plan->cuda_stream));
    GC_TRY(gc_plan_compute(plan, false, plan->problem->chain.height, error));
    GC_CUDA_TRY(error, cudaEventRecord(watch->end, plan->cuda_stream));
    GC_CUDA_TRY(error, cudaEventSynchronize(watch->end));
    GC_CUDA_TRY(error, cudaEventElapsedTime(milliseconds, watch->begin, watch->end));
    return GCONV_OK;
}

/* The first two runs warm up and do not count. */
static gconv_status time_many(gc_gpu_plan *plan, stopwatch *watch, double seconds, double *median,
                              gconv_error *error)
{
    float times[TIMES_MAX];
    int count = 0;
    watch->flush_bytes = (size_t)std::max<uint64_t>(2 * plan->device.l2_bytes, 64 << 20);
    GC_CUDA_TRY(error, cudaEventCreate(&watch->begin));
    GC_CUDA_TRY(error, cudaEventCreate(&watch->end));
    GC_CUDA_TRY(error, cudaMalloc(&watch->flush, watch->flush_bytes));
    double begin = gc_seconds();
    for (int run = -2; run < TIMES_MAX; run++) {
        if (run >= TIMES_MIN && gc_seconds() - begin > seconds)
            break;
        float milliseconds;
        GC_TRY(time_once(plan, watch, &milliseconds, error));
        if (run >= 0)
            times[count++] = milliseconds;
    }
    std::sort(times, times + count);
    *median = 1e-3 * (double)(times[count / 2] + times[(count - 1) / 2]) / 2;
    return GCONV_OK;
}

/* In a slot that holds the whole image. */
static gconv_status time_image(gc_gpu_plan *plan, const char *input, size_t stride, double seconds,
                               double *median, gconv_error *error)
{
    int64_t height = plan->problem->chain.height;
    gc_band_steps(plan->problem, 0, height - 1, plan->slabs, plan->steps);
    GC_TRY(gc_plan_upload(plan, input, stride, plan->steps[0].input_first,
                          plan->steps[0].input_last, cudaMemcpyHostToDevice, error));
    stopwatch watch = {};
    gconv_status status = time_many(plan, &watch, seconds, median, error);
    cudaFree(watch.flush);
    if (watch.end != nullptr)
        cudaEventDestroy(watch.end);
    if (watch.begin != nullptr)
        cudaEventDestroy(watch.begin);
    return status;
}

gconv_status gc_gpu_time(void *state, const void *input, size_t stride, double seconds,
                         double *median, gconv_error *error)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    GC_TRY(gc_plan_await_start(plan, error));
    gc_current_device current(plan->device.index);
    int64_t rows;
    GC_TRY(gc_plan_take_slot(plan, false, 0, &rows, error));
    gconv_status status =
        rows < plan->problem->chain.height
            ? gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                      "the image does not fit in the device's memory at once")
            : time_image(plan, (const char *)input, stride, seconds, median, error);
    gc_plan_give_slot(plan);
    return status;
}
