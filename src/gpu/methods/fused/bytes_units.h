/* Sizes that the kernels of bytes.cuh and the host share. */
#pragma once

enum {
    GC_BYTES_UNIT = 16,      /* columns of output that two matrices of weights give */
    GC_BYTES_UNITS = 4,      /* of a warp */
    GC_BYTES_MARGIN = 8,     /* columns on either side of outputs: as far as a filter may reach */
    GC_BYTES_RING_UNITS = 3, /* units that hold columns of the ring: the first and the last two */
    GC_BYTES_STEP_MAX = 8,   /* bytes of a pixel: four channels of 16 bits */
    GC_LINES_UNITS = 16,     /* of a warp (bytes_lines.cuh) */
    GC_LINES_ROWS = 32,      /* of a tile, at most */
    GC_LINES_REACH = 4,      /* columns that a filter may reach to either side */
    GC_BYTES_SIDE_MAX = 2 * GC_BYTES_MARGIN + 1 /* of a filter */
};
