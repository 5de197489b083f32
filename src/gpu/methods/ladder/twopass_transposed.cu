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
#include "gpu/methods/ladder/twopass.cuh"

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

static int turned_floats(int, int filter_height)
{
    return turned_pitch(filter_height) * SIDE;
}

static const gc_line_kernels lines = {
    gc_row_kernel,
    {turned_columns, SIDE, SIDE, SIDE, SPAN, turned_floats},
    GCONV_FILTER_SIDE_MAX,
    "rows with factor 4, transposed columns with factor 4",
};
static const gc_two_passes passes = gc_two_kernels<lines>();
static const gc_step_method method = gc_twopass_method<passes>();

GC_OPERATIONS(gc_twopass_transposed_operations, gc_step_operations<method>());
