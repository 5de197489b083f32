/* For programs that measure gconv or verify its results: the program gconv and its tests. This
 * header is not installed, and the shared library does not export its functions. A program that
 * calls them links the static library. */
#ifndef GCONV_LAB_H
#define GCONV_LAB_H

#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Chain values ---------------------------------------------------------------------------- */

/* How many channels are convolved: all channels, less alpha if alpha is kept. */
int gconv_plan_chain_channels(const gconv_plan *plan);

/* Runs the chain without the final conversion. `chain` gets float32 values that are not yet divided
 * by the divisors: for each pixel gconv_plan_chain_channels values side by side. Its rows are
 * `chain_stride` bytes apart. `input` and `chain` lie as input and output of gconv_plan_run_memory.
 * Verification compares these values. `timings` may be NULL. */
gconv_status gconv_plan_run_chain(gconv_plan *plan, const void *input, size_t input_stride,
                                  float *chain, size_t chain_stride, gconv_timings *timings,
                                  gconv_error *error);

/* Converts the chain values of gconv_plan_run_chain to output rows, and hands these to `sink`.
 * `input` is the image that gconv_plan_run_chain got. It may be NULL if alpha is not kept.
 * GCONV_ERROR_ARGUMENT if a stride is less than a row. */
gconv_status gconv_plan_convert(const gconv_plan *plan, const float *chain, size_t chain_stride,
                                const void *input, size_t input_stride, const gconv_sink *sink,
                                gconv_error *error);

/* ---- Measuring a GPU ------------------------------------------------------------------------- */

/* Median seconds of an image on a GPU alone. */
typedef struct gconv_device_times {
    double total;      /* of the whole run */
    double border;     /* the passes that make an extended image, which carries the border, for each
                        * step; 0 if kernels read borders in place */
    double conversion; /* the passes that turn samples into chain values, and these into the result;
                        * 0 if the kernels of the chain do that */
} gconv_device_times;

/* Times an image on a GPU alone, from samples in its memory to samples in its memory, or to chain
 * values if the CPU makes the output. Transfers do not count. `input` is as for
 * gconv_plan_run_memory. The chain runs as often as fits in `seconds`, and caches are emptied
 * before each run. Separate runs give the times of the parts, because the two events around a part
 * take some microseconds more. The rest of `total` is the convolution itself.
 * GCONV_ERROR_UNSUPPORTED for implementations on the CPU. */
gconv_status gconv_plan_time_device_parts(gconv_plan *plan, const void *input, size_t input_stride,
                                          double seconds, gconv_device_times *times,
                                          gconv_error *error);

/* The arithmetic intensity: floating-point operations for each byte of device memory, by the
 * published model of the implementation (van Werkhoven et al. 2014, equations 1 and 2; KTH 2018,
 * equations 9 to 14). 0 if there is no model. */
double gconv_plan_intensity(gconv_plan *plan);

/* The tiling factor that the plan takes for the first step: how many tiles beside each other a
 * thread block computes. 0 for implementations without tiles. */
int gconv_plan_tiling_factor(gconv_plan *plan);

/* ---- Verification ---------------------------------------------------------------------------- */

/* How much two results differ. `bound` and `largest` are in samples of the input's depth: chain
 * values over the product of the divisors. */
typedef struct gconv_difference {
    bool within;         /* no value differs by more than the bound */
    double bound;        /* 0 if the chain is exact */
    double largest;      /* the largest |a - b| */
    uint32_t x, y;       /* the pixel where the largest difference is */
    int channel;         /* its channel */
    uint64_t mismatches; /* how many values differ by more than the bound */
} gconv_difference;

/* Compares chain values with those of the reference. If the chain is exact, all bits must be equal.
 * Otherwise the bound is that of contract.md, rule 4: the float32 rounding error of each step,
 * carried through the chain. `chain` and `reference` are as gconv_plan_run_chain leaves them, with
 * rows `chain_stride` bytes apart. `input` is the image that both were computed from. A difference
 * beyond the bound is no failure: see `within`. GCONV_ERROR_ARGUMENT if `input`, `chain` or
 * `reference` is NULL or a stride is less than a row. */
gconv_status gconv_plan_compare(const gconv_plan *plan, const void *input, size_t input_stride,
                                const float *chain, const float *reference, size_t chain_stride,
                                gconv_difference *difference, gconv_error *error);

/* Compares a whole output with what the reference's chain values give. `reference` holds these, as
 * gconv_plan_run_chain of a plan with the implementation "reference" leaves them. `input` and
 * `output` are those of gconv_plan_run_memory. A sample is right if some chain value within the
 * bound of rule 4 gives it. If the chain is exact, only the reference's own sample is right.
 *
 * This judges what a run writes. gconv_plan_compare judges chain values, which an implementation
 * may compute by other code than its output.
 *
 * *difference: `mismatches` counts wrong samples. `largest` is the largest difference from the
 * reference's sample, in samples of the output. x, y and `channel` say where it is. If there are
 * wrong samples, only these count for `largest`. `bound` is that of the chain values, as in
 * gconv_plan_compare. GCONV_ERROR_ARGUMENT if a pointer is NULL or a stride is less than a row. */
gconv_status gconv_plan_compare_output(const gconv_plan *plan, const void *input,
                                       size_t input_stride, const void *output,
                                       size_t output_stride, const float *reference,
                                       size_t chain_stride, gconv_difference *difference,
                                       gconv_error *error);

/* A place in an image, from the left and from the top. */
typedef struct gconv_pixel {
    uint32_t x, y;
} gconv_pixel;

/* Compares `count` pixels of an output with what the reference gives there. The reference is
 * computed for these pixels alone, so that images of any size are judged quickly. `input` and
 * `output` are those of gconv_plan_run_memory. Samples are judged, and *difference is filled, as by
 * gconv_plan_compare_output. If samples are integers, both functions take the largest sample of the
 * depth for max|in| of rule 4.
 * - GCONV_ERROR_ARGUMENT: a pointer is NULL, a stride is less than a row, or a pixel lies outside
 *   the image.
 * - GCONV_ERROR_UNSUPPORTED: colours are multiplied by alpha (GCONV_ALPHA_PREMULTIPLY). */
gconv_status gconv_plan_compare_pixels(const gconv_plan *plan, const void *input,
                                       size_t input_stride, const void *output,
                                       size_t output_stride, const gconv_pixel *pixels,
                                       size_t count, gconv_difference *difference,
                                       gconv_error *error);

#ifdef __cplusplus
}
#endif

#endif
