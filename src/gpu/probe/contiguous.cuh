/* Transforms of lines after De Smet 2011, on a device: see contiguous_kernel.cuh. */
#pragma once

#include "gconv_lab.h"

#include <cuda_runtime.h>

/* Where lines lie on the current device: `count` numbers each, a multiple of 2^14. Lines of more
 * than 256 points use `between`. */
struct gc_contiguous_lines {
    const float2 *from;
    float2 *between, *to;
    size_t count;
};

/* Transforms lines of `points` numbers, a power of two from 2 to 2^14. */
gconv_status gc_contiguous_transform(const gc_contiguous_lines &lines, int points,
                                     gconv_lines_way way, cudaStream_t stream, gconv_error *error);
