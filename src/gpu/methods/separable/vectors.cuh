/* Filters of two vectors by passes that transpose: for vectors that are too long for the kernels of
 * separable. */
#pragma once

#include "gpu/plan/method.cuh"

/* A step on the device. */
struct gc_vectors {
    int width, height, left, top;
    gc_owned_memory<float> weights; /* the column and the row, as the kernel wants them */
    float column_sum;               /* what the column makes of a constant 1 */
    gc_owned_memory<float> between; /* a transposed plane between column and row */
    size_t between_bytes;
};

gconv_status gc_vectors_supports(const gc_step *step, const gconv_device_info *device,
                                 gconv_error *error);

/* Seconds for the whole image, planes included. */
double gc_vectors_seconds(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device);

/* Bytes of the device for planes between columns and rows, if `rows` rows of output are computed at
 * once. */
double gc_vectors_bytes(const gc_problem *problem, int64_t rows);

/* *scope becomes one of planes of floats. */
gconv_status gc_vectors_prepare(const gc_step *step, const gconv_device_info *device,
                                gc_pass_scope *scope, gc_vectors *vectors, gconv_error *error);

/* Enqueues the step for all channels. The plane between is allocated if it is too small; earlier
 * runs of `vectors` are in the same stream, or done. */
gconv_status gc_vectors_run(gc_vectors *vectors, const gc_pass &pass, int channels,
                            cudaStream_t stream, gconv_error *error);

void gc_vectors_describe(const gc_vectors *vectors, char *text, size_t size);
