/* A window on the rows of a step's input: the last `capacity` rows of a part of an image that
 * passes by from top to bottom, each extended to the left and right by the border mode. */
#ifndef GC_CPU_WINDOW_H
#define GC_CPU_WINDOW_H

#include "core/problem.h"

/* Floats after a row's right extension that vector code may read and write; of a window on bytes, as
 * many bytes. */
enum { GC_WINDOW_SLACK = 64 };

typedef struct gc_window {
    const gc_step *step;
    gconv_border border;
    int64_t width, height;
    int channels;
    int64_t capacity; /* rows held */
    size_t sample;    /* bytes of a sample: a float, or a byte of 8-bit input */
    size_t left;      /* bytes before column 0 of a row, a multiple of the alignment */
    size_t stride;    /* bytes from row to row */
    char *rows;
    char *constant_row; /* what stands above and below under a constant border; else NULL */
    char border_pixel[GC_CHANNELS_MAX * sizeof(float)];
} gc_window;

/* A window on floats, or on bytes, that serves `chunk` output rows at once. */
gconv_status gc_window_create(gc_window *window, const gc_problem *problem, const gc_step *step,
                              bool bytes, int64_t chunk, gconv_error *error);
void gc_window_destroy(gc_window *window);

/* Column 0 of row y, which must be among the last `capacity` rows; 64-byte aligned. */
void *gc_window_row(const gc_window *window, int64_t y);

/* Extends row y to both sides, after its samples have been stored. */
void gc_window_extend(const gc_window *window, int64_t y);

/* Where the taps of a filter row start reading for column 0 in row y of the extended image. */
const void *gc_window_taps(const gc_window *window, int64_t y);

#endif
