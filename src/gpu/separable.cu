/* separable: filters of rank 1 in one pass over memory.
 *
 * Idea: a filter that is a column times a row takes F_w + F_h products a pixel instead of F_w * F_h
 *   (KTH 2018, sections 3.4 and 3.5.2; van Werkhoven et al. 2014, section 5). The row pass writes its
 *   result over its input in shared memory, the column pass reads it from there, so that memory is
 *   crossed once (kernels/rank1.cuh). Rank 1 is found automatically: exactly for integer filters,
 *   within the bound of rule 4 for others. Odd squares up to 21x21 are compiled ahead.
 * Improves on: twopass, which crosses memory twice and copies the border; direct, from 7x7 on, of 8-bit
 *   samples from 5x5 on.
 * Needs: shared memory for a tile and its surroundings.
 * Limits: some filter of the chain must be of rank 1 and its tile fit in shared memory; the others are
 *   convolved as direct does, and have its limits.
 * Loses: nowhere by much. Up to 5x5, of 8-bit samples up to 3x3, which memory bounds either way, it does
 *   as direct, whose kernels for small filters need no shared memory. */
#include "gpu/check.cuh"
#include "gpu/direct.cuh"
#include "gpu/kernels/rank1.cuh"
#include "gpu/method.cuh"
#include "gpu/methods.cuh"

extern "C" {
#include "core/separate.h"
}

#include <algorithm>
#include <cstdlib>

template <int side, int rows_of_a_thread, int warps_of_a_block> struct square {
    static constexpr int width = side, height = side, left = side / 2, top = side / 2;
    static constexpr int rows = rows_of_a_thread, warps = warps_of_a_block, schedule = GC_ONE_TILE;
    static constexpr int input = -1, output = GC_FLOAT, finish = GC_FINISH_NONE, border = -1;
};

template <class config>
static __global__ void __launch_bounds__(32 * config::warps) separable_squares(
    const __grid_constant__ gc_pass pass,
    const __grid_constant__ gc_pass_weights<config::width + config::height> weights)
{
    gc_block_pass<gc_block_rank1, config>(pass, weights);
}

#define SQUARE(side, rows, warps)                                                                  \
    {                                                                                              \
        side, {GC_FORM_RANK1, rows, warps, GC_ONE_TILE, 1},                                        \
            (const void *)separable_squares<square<side, rows, warps>>                             \
    }

static const gc_ahead_kernel ahead_kernels[] = {
    SQUARE(5, 4, 8),  SQUARE(7, 8, 4),  SQUARE(9, 8, 8),  SQUARE(11, 8, 4), SQUARE(13, 8, 4),
    SQUARE(15, 8, 8), SQUARE(17, 8, 8), SQUARE(19, 8, 8), SQUARE(21, 8, 8),
};

static const gc_ahead_kernel *find_ahead(const gc_step *step)
{
    return gc_ahead_find(ahead_kernels, sizeof ahead_kernels / sizeof *ahead_kernels, step);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* Filters up to these sides are left to direct, whatever their rank (measured on an H200: 5x5 takes 40 us
 * of 4096 x 4096 floats either way, 39 and 33 us of bytes). */
enum { SMALL_SIDE = 5, SMALL_SIDE_OF_BYTES = 3 };

static bool is_small(const gc_problem *problem, const gc_step *step)
{
    int side = problem->job.input.depth == 8 ? SMALL_SIDE_OF_BYTES : SMALL_SIDE;
    return step->width <= side && step->height <= side;
}

/* Whether a step is of rank 1 and fits; weights holds its row, then its column. */
static bool is_of_rank1(const gc_problem *problem, const gc_step *step,
                        const gconv_device_info *device, float *weights)
{
    float column[GCONV_FILTER_SIDE_MAX];
    gc_layout layout = gc_pass_layout(problem, step, GC_FORM_RANK1, {}, device);
    if (gc_layout_shared_bytes(&layout) > device->shared_per_block_optin ||
        !gc_step_separate(step, weights, column))
        return false;
    for (int j = 0; j < step->height; j++)
        weights[step->width + j] = column[j];
    return find_ahead(step) != nullptr || is_small(problem, step) || gc_jit_available();
}

/* Whether a step is taken as a row and a column. */
static bool separates(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device, float *weights)
{
    return !is_small(problem, step) && is_of_rank1(problem, step, device, weights);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    float weights[2 * GCONV_FILTER_SIDE_MAX];
    bool any = false;
    for (int s = 0; s < problem->step_count; s++)
        any = any || is_of_rank1(problem, &problem->steps[s], device, weights);
    if (!any)
        return gc_fail(
            error, GCONV_ERROR_UNSUPPORTED,
            "no filter of the chain is of rank 1 (a column times a row) and small enough");
    return separates(problem, step, device, weights)
               ? GCONV_OK
               : gc_direct_supports(problem, step, device, error);
}

/* Multiply-adds a second that the two passes reach of the device's peak, besides the shared memory
 * that they go through (measured on an H200). */
static const double share = 0.4;

/* What weights as constants take off a kernel's time (measured: 5 %). */
static const double constant_gain = 0.05;

static double rank1_seconds(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device)
{
    return gc_pass_seconds(problem, 2, 1.3 * step->width + step->height, device, share);
}

/* A kernel that has to be compiled first costs that as well, shared by all runs. */
static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    float weights[2 * GCONV_FILTER_SIDE_MAX];
    if (!separates(problem, step, device, weights))
        return gc_direct_seconds(problem, step, device);
    double kernel = rank1_seconds(problem, step, device);
    gc_gpu_pass pass = gc_gpu_pass_of(problem, (int)(step - problem->steps), 1);
    gc_layout layout = gc_pass_layout(problem, step, GC_FORM_RANK1, pass, device);
    if (find_ahead(step) != nullptr ||
        gc_pass_is_cached(layout, weights, step->width + step->height, device))
        return kernel;
    return kernel + GC_COMPILE_SECONDS / (double)std::max<uint64_t>(1, problem->job.runs);
}

/* ---- The method ------------------------------------------------------------------------------ */

static gconv_status prepare_rank1(const gc_problem *problem, const gc_step *step,
                                  const gconv_device_info *device, const float *weights,
                                  gc_gpu_pass *pass, gc_pass_kernel *kernel, gconv_error *error)
{
    gc_layout layout = gc_pass_layout(problem, step, GC_FORM_RANK1, *pass, device);
    double saved = rank1_seconds(problem, step, device) * constant_gain * (double)problem->job.runs;
    return gc_pass_prepare(layout, find_ahead(step), weights, step->width + step->height,
                           saved > GC_COMPILE_SECONDS, device, pass, kernel, error);
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_gpu_pass *pass, void **state, gconv_error *error)
{
    float weights[2 * GCONV_FILTER_SIDE_MAX];
    const gc_step *step = &problem->steps[pass->first];
    gc_pass_kernel *kernel = (gc_pass_kernel *)calloc(1, sizeof *kernel);
    if (kernel == nullptr)
        return gc_fail_memory(error, sizeof *kernel);
    *state = kernel;
    return separates(problem, step, device, weights)
               ? prepare_rank1(problem, step, device, weights, pass, kernel, error)
               : gc_direct_prepare(problem, step, device, pass, kernel, error);
}

extern const gc_gpu_method gc_separable_method = {
    "separable",      supports, seconds, nullptr,          nullptr, gc_pass_free, nullptr,
    gc_pass_describe, nullptr,  nullptr, gc_pass_one_step, prepare, gc_pass_run,
};

extern "C" {
extern const gc_operations gc_separable_operations;
const gc_operations gc_separable_operations = gc_gpu_operations<gc_separable_method>();
}
