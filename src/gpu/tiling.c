#include "gpu/tiling.h"

/* What the system keeps of each block's shared memory (compute capability 8.0 and later). */
static const uint64_t shared_reserved = 1024;

int gc_tiling_pitch(int filter_width, int block_width, int tile)
{
    int apron = filter_width - 1;
    if (block_width < GC_SHARED_BANKS)
        apron = (apron + GC_SHARED_BANKS - 1) / GC_SHARED_BANKS * GC_SHARED_BANKS;
    int width = tile * block_width;
    /* Tiles of a narrow block add up to whole rounds of the banks; one block width more starts the
     * next row where the one before left off. */
    if (block_width < GC_SHARED_BANKS)
        width = (width - block_width + GC_SHARED_BANKS - 1) / GC_SHARED_BANKS * GC_SHARED_BANKS +
                block_width;
    return apron + width;
}

void gc_tiling_measure(int filter_width, int filter_height, gc_tiling *tiling)
{
    tiling->shared_pitch = gc_tiling_pitch(filter_width, tiling->block_width, tiling->tile);
    tiling->shared_bytes = (uint64_t)tiling->shared_pitch *
                           (uint64_t)(filter_height - 1 + tiling->block_height) * sizeof(float);
}

/* Blocks of this tiling that a multiprocessor holds at once. */
static int resident_blocks(const gconv_device_info *device, const gc_tile_registers *registers,
                           const gc_tiling *tiling)
{
    int threads = tiling->block_width * tiling->block_height;
    if (tiling->shared_bytes > device->shared_per_block_optin ||
        threads > device->threads_per_block)
        return 0;
    uint64_t by_shared = device->shared_per_processor / (tiling->shared_bytes + shared_reserved);
    /* Registers are given to warps in multiples of 256. */
    int warp_registers = (registers->count[tiling->tile] * 32 + 255) / 256 * 256;
    int warps = (threads + 31) / 32;
    int by_registers = device->registers_per_processor / (warp_registers * warps);
    int by_threads = device->threads_per_processor / threads;
    int blocks = by_registers < by_threads ? by_registers : by_threads;
    return by_shared < (uint64_t)blocks ? (int)by_shared : blocks;
}

bool gc_tiling_adapt(const gconv_device_info *device, const gc_tile_registers *registers,
                     uint32_t image_width, int filter_width, int filter_height, gc_tiling *tiling)
{
    gc_tiling candidate = *tiling;
    int columns =
        (int)((image_width + (uint32_t)tiling->block_width - 1) / (uint32_t)tiling->block_width);
    int most = columns < GC_TILE_MAX ? columns : GC_TILE_MAX;
    for (int blocks = 2; blocks >= 1; blocks--)
        for (int tile = most; tile >= 1; tile--) {
            candidate.tile = tile;
            gc_tiling_measure(filter_width, filter_height, &candidate);
            if (resident_blocks(device, registers, &candidate) >= blocks) {
                *tiling = candidate;
                return true;
            }
        }
    return false;
}
