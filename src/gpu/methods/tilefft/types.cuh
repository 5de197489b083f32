/* What the host tells the kernels of tilefft. */
#pragma once

#include <cuda_runtime.h>

/* What these kernels are given beside gc_pass. */
struct gc_tilefft {
    const float2 *spectrum;    /* in the order of the threads; of large tiles row by row */
    int left, top;             /* of the filter */
    int width, height;         /* of a tile's outputs */
    int first_row;             /* of the image, of the first tile's outputs */
    int last_row, last_column; /* the last ones of the input that any output needs */
    int pairs; /* of tiles that lie side by side, in a row; of large tiles, that a launch takes */
};

/* What the kernels for large tiles are given in place of it. Tiles have numbers, row by row from
 * `first_row` on; two neighbouring numbers are a pair. */
struct gc_tilefft_large : gc_tilefft {
    const float2 *roots_across, *roots_down; /* gc_tiles_roots of a transform's row and column */
    float2 *scratch;                         /* `pairs` transforms, row by row */
    int across;                              /* tiles in a row */
    int tiles;                               /* in all */
    int first_pair;                          /* that a launch takes */
    int chunks; /* columns: blocks that share the pairs of the same columns */
};
