/* The tiles of tilefft: their sizes, and the filter's spectrum as its kernels take it (tile.cuh).
 * Float32 results depend on the places of tiles, so that the job and the model of the device alone
 * decide it. Plain C: needs no GPU. */
#pragma once

#include "gpu/plan/bands.h"

enum {
    GC_TILE_SIDE_MAX = 128,           /* of a transform in shared memory; larger ones are large */
    GC_TILE_POINTS_MAX = 1024 * 1024, /* of the largest transform */
    GC_LARGE_TILES_SIDE = 48,         /* large tiles are for filters with a side of so many */
    GC_LARGE_TILES_BYTES = 256 * 1 << 20 /* of scratch memory, at most */
};

/* How an image is cut into tiles. Some rows of tiles are a slab. Two tiles that follow each other
 * in a slab are a pair: one transform. Large tiles make strips of two columns in a slab
 * (gc_tilefft_large). */
typedef struct gc_tiles {
    int columns, lines;      /* of a transform: 64 to 1024 */
    int width, height;       /* of a tile's outputs; 0: no tile is large enough for the filter */
    int across;              /* tiles in a row */
    int rows;                /* of tiles in a slab: 1, but of large tiles */
    int pairs;               /* in a slab */
    int strips, strip_lines; /* of large tiles: that are transformed together, and their rows */
    double seconds;          /* of the whole image, without planes */
} gc_tiles;

/* Whether transforms of so many points go through scratch memory: gc_tilefft_large. */
bool gc_tiles_are_large(int columns, int lines);

gc_tiles gc_tiles_of(const gc_problem *problem, const gc_step *step,
                     const gconv_device_info *device);

/* Bytes of shared memory that the kernels for such tiles take. */
size_t gc_tiles_bytes(int columns, int lines);

/* Bytes of scratch memory of large tiles: rows of strips and of pairs. */
double gc_tilefft_scratch(const gc_tiles *tiles);

/* The most bytes of scratch memory that the passes of a problem take, on any device. */
double gc_tiles_scratch_bytes(const gc_problem *problem);

/* Fills columns * lines complex numbers, real and imaginary parts by turns: the factors of the
 * threads in the order in which they take them; for large tiles row by row. They convolve with the
 * step's filter, and divide by the number of points. GCONV_ERROR_MEMORY if memory is short. */
gconv_status gc_tiles_spectrum(const gc_step *step, int columns, int lines, float *spectrum,
                               gconv_error *error);

/* Fills `points` complex numbers: exp(-2 pi i k b / points) at k * points / 32 + b, the rotations
 * between the two steps of a line of a large tile. */
void gc_tiles_roots(int points, float *roots);
