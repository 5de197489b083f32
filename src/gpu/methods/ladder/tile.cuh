/* The kernel of const, tiled and adaptive: pixels in shared memory, the filter in constant memory,
 * FACTOR outputs a thread, one block width apart (van Werkhoven et al. 2014, figure 4). With
 * READ_ONLY, pixels come through the read-only cache (section 6 there). Shared memory holds pixels
 * of the type `pixel`. */
#ifndef GC_GPU_METHODS_LADDER_TILE_CUH
#define GC_GPU_METHODS_LADDER_TILE_CUH

#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant_filter.cuh"

#include <cstdlib>

template <int FACTOR, bool READ_ONLY, class pixel = float>
static __global__ void gc_convolve_tiles(gc_gpu_step step, unsigned columns, int pitch)
{
    extern __shared__ float pixels[];
    pixel *block = (pixel *)pixels;
    const int block_width = (int)blockDim.x;
    int left = (int)(blockIdx.x % columns) * block_width * FACTOR;
    int top = (int)(blockIdx.x / columns * blockDim.y);
    const float *input = step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left;
    gc_load_block<READ_ONLY>(block, pitch, block_width * FACTOR + step.filter_width - 1,
                             (int)blockDim.y + step.filter_height - 1, input, step.input_pitch,
                             step.width - left + step.filter_width - 1,
                             step.height - top + step.filter_height - 1);
    float sums[FACTOR] = {};
    for (int j = 0; j < step.filter_height; j++) {
        const pixel *row = block + ((int)threadIdx.y + j) * pitch + (int)threadIdx.x;
        for (int i = 0; i < step.filter_width; i++) {
            float weight = gc_filter[j * step.filter_width + i];
#pragma unroll
            for (int t = 0; t < FACTOR; t++)
                sums[t] += row[i + t * block_width] * weight;
        }
    }
    int x = left + (int)threadIdx.x;
    int y = top + (int)threadIdx.y;
    if (y >= step.height)
        return;
    float *output = step.output + blockIdx.y * step.output_plane + y * step.output_pitch;
#pragma unroll
    for (int t = 0; t < FACTOR; t++)
        if (x + t * block_width < step.width)
            output[x + t * block_width] = sums[t];
}

typedef void (*gc_tile_kernel)(gc_gpu_step, unsigned, int);

/* Launches the kernel of a tiling with the step's filter in constant memory. */
static inline gconv_status gc_launch_tiles(gc_tile_kernel kernel, const gc_tiling &tiling,
                                           const gc_gpu_step &step, cudaStream_t stream,
                                           gconv_error *error)
{
    dim3 block((unsigned)tiling.block_width, (unsigned)tiling.block_height);
    gc_gpu_grid grid =
        gc_gpu_grid_of(step, tiling.block_width * tiling.factor, tiling.block_height);
    GC_TRY(gc_filter_lock(step, stream, error));
    kernel<<<grid.blocks, block, tiling.shared_bytes, stream>>>(step, grid.columns,
                                                                tiling.shared_pitch);
    return gc_constant_unlock(stream, error);
}

#endif
