/* For programs that measure gconv or verify its results: gconv, gconv-lab and the tests. This
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

/* ---- Measuring the processor ----------------------------------------------------------------- */

/* Lines that gconv_cpu_transform_lines transforms together, with the vectors that `cpu` uses here:
 * at most GCONV_CPU_LINES_MAX. 0 in a build without fast paths, which transforms none. */
enum { GCONV_CPU_LINES_MAX = 16 };
int gconv_cpu_lines(void);

/* Complex numbers in float32. */
typedef struct gconv_complex {
    float *real, *imaginary; /* each 64-byte aligned */
} gconv_complex;

/* Replaces gconv_cpu_lines() lines of `points` numbers by their spectra. `points` is a power of two
 * up to 2^14. Number i of line l is number i * gconv_cpu_lines() + l. Number i of `roots` is exp(-2
 * pi I i / points), for i below `points`. `room` is memory for `points` numbers. The spectrum is in
 * the order of a decimation in frequency: one round of radix 2 if `points` is no power of 4, then
 * rounds of radix 4. */
void gconv_cpu_transform_lines(int points, gconv_complex lines, gconv_complex roots,
                               gconv_complex room);

/* Multiply-adds on float32 by the vectors that `cpu` uses here, `rounds` after each other, without
 * memory. Returns how many operations these were; a multiply-add is two. */
double gconv_cpu_spin(size_t rounds);

/* ---- Measuring a GPU ------------------------------------------------------------------------- */

/* Fourier transforms of lines, from memory to memory of a device. */
typedef struct gconv_gpu_lines gconv_gpu_lines;

/* By cuFFT, or by decimation in time with contiguous data (De Smet 2011): at most 256 points at one
 * time, in the registers and the shared memory of a block. */
typedef enum gconv_lines_way {
    GCONV_LINES_CUFFT,
    GCONV_LINES_CONTIGUOUS,
    GCONV_LINES_AHEAD, /* and the numbers that come next are read ahead (section 3.3 there) */
    GCONV_LINES_RANGES /* neighbouring numbers go to one multiprocessor, not to all (3.4) */
} gconv_lines_way;

/* Takes memory on device cuda:`index` for `count` complex numbers of two float32, twice, and copies
 * `numbers` to the first half. `count` is a multiple of 2^14. *lines is NULL on failure. */
gconv_status gconv_gpu_lines_create(int index, const float *numbers, size_t count,
                                    gconv_gpu_lines **lines, gconv_error *error);
void gconv_gpu_lines_free(gconv_gpu_lines *lines);

/* Prepares passes over lines of `points` numbers, a power of two up to 2^14. */
gconv_status gconv_gpu_lines_plan(gconv_gpu_lines *lines, int points, gconv_lines_way way,
                                  gconv_error *error);

/* Writes the spectrum of every line to the second half; lines of one point are copied. *seconds is
 * the time between two events. */
gconv_status gconv_gpu_lines_pass(gconv_gpu_lines *lines, double *seconds, gconv_error *error);

/* Copies `count` complex numbers of the second half to the host, from number `first` on. */
gconv_status gconv_gpu_lines_read(const gconv_gpu_lines *lines, size_t first, size_t count,
                                  float *numbers, gconv_error *error);

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

/* The tiling factor that the rule of `adaptive` takes for a filter on a device with the limits that
 * `device` describes: its capability, registers and threads of a multiprocessor, threads of a
 * block, and shared memory of both. A thread takes registers[0] up to factor 4, registers[1]
 * beyond. 0 if not one tile fits. Needs no GPU. */
int gconv_adaptive_factor(const gconv_device_info *device, const int registers[2], int block_width,
                          int block_height, int filter_width, int filter_height);

/* ---- The search of `gconv tune` -------------------------------------------------------------- */

/* Results that the file of a device holds at most. */
enum { GCONV_TUNINGS_MAX = 512 };

/* What one search finds the fastest configuration of: the kernels of an implementation for filters
 * of one size. */
typedef struct gconv_tuning_case {
    const char *implementation; /* "direct", "separable" or "adaptive:unrolled" */
    int products;               /* of separable: products of a column and a row, 1 to 3 */
    int width, height;          /* of the filter */
    bool bytes;                 /* samples have 8 bits; false: float32 */
} gconv_tuning_case;

/* Whether so many products of a column and a row are faster than every weight. */
bool gconv_tuning_pays(const gconv_tuning_case *one);

typedef struct gconv_tuning_result {
    bool finished; /* false: goes_on ended the search, and nothing else is set */
    const char *form, *schedule;
    int rows, warps, tiles;
    double seconds;         /* of a plane */
    double untuned_seconds; /* by what is used untuned; 0: that was left out */
    int tried, left_out;    /* configurations; those that failed or gave wrong results */
} gconv_tuning_result;

/* Called before each configuration, which takes about a second: `done` of `count`, which may grow,
 * are tried. False ends the search. */
typedef bool gconv_tuning_goes_on(void *user, int done, int count);

/* A device, and what the cache keeps that was found for it. */
typedef struct gconv_tuner gconv_tuner;

/* Reads what is kept. Nothing is asked of the device before gconv_tuner_begin. */
gconv_status gconv_tuner_create(const gconv_device_info *device, gconv_tuner **tuner,
                                gconv_error *error);
void gconv_tuner_free(gconv_tuner *tuner);

/* Takes memory on the device. *side becomes the side of the square planes that are timed. Needs
 * NVRTC (gconv_nvrtc_version). */
gconv_status gconv_tuner_begin(gconv_tuner *tuner, int *side, gconv_error *error);

/* Whether a result for the case was kept before. If so, *known, which may be NULL,
 * gets that result: form, schedule, rows, warps, tiles and seconds. */
bool gconv_tuner_knows(const gconv_tuner *tuner, const gconv_tuning_case *one,
                       gconv_tuning_result *known);

/* Compiles, checks and times configurations. */
gconv_status gconv_tuner_search(gconv_tuner *tuner, const gconv_tuning_case *one,
                                gconv_tuning_goes_on *goes_on, void *user,
                                gconv_tuning_result *result, gconv_error *error);

/* Keeps the result of the last finished search in the cache. Before a search what is kept is
 * written as it is, which shows whether it can be. Waits while another process searches or
 * writes. */
gconv_status gconv_tuner_keep(gconv_tuner *tuner, gconv_error *error);

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

/* What the reference gives: chain values and output, each with rows so many bytes apart. */
typedef struct gconv_expectation {
    float *chain;
    size_t chain_stride;
    void *output;
    size_t output_stride;
} gconv_expectation;

/* Runs a plan of the implementation "reference", from memory to memory as gconv_plan_run_memory
 * does, and fills *expected. The output is not made from these chain values: they are rounded to
 * float32. */
gconv_status gconv_plan_run_reference(gconv_plan *plan, const void *input, size_t input_stride,
                                      const gconv_expectation *expected, gconv_error *error);

/* Compares a whole output with that of the reference, as gconv_plan_run_reference leaves it.
 * `input` and `output` are those of gconv_plan_run_memory. If gconv_plan_promise of `plan` is exact
 * or rounded once, only the reference's own sample is right. Else a sample is right if some chain
 * value within the bound of rule 4 gives it.
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
                                       size_t output_stride, const gconv_expectation *expected,
                                       gconv_difference *difference, gconv_error *error);

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
