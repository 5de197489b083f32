/* What the GPU's implementations are expected to take: every figure that was measured, by device, and
 * the roofline that turns figures into seconds. Plain C: needs no GPU. */
#ifndef GC_GPU_COST_COSTS_H
#define GC_GPU_COST_COSTS_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GC_ADAPTIVE_WISHES = 3 };

/* The figures of one device. costs.c has their values and tells how each was measured. Names that end in
 * `seconds` are seconds. A `share` is a fraction of what the device is rated at: of its float32
 * multiply-adds a second (half of gconv_device_peak), or of its memory's bytes a second. */
typedef struct gc_costs {
    const char *device; /* as the driver names it */

    /* Starting and copying. */
    double start_seconds;        /* driver, context and the first buffers of a process */
    double plan_seconds;         /* a plan on a GPU in use: its buffers above all */
    double upload_rate;          /* bytes a second, from pageable memory */
    double download_rate;        /* bytes a second, of output that the device has converted */
    double download_values_rate; /* bytes a second, of chain values that the CPU converts */

    /* The roofline. */
    double launch_seconds;
    double bandwidth_share; /* of the bandwidth, that reading and writing in order reaches */

    /* Shares of the multiply-adds that the implementations of the ladder reach. */
    double naive_share, shared_share, const_share, tiled_share, adaptive_share;
    double twopass_factor; /* twopass over adaptive with as many weights as row and column have */

    /* adaptive's choice of a factor: blocks that should run at once on a multiprocessor, for factors
     * from `smallest` on, in order of preference; and how much of a row may lie idle in its last
     * block, as a fraction of the image's width. */
    struct {
        int blocks, smallest;
    } adaptive_wishes[GC_ADAPTIVE_WISHES];
    double adaptive_idle;

    /* Kernels that are compiled for one filter. */
    double compile_seconds;
    double compiled_share;   /* of the multiply-adds, with weights as constants */
    double arguments_factor; /* direct: time with weights as arguments over time with constants */
    double constants_gain;   /* separable: fraction of the time that constants save */

    /* Products of a column and a row. Time is counted in lines, one multiply-add for every value of a
     * tile, and a line in weights of direct, which take one multiply-add for every output. */
    double row_lines;    /* lines for a column of the filter: tiles have more rows than outputs */
    double rank1_line;   /* weights that a line of a single product counts as */
    double sum_line;     /* weights that a line of a sum of products counts as */
    double sum_overhead; /* lines that a sum takes beside those of its products */
    int direct_side,
        direct_side_of_bytes; /* separable leaves filters up to these sides to direct */

    /* fused, a whole chain on the tensor cores. */
    double fused_launch_seconds;
    double fused_bandwidth_share;
    double fused_rate; /* filter rows times outputs, a second and multiprocessor */

    /* tensor. */
    double product_rate;   /* products of 16x16 and 16x8 halves, a second and multiprocessor */
    double half_product;   /* time of a product of 16x8 and 8x8 over that of a whole one */
    double output_seconds; /* of a multiprocessor, for an output, beside the products */
    int two_slots_columns; /* banded matrices up to so many columns: a block has two slots */

    /* fft. */
    double fft_launch_seconds; /* of all kernels of a step */
    double fft_crossings;      /* of memory, each by one number for every point of a transform */
    double fft_bandwidth_share;

    /* Code and registers of a kernel. */
    int code_bytes;        /* bytes of code that stay in the instruction cache */
    int candidate_bytes;   /* `gconv tune` tries no kernel with more bytes of code */
    int candidate_weights; /* nor one whose threads multiply with fewer weights between loads */
    int code_of_a_weight;  /* bytes of code for a weight and four neighbouring outputs */
    int other_registers;   /* registers of a thread, beside sums and window */
} gc_costs;

/* The figures of a device. A device that was never measured, and NULL, get those of the H200. */
const gc_costs *gc_costs_of(const gconv_device_info *device);

/* Seconds of a step of the ladder that reaches `share` of the device's multiply-adds (van Werkhoven et al.
 * 2014, section 2, the roofline; here the times for memory and for multiply-adds add up). A step reads and
 * writes every value, and so does copying its input into a scratch image with its border. */
double gc_cost_of_step(const gc_problem *problem, const gc_step *step,
                       const gconv_device_info *device, double share);

/* Seconds of a pass that crosses memory `crossings` times and takes `multiply_adds` a value at
 * `share` of the device's peak. A pass does both at once, so that the longer time counts. */
double gc_cost_of_pass(const gc_problem *problem, int crossings, double multiply_adds,
                       const gconv_device_info *device, double share);

/* Bytes a second of the device's memory. Where the driver does not tell: what a slow device has. */
double gc_cost_bandwidth(const gconv_device_info *device);

#ifdef __cplusplus
}
#endif

#endif
