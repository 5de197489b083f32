/* Grey from colour: Rec. 601 luma in integers. */
#ifndef GC_IO_GREY_H
#define GC_IO_GREY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The weights sum to 65536, so that 32 bits hold the sum of 16-bit samples:
 * 65536 * 65535 + 32768 < 2^32. */
static inline uint32_t gc_luma(uint32_t red, uint32_t green, uint32_t blue)
{
    return (19595u * red + 38470u * green + 7471u * blue + 32768u) >> 16;
}

/* The constant `channels` of the callers lets the compiler vectorise each loop. */
static inline void gc_grey_row_8(const uint8_t *restrict input, uint8_t *restrict output,
                                 uint32_t width, size_t channels)
{
    for (size_t i = 0; i < width; i++) {
        const uint8_t *pixel = input + i * channels;
        output[i] = channels < 3 ? pixel[0] : (uint8_t)gc_luma(pixel[0], pixel[1], pixel[2]);
    }
}

static inline void gc_grey_row_16(const uint16_t *restrict input, uint16_t *restrict output,
                                  uint32_t width, size_t channels)
{
    for (size_t i = 0; i < width; i++) {
        const uint16_t *pixel = input + i * channels;
        output[i] = channels < 3 ? pixel[0] : (uint16_t)gc_luma(pixel[0], pixel[1], pixel[2]);
    }
}

/* A row of one channel from one of 2 to 4 interleaved channels of 8 or 16 bits; alpha is ignored.
 * The rows do not overlap; 16-bit rows are aligned. */
static inline void gc_grey_row(const void *input, void *output, uint32_t width, int channels,
                               int depth)
{
    if (depth == 8 && channels == 2)
        gc_grey_row_8(input, output, width, 2);
    else if (depth == 8 && channels == 3)
        gc_grey_row_8(input, output, width, 3);
    else if (depth == 8)
        gc_grey_row_8(input, output, width, 4);
    else if (channels == 2)
        gc_grey_row_16(input, output, width, 2);
    else if (channels == 3)
        gc_grey_row_16(input, output, width, 3);
    else
        gc_grey_row_16(input, output, width, 4);
}

#endif
