/* The filter in constant memory. Constant memory belongs to the process and streams belong to plans, so
 * that plans take turns with it. */
#ifndef GC_GPU_LADDER_CONSTANT_CUH
#define GC_GPU_LADDER_CONSTANT_CUH

extern "C" {
#include "core/problem.h"
}

#include <cuda_runtime.h>

/* What one kernel's constant memory holds: 64 KB (CUDA C++ Programming Guide, compute
 * capabilities), all of it for weights. */
enum { GC_CONSTANT_TAPS = 16384 };

/* GCONV_ERROR_UNSUPPORTED where the filter is larger. */
gconv_status gc_constant_check(const gc_step *step, gconv_error *error);

/* Copies `count` weights from device memory to the constant memory at `symbol` (its address on the
 * device) in stream order, after the last kernel of any plan that reads what stands there. Keeps other
 * plans out until gc_constant_unlock, which follows the launch. */
gconv_status gc_constant_lock(void *symbol, const float *taps, int count, cudaStream_t stream,
                              gconv_error *error);
gconv_status gc_constant_unlock(cudaStream_t stream, gconv_error *error);

#endif
