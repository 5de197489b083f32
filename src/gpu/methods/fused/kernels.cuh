/* The kernels that take a whole chain on the tensor cores (bytes.cuh,
 * bytes_lines.cuh). */
#pragma once

#include "gpu/methods/fused/bytes_units.h"

extern "C" {
#include "gpu/pass/types.h"
}

#include <cstddef>

enum {
    GC_FUSED_ROWS = 3, /* rows of output for each row of a fragment */
    GC_FUSED_WARPS = 4,
    GC_FUSED_TILE_WIDTH = GC_FUSED_WARPS * GC_BYTES_UNITS * GC_BYTES_UNIT,
    GC_FUSED_TILE_HEIGHT = 16 * GC_FUSED_ROWS,
    GC_FUSED_LINES_WIDTH = GC_FUSED_WARPS * GC_LINES_UNITS * GC_BYTES_UNIT,
    GC_FUSED_LINES_HEIGHT = 7 /* the most rows of a filter that bytes_lines.cuh takes */
};

struct gc_fused_kernel {
    int height; /* the most rows of a filter */
    gc_sample_type input, output;
    int finish; /* gc_finish_kind; -1: any */
    const void *kernel;
    size_t shared_bytes; /* of a block */
};

/* A kernel of bytes.cuh for a filter of `height` rows and these types; null if there is none. */
const gc_fused_kernel *gc_fused_find(int height, gc_sample_type input, gc_sample_type output,
                                     int finish);

/* gc_fused_find among the kernels for filters of up to so many rows, which were compiled
 * together. */
typedef const gc_fused_kernel *gc_fused_part(gc_sample_type input, gc_sample_type output,
                                             int finish);
gc_fused_part gc_fused_up_to_3, gc_fused_up_to_5, gc_fused_up_to_7, gc_fused_up_to_9,
    gc_fused_up_to_13, gc_fused_up_to_17;

/* A kernel of bytes_lines.cuh, whose input is GC_BYTE; null if there is none. */
const gc_fused_kernel *gc_fused_find_lines(int height, gc_sample_type output, int finish);
