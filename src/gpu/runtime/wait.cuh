/* Waiting for a device without holding a processor. */
#ifndef GC_GPU_RUNTIME_WAIT_CUH
#define GC_GPU_RUNTIME_WAIT_CUH

#include "gpu/runtime/check.cuh"

#include <time.h>

/* Waits until the work before an event is done. Sleeps `microseconds` between questions, which
 * takes no system calls of the driver. The driver's own sleeping wait (cudaEventBlockingSync) was
 * no faster in batches. */
static inline gconv_status gc_await_event(cudaEvent_t event, long microseconds, gconv_error *error)
{
    const struct timespec pause = {0, microseconds * 1000};
    cudaError_t code;
    while ((code = cudaEventQuery(event)) == cudaErrorNotReady)
        nanosleep(&pause, nullptr);
    GC_CUDA_TRY(error, code);
    return GCONV_OK;
}

#endif
