/* adaptive:unrolled: 1xN tiling with all loops unrolled, blocks and factor from a table.
 *
 * Idea: if the sizes of filter and block are known to the compiler, the loops over the weights
 *   need no instructions, and addresses are constants. A kernel is compiled for each filter size.
 *   Which block and which factor is the fastest has no formula: a search fills a table, and a
 *   filter takes its line (van Werkhoven et al. 2014, section 5).
 * Variants: adaptive:unrolled:nc loads pixels through the read-only cache (section 6 there; on a
 *   K20 it is the fastest kernel of all).
 * Improves on: adaptive, whose loops run at run time and whose rule knows limits but no times.
 * Needs: NVRTC; what tiled needs, at the tiling chosen. `gconv tune --impl adaptive:unrolled` fills
 *   the table of a device. A filter size that the table lacks takes the line of the size with the
 *   nearest sides. Without one, blocks have 32x8 threads, and the factor is 8 up to 25 weights,
 *   else 4, or what fits. --block and --tile go before the table.
 * Limits: those of adaptive. Code of large filters falls out of the instruction cache.
 * Loses: to direct, whose threads share loads in both directions. */
#include "gpu/device/check.cuh"
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/compiled_tile.cuh"
#include "gpu/methods/ladder/constant.cuh"

extern "C" {
#include "gpu/tunings/tuning.h"
}

/* const:hwu: const with a thread for each pixel that its block loads.
 *
 * Idea: a block loads as many pixels as it has threads, so that loading is simple. The threads of
 *   the apron then compute nothing (Hwu, in van Werkhoven et al. 2014, section 8). All loops are
 *   unrolled. Blocks have 32x32 threads; the paper does not print its block.
 * Improves on: nothing here. The paper has it 1.27 times slower than adaptive:unrolled:x1 at 5x5.
 * Needs: NVRTC; B_w * B_h floats of shared memory.
 * Limits: filters that are not larger than the block.
 * Loses: to const, more with each column and row of the filter: at 5x5 784 of 1024 threads compute,
 *   at 17x17 256. */
static gc_tiling choose_hwu(const gc_problem *problem)
{
    gc_tiling tiling = {32, 32, 1, 0, 0};
    gc_tiling_take_block(problem, &tiling);
    tiling.shared_pitch = tiling.block_width;
    tiling.shared_bytes =
        (uint64_t)tiling.block_width * (uint64_t)tiling.block_height * sizeof(float);
    return tiling;
}

static gc_tiling choose_from_table(const gc_problem *problem, const gc_step *step,
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

template <int FLAGS>
static gc_tiling choose(const gc_problem *problem, const gc_step *step,
                        const gconv_device_info *device)
{
    return FLAGS & GC_TILE_IDLE ? choose_hwu(problem) : choose_from_table(problem, step, device);
}

template <int FLAGS>
static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    GC_TRY(gc_constant_check(step, error));
    gc_tiling tiling = choose<FLAGS>(problem, step, device);
    if (tiling.factor > GC_UNROLLED_FACTOR_MAX)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "tiling factor %d is more than %d",
                       tiling.factor, (int)GC_UNROLLED_FACTOR_MAX);
    if (FLAGS & GC_TILE_IDLE &&
        (step->width > tiling.block_width || step->height > tiling.block_height))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter is larger than a block of %dx%d threads", step->width,
                       step->height, tiling.block_width, tiling.block_height);
    GC_TRY(gc_jit_check(step->width, step->height, error));
    return gc_tiling_check(&tiling, device, error);
}

template <int FLAGS>
static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_compiled_tile *tile;
    GC_TRY(gc_make(&tile, state, error));
    tile->tiling = choose<FLAGS>(problem, step, device);
    tile->width = step->width;
    tile->height = step->height;
    tile->flags = FLAGS;
    return gc_compiled_create(device, GC_JIT_COMPILE, tile, error);
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    return gc_compiled_launch(*(const gc_compiled_tile *)state, step, stream, error);
}

/* Equations 1 and 2 of van Werkhoven et al. 2014 for a block that loads what it has threads. */
static double hwu_intensity(const void *state, const gc_step *step)
{
    const gc_tiling *t = (const gc_tiling *)state;
    double outputs =
        (double)(t->block_width - step->width + 1) * (t->block_height - step->height + 1);
    return 2.0 * step->width * step->height * outputs /
           ((double)t->block_width * t->block_height * sizeof(float));
}

template <int FLAGS> static constexpr gc_step_method tiles()
{
    return {
        {supports<FLAGS>, gc_compiled_seconds<&gc_costs::adaptive_share>, gc_compiled_free,
         gc_tiling_describe},
        prepare<FLAGS>,
        convolve,
        gc_tiling_intensity,
        gc_tiling_factor,
    };
}
static const gc_step_method method = tiles<0>(), nc_method = tiles<GC_TILE_READ_ONLY>();
static const gc_step_method hwu_method = {
    {supports<GC_TILE_IDLE>, gc_compiled_seconds<&gc_costs::const_share>, gc_compiled_free,
     gc_tiling_describe},
    prepare<GC_TILE_IDLE>,
    convolve,
    hwu_intensity,
};

GC_OPERATIONS(gc_adaptive_unrolled_operations, gc_step_operations<method>());
GC_OPERATIONS(gc_adaptive_unrolled_nc_operations, gc_step_operations<nc_method>());
GC_OPERATIONS(gc_const_hwu_operations, gc_step_operations<hwu_method>());
