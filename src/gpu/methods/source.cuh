/* The source of a kernel that is compiled for one filter: the text of its kernel, the
 * constants of a layout, and the weights. */
#ifndef GC_GPU_METHODS_SOURCE_CUH
#define GC_GPU_METHODS_SOURCE_CUH

extern "C" {
#include "gpu/tunings/layout.h"
}

/* The source for `layout` and `count` weights, freed with free; null where memory is short. */
char *gc_kernel_source(const gc_layout &layout, const float *weights, int count);

#endif
