/* adaptive:kth: adaptive tiling by the rule of KTH 2018, on samples of 16 bits.
 *
 * Idea: the factor is what fits in 48 KiB of shared memory, after the aprons at both ends (section
 *   3.5.1, equations 6 to 8), and 21 at most. Shared memory holds pixels as short integers, so that
 *   twice as many fit. Blocks have 32x32 threads, which load 1, 2 or 4 pixels of a tile by their
 *   place (section 3.2).
 * Improves on: const.
 * Needs: 2 * (F_w - 1 + T * B_w) * (F_h - 1 + B_h) bytes of shared memory; T sums in registers.
 * Limits: steps whose input is integers of 16 bits; filters for which one tile fits in 48 KiB.
 * Loses: to adaptive, whose smaller factors leave registers for more threads, and which needs no
 *   conversion of what it loads.
 *
 * Equation 8 rounds up; what it gives does not fit. Here it rounds down (tiling.h). */
#include "gpu/methods/ladder/tile.cuh"

struct kth_way : gc_tile_way<32, 32, GC_TILE_BY_PLACE | GC_TILE_SHORTS, GC_KTH_FACTOR_MAX> {
    static constexpr double gc_costs::*share = &gc_costs::adaptive_share;

    static gconv_status choose(const gc_tiling_wish &wish, gc_tiling *tiling, gconv_error *error)
    {
        *tiling = {block_width, block_height, 1, 0, 0};
        gc_tiling_take_block(wish.problem, tiling);
        gc_tiling_adapt_kth(wish.step->width, wish.step->height, tiling);
        if (!gc_step_reads_shorts(wish.problem, wish.step))
            return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                           "it holds pixels as integers of 16 bits, and what this filter reads "
                           "need not be such");
        return tiling->factor > 0
                   ? GCONV_OK
                   : gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                             "not one tile of %dx%d pixels fits in 48 KiB with its apron",
                             tiling->block_width, tiling->block_height);
    }
};

/* Equation 13: at most 4 loads a thread in the first and the last tile, 2 in others. */
static double intensity(const void *state, const gc_step *step)
{
    double factor = ((const gc_tiling *)state)->factor;
    double loads = factor > 1 ? 2 * 4 + (factor - 2) * 2 : 4;
    return 2.0 * step->width * step->height * factor / (sizeof(float) * loads);
}

static const gc_step_method method = gc_tiling_method<kth_way>(intensity, gc_tiling_factor);

GC_OPERATIONS(gc_adaptive_kth_operations, gc_step_operations<method>());
