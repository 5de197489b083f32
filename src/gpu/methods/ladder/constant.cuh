/* The filter in constant memory. All plans of the process share this memory, but each has a stream
 * of its own. So plans take turns. */
#pragma once

extern "C" {
#include "core/problem.h"
}

#include "gpu/device/check.cuh"

/* What one kernel's constant memory holds: 64 KB (CUDA C++ Programming Guide, compute
 * capabilities), all of it for weights. */
enum { GC_CONSTANT_TAPS = 16384 };

/* GCONV_ERROR_UNSUPPORTED if the filter is larger. */
gconv_status gc_constant_check(const gc_step *step, gconv_error *error);

/* Copies `count` weights from device memory to the constant memory at device address `symbol`, in
 * stream order. The copy waits for the latest kernel of any plan that reads constant memory. Other
 * plans wait until gc_constant_unlock. The caller launches its kernel before that. */
gconv_status gc_constant_lock(void *symbol, const float *taps, int count, cudaStream_t stream,
                              gconv_error *error);
gconv_status gc_constant_unlock(cudaStream_t stream, gconv_error *error);

/* Weights in the constant memory of the file that includes this. */
static __constant__ float gc_filter[GC_CONSTANT_TAPS];

/* Puts `count` weights of the device's memory there. The caller then launches its kernel, and calls
 * gc_constant_unlock. */
static inline gconv_status gc_filter_lock(const float *weights, int count, cudaStream_t stream,
                                          gconv_error *error)
{
    void *symbol;
    GC_CUDA_TRY(error, cudaGetSymbolAddress(&symbol, gc_filter));
    return gc_constant_lock(symbol, weights, count, stream, error);
}
