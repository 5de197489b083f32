/* What the variants of twopass share: a filter of rank 1 in two passes, with a plane between them.
 * Filters that are not of rank 1 are convolved as adaptive does. */
#pragma once

#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant.cuh"

#include <cstdio>

/* The kernels of a variant. All functions but `release` are required. */
struct gc_two_passes {
    /* GCONV_OK, or why the kernels do not take this filter of rank 1. */
    gconv_status (*check)(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device, gconv_error *error);
    /* Sets *kernels to a state for this filter. `release` frees it, after a failure, too. */
    gconv_status (*prepare)(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, void **kernels, gconv_error *error);
    void (*release)(void *kernels);
    /* Both passes. `rows` has all rows that `columns` reads. `weights`, on the device: those of the
     * row, then those of the column. The steps have no taps. */
    gconv_status (*run)(void *kernels, const gc_gpu_step &rows, const gc_gpu_step &columns,
                        const float *weights, cudaStream_t stream, gconv_error *error);
    void (*describe)(const void *kernels, char *text, size_t size);
    /* Outputs of a block side by side in the first pass, one below the other in the second. */
    void (*spans)(const void *kernels, double *row, double *column);
};

/* The functions of gc_step_method. */
gconv_status gc_twopass_supports(const gc_two_passes &passes, const gc_problem *problem,
                                 const gc_step *step, const gconv_device_info *device,
                                 gconv_error *error);
gconv_status gc_twopass_prepare(const gc_two_passes &passes, const gc_problem *problem,
                                const gc_step *step, const gconv_device_info *device, int rows,
                                void **state, gconv_error *error);
gconv_status gc_twopass_convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                                 gconv_error *error);
void gc_twopass_release(void *state);
void gc_twopass_describe(const void *state, char *text, size_t size);
double gc_twopass_seconds(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device);
double gc_twopass_intensity(const void *state, const gc_step *step);
double gc_twopass_extra_bytes(const gc_problem *problem, int64_t rows);

template <const gc_two_passes &passes> constexpr gc_step_method gc_twopass_method()
{
    return {
        {
            [](const gc_problem *problem, const gc_step *step, const gconv_device_info *device,
               gconv_error *error) {
                return gc_twopass_supports(passes, problem, step, device, error);
            },
            gc_twopass_seconds,
            gc_twopass_release,
            gc_twopass_describe,
            gc_twopass_extra_bytes,
        },
        [](const gc_problem *problem, const gc_step *step, const gconv_device_info *device,
           int rows, void **state, gconv_error *error) {
            return gc_twopass_prepare(passes, problem, step, device, rows, state, error);
        },
        gc_twopass_convolve,
        gc_twopass_intensity,
    };
}

/* ---- The first pass of twopass, which other variants take, too ------------------------------- */

enum { GC_ROW_FACTOR = 4, GC_ROW_BLOCK_WIDTH = 64, GC_ROW_BLOCK_HEIGHT = 4 };

#ifdef __CUDACC__
/* 1xT tiling. The row's weights are the first in constant memory. */
static __global__ void gc_convolve_rows(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    const int span = GC_ROW_BLOCK_WIDTH * GC_ROW_FACTOR;
    int left = (int)(blockIdx.x % columns) * span;
    int top = (int)(blockIdx.x / columns) * GC_ROW_BLOCK_HEIGHT;
    int pitch = span + step.filter_width - 1;
    gc_load_block<false>(pixels, pitch, pitch, GC_ROW_BLOCK_HEIGHT,
                         step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left,
                         step.input_pitch, step.width - left + step.filter_width - 1,
                         step.height - top);
    const float *row = pixels + (int)threadIdx.y * pitch + (int)threadIdx.x;
    float sums[GC_ROW_FACTOR] = {};
    for (int i = 0; i < step.filter_width; i++)
#pragma unroll
        for (int t = 0; t < GC_ROW_FACTOR; t++)
            sums[t] += row[i + t * GC_ROW_BLOCK_WIDTH] * gc_filter[i];
    int y = top + (int)threadIdx.y;
    if (y >= step.height)
        return;
    float *output = step.output + blockIdx.y * step.output_plane + y * step.output_pitch;
#pragma unroll
    for (int t = 0; t < GC_ROW_FACTOR; t++) {
        int x = left + (int)threadIdx.x + t * GC_ROW_BLOCK_WIDTH;
        if (x < step.width)
            output[x] = sums[t];
    }
}

/* ---- Variants of two kernels ----------------------------------------------------------------- */

/* A pass by one kernel. Its weights lie in the file's constant memory: those of the row, then those
 * of the column. */
struct gc_line_kernel {
    void (*kernel)(gc_gpu_step step, unsigned columns);
    int block_width, block_height; /* threads */
    int width, height;             /* outputs of a block */
    /* Floats of shared memory for the filter of both passes. */
    int (*floats)(int filter_width, int filter_height);
};

struct gc_line_kernels {
    gc_line_kernel rows, columns;
    const char *about; /* what gc_step_method.describe says */
    /* GCONV_OK, or why a filter of rank 1 is not taken; null: all are that fit. */
    gconv_status (*check)(const gc_problem *problem, const gc_step *step,
                          gconv_error *error) = nullptr;
};

/* The rows of twopass. */
static inline int gc_row_floats(int filter_width, int)
{
    return (GC_ROW_BLOCK_WIDTH * GC_ROW_FACTOR + filter_width - 1) * GC_ROW_BLOCK_HEIGHT;
}
static constexpr gc_line_kernel gc_row_kernel = {
    gc_convolve_rows,    GC_ROW_BLOCK_WIDTH, GC_ROW_BLOCK_HEIGHT, GC_ROW_BLOCK_WIDTH *GC_ROW_FACTOR,
    GC_ROW_BLOCK_HEIGHT, gc_row_floats};

/* Whether a block has the shared memory for a step's filter. */
static inline gconv_status gc_line_check(const gc_line_kernel &line, const gc_step *step,
                                         const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling = {line.block_width, line.block_height, line.width / line.block_width, 0, 0};
    tiling.shared_bytes = (uint64_t)line.floats(step->width, step->height) * sizeof(float);
    return gc_tiling_check(&tiling, device, error);
}

static inline void gc_line_launch(const gc_line_kernel &line, const gc_gpu_step &step,
                                  cudaStream_t stream)
{
    gc_gpu_grid grid = gc_gpu_grid_of(step, line.width, line.height);
    dim3 block((unsigned)line.block_width, (unsigned)line.block_height);
    size_t bytes = (size_t)line.floats(step.filter_width, step.filter_height) * sizeof(float);
    auto kernel = line.kernel;
    kernel<<<grid.blocks, block, bytes, stream>>>(step, grid.columns);
}

template <const gc_line_kernels &lines> constexpr gc_two_passes gc_two_kernels()
{
    return {
        [](const gc_problem *problem, const gc_step *step, const gconv_device_info *device,
           gconv_error *error) {
            if (lines.check != nullptr)
                GC_TRY(lines.check(problem, step, error));
            GC_TRY(gc_line_check(lines.rows, step, device, error));
            return gc_line_check(lines.columns, step, device, error);
        },
        [](const gc_problem *, const gc_step *, const gconv_device_info *device, void **,
           gconv_error *error) {
            GC_TRY(gc_gpu_opt_in((const void *)lines.rows.kernel, device, error));
            return gc_gpu_opt_in((const void *)lines.columns.kernel, device, error);
        },
        nullptr,
        [](void *, const gc_gpu_step &rows, const gc_gpu_step &columns, const float *weights,
           cudaStream_t stream, gconv_error *error) {
            GC_TRY(gc_filter_lock(weights, rows.filter_width + rows.filter_height, stream, error));
            gc_line_launch(lines.rows, rows, stream);
            gc_line_launch(lines.columns, columns, stream);
            return gc_constant_unlock(stream, error);
        },
        [](const void *, char *text, size_t size) { snprintf(text, size, "%s", lines.about); },
        [](const void *, double *row, double *column) {
            *row = lines.rows.width;
            *column = lines.columns.height;
        },
    };
}
#endif
