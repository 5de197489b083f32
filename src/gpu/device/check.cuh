/* Turns errors of CUDA into errors of gconv. */
#pragma once

extern "C" {
#include "base/status.h"
}

#include <cstring>
#include <cuda_runtime.h>

/* The gconv_status of a CUDA error: GCONV_ERROR_MEMORY if memory was short, else
 * GCONV_ERROR_DEVICE. The message holds CUDA's text, the expression, file and line. */
static inline gconv_status gc_cuda_fail(gconv_error *error, cudaError_t code,
                                        const char *expression, const char *file, int line)
{
    cudaGetLastError();
    gconv_status status =
        code == cudaErrorMemoryAllocation ? GCONV_ERROR_MEMORY : GCONV_ERROR_DEVICE;
    const char *name = strrchr(file, '/');
    return gc_fail(error, status, "CUDA: %s (%s at %s:%d)", cudaGetErrorString(code), expression,
                   name != nullptr ? name + 1 : file, line);
}

/* Returns from the calling function with a status when a CUDA call fails. */
#define GC_CUDA_TRY(error, call)                                                                   \
    do {                                                                                           \
        cudaError_t gc_code = (call);                                                              \
        if (gc_code != cudaSuccess)                                                                \
            return gc_cuda_fail(error, gc_code, #call, __FILE__, __LINE__);                        \
    } while (0)

/* Returns from the calling function when the kernel launch before it failed. */
#define GC_CUDA_TRY_LAUNCH(error) GC_CUDA_TRY(error, cudaGetLastError())
