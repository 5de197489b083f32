/* Fourier transforms of square tiles, for every instruction set. */
#ifndef GC_CPU_TRANSFORM_H
#define GC_CPU_TRANSFORM_H

#include <stddef.h>

/* Sides of tiles are powers of two between these. */
enum { GC_TRANSFORM_SIDE_MIN = 32, GC_TRANSFORM_SIDE_MAX = 512 };

/* Values from row to row beyond `side`: rows a power of two apart would share a few sets of the
 * cache. */
enum { GC_TRANSFORM_PADDING = 16 };

typedef struct gc_transform {
    int side;
    size_t stride; /* values from row to row: side + GC_TRANSFORM_PADDING */
    float *cosine; /* cosine[i], sine[i] of -2 pi i / side, i in [0, side) */
    float *sine;
} gc_transform;

/* Complex values of a tile: `side` rows, `stride` apart, 64-byte aligned. */
typedef struct gc_plane {
    float *real, *imaginary;
} gc_plane;

typedef struct gc_transform_kernel {
    /* The spectrum of a tile, in its place: rows and columns exchanged, both in an order of their
     * own, which is that of `backward`. */
    void (*forward)(const gc_transform *transform, gc_plane tile);
    /* From a tile's spectrum times another one to the tile, side * side times as large. */
    void (*backward)(const gc_transform *transform, gc_plane tile, gc_plane factor);
} gc_transform_kernel;

#endif
