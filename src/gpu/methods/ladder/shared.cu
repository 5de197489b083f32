/* shared: the block's pixels and apron in shared memory.
 *
 * Idea: the threads of a block read almost the same part of the image. They load it once, together,
 *   several elements each, with no thread idle (KTH 2018, section 3.2; van Werkhoven et al. 2014,
 *   figure 7). The filter stays in global memory.
 * Improves on: naive, by reading each pixel of the image about once.
 * Needs: (F_w - 1 + B_w) * (F_h - 1 + B_h) floats of shared memory a block.
 * Limits: these must fit: filters up to about 220x220 on a device with 227 KiB a block.
 * Loses: to naive at small filters (up to 9x9 on an H200), for which a cache does the same without
 *   a barrier. */
#include "gpu/device/check.cuh"
#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/block.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

#include <cstdlib>

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

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    dim3 block((unsigned)tiling->block_width, (unsigned)tiling->block_height);
    gc_gpu_grid grid = gc_gpu_grid_of(step, tiling->block_width, tiling->block_height);
    convolve_block<<<grid.blocks, block, tiling->shared_bytes, stream>>>(step, grid.columns,
                                                                         tiling->shared_pitch);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling = gc_tiling_of_block(problem, step);
    return gc_tiling_check(&tiling, device, error);
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_tiling tiling = gc_tiling_of_block(problem, step);
    gconv_status status = gc_gpu_opt_in((const void *)convolve_block, device, error);
    return status == GCONV_OK ? gc_tiling_create(&tiling, state, error) : status;
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->shared_share);
}

static const gc_step_method method = {
    {supports, seconds, free, gc_tiling_describe},
    prepare,
    convolve,
    gc_tiling_intensity,
};

extern "C" {
extern const gc_operations gc_shared_operations;
const gc_operations gc_shared_operations = gc_step_operations<method>();
}
