/* Grey from colour: Rec. 601 luma (contract.md, rules 7 and 82). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The weights sum to 65536, so that 32 bits hold the sum of 16-bit samples:
 * 65536 * 65535 + 32768 < 2^32. */
static inline uint32_t gc_luma(uint32_t red, uint32_t green, uint32_t blue)
{
    return (19595u * red + 38470u * green + 7471u * blue + 32768u) >> 16;
}

/* gc_luma of floats. The sum is exact in double for numbers that are not too far apart. */
static inline float gc_float_luma(float red, float green, float blue)
{
    return (float)((19595.0 * red + 38470.0 * green + 7471.0 * blue) / 65536);
}

/* Makes a grey row of a row with 2 to 4 interleaved channels of 8, 16 or 32 bits. Alpha is ignored.
 * `is_bgr`: blue comes first. The rows must not overlap, and samples must be aligned. */
void gc_grey_row(const void *input, void *output, uint32_t width, int channels, int depth,
                 bool is_bgr);
