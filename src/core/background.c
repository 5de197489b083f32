#include "core/background.h"

#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline)) /* depths and channels are constants */

static ALWAYS_INLINE uint32_t sample_at(const void *row, int depth, size_t at)
{
    return depth == 8 ? ((const uint8_t *)row)[at] : ((const uint16_t *)row)[at];
}

static ALWAYS_INLINE void set_sample(void *row, int depth, size_t at, uint32_t sample)
{
    if (depth == 8)
        ((uint8_t *)row)[at] = (uint8_t)sample;
    else
        ((uint16_t *)row)[at] = (uint16_t)sample;
}

/* White is odd, so that no quotient lies in the middle of two integers. 32 bits hold the sum:
 * 65535 * 65535 + 32767 < 2^32. */
static ALWAYS_INLINE bool flatten(void *row, size_t width, const size_t channels, const int depth,
                                  const uint16_t *background)
{
    const uint32_t white = depth == 8 ? UINT8_MAX : UINT16_MAX;
    const size_t colours = channels - 1;
    uint32_t all = white;
    for (size_t i = 0; i < width; i++)
        all &= sample_at(row, depth, i * channels + colours);
    if (all == white)
        return true;
    for (size_t i = 0; i < width; i++) {
        uint32_t alpha = sample_at(row, depth, i * channels + colours);
        for (size_t c = 0; c < colours; c++) {
            uint32_t colour = sample_at(row, depth, i * channels + c);
            uint32_t sum = alpha * colour + (white - alpha) * background[c] + white / 2;
            set_sample(row, depth, i * channels + c, sum / white);
        }
    }
    return false;
}

/* Not rounded to integers. A pixel of alpha 255 stays as it is: double holds its product. */
static bool flatten_floats(float *row, size_t width, size_t channels, const uint16_t *background)
{
    bool opaque = true;
    for (size_t i = 0; i < width; i++, row += channels) {
        double alpha = (double)row[channels - 1];
        opaque = opaque && alpha == UINT8_MAX;
        for (size_t c = 0; c + 1 < channels; c++)
            row[c] =
                (float)((alpha * (double)row[c] + (UINT8_MAX - alpha) * background[c]) / UINT8_MAX);
    }
    return opaque;
}

bool gc_flatten_row(void *row, uint32_t width, int channels, int depth, const uint16_t *background)
{
    if (depth == 32)
        return flatten_floats(row, width, (size_t)channels, background);
    if (depth == 8)
        return channels == 2 ? flatten(row, width, 2, 8, background)
                             : flatten(row, width, 4, 8, background);
    return channels == 2 ? flatten(row, width, 2, 16, background)
                         : flatten(row, width, 4, 16, background);
}

/* The first `kept_bytes` of each pixel. */
static ALWAYS_INLINE void keep_samples(const unsigned char *restrict input,
                                       unsigned char *restrict output, uint32_t width,
                                       size_t pixel_bytes, size_t kept_bytes)
{
    for (size_t i = 0; i < width; i++)
        memcpy(output + i * kept_bytes, input + i * pixel_bytes, kept_bytes);
}

void gc_drop_alpha_row(const unsigned char *input, unsigned char *output, uint32_t width,
                       int channels, size_t sample_bytes)
{
    if (sample_bytes == 1 && channels == 4)
        keep_samples(input, output, width, 4, 3);
    else
        keep_samples(input, output, width, (size_t)channels * sample_bytes,
                     (size_t)(channels - 1) * sample_bytes);
}
