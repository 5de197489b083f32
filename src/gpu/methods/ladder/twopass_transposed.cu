/* twopass:transposed: the columns of twopass through transposed shared memory.
 *
 * Idea: a block turns its pixels when it loads them, so that a column of the image lies in a row of
 *   shared memory, and convolves columns as it would convolve rows: 1xT tiling, neighbouring
 *   threads on neighbouring addresses (KTH 2018, section 3.5.2 and figure 4). Blocks have 32x32
 *   threads.
 * Improves on: nothing here. The columns of twopass have no bank conflicts either, since the
 *   threads of a warp read one row.
 * Needs: 32 rows of F_h - 1 + 4 * 32 floats of shared memory, and one more float a row, which keeps
 *   the threads that store a column in different banks.
 * Limits: those of twopass.
 * Loses: to twopass: neighbouring threads store outputs that lie one below the other. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/twopass.cuh"

#include <cstdio>

enum { SIDE = 32, FACTOR = 4, SPAN = SIDE * FACTOR };

/* Floats from row to row of shared memory: an odd number. */
static __host__ __device__ inline int turned_pitch(int filter_height)
{
    return (SPAN + filter_height - 1) | 1;
}

static __global__ void turned_columns(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    int left = (int)(blockIdx.x % columns) * SIDE, top = (int)(blockIdx.x / columns) * SPAN;
    int pitch = turned_pitch(step.filter_height), count = SPAN + step.filter_height - 1;
    int from = left + (int)threadIdx.x;
    const float *input = step.input + blockIdx.y * step.input_plane + top * step.input_pitch + from;
    for (int y = (int)threadIdx.y; y < count; y += SIDE)
        if (from < step.width && y < step.height - top + step.filter_height - 1)
            pixels[(int)threadIdx.x * pitch + y] = input[y * step.input_pitch];
    __syncthreads();
    const float *weights = gc_filter + step.filter_width;
    const float *column = pixels + (int)threadIdx.y * pitch + (int)threadIdx.x;
    float sums[FACTOR] = {};
    for (int j = 0; j < step.filter_height; j++)
#pragma unroll
        for (int t = 0; t < FACTOR; t++)
            sums[t] += column[j + t * SIDE] * weights[j];
    int x = left + (int)threadIdx.y;
    if (x >= step.width)
        return;
    float *output = step.output + blockIdx.y * step.output_plane + x;
#pragma unroll
    for (int t = 0; t < FACTOR; t++) {
        int y = top + (int)threadIdx.x + t * SIDE;
        if (y < step.height)
            output[y * step.output_pitch] = sums[t];
    }
}

static gconv_status check(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device, gconv_error *error)
{
    (void)problem;
    gc_tiling tiling = {SIDE, SIDE, FACTOR, turned_pitch(step->height), 0};
    tiling.shared_bytes = (uint64_t)tiling.shared_pitch * SIDE * sizeof(float);
    return gc_tiling_check(&tiling, device, error);
}

static gconv_status prepare_kernels(const gc_problem *problem, const gc_step *step,
                                    const gconv_device_info *device, void **kernels,
                                    gconv_error *error)
{
    (void)problem, (void)step, (void)kernels;
    GC_TRY(gc_gpu_opt_in((const void *)gc_convolve_rows, device, error));
    return gc_gpu_opt_in((const void *)turned_columns, device, error);
}

static gconv_status run(void *kernels, const gc_gpu_step &rows, const gc_gpu_step &columns,
                        const float *weights, cudaStream_t stream, gconv_error *error)
{
    (void)kernels;
    gc_gpu_grid grid = gc_gpu_grid_of(columns, SIDE, SPAN);
    size_t bytes = (size_t)turned_pitch(columns.filter_height) * SIDE * sizeof(float);
    GC_TRY(gc_weights_lock(rows, weights, stream, error));
    gc_launch_rows(rows, stream);
    turned_columns<<<grid.blocks, dim3(SIDE, SIDE), bytes, stream>>>(columns, grid.columns);
    return gc_constant_unlock(stream, error);
}

static void describe(const void *kernels, char *text, size_t size)
{
    (void)kernels;
    snprintf(text, size, "rows with factor %d, transposed columns with factor %d",
             (int)GC_ROW_FACTOR, (int)FACTOR);
}

static void spans(const void *kernels, double *row, double *column)
{
    (void)kernels;
    *row = GC_ROW_BLOCK_WIDTH * GC_ROW_FACTOR;
    *column = SPAN;
}

static const gc_two_passes passes = {check, prepare_kernels, nullptr, run, describe, spans};
static const gc_step_method method = gc_twopass_method<passes>();

extern "C" {
extern const gc_operations gc_twopass_transposed_operations;
const gc_operations gc_twopass_transposed_operations = gc_step_operations<method>();
}
