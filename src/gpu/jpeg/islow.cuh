/* The samples of a block: dequantised, and by the inverse DCT "islow" of libjpeg. */
#pragma once

#include "gpu/jpeg/packed.h"

/* Eight numbers of the inverse DCT "islow" of libjpeg (Loeffler, Ligtenberg and Moschytz 1989, with
 * constants of 13 bits), `step` apart. The results are rounded shifts by `shift` bits. */
template <int step, int shift> static __device__ inline void gc_islow_line(int *x)
{
    const int half = 1 << (shift - 1);
    int rotated = (x[2 * step] + x[6 * step]) * 4433;
    int low = rotated - x[6 * step] * 15137, high = rotated + x[2 * step] * 6270;
    int sum = ((x[0] + x[4 * step]) << 13) + half, difference = ((x[0] - x[4 * step]) << 13) + half;
    int even[4] = {sum + high, difference + low, difference - low, sum - high};
    int x1 = x[step], x3 = x[3 * step], x5 = x[5 * step], x7 = x[7 * step];
    int both = (x7 + x3 + x5 + x1) * 9633;
    int outer = (x7 + x1) * -7373, inner = (x5 + x3) * -20995;
    int odd73 = (x7 + x3) * -16069 + both, odd51 = (x5 + x1) * -3196 + both;
    int odd[4] = {x1 * 12299 + outer + odd51, x3 * 25172 + inner + odd73,
                  x5 * 16819 + inner + odd51, x7 * 2446 + outer + odd73};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        x[i * step] = (even[i] + odd[i]) >> shift;
        x[(7 - i) * step] = (even[i] - odd[i]) >> shift;
    }
}

/* Position in a block, row by row, of each coefficient in zigzag order. */
static __device__ inline constexpr int gc_islow_place(int k)
{
    constexpr int positions[GC_PACKED_COEFFICIENTS] = {
        0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
        41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
        30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
    return positions[k];
}

/* Dequantises a block. False if its energy is more than 8-bit samples can have. */
static __device__ inline bool gc_islow_dequantise(const int16_t *block, const uint16_t *steps,
                                                  unsigned energy_max, int *x)
{
    enum { LARGEST = 2048 }; /* of sound blocks; 64 squares of it fit in 32 bits */
    const uint4 *words = (const uint4 *)block;
    unsigned energy = 0;
    bool small = true;
#pragma unroll
    for (int i = 0; i < GC_PACKED_COEFFICIENTS / 8; i++) {
        uint4 eight = words[i];
        const unsigned pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int k = 8 * i + j;
            int value = (int16_t)(pairs[j / 2] >> 16 * (j & 1)) * (int)steps[k];
            small = small && value >= -LARGEST && value <= LARGEST;
            energy += (unsigned)value * (unsigned)value;
            x[gc_islow_place(k)] = value;
        }
    }
    return small && energy <= energy_max;
}

static __device__ inline unsigned gc_islow_sample(int value)
{
    return (unsigned)min(max(value + 128, 0), 255);
}

/* The inverse DCT of a dequantised block, row by row, in place. Nothing overflows if
 * gc_islow_dequantise has returned true. */
static __device__ inline void gc_islow(int x[GC_PACKED_COEFFICIENTS])
{
#pragma unroll
    for (int column = 0; column < 8; column++)
        gc_islow_line<8, 11>(x + column);
#pragma unroll
    for (int row = 0; row < 8; row++)
        gc_islow_line<1, 18>(x + 8 * row);
}

/* A row of its results as eight samples. */
static __device__ inline uint2 gc_islow_row(const int *row)
{
    uint2 eight;
    eight.x = gc_islow_sample(row[0]) | gc_islow_sample(row[1]) << 8 |
              gc_islow_sample(row[2]) << 16 | gc_islow_sample(row[3]) << 24;
    eight.y = gc_islow_sample(row[4]) | gc_islow_sample(row[5]) << 8 |
              gc_islow_sample(row[6]) << 16 | gc_islow_sample(row[7]) << 24;
    return eight;
}
