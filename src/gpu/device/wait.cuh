/* Waiting for a device without holding a processor. */
#pragma once

#include "gpu/device/check.cuh"

#include <time.h>

/* Waits until the work before an event is done. Sleeps between questions, which takes no system
 * calls of the driver: `microseconds`, and, if the wait is long, an eighth of it. The driver's own
 * sleeping wait (cudaEventBlockingSync) was no faster in batches. */
static inline gconv_status gc_await_event(cudaEvent_t event, long microseconds, gconv_error *error)
{
    long waited = 0;
    cudaError_t code;
    while ((code = cudaEventQuery(event)) == cudaErrorNotReady) {
        long pause = waited / 8 > microseconds ? waited / 8 : microseconds;
        const struct timespec time = {pause / 1000000, pause % 1000000 * 1000};
        nanosleep(&time, nullptr);
        waited += pause;
    }
    GC_CUDA_TRY(error, code);
    return GCONV_OK;
}
