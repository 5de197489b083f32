/* naive: one thread a pixel.
 *
 * Idea: the definition, in parallel. Image and filter are read from global memory for every
 *   multiply-add (van Werkhoven et al. 2011, section 3; KTH 2018, section 3.1; Abramov 2011, "the
 *   most naive approach"). 0.25 FLOP a byte without caches (KTH 2018, equation 9).
 * Variants: naive:const has the filter in constant memory (2011, figure 2). 0.5 FLOP a byte of
 *   global memory without caches. naive:lecture (lecture.cpp) is that of Abramov 2011.
 * Improves on: the serial loop.
 * Needs: no shared memory.
 * Limits: none.
 * Loses: always, but least at small filters, for which caches serve what is read again. */
#include "gpu/methods/ladder/tile.cuh"

template <bool CONSTANT> static __global__ void convolve_pixels(gc_ladder_step step)
{
    int x = (int)(blockIdx.x % step.columns * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.x / step.columns * blockDim.y + threadIdx.y);
    if (x >= step.width || y >= step.height)
        return;
    const float *input = step.input + blockIdx.y * step.input_plane + y * step.input_pitch + x;
    float sum = 0;
    for (int j = 0; j < step.filter_height; j++)
        for (int i = 0; i < step.filter_width; i++) {
            int place = j * step.filter_width + i;
            sum +=
                (CONSTANT ? gc_filter[place] : step.taps[place]) * input[j * step.input_pitch + i];
        }
    step.output[blockIdx.y * step.output_plane + y * step.output_pitch + x] = sum;
}

template <bool CONSTANT> struct naive_way {
    static constexpr int block_width = 0, block_height = 0, flags = 0; /* any block */
    static constexpr bool in_constant_memory = CONSTANT;
    static constexpr double gc_costs::*share = &gc_costs::naive_share;

    static gconv_status choose(const gc_tiling_wish &wish, gc_tiling *tiling, gconv_error *)
    {
        *tiling = {16, 16, 1, 0, 0};
        gc_tiling_take_block(wish.problem, tiling);
        return GCONV_OK;
    }

    static gc_tile_kernel kernel(int)
    {
        return convolve_pixels<CONSTANT>;
    }

    /* Pixel and weight are loaded for every product (KTH 2018, equation 9), or the pixel alone. */
    static double intensity(const void *, const gc_step *)
    {
        return CONSTANT ? 0.5 : 0.25;
    }
};

static const gc_step_method method =
    gc_tiling_method<naive_way<false>>(naive_way<false>::intensity);
static const gc_step_method const_method =
    gc_tiling_method<naive_way<true>>(naive_way<true>::intensity);

GC_OPERATIONS(gc_naive_operations, gc_step_operations<method>());
GC_OPERATIONS(gc_naive_const_operations, gc_step_operations<const_method>());
