/* shared: the block's pixels and apron in shared memory.
 *
 * Idea: the threads of a block read almost the same part of the image. They load it once, together
 *   (KTH 2018, section 3.2), several elements each, with no thread idle (van Werkhoven et al. 2014,
 *   figure 7; in KTH 2018 each thread loads 1, 2 or 4). The filter stays in global memory.
 * Improves on: naive, by reading each pixel of the image about once.
 * Needs: (F_w - 1 + B_w) * (F_h - 1 + B_h) floats of shared memory a block.
 * Limits: these must fit: filters up to about 220x220 on a device with 227 KiB a block.
 * Loses: to naive at small filters (up to 9x9 on an H200), for which a cache does the same without
 *   a barrier. */
#include "gpu/methods/ladder/tile.cuh"

static __global__ void convolve_block(gc_gpu_step step, unsigned columns, int pitch)
{
    extern __shared__ float pixels[];
    int left = (int)(blockIdx.x % columns * blockDim.x);
    int top = (int)(blockIdx.x / columns * blockDim.y);
    const float *input = step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left;
    gc_load_block<false>(pixels, pitch, (int)blockDim.x + step.filter_width - 1,
                         (int)blockDim.y + step.filter_height - 1, input, step.input_pitch,
                         step.width - left + step.filter_width - 1,
                         step.height - top + step.filter_height - 1);
    int x = left + (int)threadIdx.x;
    int y = top + (int)threadIdx.y;
    if (x >= step.width || y >= step.height)
        return;
    float sum = 0;
    for (int j = 0; j < step.filter_height; j++)
        for (int i = 0; i < step.filter_width; i++)
            sum += step.taps[j * step.filter_width + i] *
                   pixels[((int)threadIdx.y + j) * pitch + (int)threadIdx.x + i];
    step.output[blockIdx.y * step.output_plane + y * step.output_pitch + x] = sum;
}

struct shared_way {
    static constexpr bool in_constant_memory = false;
    static constexpr double gc_costs::*share = &gc_costs::shared_share;

    static gconv_status choose(const gc_tiling_wish &wish, gc_tiling *tiling, gconv_error *)
    {
        *tiling = gc_tiling_of_block(wish.problem, wish.step);
        return GCONV_OK;
    }

    static gc_tile_kernel kernel(int)
    {
        return convolve_block;
    }
};

static const gc_step_method method = gc_tiling_method<shared_way>();

GC_OPERATIONS(gc_shared_operations, gc_step_operations<method>());
