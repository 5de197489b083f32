/* Border modes (contract.md, rules 13 and 14): the one index mapping, shared by host and device
 * code. */
#pragma once

#include "gconv.h"

#ifdef __CUDACC__
#define GC_HOST_DEVICE __host__ __device__
#else
#define GC_HOST_DEVICE
#endif

/* Index in [0, size) of the sample that the border puts at `index` of a row or column of `size`
 * samples; -1 for the border constant. `index` may be any, `size` is at least 1. */
GC_HOST_DEVICE static inline int64_t gc_border_index(gconv_border border, int64_t index,
                                                     int64_t size)
{
    if (index >= 0 && index < size)
        return index;
    int64_t period;
    switch (border) {
    case GCONV_BORDER_REPLICATE:
        return index < 0 ? 0 : size - 1;
    case GCONV_BORDER_WRAP:
        index %= size;
        return index < 0 ? index + size : index;
    case GCONV_BORDER_MIRROR:
        period = 2 * size;
        index %= period;
        index = index < 0 ? index + period : index;
        return index < size ? index : period - 1 - index;
    case GCONV_BORDER_MIRROR101:
        if (size == 1)
            return 0;
        period = 2 * size - 2;
        index %= period;
        index = index < 0 ? index + period : index;
        return index < size ? index : period - index;
    default:
        return -1;
    }
}
