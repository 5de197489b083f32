/* The weights of a chain on the tensor cores, as the lanes of a warp want them. */
#pragma once

#include "gpu/device/owned.cuh"
#include "gpu/methods/fused/bytes_lines.cuh"
#include "gpu/methods/fused/combined.cuh"

struct gc_fused_tables {
    gc_bytes bytes;        /* what the kernels are given */
    gc_lines_launch lines; /* what those of bytes_lines.cuh are given beside that; `height` is 0 */
    gc_owned_memory<uint4> memory; /* weights, those of pairs of lines, sums */
};

/* Makes and uploads the tables of `total` for a kernel whose filters have `rows` rows. The device
 * is current. */
gconv_status gc_fused_tables_make(const gc_problem *problem, const gc_combined &total, int rows,
                                  gc_fused_tables *tables, gconv_error *error);
