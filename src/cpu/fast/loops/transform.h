/* Fourier transforms of square tiles and of lines, for every instruction set, in float and in
 * double. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Sides of tiles are powers of two between these. */
enum { GC_TRANSFORM_SIDE_MIN = 32, GC_TRANSFORM_SIDE_MAX = 512 };

/* Values of a line, and lines that are transformed together. */
enum { GC_LINE_MIN = 64, GC_LINE_MAX = 16384, GC_LANES_MAX = 16 };

/* Unused values at the end of each row. Without them rows would lie a power of two apart, and share
 * a few sets of the cache. */
enum { GC_TRANSFORM_PADDING = 16 };

/* A `void *` is an array of the type that the loops compute with, float or double. */
typedef struct gc_transform {
    int side;
    size_t stride; /* values from row to row: side + GC_TRANSFORM_PADDING; of lines: `lanes` */
    void *cosine;  /* cosine[i], sine[i] of -2 pi i / side, i in [0, side) */
    void *sine;
} gc_transform;

/* Complex values of a tile: `side` rows, `stride` apart, 64-byte aligned.
 *
 * Lines are columns of a tile of `lanes` columns: value i of line l is at i * lanes + l. A line has
 * `side` values, a power of two between GC_LINE_MIN and GC_LINE_MAX. */
typedef struct gc_complex {
    void *real, *imaginary;
} gc_complex;

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
    void (*forward)(const gc_transform *transform, gc_complex tile);
    /* Multiplies a spectrum by `factor`. Replaces it by the tile that has this product as its
     * spectrum, times side * side. */
    void (*backward)(const gc_transform *transform, gc_complex tile, gc_complex factor);

    int lanes; /* lines that are transformed together: at most GC_LANES_MAX */
    /* Value i of line l = rows[i][first + l] for i in [0, row_count) and l in [0, count), else
     * 0. */
    void (*load_columns)(void *lines, size_t side, const float *const *rows, size_t row_count,
                         size_t first, size_t count);
    void (*load_columns_of_bytes)(void *lines, size_t side, const uint8_t *const *rows,
                                  size_t row_count, size_t first, size_t count);
    /* rows[i][first + l] = value i of line l, for the same i and l, as `store` does. */
    void (*store_columns)(const void *lines, float *const *rows, size_t row_count, size_t first,
                          size_t count);
    /* Value i of line l = from[l][i*step] for i in [0, count), else 0; 0 if from[l] is NULL. */
    void (*load_rows)(void *lines, size_t side, const float *const *from, size_t step,
                      size_t count);
    /* to[l][i*step] = value i of line l for i in [0, count), if to[l] is not NULL. */
    void (*store_rows)(const void *lines, float *const *to, size_t step, size_t count);
    /* Replaces lines by their spectra. factor[i] = value i of the spectrum of line 0. */
    void (*spectrum)(const gc_transform *transform, gc_complex lines, gc_complex factor);
    /* Replaces each line by the line that has as its spectrum the line's times `factor`, times
     * `side`. */
    void (*convolve)(const gc_transform *transform, gc_complex lines, gc_complex factor);
} gc_transform_loops;
