/* adaptive: 1xN tiling, the factor chosen at run time.
 *
 * Idea: take the largest tiling factor for which a block fits in the device's registers and shared
 *   memory; while the filter is small, two blocks (van Werkhoven et al. 2011, section 7; 2014,
 *   section 4; the rule is in tunings/tiling.c). Kernels for every factor are compiled from one
 *   template, for blocks of 32x32 threads; other blocks are compiled at run time (2011, section 7:
 *   a block that is known then saves registers).
 * Variants: adaptive:nc loads pixels through the read-only cache, which the paper adds to unrolled
 *   kernels (2014, section 6): see adaptive:unrolled:nc.
 * Improves on: tiled, whose one factor is too small for small filters and does not fit large ones.
 * Needs: what tiled needs, at the factor chosen.
 * Limits: filters of up to 16384 weights for which factor 1 fits in shared memory.
 * Loses: to fft at large filters, to separable at filters of rank 1. */
#include "gpu/methods/ladder/adaptive.cuh"
#include "gpu/methods/ladder/tile.cuh"

/* Sets the registers of the kernels that are built in; kernels for other blocks take about as many.
 * If the device must not start, an upper bound stands for all: the compiler reports 32 to 48. */
template <class way>
static gconv_status find_registers(bool asks, gc_factor_registers *registers, gconv_error *error)
{
    for (int factor = 1; factor <= GC_FACTOR_MAX; factor++) {
        cudaFuncAttributes attributes;
        attributes.numRegs = 64;
        if (asks)
            GC_CUDA_TRY(error, cudaFuncGetAttributes(&attributes, way::kernel(factor)));
        registers->count[factor] = attributes.numRegs;
    }
    return GCONV_OK;
}

/* The block is that of the 2014 paper on a GTX 680. */
template <int FLAGS> struct adaptive_way : gc_tile_way<32, 32, FLAGS, GC_FACTOR_MAX> {
    typedef gc_tile_way<32, 32, FLAGS, GC_FACTOR_MAX> tiles;
    static constexpr double gc_costs::*share = &gc_costs::adaptive_share;

    static gconv_status choose(const gc_tiling_wish &wish, gc_tiling *tiling, gconv_error *error)
    {
        int shared_memory = wish.problem->tiling.shared_memory;
        int width = wish.step->width, height = wish.step->height;
        gc_factor_registers registers;
        GC_TRY(find_registers<tiles>(wish.asks, &registers, error));
        *tiling = {tiles::block_width, tiles::block_height, 1, 0, 0};
        gc_tiling_take_block(wish.problem, tiling);
        if (gc_tiling_adapt(wish.device, &registers, (uint64_t)shared_memory, width, height,
                            tiling))
            return GCONV_OK;
        gc_tiling_measure(width, height, tiling);
        GC_TRY(gc_tiling_check(tiling, wish.device, error));
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "no block of %dx%d threads fits in the registers%s of %s",
                       tiling->block_width, tiling->block_height,
                       shared_memory > 0 ? " and --shared-memory" : "", wish.device->name);
    }
};

extern const gc_step_method gc_adaptive_method;
const gc_step_method gc_adaptive_method =
    gc_tiling_method<adaptive_way<0>>(gc_tiling_intensity, gc_tiling_factor);
static const gc_step_method nc_method =
    gc_tiling_method<adaptive_way<GC_TILE_READ_ONLY>>(gc_tiling_intensity, gc_tiling_factor);

GC_OPERATIONS(gc_adaptive_operations, gc_step_operations<gc_adaptive_method>());
GC_OPERATIONS(gc_adaptive_nc_operations, gc_step_operations<nc_method>());
