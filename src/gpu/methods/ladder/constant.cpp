#include "gpu/methods/ladder/constant.cuh"

#include "gpu/device/check.cuh"

#include <pthread.h>

gconv_status gc_constant_check(const gc_step *step, gconv_error *error)
{
    if (step->width * step->height > GC_CONSTANT_TAPS)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter takes %.0f KiB; constant memory has 64", step->width,
                       step->height, (double)step->width * step->height * sizeof(float) / 1024);
    return GCONV_OK;
}

/* A plan that holds the mutex is about to launch a kernel that reads constant memory.
 * `constant_last_use` marks the latest such kernel of each device. */
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
