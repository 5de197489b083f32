/* adaptive: 1xN tiling, the factor chosen at run time.
 *
 * Idea: take the largest tiling factor for which a block fits in the device's registers and shared
 *   memory; while the filter is small, two blocks (van Werkhoven et al. 2011, section 7; 2014,
 *   section 4; gc_tiling_adapt has the rule). Kernels for every factor are compiled from one
 *   template.
 * Variants: adaptive:nc loads pixels through the read-only cache (2014, section 6).
 *   adaptive:ours has smaller blocks and a rule of ours (gc_tiling_balance), which keeps more of
 *   them on a multiprocessor.
 * Improves on: tiled, whose one factor is too small for small filters and does not fit large ones.
 * Needs: what tiled needs, at the factor chosen.
 * Limits: filters of up to 16384 weights for which factor 1 fits in shared memory.
 * Loses: to fft at large filters, to separable at filters of rank 1. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/adaptive.cuh"
#include "gpu/methods/ladder/factors.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

#include <cstdio>

template <bool READ_ONLY>
static bool find_registers(gc_factor_registers *registers, gconv_error *error)
{
    for (int factor = 1; factor <= GC_FACTOR_MAX; factor++) {
        cudaFuncAttributes attributes;
        cudaError_t code = cudaFuncGetAttributes(&attributes, gc_factor_kernels<READ_ONLY>[factor]);
        if (code != cudaSuccess) {
            gc_cuda_fail(error, code, "cudaFuncGetAttributes", __FILE__, __LINE__);
            return false;
        }
        registers->count[factor] = attributes.numRegs;
    }
    return true;
}

/* An upper bound of the kernels' registers, for answers that must not start the device. The
 * compiler reports 32 to 48. */
static gc_factor_registers assumed_registers()
{
    gc_factor_registers registers;
    for (int factor = 0; factor <= GC_FACTOR_MAX; factor++)
        registers.count[factor] = 64;
    return registers;
}

/* A way to choose the factor. */
struct adaptive_rule {
    int block_width, block_height; /* without --block */
    bool (*choose)(const gc_problem *problem, const gc_step *step, const gconv_device_info *device,
                   const gc_factor_registers *registers, gc_tiling *tiling);
};

static bool choose_as_published(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device,
                                const gc_factor_registers *registers, gc_tiling *tiling)
{
    return gc_tiling_adapt(device, registers, (uint64_t)problem->tiling.shared_memory, step->width,
                           step->height, tiling);
}

static bool choose_balanced(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, const gc_factor_registers *registers,
                            gc_tiling *tiling)
{
    return gc_tiling_balance(device, registers, problem->chain.width, step->width, step->height,
                             tiling);
}

/* The blocks of the 2014 paper on a GTX 680. */
static const adaptive_rule published = {32, 32, choose_as_published};
static const adaptive_rule balanced = {32, 8, choose_balanced};

static gconv_status choose(const adaptive_rule &rule, const gc_problem *problem,
                           const gc_step *step, const gconv_device_info *device,
                           const gc_factor_registers *registers, gc_tiling *tiling,
                           gconv_error *error)
{
    *tiling = {rule.block_width, rule.block_height, 1, 0, 0};
    gc_tiling_take_block(problem, tiling);
    if (rule.choose(problem, step, device, registers, tiling))
        return GCONV_OK;
    gc_tiling_measure(step->width, step->height, tiling);
    gconv_status status = gc_tiling_check(tiling, device, error);
    return status != GCONV_OK
               ? status
               : gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                         "no block of %dx%d threads fits in the registers%s of %s",
                         tiling->block_width, tiling->block_height,
                         problem->tiling.shared_memory > 0 ? " and --shared-memory" : "",
                         device->name);
}

template <const adaptive_rule &RULE>
static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling;
    gc_factor_registers registers = assumed_registers();
    gconv_status status = gc_constant_check(step, error);
    return status == GCONV_OK ? choose(RULE, problem, step, device, &registers, &tiling, error)
                              : status;
}

template <const adaptive_rule &RULE, bool READ_ONLY>
static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_tiling tiling;
    gc_factor_registers registers;
    if (!find_registers<READ_ONLY>(&registers, error))
        return GCONV_ERROR_DEVICE;
    gconv_status status = choose(RULE, problem, step, device, &registers, &tiling, error);
    if (status == GCONV_OK)
        status =
            gc_gpu_opt_in((const void *)gc_factor_kernels<READ_ONLY>[tiling.factor], device, error);
    return status == GCONV_OK ? gc_tiling_create(&tiling, state, error) : status;
}

template <bool READ_ONLY>
static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    return gc_launch_tiles(gc_factor_kernels<READ_ONLY>[tiling->factor], *tiling, step, stream,
                           error);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->adaptive_share);
}

template <const adaptive_rule &RULE, bool READ_ONLY> constexpr gc_step_method method_of()
{
    return {
        {supports<RULE>, seconds, free, gc_tiling_describe},
        prepare<RULE, READ_ONLY>,
        convolve<READ_ONLY>,
        gc_tiling_intensity,
        gc_tiling_factor,
    };
}

static const gc_step_method published_method = method_of<published, false>();
static const gc_step_method published_nc_method = method_of<published, true>();
extern const gc_step_method gc_adaptive_ours_method;
const gc_step_method gc_adaptive_ours_method = method_of<balanced, false>();

extern "C" {
extern const gc_operations gc_adaptive_operations, gc_adaptive_nc_operations,
    gc_adaptive_ours_operations;
const gc_operations gc_adaptive_operations = gc_step_operations<published_method>();
const gc_operations gc_adaptive_nc_operations = gc_step_operations<published_nc_method>();
const gc_operations gc_adaptive_ours_operations = gc_step_operations<gc_adaptive_ours_method>();
}
