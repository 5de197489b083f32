/* direct: every weight of the filter, in one pass over memory.
 *
 * Idea: rows of the image are read once, in words of 16 bytes, and multiplied into several rows and
 *   columns of output that stay in a thread's registers (van Werkhoven et al. 2014, section 4, with
 *   the tile of a thread in two directions). Borders are read in place, without an extended image.
 *   Weights are operands of the multiply-adds themselves. Small filters work from registers and
 *   shuffles alone (warp.cuh; Iandola et al., ICIP 2013), others from shared memory, which
 *   asynchronous copies fill (pass/block.cuh). Odd squares up to 9x9 are compiled ahead, with the
 *   weights as arguments. Weights as constants save loading them. For this any filter can be
 *   compiled at run time. That is done if it pays (gconv_job.runs); kernels in the cache are always
 *   used.
 * Improves on: adaptive, by sharing loads between outputs in both directions, by leaving out the
 *   extended image for the border, and by the weights.
 * Needs: shared memory for a tile and its surroundings; for two of them if one tile is loaded
 *   while another one is computed.
 * Limits: filters of up to GC_DIRECT_WEIGHTS weights; NVRTC, except for what is compiled ahead.
 * Loses: to separable at filters of rank 1 from 5x5 on and at larger ones of rank 2 and 3, to
 *   tensor from 9x9 on, or 5x5 on 8-bit samples, to fused at chains that fused takes, to fft at
 *   large filters. */
#include "gpu/methods/direct/direct.cuh"

#include "gpu/device/check.cuh"
#include "gpu/methods/direct/warp.cuh"
#include "gpu/methods/methods.cuh"
#include "gpu/methods/passes.cuh"
#include "gpu/pass/block.cuh"

/* ---- Kernels compiled ahead ------------------------------------------------------------------ */

/* A square filter around its middle. The pass tells input type and border. */
template <int side, int rows_of_a_thread, int warps_of_a_block, gc_schedule order> struct square {
    static constexpr int width = side, height = side, left = side / 2, top = side / 2;
    static constexpr int rows = rows_of_a_thread, warps = warps_of_a_block, schedule = order;
    static constexpr int input = -1, output = GC_FLOAT, finish = GC_FINISH_NONE, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
};

template <class config>
static __global__ void __launch_bounds__(32 * config::warps)
    small_squares(const __grid_constant__ gc_pass pass,
                  const __grid_constant__ gc_pass_weights<config::width * config::height> weights)
{
    gc_warp_pass<config>(pass, weights);
}

template <class config>
static __global__ void __launch_bounds__(32 * config::warps)
    large_squares(const __grid_constant__ gc_pass pass,
                  const __grid_constant__ gc_pass_weights<config::width * config::height> weights)
{
    gc_block_pass<gc_block_direct, config>(pass, weights);
}

static const gc_ahead_kernel ahead_kernels[] = {
    {3,
     {GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1},
     (const void *)small_squares<square<3, 4, 4, GC_ONE_TILE>>},
    {5,
     {GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1},
     (const void *)small_squares<square<5, 4, 4, GC_ONE_TILE>>},
    {7, {GC_FORM_BLOCK, 6, 4, GC_QUEUE, 1}, (const void *)large_squares<square<7, 6, 4, GC_QUEUE>>},
    {9, {GC_FORM_BLOCK, 4, 4, GC_QUEUE, 1}, (const void *)large_squares<square<9, 4, 4, GC_QUEUE>>},
};

/* The kernel compiled ahead for a step; null if there is none. */
static const gc_ahead_kernel *find_ahead(const gc_step *step)
{
    return gc_ahead_find(ahead_kernels, sizeof ahead_kernels / sizeof *ahead_kernels, step);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static gc_pass_times times_of(const gc_problem *problem, const gc_step *step,
                              const gc_pass_scope &scope, const gconv_device_info *device)
{
    double work = gc_form_work(GC_FORM_BLOCK, step->width, step->height);
    return gc_pass_times_of(problem, scope, work, find_ahead(step) != nullptr,
                            gc_costs_of(device)->arguments_factor, device);
}

double gc_direct_seconds(const gc_problem *problem, const gc_step *step,
                         const gconv_device_info *device)
{
    gc_pass_scope scope = gc_pass_scope_of(problem, (int)(step - problem->chain.steps), 1,
                                           gc_error_of_sum(problem, step));
    gc_layout layout = gc_pass_layout(problem, step, GC_FORM_WARP, &scope, device);
    return gc_pass_total_seconds(problem, times_of(problem, step, scope, device), layout,
                                 step->taps, step->width * step->height, device);
}

gconv_status gc_direct_supports(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device, gconv_error *error)
{
    (void)problem;
    (void)device;
    if (step->width * step->height > GC_DIRECT_WEIGHTS)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter has more than %d weights to keep in code", step->width,
                       step->height, (int)GC_DIRECT_WEIGHTS);
    return find_ahead(step) != nullptr ? GCONV_OK : gc_jit_check(step->width, step->height, error);
}

static double error_of(const gc_problem *problem, const gc_step *step, const gconv_device_info *)
{
    return gc_error_of_sum(problem, step);
}

gconv_status gc_direct_prepare(const gc_problem *problem, const gc_step *step,
                               const gconv_device_info *device, gc_pass_scope *scope,
                               gc_pass_kernel *kernel, gconv_error *error)
{
    gc_layout layout = gc_pass_layout(problem, step, GC_FORM_WARP, scope, device);
    gc_pass_times times = times_of(problem, step, *scope, device);
    return gc_pass_prepare({layout, step->taps, step->width * step->height, find_ahead(step)},
                           gc_pass_compiling_pays(problem, times, device), device, scope, kernel,
                           error);
}

/* ---- The method ------------------------------------------------------------------------------ */

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *scope, void **state, gconv_error *error)
{
    gc_pass_kernel *kernel;
    GC_TRY(gc_make(&kernel, state, error));
    return gc_direct_prepare(problem, &problem->chain.steps[scope->first], device, scope, kernel,
                             error);
}

extern const gc_pass_method gc_direct_method = {
    {gc_direct_supports, gc_direct_seconds, gc_pass_free, gc_pass_describe, nullptr, nullptr,
     nullptr, error_of},
    gc_pass_one_step,
    prepare,
    gc_pass_run,
};

GC_OPERATIONS(gc_direct_operations, gc_pass_operations<gc_direct_method>());
