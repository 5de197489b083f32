/* tiled: 1xN tiling with a fixed factor.
 *
 * Idea: a block computes N horizontally neighbouring tiles, a thread one output of each. A weight,
 *   an index and a turn of the loop then serve N outputs, and the apron between the tiles is loaded
 *   once (van Werkhoven et al. 2014, section 2 and figure 4, equation 2). Rows of blocks narrower
 *   than 32 are padded in shared memory against bank conflicts (section 3). The compiler knows the
 *   block: 32x16 threads are built in, others are compiled at run time.
 * Variants: tiled:nopad does not pad (2011, figure 5; 2014, figure 6), and has blocks of 16x16, in
 *   which that shows.
 * Improves on: const, by fewer instructions a multiply-add and fewer pixels loaded a block.
 * Needs: (F_w - 1 + N * B_w) * (F_h - 1 + B_h) floats of shared memory, more with padding; N sums
 *   in registers.
 * Limits: filters of up to 16384 weights whose tiles fit in shared memory.
 * Loses: to adaptive, if another factor fits the filter and the device better. */
#include "gpu/methods/ladder/tile.cuh"

enum { DEFAULT_FACTOR = 4 };

template <bool PADDED> struct tiled_way : gc_tile_way<PADDED ? 32 : 16, 16, 0, GC_FACTOR_MAX> {
    static constexpr double gc_costs::*share = &gc_costs::tiled_share;

    static gconv_status choose(const gc_tiling_wish &wish, gc_tiling *tiling, gconv_error *error)
    {
        int asked = wish.problem->tiling.tile;
        *tiling = {PADDED ? 32 : 16, 16, asked > 0 ? asked : (int)DEFAULT_FACTOR, 0, 0};
        gc_tiling_take_block(wish.problem, tiling);
        (PADDED ? gc_tiling_measure : gc_tiling_measure_unpadded)(wish.step->width,
                                                                  wish.step->height, tiling);
        return asked <= GC_FACTOR_MAX
                   ? GCONV_OK
                   : gc_fail(error, GCONV_ERROR_UNSUPPORTED, "tiling factor %d is more than %d",
                             asked, (int)GC_FACTOR_MAX);
    }
};

static const gc_step_method method =
    gc_tiling_method<tiled_way<true>>(gc_tiling_intensity, gc_tiling_factor);
static const gc_step_method nopad_method =
    gc_tiling_method<tiled_way<false>>(gc_tiling_intensity, gc_tiling_factor);

GC_OPERATIONS(gc_tiled_operations, gc_step_operations<method>());
GC_OPERATIONS(gc_tiled_nopad_operations, gc_step_operations<nopad_method>());
