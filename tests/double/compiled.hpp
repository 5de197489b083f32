/* What kernels whose threads talk to each other need beside device.hpp to be compiled for the host.
 * driver.cpp puts it before the text of a kernel that gconv compiles at run time. */
#pragma once

#include "device.hpp"

#include <algorithm>

#undef __grid_constant__
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __syncwarp() gc_double_warp_barrier()

/* The shared memory of a block, whose threads run on one thread of the host. */
[[gnu::unused]] static __thread float4 gc_block_memory[(227 << 10) / sizeof(float4)];

static inline int gc_double_lane()
{
    return (int)(gc_double_place.thread.x % 32);
}

template <class type> static inline type gc_double_shuffled(type value, int lane)
{
    unsigned all[32];
    gc_double_show(gc_double_bits<unsigned>(value), all);
    return gc_double_bits<type>(all[lane]);
}

static inline long long gc_double_shuffled(long long value, int lane)
{
    uint64_t high = gc_double_shuffled((unsigned)(value >> 32), lane);
    return (long long)(high << 32 | gc_double_shuffled((unsigned)value, lane));
}

static inline double gc_double_shuffled(double value, int lane)
{
    return gc_double_bits<double>(gc_double_shuffled(gc_double_bits<long long>(value), lane));
}

template <class type> static inline type __shfl_xor_sync(unsigned, type value, int other)
{
    return gc_double_shuffled(value, gc_double_lane() ^ other);
}

template <class type> static inline type __shfl_up_sync(unsigned, type value, int step)
{
    int lane = gc_double_lane();
    return gc_double_shuffled(value, lane >= step ? lane - step : lane);
}

template <class type> static inline type __shfl_down_sync(unsigned, type value, int step)
{
    int lane = gc_double_lane();
    return gc_double_shuffled(value, lane + step < 32 ? lane + step : lane);
}

static inline unsigned __ballot_sync(unsigned, bool value)
{
    unsigned all[32], bits = 0;
    gc_double_show(value, all);
    for (int lane = 0; lane < 32; lane++)
        bits |= all[lane] << lane;
    return bits;
}

static inline bool __all_sync(unsigned mask, bool value)
{
    return __ballot_sync(mask, value) == ~0u;
}

static inline bool __any_sync(unsigned mask, bool value)
{
    return __ballot_sync(mask, value) != 0;
}

static inline unsigned gc_double_permuted(unsigned a, unsigned b, unsigned selector)
{
    unsigned result = 0;
    for (int k = 0; k < 4; k++) {
        unsigned which = selector >> (4 * k) & 7;
        result |= (which < 4 ? a >> (8 * which) & 255 : b >> (8 * (which - 4)) & 255) << (8 * k);
    }
    return result;
}
#define __byte_perm gc_double_permuted

template <class type> static inline type __shfl_sync(unsigned, type value, int lane)
{
    return gc_double_shuffled(value, lane % 32);
}

static inline unsigned atomicInc(unsigned *to, unsigned last)
{
    unsigned old = *to;
    *to = old >= last ? 0 : old + 1;
    return old;
}
