/* The source of a kernel that is compiled for one filter: the kernels of src/gpu/kernels/jit, the
 * constants of a layout, and the weights. */
#ifndef GC_GPU_JIT_SOURCE_CUH
#define GC_GPU_JIT_SOURCE_CUH

extern "C" {
#include "gpu/fast/layout.h"
}

/* The source for `layout` and `count` weights, freed with free; null where memory is short. */
char *gc_kernel_source(const gc_layout &layout, const float *weights, int count);

#endif
