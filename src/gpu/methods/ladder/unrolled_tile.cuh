/* The tiles of gc_convolve_tiles, for one size of filter, block and tiling, with all loops unrolled
 * (van Werkhoven et al. 2014, section 5). NVRTC compiles this text. The text before it defines
 * gc_config, the sizes: a block of block_width x block_height threads computes `across` x `down`
 * tiles, of which one is 1. A row in shared memory has `pitch` samples. The compiler may leave a
 * loop of a large filter. */
#ifndef GC_GPU_METHODS_LADDER_UNROLLED_TILE_CUH
#define GC_GPU_METHODS_LADDER_UNROLLED_TILE_CUH

#include "gpu/methods/ladder/unrolled_types.h"

extern "C" {
__constant__ float gc_unrolled_weights[gc_config::width * gc_config::height];
}

/* Loads the pixels of all tiles and their apron. The extended image ends after `columns` and
 * `rows`. */
static __device__ inline void gc_unrolled_load(float *shared, const float *input, long long pitch,
                                               int columns, int rows)
{
    const int width = gc_config::block_width * gc_config::across + gc_config::width - 1;
    const int height = gc_config::block_height * gc_config::down + gc_config::height - 1;
#pragma unroll
    for (int y = 0; y < height; y += gc_config::block_height)
#pragma unroll
        for (int x = 0; x < width; x += gc_config::block_width) {
            int to_x = x + (int)threadIdx.x, to_y = y + (int)threadIdx.y;
            if (to_x < width && to_y < height && to_x < columns && to_y < rows)
                shared[to_y * gc_config::pitch + to_x] = input[to_y * pitch + to_x];
        }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(gc_config::block_width *gc_config::block_height)
    gc_unrolled_kernel(const gc_unrolled_step step)
{
    const int tiles = gc_config::across * gc_config::down;
    const int span_x = gc_config::block_width * gc_config::across;
    const int span_y = gc_config::block_height * gc_config::down;
    /* From a tile of a thread to the next. */
    const int next_x = gc_config::across > 1 ? gc_config::block_width : 0;
    const int next_y = gc_config::down > 1 ? gc_config::block_height : 0;
    extern __shared__ float4 gc_block_memory[];
    float *pixels = (float *)gc_block_memory;
    int left = (int)(blockIdx.x % step.columns) * span_x;
    int top = (int)(blockIdx.x / step.columns) * span_y;
    gc_unrolled_load(pixels,
                     step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left,
                     step.input_pitch, step.width - left + gc_config::width - 1,
                     step.height - top + gc_config::height - 1);
    const float *own = pixels + (int)threadIdx.y * gc_config::pitch + (int)threadIdx.x;
    float sums[tiles] = {};
#pragma unroll
    for (int j = 0; j < gc_config::height; j++)
#pragma unroll
        for (int i = 0; i < gc_config::width; i++)
#pragma unroll
            for (int t = 0; t < tiles; t++)
                sums[t] += own[(j + t * next_y) * gc_config::pitch + i + t * next_x] *
                           gc_unrolled_weights[j * gc_config::width + i];
    float *output = step.output + blockIdx.y * step.output_plane;
#pragma unroll
    for (int t = 0; t < tiles; t++) {
        int x = left + (int)threadIdx.x + t * next_x, y = top + (int)threadIdx.y + t * next_y;
        if (x < step.width && y < step.height)
            output[y * step.output_pitch + x] = sums[t];
    }
}

#endif
