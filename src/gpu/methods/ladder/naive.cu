/* naive: one thread a pixel.
 *
 * Idea: the definition, in parallel. Image and filter are read from global memory for every
 *   multiply-add (van Werkhoven et al. 2011, section 3; KTH 2018, section 3.1; Abramov 2011, "the
 *   most naive approach"). 0.25 FLOP a byte without caches (KTH 2018, equation 9).
 * Variants: naive:const has the filter in constant memory (2011, figure 2; Abramov 2011, the
 *   kernels before shared memory). 0.5 FLOP a byte of global memory without caches.
 * Improves on: the serial loop.
 * Needs: no shared memory.
 * Limits: none.
 * Loses: always, but least at small filters, for which caches serve what is read again. */
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant_filter.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

#include <cstdlib>

template <bool CONSTANT> static __global__ void convolve_pixels(gc_gpu_step step, unsigned columns)
{
    int x = (int)(blockIdx.x % columns * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.x / columns * blockDim.y + threadIdx.y);
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

template <bool CONSTANT>
static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    dim3 block((unsigned)tiling->block_width, (unsigned)tiling->block_height);
    gc_gpu_grid grid = gc_gpu_grid_of(step, tiling->block_width, tiling->block_height);
    if constexpr (CONSTANT)
        GC_TRY(gc_filter_lock(step, stream, error));
    auto kernel = convolve_pixels<CONSTANT>;
    kernel<<<grid.blocks, block, 0, stream>>>(step, grid.columns);
    if constexpr (CONSTANT)
        return gc_constant_unlock(stream, error);
    else
        GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static gc_tiling choose(const gc_problem *problem)
{
    gc_tiling tiling = {16, 16, 1, 0, 0};
    gc_tiling_take_block(problem, &tiling);
    return tiling;
}

template <bool CONSTANT>
static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling = choose(problem);
    gconv_status status = CONSTANT ? gc_constant_check(step, error) : GCONV_OK;
    return status == GCONV_OK ? gc_tiling_check(&tiling, device, error) : status;
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)step;
    (void)device;
    (void)rows;
    gc_tiling tiling = choose(problem);
    return gc_tiling_create(&tiling, state, error);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->naive_share);
}

/* Pixel and weight are loaded for every product (KTH 2018, equation 9), or the pixel alone. */
template <bool CONSTANT> static double intensity(const void *state, const gc_step *step)
{
    (void)state;
    (void)step;
    return CONSTANT ? 0.5 : 0.25;
}

template <bool CONSTANT> constexpr gc_step_method method_of()
{
    return {
        {supports<CONSTANT>, seconds, free, gc_tiling_describe},
        prepare,
        convolve<CONSTANT>,
        intensity<CONSTANT>,
    };
}

static const gc_step_method method = method_of<false>();
static const gc_step_method const_method = method_of<true>();

extern "C" {
extern const gc_operations gc_naive_operations, gc_naive_const_operations;
const gc_operations gc_naive_operations = gc_step_operations<method>();
const gc_operations gc_naive_const_operations = gc_step_operations<const_method>();
}
