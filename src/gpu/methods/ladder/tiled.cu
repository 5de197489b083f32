/* tiled: 1xN tiling with a fixed factor.
 *
 * Idea: a block computes N horizontally neighbouring tiles, a thread one output of each. A weight,
 *   an index and a turn of the loop then serve N outputs, and the apron between the tiles is loaded
 *   once (van Werkhoven et al. 2014, section 2 and figure 4, equation 2). Rows of blocks narrower
 *   than 32 are padded in shared memory against bank conflicts (section 3).
 * Variants: tiled:nopad does not pad (2011, figure 5; 2014, figure 6), and has blocks of 16x16, in
 *   which that shows.
 * Improves on: const, by fewer instructions a multiply-add and fewer pixels loaded a block.
 * Needs: (F_w - 1 + N * B_w) * (F_h - 1 + B_h) floats of shared memory, more with padding; N sums
 *   in registers.
 * Limits: filters of up to 16384 weights whose tiles fit in shared memory.
 * Loses: to adaptive, if another factor fits the filter and the device better. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/factors.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

enum { DEFAULT_FACTOR = 4 };

template <bool PADDED> static gc_tiling choose(const gc_problem *problem, const gc_step *step)
{
    int factor = problem->tiling.tile > 0 ? problem->tiling.tile : DEFAULT_FACTOR;
    gc_tiling tiling = {PADDED ? 32 : 16, 16, factor, 0, 0};
    gc_tiling_take_block(problem, &tiling);
    if (PADDED)
        gc_tiling_measure(step->width, step->height, &tiling);
    else
        gc_tiling_measure_unpadded(step->width, step->height, &tiling);
    return tiling;
}

template <bool PADDED>
static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling = choose<PADDED>(problem, step);
    if (tiling.factor > GC_FACTOR_MAX)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "tiling factor %d is more than %d",
                       tiling.factor, (int)GC_FACTOR_MAX);
    gconv_status status = gc_constant_check(step, error);
    return status == GCONV_OK ? gc_tiling_check(&tiling, device, error) : status;
}

template <bool PADDED>
static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_tiling tiling = choose<PADDED>(problem, step);
    gconv_status status =
        gc_gpu_opt_in((const void *)gc_factor_kernels<false>[tiling.factor], device, error);
    return status == GCONV_OK ? gc_tiling_create(&tiling, state, error) : status;
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    return gc_launch_tiles(gc_factor_kernels<false>[tiling->factor], *tiling, step, stream, error);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->tiled_share);
}

template <bool PADDED> constexpr gc_step_method method_of()
{
    return {
        {supports<PADDED>, seconds, free, gc_tiling_describe},
        prepare<PADDED>,
        convolve,
        gc_tiling_intensity,
        gc_tiling_factor,
    };
}

static const gc_step_method method = method_of<true>();
static const gc_step_method nopad_method = method_of<false>();

extern "C" {
extern const gc_operations gc_tiled_operations, gc_tiled_nopad_operations;
const gc_operations gc_tiled_operations = gc_step_operations<method>();
const gc_operations gc_tiled_nopad_operations = gc_step_operations<nopad_method>();
}
