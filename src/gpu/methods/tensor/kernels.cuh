/* The kernels that take a step on the tensor cores (halves.cuh). */
#pragma once

extern "C" {
#include "gpu/pass/types.h"
}

enum {
    GC_TENSOR_ROWS = 8, /* of output, a warp */
    GC_TENSOR_WARPS = 4,
    GC_TENSOR_THREADS = 32 * GC_TENSOR_WARPS,
    GC_TENSOR_TILE_HEIGHT = GC_TENSOR_ROWS * GC_TENSOR_WARPS
};

/* What a kernel is made for. */
struct gc_tensor_shape {
    bool splits;                        /* samples, in two parts */
    int weight_parts;                   /* 1 or 2 */
    int columns, input, output, finish; /* of the banded matrix, types, gc_finish_kind; -1: any */
    int channels, alpha;                /* as in gc_pass_scope */
};

/* The kernel for a shape, which has no -1; null if there is none. `scales` says that samples are
 * multiplied by a power of 2. Kernels for one number of columns cannot do that. */
const void *gc_tensor_find(const gc_tensor_shape &wanted, bool scales);

/* The same of the kernels that were compiled together (kernels.cu). */
typedef const void *gc_tensor_part(const gc_tensor_shape &wanted, bool scales);
gc_tensor_part gc_tensor_bytes, gc_tensor_split_bytes, gc_tensor_floats, gc_tensor_any,
    gc_tensor_rgb, gc_tensor_rgba, gc_tensor_kept_alpha;
