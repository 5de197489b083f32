/* How an image too large for the device's memory is cut into bands of rows. Plain C: needs no GPU.
 */
#ifndef GC_GPU_BANDS_H
#define GC_GPU_BANDS_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rows that each step of a chain works on for one band of output. Under wrap they may lie
 * outside the image (see gc_step_range). */
typedef struct gc_band_step {
    int64_t input_first, input_last;   /* of the step's input */
    int64_t output_first, output_last; /* of its output: the next step's input */
} gc_band_step;

/* Fills steps[0..problem->step_count) for output rows `first` to `last`. */
void gc_band_steps(const gc_problem *problem, int64_t first, int64_t last, gc_band_step *steps);

/* Samples from row to row on the device: whole 128-byte lines. */
int64_t gc_device_pitch(int64_t width);

/* Bytes of the device's memory that a band of `rows` output rows takes, all buffers as long as its
 * input: samples, two planes of values a channel, and the scratch image that carries the border; and
 * the weights. */
double gc_band_bytes(const gc_problem *problem, int64_t rows);

/* The most output rows, at most the image's height, whose band fits into `bytes`; 0 where not even
 * one row does. `extra` (may be NULL) is what an implementation needs beside gc_band_bytes. */
int64_t gc_band_rows(const gc_problem *problem, double bytes,
                     double (*extra)(const gc_problem *problem, int64_t rows));

#ifdef __cplusplus
}
#endif

#endif
