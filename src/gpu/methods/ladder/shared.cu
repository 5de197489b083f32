/* shared: the block's pixels and apron in shared memory.
 *
 * Idea: the threads of a block read almost the same part of the image. They load it once, together
 *   (KTH 2018, section 3.2): each loads its own pixel, and one of the apron on each side at which
 *   it stands, 1, 2 or 4 in all. Equation 10 counts 4. The filter stays in global memory. The
 *   compiler knows the block: 32x16 threads are built in, others are compiled at run time.
 * Improves on: naive, by reading each pixel of the image about once.
 * Needs: (F_w - 1 + B_w) * (F_h - 1 + B_h) floats of shared memory a block.
 * Limits: these must fit: filters up to about 220x220 on a device with 227 KiB a block. If the
 *   filter is larger than the block, threads load more.
 * Loses: to naive at small filters (up to 9x9 on an H200), for which a cache does the same without
 *   a barrier. */
#include "gpu/methods/ladder/tile.cuh"

struct shared_way : gc_tile_way<32, 16, GC_TILE_BY_PLACE | GC_TILE_GLOBAL_WEIGHTS, 1> {
    static constexpr double gc_costs::*share = &gc_costs::shared_share;
};

static const gc_step_method method = gc_tiling_method<shared_way>();

GC_OPERATIONS(gc_shared_operations, gc_step_operations<method>());
