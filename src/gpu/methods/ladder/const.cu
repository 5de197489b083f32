/* const: shared, with the filter in constant memory.
 *
 * Idea: all threads of a warp need the same weight at once, and constant memory's cache broadcasts
 *   it (KTH 2018, section 3.3; van Werkhoven et al. 2011, section 5).
 * Improves on: shared, which loads every weight from global memory.
 * Needs: as much shared memory as shared; 64 KB of constant memory for the weights.
 * Limits: filters of up to 16384 weights (128x128), and the limits of shared.
 * Loses: to tiled, which uses each weight for several outputs. */
#include "gpu/methods/ladder/tile.cuh"

struct const_way {
    static constexpr bool in_constant_memory = true;
    static constexpr double gc_costs::*share = &gc_costs::const_share;

    static gconv_status choose(const gc_tiling_wish &wish, gc_tiling *tiling, gconv_error *)
    {
        *tiling = gc_tiling_of_block(wish.problem, wish.step);
        return GCONV_OK;
    }

    static gc_tile_kernel kernel(int)
    {
        return gc_convolve_tiles<1, false>;
    }
};

static const gc_step_method method = gc_tiling_method<const_way>();

GC_OPERATIONS(gc_const_operations, gc_step_operations<method>());
