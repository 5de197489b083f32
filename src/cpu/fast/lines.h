/* Convolution of columns and of rows with a vector through one-dimensional Fourier transforms of
 * overlapping lines (overlap-save). */
#pragma once

#include "cpu/fast/loops/transform.h"
#include "gconv.h"

typedef struct gc_lines {
    const gc_transform_loops *loops;
    gc_transform transform; /* of a line */
    int length;             /* of the vector */
    int outputs;            /* of a line: its side - length + 1 */
    gc_complex factor;      /* the spectrum of the vector */
} gc_lines;

/* `side` is at least `length`. Value i of an output is sum_k taps[k] * in[i + k]. */
gconv_status gc_lines_create(gc_lines *lines, const gc_transform_loops *loops, int side,
                             const float *taps, int length, gconv_error *error);
void gc_lines_destroy(gc_lines *lines);

/* Floats of scratch memory that the functions below need, 64-byte aligned. */
size_t gc_lines_scratch(const gc_transform_loops *loops, int side);

/* Rows of floats or of bytes; the other member is NULL. */
typedef struct gc_line_input {
    const float *const *rows;
    const uint8_t *const *bytes;
} gc_line_input;

/* out[o][i] = sum_k taps[k] * rows[o + k][i], for o in [0, row_count) and i in [0, count). The
 * input has row_count + length - 1 rows; row_count is at most lines->outputs. Two columns go
 * through each transform, as real and imaginary part. Loops that compute in double round to
 * integers. */
void gc_lines_convolve_columns(const gc_lines *lines, float *scratch, gc_line_input input,
                               size_t count, int row_count, float *const *out);

/* out[o][x*channels+c] = sum_k taps[k] * rows[o][(x+k)*channels+c], for x in [0, width). */
void gc_lines_convolve_rows(const gc_lines *lines, float *scratch, const float *const *rows,
                            size_t channels, size_t width, int row_count, float *const *out);

/* Values of a transform of `side` for each value of an output of `count`: the work that overlapping
 * takes. */
double gc_lines_overhead(int side, int length, double count);
