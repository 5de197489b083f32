/* A filter in constant memory. Each file that includes this has a constant memory of its own. */
#ifndef GC_GPU_METHODS_LADDER_CONSTANT_FILTER_CUH
#define GC_GPU_METHODS_LADDER_CONSTANT_FILTER_CUH

#include "gpu/device/check.cuh"
#include "gpu/methods/ladder/constant.cuh"
#include "gpu/plan/method.cuh"

static __constant__ float gc_filter[GC_CONSTANT_TAPS];

/* Puts the step's filter there. The caller then launches its kernel, and calls
 * gc_constant_unlock. */
static inline gconv_status gc_filter_lock(const gc_gpu_step &step, cudaStream_t stream,
                                          gconv_error *error)
{
    void *symbol;
    GC_CUDA_TRY(error, cudaGetSymbolAddress(&symbol, gc_filter));
    return gc_constant_lock(symbol, step.taps, step.filter_width * step.filter_height, stream,
                            error);
}

#endif
