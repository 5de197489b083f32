/* The methods of the ladder whose state is a tiling, and the kernel that most of them have. */
#ifndef GC_GPU_METHODS_LADDER_TILE_CUH
#define GC_GPU_METHODS_LADDER_TILE_CUH

#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant.cuh"

extern "C" {
#include "gpu/cost/costs.h"
}

#include <cstdlib>
#include <utility>

/* `columns` are blocks in a row, `pitch` is that of the tiling. */
typedef void (*gc_tile_kernel)(gc_gpu_step step, unsigned columns, int pitch);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The kernel of const, tiled and adaptive: pixels in shared memory, the filter in constant memory,
 * FACTOR outputs a thread, one block width apart (van Werkhoven et al. 2014, figure 4). With
 * READ_ONLY, pixels come through the read-only cache (section 6 there). Shared memory holds pixels
 * of the type `pixel`. */
template <int FACTOR, bool READ_ONLY, class pixel = float>
static __global__ void gc_convolve_tiles(gc_gpu_step step, unsigned columns, int pitch)
{
    extern __shared__ float pixels[];
    pixel *block = (pixel *)pixels;
    const int block_width = (int)blockDim.x;
    int left = (int)(blockIdx.x % columns) * block_width * FACTOR;
    int top = (int)(blockIdx.x / columns * blockDim.y);
    const float *input = step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left;
    gc_load_block<READ_ONLY>(block, pitch, block_width * FACTOR + step.filter_width - 1,
                             (int)blockDim.y + step.filter_height - 1, input, step.input_pitch,
                             step.width - left + step.filter_width - 1,
                             step.height - top + step.filter_height - 1);
    float sums[FACTOR] = {};
    for (int j = 0; j < step.filter_height; j++) {
        const pixel *row = block + ((int)threadIdx.y + j) * pitch + (int)threadIdx.x;
        for (int i = 0; i < step.filter_width; i++) {
            float weight = gc_filter[j * step.filter_width + i];
#pragma unroll
            for (int t = 0; t < FACTOR; t++)
                sums[t] += row[i + t * block_width] * weight;
        }
    }
    int x = left + (int)threadIdx.x;
    int y = top + (int)threadIdx.y;
    if (y >= step.height)
        return;
    float *output = step.output + blockIdx.y * step.output_plane + y * step.output_pitch;
#pragma unroll
    for (int t = 0; t < FACTOR; t++)
        if (x + t * block_width < step.width)
            output[x + t * block_width] = sums[t];
}

/* The kernel for a factor up to `most`. */
template <bool READ_ONLY, class pixel, int... index>
static gc_tile_kernel gc_kernel_among(int factor, std::integer_sequence<int, index...>)
{
    static const gc_tile_kernel all[] = {gc_convolve_tiles<index + 1, READ_ONLY, pixel>...};
    return all[factor - 1];
}
template <int most, bool READ_ONLY, class pixel = float>
static gc_tile_kernel gc_kernel_of(int factor)
{
    return gc_kernel_among<READ_ONLY, pixel>(factor, std::make_integer_sequence<int, most>());
}

/* ---- Methods --------------------------------------------------------------------------------- */

/* The step for which a tiling is chosen. Only if `asks` may the device be asked: it is current. */
struct gc_tiling_wish {
    const gc_problem *problem;
    const gc_step *step;
    const gconv_device_info *device;
    bool asks;
};

template <class way>
static gconv_status gc_tiling_supports(const gc_problem *problem, const gc_step *step,
                                       const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling;
    if constexpr (way::in_constant_memory)
        GC_TRY(gc_constant_check(step, error));
    GC_TRY(way::choose({problem, step, device, false}, &tiling, error));
    return gc_tiling_check(&tiling, device, error);
}

template <class way>
static gconv_status gc_tiling_prepare(const gc_problem *problem, const gc_step *step,
                                      const gconv_device_info *device, int rows, void **state,
                                      gconv_error *error)
{
    (void)rows;
    gc_tiling *tiling = (gc_tiling *)malloc(sizeof *tiling);
    if (tiling == nullptr)
        return gc_fail_memory(error, sizeof *tiling);
    *state = tiling;
    GC_TRY(way::choose({problem, step, device, true}, tiling, error));
    return tiling->shared_bytes == 0
               ? GCONV_OK
               : gc_gpu_opt_in((const void *)way::kernel(tiling->factor), device, error);
}

template <class way>
static gconv_status gc_tiling_convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                                       gconv_error *error)
{
    const gc_tiling &tiling = *(const gc_tiling *)state;
    gc_tile_kernel kernel = way::kernel(tiling.factor);
    dim3 block((unsigned)tiling.block_width, (unsigned)tiling.block_height);
    gc_gpu_grid grid =
        gc_gpu_grid_of(step, tiling.block_width * tiling.factor, tiling.block_height);
    if constexpr (way::in_constant_memory)
        GC_TRY(gc_filter_lock(step.taps, step.filter_width * step.filter_height, stream, error));
    kernel<<<grid.blocks, block, tiling.shared_bytes, stream>>>(step, grid.columns,
                                                                tiling.shared_pitch);
    if constexpr (way::in_constant_memory)
        GC_TRY(gc_constant_unlock(stream, error));
    else
        GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

template <class way>
static double gc_tiling_seconds(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->*way::share);
}

/* The method of `way`, a class of static members:
 *     choose               sets the tiling for a wish, or says why there is none
 *     kernel               the gc_tile_kernel for a tiling's factor
 *     share                of the multiply-adds, a member of gc_costs
 *     in_constant_memory   whether kernels read the filter there */
template <class way>
constexpr gc_step_method
gc_tiling_method(double (*intensity)(const void *state, const gc_step *step) = gc_tiling_intensity,
                 int (*factor)(const void *state) = nullptr)
{
    return {
        {gc_tiling_supports<way>, gc_tiling_seconds<way>, free, gc_tiling_describe},
        gc_tiling_prepare<way>,
        gc_tiling_convolve<way>,
        intensity,
        factor,
    };
}

#endif
