/* The expected times of the GPU's implementations. costs.c has the measured figures of each device.
 * The roofline turns these figures into seconds. Plain C: needs no GPU. */
#pragma once

#include "core/device.h"

#include <stdbool.h>

enum { GC_TILE_KINDS = 7 };

/* The figures of one device. costs.c has their values and tells how each was measured. Names that
 * end in `seconds` are seconds. A `share` is a fraction of a rated figure: of float32 multiply-adds
 * a second (half of gc_device_peak), or of the memory's bytes a second. */
typedef struct gc_costs {
    const char *device; /* as the driver names it */

    /* Starting and copying. */
    double start_seconds;        /* driver, context and the first buffers of a process */
    double plan_seconds;         /* a plan on a GPU in use, for an image alone: its buffers */
    double upload_rate;          /* bytes a second, from pageable memory */
    double download_rate;        /* bytes a second, of output that the device has converted */
    double download_values_rate; /* bytes a second, of chain values that the CPU converts */
    double pinned_upload_rate;   /* bytes a second, from memory that is pinned */
    double pinned_download_rate;
    double run_seconds; /* between the ends of two runs that overlap, however small: driver calls */
    double run_thread_seconds; /* of a thread of the CPU, in the driver, for a run */
    double
        batch_seconds; /* what a batch adds to the start: kernels loaded, buffers, busy threads */

    /* Decoding JPEG by kernels, several pictures at one time. */
    double decode_rate;            /* pixels a second and multiprocessor */
    double decode_picture_seconds; /* between the ends of two pictures, however small */

    /* Compressing output of 1 bit by a kernel, the same. */
    double compress_rate, compress_picture_seconds;

    /* The roofline. */
    double launch_seconds;
    double bandwidth_share; /* of the bandwidth, by reading and writing in order */
    double memory_rate;     /* bytes a second by the same, as measured; 0: use the share */
    double planes_factor;   /* time to turn samples into planes of floats, or planes into samples,
                               over the time to read and write as many bytes in order */

    /* Shares of the multiply-adds that the implementations of the ladder reach. */
    double naive_share, shared_share, const_share, tiled_share, adaptive_share;
    double twopass_factor; /* time of twopass over adaptive's for width + height weights */

    /* Kernels that are compiled for one filter. */
    double compile_seconds;
    double compiled_share;   /* of the multiply-adds, with weights as constants */
    double arguments_factor; /* direct: time with weights as arguments over time with constants */
    double constants_gain;   /* separable: fraction of the time that constants save */
    /* Multiply-adds that take as long as other work on a value: to read or to store a sample in
     * place, and to divide by a remainder. */
    double byte_work, short_work, remainder_work;

    /* Products of a column and a row. Two units of time: a line is one multiply-add for every value
     * of a tile. A weight is what direct takes for a weight: one multiply-add for every output. */
    double row_lines;    /* lines for a column of the filter: a tile has more rows than outputs */
    double rank1_line;   /* time of a line of a single product, in weights */
    double sum_line;     /* time of a line of a sum of products, in weights */
    double sum_overhead; /* lines that a sum takes in addition */
    int direct_side,
        direct_side_of_bytes; /* separable leaves filters up to these sides to direct */

    double vectors_share; /* of the multiply-adds, by long vectors (methods/separable/vectors.cu) */

    /* fused, a whole chain on the tensor cores. */
    double fused_launch_seconds;
    double fused_bandwidth_share;
    double fused_rate; /* filter rows times outputs, a second and multiprocessor */

    double detector_work; /* multiply-adds that take as long as a pixel of Canny */

    /* tensor. */
    double product_rate;   /* products of 16x16 and 16x8 halves, a second and multiprocessor */
    double half_product;   /* time of a product of 16x8 and 8x8 over the time above */
    double output_seconds; /* of a multiprocessor for an output, products left out */
    double output_seconds_of_bytes[2]; /* from bytes to bytes; with weights in one part, in two */
    double dealing_seconds[2]; /* of a multiprocessor for an interleaved sample; the second if sums
                                * are only divided and their matrix has at most 24 columns */
    int two_buffers_columns;   /* the most columns of a banded matrix for which a block has two
                                   * buffers */

    /* tilefft: tiles of `columns` by `lines` points, of which a multiprocessor takes `blocks` pairs
     * at one time. 0: a pair is shared by all of them. */
    struct {
        int columns, lines, blocks;
        double pair_seconds;  /* of a multiprocessor, for a pair of tiles */
        double output_factor; /* time of reading and storing values over what the bandwidth says */
    } tiles[GC_TILE_KINDS];
    double tile_samples_factor; /* time from samples over the time from values to values; large
                                 * tiles take the same */

    /* fft. */
    double fft_launch_seconds; /* of all kernels of a step */
    double fft_crossings;      /* of memory, each by one number for every point of a transform */
    double fft_bandwidth_share;

    /* Code and registers of a kernel. */
    int code_bytes;        /* bytes of code that stay in the instruction cache */
    int candidate_bytes;   /* `gconv tune` tries no kernel with more bytes of code */
    int candidate_weights; /* nor one with fewer weights times rows of a thread */
    int code_of_a_weight;  /* bytes of code for a weight and four neighbouring outputs */
    int other_registers;   /* registers of a thread, beside sums and window */
} gc_costs;

/* The figures of a device: those of the H200, in place of which come those that were measured on
 * this device by an earlier process. NULL: those of the H200. They stay the same as long as the
 * process lives. */
const gc_costs *gc_costs_of(const gconv_device_info *device);

/* The figures to use before the driver is asked what devices there are: those of the device of this
 * machine that was measured last. */
const gc_costs *gc_costs_before_asking(void);

/* Whether copies and memory of this device were measured by an earlier process. */
bool gc_costs_are_measured(const gconv_device_info *device);

/* Seconds of a step of the ladder that reaches `share` of the device's multiply-adds: the roofline
 * (van Werkhoven et al. 2014, section 2), except that the times for memory and for multiply-adds
 * add up. The step reads and writes every value. So does the copy of its input into the extended
 * image. */
double gc_cost_of_step(const gc_problem *problem, const gc_step *step,
                       const gconv_device_info *device, double share);

/* Seconds of a pass that reads and writes `bytes` bytes a value and takes `multiply_adds` a value
 * at `share` of the device's peak. A pass does both at once: the longer time counts. */
double gc_cost_of_pass(const gc_problem *problem, double bytes, double multiply_adds,
                       const gconv_device_info *device, double share);

/* Seconds to turn samples of so many bytes, alpha with them, into planes of floats, or planes into
 * samples. */
double gc_cost_of_planes(const gc_problem *problem, double sample_bytes,
                         const gconv_device_info *device);

/* Bytes a second of the device's memory. If the driver does not tell it, the bandwidth of a slow
 * device. */
double gc_cost_bandwidth(const gconv_device_info *device);

/* Seconds of an image whose kernels take `kernels` seconds. `finishes` says whether the device
 * makes the output; else it gives chain values. An image alone: all its parts one after the other.
 * One of several between files: the time of all that are left, divided by their number. Runs share
 * the time to start a GPU that is not in use. */
double gc_cost_of_image(const gc_problem *problem, const gconv_device_info *device, double kernels,
                        bool finishes);
