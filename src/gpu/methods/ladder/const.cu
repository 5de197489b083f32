/* const: shared, with the filter in constant memory.
 *
 * Idea: all threads of a warp need the same weight at once, and constant memory's cache broadcasts
 *   it (KTH 2018, section 3.3; van Werkhoven et al. 2011, section 5). All threads load several
 *   pixels, none is idle (van Werkhoven et al. 2014, figure 7). The compiler knows the block: 32x16
 *   threads are built in, others are compiled at run time.
 * Variants: const:kth loads as shared does. const:hwu (adaptive_unrolled.cpp) has a thread for each
 *   pixel that is loaded.
 * Improves on: shared, which loads every weight from global memory.
 * Needs: as much shared memory as shared; 64 KB of constant memory for the weights.
 * Limits: filters of up to 16384 weights (128x128), and the limits of shared.
 * Loses: to tiled, which uses each weight for several outputs. */
#include "gpu/methods/ladder/tile.cuh"

template <int FLAGS> struct const_way : gc_tile_way<32, 16, FLAGS, 1> {
    static constexpr double gc_costs::*share = &gc_costs::const_share;
};

static const gc_step_method method = gc_tiling_method<const_way<0>>();
static const gc_step_method kth_method = gc_tiling_method<const_way<GC_TILE_BY_PLACE>>();

GC_OPERATIONS(gc_const_operations, gc_step_operations<method>());
GC_OPERATIONS(gc_const_kth_operations, gc_step_operations<kth_method>());
