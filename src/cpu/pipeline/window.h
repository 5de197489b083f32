/* A window on the rows of a step's input: the last `capacity` rows, as the image passes by from top
 * to bottom, or some columns of them. Rows are extended by the border if they touch a side of the
 * image. */
#pragma once

#include "core/chain.h"
#include "cpu/instructions/instructions.h"

typedef struct gc_window {
    const gc_step *step;
    gconv_border border;
    int64_t width, height; /* of the image */
    int channels;
    int64_t first, end; /* the columns held are [first, end) */
    int64_t columns;    /* at most */
    int64_t capacity;   /* rows held */
    size_t sample;      /* bytes of a sample: a float, or a byte of 8-bit input */
    size_t left;        /* bytes before column `first` of a row, a multiple of the alignment */
    size_t stride;      /* bytes from row to row */
    char *rows;
    char *constant_row; /* what stands above and below under a constant border; else NULL */
    char border_pixel[GC_CHANNELS_MAX * sizeof(float)];
    int64_t *sources; /* the columns of the image that the border takes for those beyond the left
                       * side, then for those beyond the right side; -1: the constant */
} gc_window;

/* Rows that a window holds which serves `at_once` output rows at a time. */
int64_t gc_window_capacity(const gc_chain *chain, const gc_step *step, int64_t at_once);

/* Creates a window on floats, or on bytes, that serves `at_once` output rows at a time and holds at
 * most `columns` columns. That is the whole width if the border wraps. */
gconv_status gc_window_create(gc_window *window, const gc_chain *chain, const gc_step *step,
                              bool bytes, int64_t at_once, int64_t columns, gconv_error *error);
void gc_window_destroy(gc_window *window);

/* Makes the window hold what output columns [first, end) of the step depend on. If they touch a
 * side of the image, they must be more columns than the step is wide: the samples beyond the side
 * are copies of samples that the window must hold. Earlier contents are lost. */
void gc_window_hold(gc_window *window, int64_t first, int64_t end);

/* Column window->first of row y, which must be among the last `capacity` rows; 64-byte aligned. */
void *gc_window_row(const gc_window *window, int64_t y);

/* Extends row y beyond the sides of the image, after its samples have been stored. */
void gc_window_extend(const gc_window *window, int64_t y);

/* The first value that the taps of a filter row read for column x in row y of the extended
 * image. */
const void *gc_window_taps(const gc_window *window, int64_t x, int64_t y);
