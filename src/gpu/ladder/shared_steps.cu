#include "gpu/ladder/shared_steps.cuh"

#include "gpu/runtime/check.cuh"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>

double gc_gpu_seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device, double share)
{
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    /* Some devices do not tell their bandwidth: 100 GB/s is what a slow one has. */
    double bandwidth = device->memory_bandwidth > 0 ? device->memory_bandwidth : 1e11;
    double bytes = values * 4 * sizeof(float) / (0.85 * bandwidth);
    double products = values * step->width * step->height / (share * gconv_device_peak(device) / 2);
    return 5e-6 + bytes + products;
}

double gc_pass_seconds(const gc_problem *problem, int crossings, double products,
                       const gconv_device_info *device, double share)
{
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    double bandwidth = device->memory_bandwidth > 0 ? device->memory_bandwidth : 1e11;
    double bytes = values * crossings * sizeof(float) / (0.85 * bandwidth);
    double seconds = values * products / (share * gconv_device_peak(device) / 2);
    return 5e-6 + (bytes > seconds ? bytes : seconds);
}

gconv_status gc_gpu_check_shared(const gc_tiling *tiling, const gconv_device_info *device,
                                 gconv_error *error)
{
    if (tiling->block_width * tiling->block_height > device->threads_per_block)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a block of %dx%d threads is more than the %d of %s", tiling->block_width,
                       tiling->block_height, device->threads_per_block, device->name);
    if (tiling->shared_bytes > device->shared_per_block_optin)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a block of %dx%d threads, factor %d, takes %.0f KiB of shared memory for "
                       "this filter; %s has %.0f",
                       tiling->block_width, tiling->block_height, tiling->tile,
                       (double)tiling->shared_bytes / 1024, device->name,
                       (double)device->shared_per_block_optin / 1024);
    return GCONV_OK;
}

gconv_status gc_gpu_opt_in(const void *kernel, const gconv_device_info *device, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)device->shared_per_block_optin));
    return GCONV_OK;
}

void gc_gpu_block(const gc_problem *problem, gc_tiling *tiling)
{
    if (problem->job.block_width > 0) {
        tiling->block_width = problem->job.block_width;
        tiling->block_height = problem->job.block_height;
    }
}

gc_tiling gc_block_tiling(const gc_problem *problem, const gc_step *step)
{
    gc_tiling tiling = {32, 16, 1, 0, 0};
    gc_gpu_block(problem, &tiling);
    tiling.shared_pitch = step->width - 1 + tiling.block_width;
    tiling.shared_bytes = (uint64_t)tiling.shared_pitch *
                          (uint64_t)(step->height - 1 + tiling.block_height) * sizeof(float);
    return tiling;
}

gconv_status gc_tiling_create(const gc_tiling *tiling, void **state, gconv_error *error)
{
    gc_tiling *copy = (gc_tiling *)malloc(sizeof *copy);
    if (copy == nullptr)
        return gc_fail_memory(error, sizeof *copy);
    *copy = *tiling;
    *state = copy;
    return GCONV_OK;
}

void gc_tiling_describe(const void *state, char *text, size_t size)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    snprintf(text, size, "block %dx%d, factor %d, %.1f KiB of shared memory", tiling->block_width,
             tiling->block_height, tiling->tile, (double)tiling->shared_bytes / 1024);
}

double gc_tiling_intensity(const void *state, const gc_step *step)
{
    const gc_tiling *t = (const gc_tiling *)state;
    double outputs = (double)t->block_width * t->tile * t->block_height;
    double loaded =
        (double)(step->width - 1 + t->block_width * t->tile) * (step->height - 1 + t->block_height);
    return 2.0 * step->width * step->height * outputs / (loaded * sizeof(float));
}

gconv_status gc_gpu_check_constant(const gc_step *step, gconv_error *error)
{
    if (step->width * step->height > GC_CONSTANT_TAPS)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter takes %.0f KiB; constant memory has 64", step->width,
                       step->height, (double)step->width * step->height * sizeof(float) / 1024);
    return GCONV_OK;
}

/* Constant memory belongs to the process, streams to plans: `last_use` is the latest kernel that
 * reads it, and who holds the mutex is about to launch the next. */
static pthread_mutex_t constant_mutex = PTHREAD_MUTEX_INITIALIZER;
static cudaEvent_t constant_last_use[64];

gconv_status gc_constant_lock(void *symbol, const float *taps, int count, cudaStream_t stream,
                              gconv_error *error)
{
    pthread_mutex_lock(&constant_mutex);
    int device = 0;
    cudaError_t code = cudaGetDevice(&device);
    cudaEvent_t *last_use = &constant_last_use[device % 64];
    if (code == cudaSuccess && *last_use == nullptr)
        code = cudaEventCreateWithFlags(last_use, cudaEventDisableTiming);
    if (code == cudaSuccess)
        code = cudaStreamWaitEvent(stream, *last_use, 0);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(symbol, taps, (size_t)count * sizeof *taps, cudaMemcpyDeviceToDevice,
                               stream);
    if (code == cudaSuccess)
        return GCONV_OK;
    pthread_mutex_unlock(&constant_mutex);
    return gc_cuda_fail(error, code, "copying the filter to constant memory", __FILE__, __LINE__);
}

gconv_status gc_constant_unlock(cudaStream_t stream, gconv_error *error)
{
    int device = 0;
    cudaError_t code = cudaGetLastError();
    if (code == cudaSuccess)
        code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaEventRecord(constant_last_use[device % 64], stream);
    pthread_mutex_unlock(&constant_mutex);
    GC_CUDA_TRY(error, code);
    return GCONV_OK;
}
