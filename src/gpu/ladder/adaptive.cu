/* adaptive: 1xN tiling, the factor chosen at run time.
 *
 * Idea: take the largest tiling factor for which a block fits in the device's registers and shared
 *   memory. Where the filter leaves room, several blocks have to fit on each multiprocessor (van
 *   Werkhoven et al. 2011, section 7; 2014, section 4; gc_tiling_adapt has the rule). Kernels for
 *   every factor are compiled from one template.
 * Improves on: tiled, whose one factor is too small for small filters and does not fit large ones.
 * Needs: what tiled needs, at the factor chosen.
 * Limits: filters of up to 16384 weights for which factor 1 fits in shared memory.
 * Loses: to fft at large filters, to separable at filters of rank 1. */
#include "gpu/ladder/adaptive.cuh"
#include "gpu/ladder/factors.cuh"
#include "gpu/runtime/kernel.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

#include <cstdio>

static bool find_registers(gc_factor_registers *registers, gconv_error *error)
{
    for (int factor = 1; factor <= GC_FACTOR_MAX; factor++) {
        cudaFuncAttributes attributes;
        cudaError_t code = cudaFuncGetAttributes(&attributes, gc_factor_kernels[factor]);
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

static gconv_status choose(const gc_problem *problem, const gc_step *step,
                           const gconv_device_info *device, const gc_factor_registers *registers,
                           gc_tiling *tiling, gconv_error *error)
{
    *tiling = {32, 8, 1, 0, 0};
    gc_tiling_take_block(problem, tiling);
    if (gc_tiling_adapt(device, registers, problem->chain.width, step->width, step->height, tiling))
        return GCONV_OK;
    gc_tiling_measure(step->width, step->height, tiling);
    gconv_status status = gc_tiling_check(tiling, device, error);
    return status != GCONV_OK ? status
                              : gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                                        "no block of %dx%d threads fits in the registers of %s",
                                        tiling->block_width, tiling->block_height, device->name);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling;
    gc_factor_registers registers = assumed_registers();
    gconv_status status = gc_constant_check(step, error);
    return status == GCONV_OK ? choose(problem, step, device, &registers, &tiling, error) : status;
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)rows;
    gc_tiling tiling;
    gc_factor_registers registers;
    if (!find_registers(&registers, error))
        return GCONV_ERROR_DEVICE;
    gconv_status status = choose(problem, step, device, &registers, &tiling, error);
    if (status == GCONV_OK)
        status = gc_gpu_opt_in((const void *)gc_factor_kernels[tiling.factor], device, error);
    return status == GCONV_OK ? gc_tiling_create(&tiling, state, error) : status;
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    return gc_launch_tiles(gc_factor_kernels[tiling->factor], *tiling, step, stream, error);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->adaptive_share);
}

extern const gc_step_method gc_adaptive_method = {
    {supports, seconds, free, gc_tiling_describe},
    prepare,
    convolve,
    gc_tiling_intensity,
    nullptr,
    nullptr,
    nullptr,
};

extern "C" {
extern const gc_operations gc_adaptive_operations;
const gc_operations gc_adaptive_operations = gc_step_operations<gc_adaptive_method>();
}
