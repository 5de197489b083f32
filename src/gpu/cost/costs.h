/* What the GPU's implementations are expected to take: every figure that was measured, by device, and
 * the roofline that turns figures into seconds. Plain C: needs no GPU. */
#ifndef GC_GPU_COST_COSTS_H
#define GC_GPU_COST_COSTS_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The figures of one device. costs.c has their values and tells how each was measured. A share is a
 * fraction of what the device is rated at: of its multiply-adds in float32 a second (half of
 * gconv_device_peak), or of its memory's bytes a second. */
typedef struct gc_costs {
    const char *device; /* as the driver names it */

    /* Starting and copying. */
    double start_seconds;         /* driver, context and the first buffers of a process */
    double plan_seconds;          /* a plan on a GPU in use: its buffers above all */
    double upload_bytes;          /* a second, from pageable memory */
    double download_bytes;        /* a second, of samples that the device has made */
    double download_values_bytes; /* a second, of chain values that the CPU converts */

    /* The roofline. */
    double launch_seconds;
    double bandwidth_share; /* that reading and writing in order reaches */

    /* Shares of the peak that the steps of the ladder reach. */
    double naive_share, shared_share, const_share, tiled_share, adaptive_share;
    double twopass_factor; /* to adaptive with as many weights as the row and the column have */

    /* Kernels that are compiled for one filter. */
    double compile_seconds;
    double compiled_share;   /* of the peak, with weights as constants */
    double arguments_factor; /* direct's time with weights as arguments, to that with constants */
    double constants_gain;   /* share of separable's time that constants save */

    /* Sums of products of a column and a row, in lines of a tile and in weights of `direct`. */
    double row_lines;    /* that convolving a tile's rows takes for each column of the filter */
    double rank1_line;   /* weights that a line of a single product takes */
    double sum_line;     /* the same of a sum */
    double sum_overhead; /* lines that a sum takes beside those of its products */
    int direct_side, direct_side_of_bytes; /* filters up to here: separable leaves them to direct */

    /* fused, a whole chain on the tensor cores. */
    double fused_launch_seconds;
    double fused_bandwidth_share;
    double fused_rows; /* rows of the filter times outputs, a second and multiprocessor */

    /* tensor. */
    double matrix_products; /* of 16x16 and 16x8 halves, a second and multiprocessor */
    double half_product;    /* time of a product of 16x8 and 8x8, to that of a whole one */
    double tensor_output;   /* seconds of a multiprocessor for an output, beside products */
    int two_slots_columns;  /* banded matrices up to so many columns: a block has two slots */

    /* fft. */
    double fft_launch_seconds; /* of all kernels of a step */
    double fft_crossings;      /* of memory, by a number for every point of a transform */
    double fft_bandwidth_share;

    /* Code and registers of a kernel. */
    int code_bytes;        /* that stay in the instruction cache */
    int candidate_bytes;   /* of code, beyond which no tuning is tried */
    int candidate_weights; /* of a thread, below which it has too little to do between its loads */
    int code_of_a_weight;  /* bytes, for four neighbouring outputs */
    int other_registers;   /* of a thread, beside sums and window */
} gc_costs;

/* The figures of a device. One that was never measured has those of the H200, and so has NULL. */
const gc_costs *gc_costs_of(const gconv_device_info *device);

/* Seconds of a step that reaches `share` of the device's multiply-adds, or its bandwidth: the
 * roofline (van Werkhoven et al. 2014, section 2). A step reads and writes every value, and copying
 * it into a scratch image with its border does the same once more. */
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
