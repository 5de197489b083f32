/* The kernels gc_convolve_tiles of every tiling factor up to GC_FACTOR_MAX. */
#ifndef GC_GPU_LADDER_FACTORS_CUH
#define GC_GPU_LADDER_FACTORS_CUH

#include "gpu/ladder/tile.cuh"

/* Indexed by the factor; there is none for 0. */
static const gc_tile_kernel gc_factor_kernels[GC_FACTOR_MAX + 1] = {
    nullptr,
    gc_convolve_tiles<1>,
    gc_convolve_tiles<2>,
    gc_convolve_tiles<3>,
    gc_convolve_tiles<4>,
    gc_convolve_tiles<5>,
    gc_convolve_tiles<6>,
    gc_convolve_tiles<7>,
    gc_convolve_tiles<8>,
    gc_convolve_tiles<9>,
    gc_convolve_tiles<10>,
    gc_convolve_tiles<11>,
    gc_convolve_tiles<12>,
    gc_convolve_tiles<13>,
    gc_convolve_tiles<14>,
    gc_convolve_tiles<15>,
    gc_convolve_tiles<16>,
};

#endif
