/* Choosing thread block and tiling factor from a device's description. Plain C: needs no GPU. */
#ifndef GC_GPU_TILING_H
#define GC_GPU_TILING_H

#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GC_TILE_MAX = 16, GC_SHARED_BANKS = 32 };

/* A thread block that computes `tile` horizontally neighbouring tiles of block_width x block_height
 * outputs (van Werkhoven et al. 2014, section 2). */
typedef struct gc_tiling {
    int block_width, block_height;
    int tile;
    int shared_pitch;      /* samples from row to row in shared memory */
    uint64_t shared_bytes; /* a block */
} gc_tiling;

/* Samples from row to row in shared memory: F_w - 1 + tile * B_w, and for blocks narrower than the
 * banks F_w - 1 raised to their next multiple, so that the rows of a warp start in different banks
 * (van Werkhoven et al. 2014, section 3). */
int gc_tiling_pitch(int filter_width, int block_width, int tile);

/* Fills pitch and bytes for a filter. */
void gc_tiling_measure(int filter_width, int filter_height, gc_tiling *tiling);

/* Registers a thread of the kernel of a tiling factor takes: indexed by factor, [0] not used. */
typedef struct gc_tile_registers {
    int count[GC_TILE_MAX + 1];
} gc_tile_registers;

/* Adaptive tiling: the largest factor up to GC_TILE_MAX (and no wider than the image) whose block
 * fits in the device's shared memory and registers, such that two blocks can run on each
 * multiprocessor where the filter is small enough for that at any factor, else one
 * (van Werkhoven et al. 2014, section 4). False where not even factor 1 fits. */
bool gc_tiling_adapt(const gconv_device_info *device, const gc_tile_registers *registers,
                     uint32_t image_width, int filter_width, int filter_height, gc_tiling *tiling);

#ifdef __cplusplus
}
#endif

#endif
