/* The kernels of tilefft: for each size of tiles, for chain values, and for samples of 8 and of 16
 * bits. */
#pragma once

#include "gpu/methods/tilefft/kernels.cuh"

#include "gpu/methods/tilefft/large_tile.cuh"
#include "gpu/methods/tilefft/tile.cuh"

template <int across, int down, int type> struct tile_config {
    static constexpr int columns = across, lines = down, input = type, output = type;
    static constexpr int finish = type == GC_FLOAT ? GC_FINISH_NONE : -1, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
};

/* ---- Tiles in shared memory ------------------------------------------------------------------ */

/* The second bound is the number of blocks that a multiprocessor should hold. */
template <class config>
static __global__ void __launch_bounds__(gc_tilefft_shape<config>::threads,
                                         (128 * 128) / (config::columns * config::lines))
    tile_kernel(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_tilefft tiles)
{
    gc_tilefft_pass<config>(pass, tiles);
}

/* `take` of all sizes, between commas. */
#define GC_TILEFFT_TILES(take, type)                                                               \
    take(64, 64, type), take(64, 128, type), take(128, 64, type), take(128, 128, type)

/* ---- Large tiles ----------------------------------------------------------------------------- */

/* Three blocks of rows fill the shared memory of a multiprocessor of an H200. Three blocks of 512
 * points a column would, too, but their threads need more than a third of the registers. */
template <class config>
static __global__ void __launch_bounds__(GC_LARGE_ROW_THREADS, 3)
    large_rows(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_tilefft_large tiles)
{
    gc_large_rows<config>(pass, tiles);
}

template <class config>
static __global__ void __launch_bounds__(GC_LARGE_ROW_THREADS, 3)
    large_back(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_tilefft_large tiles)
{
    gc_large_back<config>(pass, tiles);
}

template <class config>
static __global__ void __launch_bounds__(gc_large_shape<config>::column_threads,
                                         256 / gc_large_shape<config>::column_threads)
    large_columns(const __grid_constant__ gc_tilefft_large tiles)
{
    gc_large_columns<config>(tiles);
}

#define GC_TILEFFT_LARGE_TILES(take, type)                                                         \
    take(512, 512, type), take(1024, 512, type), take(1024, 1024, type)
