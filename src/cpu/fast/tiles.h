/* Convolution of rows through Fourier transforms of overlapping tiles. */
#pragma once

#include "cpu/fast/loops/transform.h"
#include "cpu/solver/solver.h"

typedef struct gc_tiles {
    const gc_transform_loops *loops;
    gc_transform transform;
    int width, height;   /* of the filter */
    int columns, rows;   /* outputs of a tile: side - width + 1, side - height + 1 */
    gc_complex spectrum; /* of the filter, over side * side */
} gc_tiles;

/* `side` is at least as large as either side of the filter. */
gconv_status gc_tiles_create(gc_tiles *tiles, const gc_transform_loops *loops, int side,
                             const gc_step *step, gconv_error *error);
void gc_tiles_destroy(gc_tiles *tiles);

/* The transforms that compute the chain of a step: in double, if it is exact. */
const gc_transforms *gc_transforms_for(const gc_question *question);

/* Seconds of a value in a round of these, there and back, on this processor. */
double gc_round_seconds(const gc_question *question);

/* Fills the roots of unity of a transform, whose side is set. */
void gc_make_roots(const gc_transform_loops *loops, const gc_transform *transform);

/* Floats of scratch memory that gc_tiles_convolve needs, 64-byte aligned, whatever type the loops
 * compute with. */
size_t gc_tiles_scratch(const gc_transform_loops *loops, int side);

/* Computes what a gc_taps_function does, for rows of `width` pixels: out[o][x*channels+c].
 * `row_count` is at most tiles->rows, and `rows` holds height + row_count - 1 rows. Two tiles go
 * through each transform, as real and imaginary part; they stay apart because the filter is real.
 * Loops that compute in double round to integers. That is exact if gc_transform_error is under
 * 1/2. */
void gc_tiles_convolve(const gc_tiles *tiles, float *scratch, const float *const *rows,
                       size_t channels, size_t width, int row_count, float *const *out);
