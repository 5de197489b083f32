/* adaptive:unrolled: 1xN tiling with all loops unrolled, blocks and factor from a table.
 *
 * Idea: if the sizes of filter and block are known to the compiler, the loops over the weights
 *   need no instructions, and addresses are constants. A kernel is compiled for each filter size.
 *   Which block and which factor is the fastest has no formula: a search fills a table, and a
 *   filter takes its line (van Werkhoven et al. 2014, section 5).
 * Improves on: adaptive, whose loops run at run time and whose rule knows limits but no times.
 * Needs: NVRTC; what tiled needs, at the tiling chosen. `gconv tune --impl adaptive:unrolled` fills
 *   the table of a device. A filter size that the table lacks takes the line of the nearest size
 *   that has about as many weights. Without one, blocks have 32x8 threads, and the factor is 8 up
 *   to 25 weights, else 4, or what fits. --block and --tile go before the table.
 * Limits: those of adaptive. Code of large filters falls out of the instruction cache.
 * Loses: to direct, whose threads share loads in both directions. */
#include "gpu/device/check.cuh"
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant.cuh"
#include "gpu/methods/ladder/unrolled.cuh"

extern "C" {
#include "gpu/cost/costs.h"
#include "gpu/tunings/tuning.h"
}

#include <cstdlib>

static gc_tiling choose(const gc_problem *problem, const gc_step *step,
                        const gconv_device_info *device)
{
    gc_layout layout = gc_layout_of(problem, step);
    layout.tuning.form = GC_FORM_TILES;
    layout.tuning = gc_tuning_of(device, &layout);
    gc_tiling tiling = gc_tuning_tiling(&layout.tuning, step->width, step->height);
    if (problem->tiling.tile > 0)
        tiling.factor = problem->tiling.tile;
    gc_tiling_take_block(problem, &tiling);
    gc_tiling_measure(step->width, step->height, &tiling);
    return tiling;
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    GC_TRY(gc_constant_check(step, error));
    if (problem->tiling.tile > GC_UNROLLED_FACTOR_MAX)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "tiling factor %d is more than %d",
                       problem->tiling.tile, (int)GC_UNROLLED_FACTOR_MAX);
    GC_TRY(gc_unrolled_check(step, error));
    gc_tiling tiling = choose(problem, step, device);
    return gc_tiling_check(&tiling, device, error);
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_unrolled *unrolled;
    GC_TRY(gc_make(&unrolled, state, error));
    *unrolled = {choose(problem, step, device), false, step->width, step->height, nullptr, nullptr};
    return gc_unrolled_create(device, GC_JIT_COMPILE, unrolled, error);
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    return gc_unrolled_launch(*(const gc_unrolled *)state, step, stream, error);
}

static void release(void *state)
{
    gc_unrolled_release((gc_unrolled *)state);
    free(state);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->adaptive_share);
}

static const gc_step_method method = {
    {supports, seconds, release, gc_tiling_describe},
    prepare,
    convolve,
    gc_tiling_intensity,
    gc_tiling_factor,
};

GC_OPERATIONS(gc_adaptive_unrolled_operations, gc_step_operations<method>());
