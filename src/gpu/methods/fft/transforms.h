/* The sizes of fft's transforms, and the rows that each of them serves. Float32 results depend on
 * these sizes. So image and chain alone decide them, and not how much of the image the device's
 * memory holds at once. Exact chains may use any size. Plain C: needs no GPU. */
#pragma once

#include "gpu/plan/bands.h"

/* The smallest product of 2, 3, 5 and 7 that is at least `size`, and even. */
int64_t gc_transform_size(int64_t size);

/* The slabs of a step: all rows of its output that the image needs, if one transform of moderate
 * size serves them, else equal shares of these rows. In an exact chain transforms may serve any
 * rows: slabs have one row. */
gc_slabs gc_transform_slabs(const gc_problem *problem, const gc_step *step);

/* Rows of the transform that serves `rows` rows of a step's output. */
int64_t gc_transform_rows(const gc_step *step, int64_t rows);

/* Points of the largest transform that serves the step. */
double gc_transform_points(const gc_problem *problem, const gc_step *step);
