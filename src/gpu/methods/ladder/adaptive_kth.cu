/* adaptive:kth: adaptive tiling by the rule of KTH 2018, on samples of 16 bits.
 *
 * Idea: the factor is what fits in 48 KiB of shared memory, after the aprons at both ends (section
 *   3.5.1, equations 6 to 8), and 21 at most. Shared memory holds pixels as short integers, so that
 *   twice as many fit. Blocks have 32x32 threads.
 * Improves on: const.
 * Needs: 2 * (F_w - 1 + T * B_w) * (F_h - 1 + B_h) bytes of shared memory; T sums in registers.
 * Limits: steps whose input is integers of 16 bits; filters for which one tile fits in 48 KiB.
 * Loses: to adaptive, whose smaller factors leave registers for more threads, and which needs no
 *   conversion of what it loads.
 *
 * Equation 8 rounds up; what it gives does not fit. Here it rounds down (tiling.h). */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/factors.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

#include <cmath>
#include <utility>

/* Kernels by factor; there is none for 0. */
template <class indices> struct kernels_of;
template <int... index> struct kernels_of<std::integer_sequence<int, index...>> {
    static constexpr gc_tile_kernel all[] = {nullptr,
                                             gc_convolve_tiles<index + 1, false, short>...};
};
typedef kernels_of<std::make_integer_sequence<int, GC_KTH_FACTOR_MAX>> kernels;

static gc_tiling choose(const gc_problem *problem, const gc_step *step)
{
    gc_tiling tiling = {32, 32, 1, 0, 0};
    gc_tiling_take_block(problem, &tiling);
    gc_tiling_adapt_kth(step->width, step->height, &tiling);
    return tiling;
}

/* Whether the step reads integers of 16 bits alone: of an exact chain, or samples of 8 bits. */
static bool reads_shorts(const gc_problem *problem, const gc_step *step)
{
    static const double largest_short = 32767;
    bool whole = problem->chain.exact;
    if (step == problem->chain.steps && problem->job.input.depth == 8) {
        whole = true;
        for (int c = 0; c < problem->chain.channels; c++)
            whole = whole && step->border[c] == truncf(step->border[c]);
    }
    return whole && step->largest_input <= largest_short;
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling = choose(problem, step);
    if (!reads_shorts(problem, step))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "it holds pixels as integers of 16 bits, and what this filter reads need "
                       "not be such");
    gconv_status status = gc_constant_check(step, error);
    if (status == GCONV_OK && tiling.factor == 0)
        status = gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                         "not one tile of %dx%d pixels fits in 48 KiB with its apron",
                         tiling.block_width, tiling.block_height);
    return status == GCONV_OK ? gc_tiling_check(&tiling, device, error) : status;
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_tiling tiling = choose(problem, step);
    gconv_status status = gc_gpu_opt_in((const void *)kernels::all[tiling.factor], device, error);
    return status == GCONV_OK ? gc_tiling_create(&tiling, state, error) : status;
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    return gc_launch_tiles(kernels::all[tiling->factor], *tiling, step, stream, error);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->adaptive_share);
}

/* Equation 13: at most 4 loads a thread in the first and the last tile, 2 in others. */
static double intensity(const void *state, const gc_step *step)
{
    double factor = ((const gc_tiling *)state)->factor;
    double loads = factor > 1 ? 2 * 4 + (factor - 2) * 2 : 4;
    return 2.0 * step->width * step->height * factor / (sizeof(float) * loads);
}

static const gc_step_method method = {
    {supports, seconds, free, gc_tiling_describe}, prepare, convolve, intensity, gc_tiling_factor,
};

extern "C" {
extern const gc_operations gc_adaptive_kth_operations;
const gc_operations gc_adaptive_kth_operations = gc_step_operations<method>();
}
