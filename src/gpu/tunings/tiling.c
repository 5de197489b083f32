#include "gpu/tunings/tiling.h"

int gc_tiling_pitch(int filter_width, int block_width, int factor)
{
    int apron = filter_width - 1;
    if (block_width < GC_SHARED_BANKS)
        apron = (apron + GC_SHARED_BANKS - 1) / GC_SHARED_BANKS * GC_SHARED_BANKS;
    int width = factor * block_width;
    /* The width of all tiles but one is rounded up to a multiple of the banks. The remaining tile
     * makes the next row start in the bank after this row's threads. */
    if (block_width < GC_SHARED_BANKS)
        width = (width - block_width + GC_SHARED_BANKS - 1) / GC_SHARED_BANKS * GC_SHARED_BANKS +
                block_width;
    return apron + width;
}

static void set_pitch(int pitch, int filter_height, gc_tiling *tiling)
{
    tiling->shared_pitch = pitch;
    tiling->shared_bytes =
        (uint64_t)pitch * (uint64_t)(filter_height - 1 + tiling->block_height) * sizeof(float);
}

void gc_tiling_measure(int filter_width, int filter_height, gc_tiling *tiling)
{
    set_pitch(gc_tiling_pitch(filter_width, tiling->block_width, tiling->factor), filter_height,
              tiling);
}

void gc_tiling_measure_unpadded(int filter_width, int filter_height, gc_tiling *tiling)
{
    set_pitch(filter_width - 1 + tiling->factor * tiling->block_width, filter_height, tiling);
}

void gc_tiling_measure_down(int filter_width, int filter_height, gc_tiling *tiling)
{
    tiling->shared_pitch = filter_width - 1 + tiling->block_width;
    tiling->shared_bytes = (uint64_t)tiling->shared_pitch * sizeof(float) *
                           (uint64_t)(filter_height - 1 + tiling->factor * tiling->block_height);
}

/* Blocks of this tiling that a multiprocessor holds at once, if blocks take at most `shared_limit`
 * bytes together. */
static int resident_blocks(const gconv_device_info *device, const gc_factor_registers *registers,
                           uint64_t shared_limit, const gc_tiling *tiling)
{
    int threads = tiling->block_width * tiling->block_height;
    if (tiling->shared_bytes > device->shared_per_block_optin ||
        threads > device->threads_per_block)
        return 0;
    const uint64_t reserved = device->compute_major >= 8 ? 1024 : 0; /* by the system, a block */
    uint64_t by_shared = device->shared_per_processor / (tiling->shared_bytes + reserved);
    if (shared_limit / tiling->shared_bytes < by_shared)
        by_shared = shared_limit / tiling->shared_bytes;
    /* Registers are given to warps in multiples of 256. */
    int warp_registers = (registers->count[tiling->factor] * 32 + 255) / 256 * 256;
    int warps = (threads + 31) / 32;
    int by_registers = device->registers_per_processor / (warp_registers * warps);
    int by_threads = device->threads_per_processor / threads;
    int blocks = by_registers < by_threads ? by_registers : by_threads;
    return by_shared < (uint64_t)blocks ? (int)by_shared : blocks;
}

/* Sets the largest factor of which a multiprocessor holds that many blocks. False if there is
 * none. */
static bool take_largest(const gconv_device_info *device, const gc_factor_registers *registers,
                         uint64_t shared_limit, int filter_width, int filter_height, int blocks,
                         gc_tiling *tiling)
{
    gc_tiling candidate = *tiling;
    for (candidate.factor = GC_FACTOR_MAX; candidate.factor >= 1; candidate.factor--) {
        gc_tiling_measure(filter_width, filter_height, &candidate);
        if (resident_blocks(device, registers, shared_limit, &candidate) >= blocks) {
            *tiling = candidate;
            return true;
        }
    }
    return false;
}

bool gc_tiling_adapt(const gconv_device_info *device, const gc_factor_registers *registers,
                     uint64_t shared_limit, int filter_width, int filter_height, gc_tiling *tiling)
{
    bool wants_two = device->compute_major >= 3 && filter_width <= GC_SMALL_FILTER_COLUMNS;
    uint64_t limit = shared_limit > 0 ? shared_limit : UINT64_MAX;
    return (wants_two &&
            take_largest(device, registers, limit, filter_width, filter_height, 2, tiling)) ||
           take_largest(device, registers, limit, filter_width, filter_height, 1, tiling);
}

void gc_tiling_adapt_kth(int filter_width, int filter_height, gc_tiling *tiling)
{
    const int pixels = (48 << 10) / (int)sizeof(short);
    int rows = filter_height - 1 + tiling->block_height;
    int factor = (pixels - (filter_width - 1) * rows) / (rows * tiling->block_width);
    tiling->factor = factor < 0 ? 0 : factor < GC_KTH_FACTOR_MAX ? factor : GC_KTH_FACTOR_MAX;
    tiling->shared_pitch = filter_width - 1 + tiling->factor * tiling->block_width;
    tiling->shared_bytes = (uint64_t)tiling->shared_pitch * (uint64_t)rows * sizeof(short);
}
