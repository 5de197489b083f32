/* Bands: how an image that exceeds the device's memory is cut into rows that are computed at once.
 * Plain C: needs no GPU. */
#pragma once

#include "core/problem.h"

/* The rows that a step of a chain reads and computes for one band of output. Under wrap they may
 * lie outside the image (gc_step_range). */
typedef struct gc_band_step {
    int64_t input_first, input_last;   /* of the step's input */
    int64_t output_first, output_last; /* of its output: the next step's input */
} gc_band_step;

/* Slabs: the rows of a step's output that are computed together. The first slab is `rows` rows from
 * `first` on, the next one follows it, and so on up to `last`, the last row that the image
 * needs. */
typedef struct gc_slabs {
    int64_t first, last, rows;
} gc_slabs;

/* Slabs of `rows` rows of a step's output. */
gc_slabs gc_slabs_of(const gc_problem *problem, const gc_step *step, int64_t rows);

/* Fills steps[0..problem->chain.step_count) for output rows `first` to `last`. `slabs` has an entry
 * for each step, which then computes whole slabs. NULL means slabs of one row. */
void gc_band_steps(const gc_problem *problem, int64_t first, int64_t last, const gc_slabs *slabs,
                   gc_band_step *steps);

/* Samples from row to row on the device: whole 128-byte lines. */
int64_t gc_device_pitch(int64_t width);

/* The most rows that the input of any step has, with its border, for a band of `rows` output rows
 * in whole slabs. */
int64_t gc_band_input_rows(const gc_problem *problem, int64_t rows, const gc_slabs *slabs);

/* Bytes of the device's memory for such a band: the samples, two planes of values a channel, the
 * extended image that carries the border, and the weights. Every buffer has as many rows as the
 * input. */
double gc_band_bytes(const gc_problem *problem, int64_t rows, const gc_slabs *slabs);

/* `rows`, reduced to the rows of the image, or else to whole slabs of the last step. */
int64_t gc_band_whole(const gc_problem *problem, int64_t rows, const gc_slabs *slabs);

/* The most output rows, in whole slabs and at most the image's height, whose band fits into
 * `bytes`; 0 if not even one slab does. `extra` is what an implementation needs beside
 * gc_band_bytes; NULL is nothing. */
int64_t gc_band_rows(const gc_problem *problem, double bytes, const gc_slabs *slabs,
                     double (*extra)(const gc_problem *problem, int64_t rows));
