/* The kernels gc_convolve_tiles of every tiling factor up to GC_FACTOR_MAX. */
#ifndef GC_GPU_METHODS_LADDER_FACTORS_CUH
#define GC_GPU_METHODS_LADDER_FACTORS_CUH

#include "gpu/methods/ladder/tile.cuh"

/* Indexed by the factor; there is none for 0. */
template <bool READ_ONLY>
static const gc_tile_kernel gc_factor_kernels[GC_FACTOR_MAX + 1] = {
    nullptr,
    gc_convolve_tiles<1, READ_ONLY>,
    gc_convolve_tiles<2, READ_ONLY>,
    gc_convolve_tiles<3, READ_ONLY>,
    gc_convolve_tiles<4, READ_ONLY>,
    gc_convolve_tiles<5, READ_ONLY>,
    gc_convolve_tiles<6, READ_ONLY>,
    gc_convolve_tiles<7, READ_ONLY>,
    gc_convolve_tiles<8, READ_ONLY>,
    gc_convolve_tiles<9, READ_ONLY>,
    gc_convolve_tiles<10, READ_ONLY>,
    gc_convolve_tiles<11, READ_ONLY>,
    gc_convolve_tiles<12, READ_ONLY>,
    gc_convolve_tiles<13, READ_ONLY>,
    gc_convolve_tiles<14, READ_ONLY>,
    gc_convolve_tiles<15, READ_ONLY>,
    gc_convolve_tiles<16, READ_ONLY>,
};

#endif
