/* What the variants of twopass share: a filter of rank 1 in two passes, with a plane between them.
 * Filters that are not of rank 1 are convolved as adaptive:ours does. */
#ifndef GC_GPU_METHODS_LADDER_TWOPASS_CUH
#define GC_GPU_METHODS_LADDER_TWOPASS_CUH

#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant_filter.cuh"

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

static inline void gc_launch_rows(const gc_gpu_step &step, cudaStream_t stream)
{
    const int span = GC_ROW_BLOCK_WIDTH * GC_ROW_FACTOR;
    gc_gpu_grid grid = gc_gpu_grid_of(step, span, GC_ROW_BLOCK_HEIGHT);
    size_t bytes = (size_t)(span + step.filter_width - 1) * GC_ROW_BLOCK_HEIGHT * sizeof(float);
    gc_convolve_rows<<<grid.blocks, dim3(GC_ROW_BLOCK_WIDTH, GC_ROW_BLOCK_HEIGHT), bytes, stream>>>(
        step, grid.columns);
}
#endif

/* Puts the weights of both passes into this file's constant memory. The caller then launches its
 * kernels, and calls gc_constant_unlock. */
static inline gconv_status gc_weights_lock(const gc_gpu_step &step, const float *weights,
                                           cudaStream_t stream, gconv_error *error)
{
    void *symbol;
    GC_CUDA_TRY(error, cudaGetSymbolAddress(&symbol, gc_filter));
    return gc_constant_lock(symbol, weights, step.filter_width + step.filter_height, stream, error);
}

#endif
