/* Fourier transforms of square tiles, for every instruction set, in float and in double. */
#ifndef GC_CPU_INSTRUCTIONS_TRANSFORM_H
#define GC_CPU_INSTRUCTIONS_TRANSFORM_H

#include <stddef.h>

/* Sides of tiles are powers of two between these. */
enum { GC_TRANSFORM_SIDE_MIN = 32, GC_TRANSFORM_SIDE_MAX = 512 };

/* Unused values at the end of each row. Without them rows would lie a power of two apart, and share
 * a few sets of the cache. */
enum { GC_TRANSFORM_PADDING = 16 };

/* A `void *` is an array of the type that the loops compute with, float or double. */
typedef struct gc_transform {
    int side;
    size_t stride; /* values from row to row: side + GC_TRANSFORM_PADDING */
    void *cosine;  /* cosine[i], sine[i] of -2 pi i / side, i in [0, side) */
    void *sine;
} gc_transform;

/* Complex values of a tile: `side` rows, `stride` apart, 64-byte aligned. */
typedef struct gc_plane {
    void *real, *imaginary;
} gc_plane;

typedef struct gc_transform_loops {
    size_t value_size; /* bytes of a value */
    /* values[at] = value */
    void (*set)(void *values, size_t at, double value);
    /* values[i] = from[i*step] for i in [0, count), 0 for i in [count, side). */
    void (*load)(void *values, size_t side, const float *from, size_t step, size_t count);
    /* to[i*step] = values[i] for i in [0, count): doubles as the nearest integers, never -0. */
    void (*store)(const void *values, float *to, size_t step, size_t count);
    /* Replaces a tile by its spectrum, with rows and columns exchanged and in the order that
     * `backward` expects. */
    void (*forward)(const gc_transform *transform, gc_plane tile);
    /* Multiplies a spectrum by `factor`. Replaces it by the tile that has this product as its
     * spectrum, times side * side. */
    void (*backward)(const gc_transform *transform, gc_plane tile, gc_plane factor);
} gc_transform_loops;

#endif
