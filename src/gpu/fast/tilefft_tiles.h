/* The tiles of tilefft: their sizes, and the filter's spectrum as its kernels take it
 * (kernels/fft/tile.cuh). Float32 results depend on where tiles begin, so that the job and the
 * model of the device alone decide it. Plain C: needs no GPU. */
#ifndef GC_GPU_FAST_TILEFFT_TILES_H
#define GC_GPU_FAST_TILEFFT_TILES_H

#include "gpu/runtime/bands.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points of the largest transform of a tile. */
enum { GC_TILE_POINTS_MAX = 128 * 128 };

/* Neighbouring steps that one transform takes as one filter, or a step alone. */
typedef struct gc_tile_filter {
    int first, count;             /* steps of the chain */
    int width, height, left, top; /* of all together, as in gc_step */
} gc_tile_filter;

/* The filter that `step` is part of. Steps are joined where each meets the border of its own input
 * as the joined filter would, and where that is faster. */
gc_tile_filter gc_tile_filter_of(const gc_problem *problem, const gc_step *step,
                                 const gconv_device_info *device);

/* How an image is cut into tiles. Two tiles that lie side by side are a pair: one transform. */
typedef struct gc_tiles {
    int columns, lines; /* of a transform: 64 or 128 */
    int width, height;  /* of a tile's outputs; 0: no tile is large enough for the filter */
    int pairs;          /* in a row of tiles */
    double seconds;     /* of the whole image, without planes */
} gc_tiles;

/* The fastest tiles for a step on a device. Where `stores_samples`, tiles begin at columns that
 * are multiples of 8. */
gc_tiles gc_tiles_of(const gc_problem *problem, const gc_tile_filter *filter, bool stores_samples,
                     const gconv_device_info *device);

/* Bytes of shared memory that the kernel for such tiles takes. */
size_t gc_tiles_bytes(int columns, int lines);

/* Fills columns * lines complex numbers, real and imaginary parts by turns: the factors of the
 * threads in the order in which they take them. They make the convolutions of the filter's steps,
 * and divide by the number of points. GCONV_ERROR_MEMORY where memory is short. */
gconv_status gc_tiles_spectrum(const gc_problem *problem, const gc_tile_filter *filter, int columns,
                               int lines, float *spectrum, gconv_error *error);

#ifdef __cplusplus
}
#endif

#endif
