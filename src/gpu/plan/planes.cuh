/* Kernels that move values between samples, planes and the extended image. */
#pragma once

#include "gpu/plan/method.cuh"

/* A float image on the device: `channels` planes of `rows` rows of `width` values. */
struct gc_gpu_planes {
    float *values;
    int64_t pitch; /* values from row to row */
    int64_t plane; /* from channel to channel */
    int64_t rows;
    int width;
    int channels;
};

/* Fills `planes` with the values of interleaved samples, as gc_load_row computes them, less the
 * centre. */
gconv_status gc_gpu_load(const gc_problem *problem, const void *samples, float centre,
                         const gc_gpu_planes &planes, cudaStream_t stream, gconv_error *error);

/* The extended image of a step: `planes` holds rows `first_row` and following of the step's input.
 * Row 0 of the output is row `first_output` of the image. Row 0 of the extended image is the first
 * row that this row reads. */
struct gc_gpu_extension {
    gc_gpu_planes planes;
    int64_t first_row;
    gc_gpu_planes extended;
    int64_t first_output;
};

/* Fills the extended image. Every border mode (contract.md, rule 13). */
gconv_status gc_gpu_extend(const gc_problem *problem, const gc_step *step,
                           const gc_gpu_extension &extension, cudaStream_t stream,
                           gconv_error *error);

/* Makes rows of output, densely packed, from planes of chain values, or rows of chain values if the
 * finish is GC_FINISH_NONE. Of `pass` these members count: finish, output_type, output_first and,
 * if alpha is kept, the image. If samples are rounded once, all but input and output count. */
gconv_status gc_gpu_store(const gc_pass &pass, const gc_gpu_planes &planes, void *rows,
                          cudaStream_t stream, gconv_error *error);
