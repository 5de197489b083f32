/* The host's side of tilefft's large tiles: three kernels a pass (large_tile.cuh). */
#ifndef GC_GPU_METHODS_TILEFFT_LARGE_CUH
#define GC_GPU_METHODS_TILEFFT_LARGE_CUH

#include "gpu/methods/tilefft/kernels.cuh"
#include "gpu/methods/tilefft/types.cuh"
#include "gpu/plan/method.cuh"

extern "C" {
#include "gpu/methods/tilefft/tiles.h"
}

struct gc_large_pass {
    gc_tilefft_large tiles; /* of a launch: what changes is filled in */
    gc_tilefft_large_kernels kernels;
    int resident_rows, resident_columns, resident_back; /* blocks on the device at once */
    int columns, lines;                                 /* of a transform */
    int slab, pairs_at_once;                            /* as in gc_tiles */
    int first_row, end_row;                             /* of all tiles' outputs */
    float *roots;                                       /* device */
};

/* Makes *pass run large tiles, whose `tiles.spectrum` is there. `type` is that of gc_tilefft_find.
 * What has been allocated is freed by gc_large_release, also after an error. */
gconv_status gc_large_prepare(const gc_problem *problem, const gc_tile_filter *filter,
                              const gc_tiles *tiles, int type, const gconv_device_info *device,
                              gc_large_pass *pass, gconv_error *error);
void gc_large_release(gc_large_pass *pass);

/* Runs the pass for all channels, one after the other. */
gconv_status gc_large_run(const gc_large_pass &large, const gc_pass &pass, int channels,
                          cudaStream_t stream, gconv_error *error);

#endif
