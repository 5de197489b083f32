/* The methods of the ladder whose state is a tiling, and the kernel that most of them have. */
#pragma once

#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/compiled_tile.cuh"
#include "gpu/methods/ladder/constant.cuh"
#include "gpu/methods/ladder/tile_kernel.cuh"

#include <type_traits>
#include <utility>

typedef void (*gc_tile_kernel)(gc_ladder_step step);

/* The step for which a tiling is chosen. If `asks`, the device is current and may be asked. */
struct gc_tiling_wish {
    const gc_problem *problem;
    const gc_step *step;
    const gconv_device_info *device;
    bool asks;
};

/* ---- Kernels --------------------------------------------------------------------------------- */

/* What the compiler knows of a tiling that is built in (tile_kernel.cuh). `flags` are of
 * compiled_tile.cuh. */
template <int FACTOR, int BLOCK_WIDTH, int BLOCK_HEIGHT, int FLAGS> struct gc_tile_config {
    static constexpr int block_width = BLOCK_WIDTH, block_height = BLOCK_HEIGHT;
    static constexpr int across = FACTOR, down = 1, width = 0, height = 0, pitch = 0;
    static constexpr bool read_only = (FLAGS & GC_TILE_READ_ONLY) != 0;
    static constexpr bool by_place = (FLAGS & GC_TILE_BY_PLACE) != 0;
    static constexpr bool idle = false;
    typedef std::conditional_t<(FLAGS & GC_TILE_SHORTS) != 0, short, float> pixel;
};

/* The kernel of shared, const, tiled and adaptive for a block that is built in: FACTOR outputs a
 * thread, one block width apart. */
template <int FACTOR, int BLOCK_WIDTH, int BLOCK_HEIGHT, int FLAGS>
static __global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    gc_convolve_tiles(gc_ladder_step step)
{
    extern __shared__ float pixels[];
    gc_tiles<gc_tile_config<FACTOR, BLOCK_WIDTH, BLOCK_HEIGHT, FLAGS>>(
        step, pixels, FLAGS & GC_TILE_GLOBAL_WEIGHTS ? step.taps : gc_filter);
}

/* Part of a class for gc_tiling_method: tiles of one block that is built in, with factors up to
 * `most`. */
template <int BLOCK_WIDTH, int BLOCK_HEIGHT, int FLAGS, int most> struct gc_tile_way {
    static constexpr int block_width = BLOCK_WIDTH, block_height = BLOCK_HEIGHT, flags = FLAGS;
    static constexpr bool in_constant_memory = (FLAGS & GC_TILE_GLOBAL_WEIGHTS) == 0;

    template <int... index>
    static gc_tile_kernel among(int factor, std::integer_sequence<int, index...>)
    {
        static const gc_tile_kernel all[] = {
            gc_convolve_tiles<index + 1, BLOCK_WIDTH, BLOCK_HEIGHT, FLAGS>...};
        return all[factor - 1];
    }

    static gc_tile_kernel kernel(int factor)
    {
        return among(factor, std::make_integer_sequence<int, most>());
    }

    /* One tile a block. Rows are not padded. */
    static gconv_status choose(const gc_tiling_wish &wish, gc_tiling *tiling, gconv_error *)
    {
        *tiling = {BLOCK_WIDTH, BLOCK_HEIGHT, 1, 0, 0};
        gc_tiling_take_block(wish.problem, tiling);
        gc_tiling_measure_unpadded(wish.step->width, wish.step->height, tiling);
        return GCONV_OK;
    }
};

/* ---- Methods --------------------------------------------------------------------------------- */

/* Whether the block is built in, or the kernel takes any block. */
template <class way> static bool gc_tiling_is_built_in(const gc_tiling &tiling)
{
    return way::block_width == 0 ||
           (tiling.block_width == way::block_width && tiling.block_height == way::block_height);
}

template <class way>
static gconv_status gc_tiling_supports(const gc_problem *problem, const gc_step *step,
                                       const gconv_device_info *device, gconv_error *error)
{
    gc_tiling tiling;
    if constexpr (way::in_constant_memory)
        GC_TRY(gc_constant_check(step, error));
    GC_TRY(way::choose({problem, step, device, false}, &tiling, error));
    if (!gc_tiling_is_built_in<way>(tiling) && !gc_jit_available())
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a block of %dx%d threads has to be compiled at run time, and there is no "
                       "NVRTC here (libnvrtc of the CUDA toolkit)",
                       tiling.block_width, tiling.block_height);
    return gc_tiling_check(&tiling, device, error);
}

/* The state is a gc_compiled_tile, whose kernel is null if the block is built in. */
template <class way>
static gconv_status gc_tiling_prepare(const gc_problem *problem, const gc_step *step,
                                      const gconv_device_info *device, int rows, void **state,
                                      gconv_error *error)
{
    (void)rows;
    gc_compiled_tile *tile;
    GC_TRY(gc_make(&tile, state, error));
    tile->flags = way::flags;
    GC_TRY(way::choose({problem, step, device, true}, &tile->tiling, error));
    if (!gc_tiling_is_built_in<way>(tile->tiling))
        return gc_compiled_create(device, GC_JIT_COMPILE, tile, error);
    return tile->tiling.shared_bytes == 0
               ? GCONV_OK
               : gc_gpu_opt_in((const void *)way::kernel(tile->tiling.factor), device, error);
}

template <class way>
static gconv_status gc_tiling_convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                                       gconv_error *error)
{
    const gc_compiled_tile &tile = *(const gc_compiled_tile *)state;
    const gc_tiling &tiling = tile.tiling;
    if (tile.kernel != nullptr)
        return gc_compiled_launch(tile, step, stream, error);
    gc_tile_kernel kernel = way::kernel(tiling.factor);
    dim3 block((unsigned)tiling.block_width, (unsigned)tiling.block_height);
    gc_gpu_grid grid =
        gc_gpu_grid_of(step, tiling.block_width * tiling.factor, tiling.block_height);
    if constexpr (way::in_constant_memory)
        GC_TRY(gc_filter_lock(step.taps, step.filter_width * step.filter_height, stream, error));
    kernel<<<grid.blocks, block, tiling.shared_bytes, stream>>>(
        gc_ladder_step{step, grid.columns, tiling.shared_pitch});
    if constexpr (way::in_constant_memory)
        GC_TRY(gc_constant_unlock(stream, error));
    else
        GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

/* The method of `way`, a class of static members:
 *     choose               sets the tiling for a wish, or says why there is none
 *     kernel               the gc_tile_kernel for a tiling's factor
 *     block_width, block_height   the block that is built in; NVRTC compiles others; 0: any block
 *     flags                of compiled_tile.cuh
 *     share                of the multiply-adds, a member of gc_costs
 *     in_constant_memory   whether kernels read the filter there */
template <class way>
constexpr gc_step_method
gc_tiling_method(double (*intensity)(const void *state, const gc_step *step) = gc_tiling_intensity,
                 int (*factor)(const void *state) = nullptr)
{
    return {
        {gc_tiling_supports<way>, gc_compiled_seconds<way::share>, gc_compiled_free,
         gc_tiling_describe},
        gc_tiling_prepare<way>,
        gc_tiling_convolve<way>,
        intensity,
        factor,
    };
}
