/* Colours of pixels whose alpha is kept, for rank1_bytes_loops.c. */
#pragma once

#include "cpu/fast/loops/rank1_bytes_vectors.h"

#if defined(__AVX2__)

enum { PIXELS = sizeof(integers) / 4 };

/* Colours of RGBA are taken in two steps: bytes are moved within each quarter of a vector, so that
 * colours fill three of its four dwords, and then dwords are moved between quarters. Pixels are put
 * together in the reverse order. */
INLINE integers permute_bytes(integers x, __m128i places)
{
    return VECTOR(shuffle_epi8)(x, repeat_quarter(places));
}

INLINE integers dwords_at(const int32_t places[16])
{
    return load_samples((const uint8_t *)places);
}

#endif

static void take_colours(int channels, const uint8_t *restrict pixels, size_t count,
                         uint8_t *restrict to)
{
    size_t at = 0;
    if (channels == 2) {
        for (; at < count; at++)
            to[at] = pixels[2 * at];
        return;
    }
#if defined(__AVX2__)
    static const int32_t places[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14};
    const __m128i of_colours =
        _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const integers dwords = dwords_at(places);
    for (; at + PIXELS <= count; at += PIXELS) {
        integers x = permute_bytes(load_samples(pixels + 4 * at), of_colours);
        store_samples(permute(x, dwords), to + 3 * at);
    }
#endif
    for (; at < count; at++) {
        to[3 * at] = pixels[4 * at];
        to[3 * at + 1] = pixels[4 * at + 1];
        to[3 * at + 2] = pixels[4 * at + 2];
    }
}

static void put_colours(int channels, const uint8_t *restrict from, const uint8_t *restrict kept,
                        size_t count, bool streams, uint8_t *restrict pixels)
{
    size_t at = 0;
    (void)streams;
    if (channels == 2) {
#if defined(__AVX512BW__)
        for (; streams && at + 32 <= count; at += 32) {
            integers x = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(from + at)));
            x = _mm512_mask_loadu_epi8(x, 0xaaaaaaaaaaaaaaaa, kept + 2 * at);
            stream_samples(x, pixels + 2 * at);
        }
#endif
        for (; at < count; at++) {
            pixels[2 * at] = from[at];
            pixels[2 * at + 1] = kept[2 * at + 1];
        }
        return;
    }
#if defined(__AVX2__)
    static const int32_t places[16] = {0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0};
    const __m128i of_pixels = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const integers dwords = dwords_at(places), alpha = VECTOR(set1_epi32)((int32_t)0xff000000);
    for (; at + PIXELS <= count; at += PIXELS) {
        integers x = permute_bytes(permute(load_samples(from + 3 * at), dwords), of_pixels);
        x = OR(x, AND(load_samples(kept + 4 * at), alpha));
#if defined(__AVX512BW__)
        if (streams) {
            stream_samples(x, pixels + 4 * at);
            continue;
        }
#endif
        store_samples(x, pixels + 4 * at);
    }
#endif
    for (; at < count; at++) {
        pixels[4 * at] = from[3 * at];
        pixels[4 * at + 1] = from[3 * at + 1];
        pixels[4 * at + 2] = from[3 * at + 2];
        pixels[4 * at + 3] = kept[4 * at + 3];
    }
}
