/* The kernels of Abramov 2011, for one size of filter, which is a column times a row. NVRTC
 * compiles this text. The text before it defines gc_config: `width` and `height` of the filter, the
 * `step` of the lecture, `flat` shared memory. As there, sizes are constants, so that the compiler
 * unrolls loops; a thread computes one output; each load tests whether its pixel lies in the image,
 * here in the extended one, which needs two of the four comparisons. */
#pragma once

#include "gpu/plan/step_types.cuh"

enum { GC_LECTURE_NAIVE, GC_LECTURE_SHARED, GC_LECTURE_ROWS, GC_LECTURE_COLUMNS };
enum { GC_LECTURE_SIDE = 16 }; /* of blocks */

extern "C" {
__constant__ float gc_ladder_weights[gc_config::width + gc_config::height]; /* row, column */
}

static __device__ inline float gc_lecture_row(int i)
{
    return gc_ladder_weights[i];
}

static __device__ inline float gc_lecture_column(int j)
{
    return gc_ladder_weights[gc_config::width + j];
}

/* The pixel of the extended image, or 0 outside. */
static __device__ inline float gc_lecture_pixel(const gc_ladder_step &step, int x, int y)
{
    const bool rows = gc_config::step == GC_LECTURE_ROWS;
    const bool columns = gc_config::step == GC_LECTURE_COLUMNS;
    if (x > step.width - 1 + (columns ? 0 : gc_config::width - 1) ||
        y > step.height - 1 + (rows ? 0 : gc_config::height - 1))
        return 0;
    return step.input[blockIdx.y * step.input_plane + y * step.input_pitch + x];
}

/* "The most naive approach": two weights for each pixel. */
static __device__ inline float gc_lecture_naive(const gc_ladder_step &step, int x, int y)
{
    float sum = 0;
    for (int j = 0; j < gc_config::height; j++)
        for (int i = 0; i < gc_config::width; i++)
            sum += gc_lecture_pixel(step, x + i, y + j) * gc_lecture_column(j) * gc_lecture_row(i);
    return sum;
}

/* "Shared memory model for naive approach": a thread loads 4 pixels. "Filter separation": 2. With
 * `flat` the array has one dimension ("Reorganize shared memory"), else rows of a fixed length. */
static __device__ inline float gc_lecture_block(const gc_ladder_step &step, int x, int y)
{
    extern __shared__ float4 gc_block_memory[];
    const bool rows = gc_config::step == GC_LECTURE_ROWS;
    const bool columns = gc_config::step == GC_LECTURE_COLUMNS;
    const int right = columns ? 0 : gc_config::width - 1;
    const int down = rows ? 0 : gc_config::height - 1;
    const int pitch = gc_config::flat ? GC_LECTURE_SIDE + right : 2 * GC_LECTURE_SIDE;
    float *pixels = (float *)gc_block_memory;
    int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    pixels[ty * pitch + tx] = gc_lecture_pixel(step, x, y);
    if (!columns)
        pixels[ty * pitch + tx + right] = gc_lecture_pixel(step, x + right, y);
    if (!rows)
        pixels[(ty + down) * pitch + tx] = gc_lecture_pixel(step, x, y + down);
    if (!rows && !columns)
        pixels[(ty + down) * pitch + tx + right] = gc_lecture_pixel(step, x + right, y + down);
    __syncthreads();
    float sum = 0;
    for (int j = 0; j <= down; j++)
        for (int i = 0; i <= right; i++) {
            float pixel = pixels[(ty + j) * pitch + tx + i];
            sum += rows      ? pixel * gc_lecture_row(i)
                   : columns ? pixel * gc_lecture_column(j)
                             : pixel * gc_lecture_column(j) * gc_lecture_row(i);
        }
    return sum;
}

extern "C" __global__ void __launch_bounds__(GC_LECTURE_SIDE *GC_LECTURE_SIDE)
    gc_ladder_kernel(const gc_ladder_step step)
{
    int x = (int)(blockIdx.x % step.columns) * GC_LECTURE_SIDE + (int)threadIdx.x;
    int y = (int)(blockIdx.x / step.columns) * GC_LECTURE_SIDE + (int)threadIdx.y;
    float sum = gc_config::step == GC_LECTURE_NAIVE ? gc_lecture_naive(step, x, y)
                                                    : gc_lecture_block(step, x, y);
    if (x < step.width && y < step.height)
        step.output[blockIdx.y * step.output_plane + y * step.output_pitch + x] = sum;
}
