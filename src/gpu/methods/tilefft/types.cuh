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

/* What the kernels for large tiles are given in place of it. Two neighbouring columns of tiles are
 * a strip. An odd last column is one, too: its lower half, which may have a tile less, beside its
 * upper half. Two tiles that lie side by side in a strip are a pair. Pairs have numbers, strip by
 * strip. */
struct gc_tilefft_large : gc_tilefft {
    const float2 *roots_across, *roots_down; /* gc_tiles_roots of a transform's row and column */
    float2 *of_strips; /* scratch memory: `strip_lines` rows of each strip, transformed */
    float2 *of_pairs;  /* scratch memory: `height` rows of each pair, whose columns are done */
    int across, rows;  /* tiles in a row, rows of tiles in the slab */
    int first_strip;   /* that a launch takes */
    int full_strips;   /* that a launch takes, without an odd last column */
    int lines;         /* of a strip that any output needs; beyond them are zeros */
    int strip_lines;
    int row_items; /* blocks of rows of all strips */
    int chunks;    /* columns: blocks that share the pairs of the same columns */
};
