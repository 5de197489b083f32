/* How an image too large for the device's memory is cut into bands of rows. Plain C: needs no GPU.
 */
#ifndef GC_GPU_RUNTIME_BANDS_H
#define GC_GPU_RUNTIME_BANDS_H

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

/* Rows of a step's output that are computed together: `rows` of them from `first` on, the next ones after
 * these, up to `last`, where all end that the image takes. */
typedef struct gc_slabs {
    int64_t first, last, rows;
} gc_slabs;

/* Fills steps[0..problem->chain.step_count) for output rows `first` to `last`. `slabs`, one a step, makes steps
 * take whole slabs; NULL is slabs of one row. */
void gc_band_steps(const gc_problem *problem, int64_t first, int64_t last, const gc_slabs *slabs,
                   gc_band_step *steps);

/* Samples from row to row on the device: whole 128-byte lines. */
int64_t gc_device_pitch(int64_t width);

/* Rows that the input of any step has at most, its border included, for a band of `rows` output rows that
 * is made of whole slabs. */
int64_t gc_band_input_rows(const gc_problem *problem, int64_t rows, const gc_slabs *slabs);

/* Bytes of the device's memory that such a band takes, all buffers as long as its input: samples, two
 * planes of values a channel, and the scratch image that carries the border; and the weights. */
double gc_band_bytes(const gc_problem *problem, int64_t rows, const gc_slabs *slabs);

/* The most output rows that are no more than `rows` and whole slabs, or the image's. */
int64_t gc_band_whole(const gc_problem *problem, int64_t rows, const gc_slabs *slabs);

/* The most output rows, at most the image's height and whole slabs, whose band fits into `bytes`; 0 where
 * not even the fewest do. `extra` (may be NULL) is what an implementation needs beside gc_band_bytes. */
int64_t gc_band_rows(const gc_problem *problem, double bytes, const gc_slabs *slabs,
                     double (*extra)(const gc_problem *problem, int64_t rows));

#ifdef __cplusplus
}
#endif

#endif
