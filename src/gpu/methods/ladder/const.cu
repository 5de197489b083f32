/* const: shared, with the filter in constant memory.
 *
 * Idea: all threads of a warp need the same weight at once, and constant memory's cache broadcasts
 *   it (KTH 2018, section 3.3; van Werkhoven et al. 2011, section 5).
 * Improves on: shared, which loads every weight from global memory.
 * Needs: as much shared memory as shared; 64 KB of constant memory for the weights.
 * Limits: filters of up to 16384 weights (128x128), and the limits of shared.
 * Loses: to tiled, which uses each weight for several outputs. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/tile.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling = gc_tiling_of_block(problem, step);
    gconv_status status = gc_constant_check(step, error);
    return status == GCONV_OK ? gc_tiling_check(&tiling, device, error) : status;
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_tiling tiling = gc_tiling_of_block(problem, step);
    gconv_status status = gc_gpu_opt_in((const void *)gc_convolve_tiles<1, false>, device, error);
    return status == GCONV_OK ? gc_tiling_create(&tiling, state, error) : status;
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    return gc_launch_tiles(gc_convolve_tiles<1, false>, *(const gc_tiling *)state, step, stream,
                           error);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->const_share);
}

static const gc_step_method method = {
    {supports, seconds, free, gc_tiling_describe},
    prepare,
    convolve,
    gc_tiling_intensity,
};

extern "C" {
extern const gc_operations gc_const_operations;
const gc_operations gc_const_operations = gc_step_operations<method>();
}
