#include "io/jpeg/fast/colour.h"

#include <immintrin.h>
#include <string.h>

#define VECTORS __attribute__((target("avx2")))
#define ALWAYS_VECTORS inline __attribute__((target("avx2"), always_inline))

enum { AT_ONCE = 16 };

/* Sixteen bytes as numbers of 16 bits. */
static ALWAYS_VECTORS __m256i load(const unsigned char *bytes)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)bytes));
}

static ALWAYS_VECTORS __m256i thrice(__m256i numbers)
{
    return _mm256_add_epi16(numbers, _mm256_add_epi16(numbers, numbers));
}

/* ---- Upsampling ------------------------------------------------------------------------------ */

/* Two samples of each number: three quarters of it, and a quarter of the number before or behind.
 * Sums of two rows are four times as large as samples. */
static ALWAYS_VECTORS void interpolate(const uint16_t *numbers, bool sums, unsigned char *samples)
{
    __m256i three = thrice(_mm256_loadu_si256((const __m256i *)numbers));
    __m256i left = _mm256_loadu_si256((const __m256i *)(numbers - 1));
    __m256i right = _mm256_loadu_si256((const __m256i *)(numbers + 1));
    left = _mm256_add_epi16(_mm256_add_epi16(three, left), _mm256_set1_epi16(sums ? 8 : 1));
    right = _mm256_add_epi16(_mm256_add_epi16(three, right), _mm256_set1_epi16(sums ? 7 : 2));
    left = _mm256_srli_epi16(left, sums ? 4 : 2);
    right = _mm256_srli_epi16(right, sums ? 4 : 2);
    _mm256_storeu_si256((__m256i *)samples, _mm256_or_si256(left, _mm256_slli_epi16(right, 8)));
}

VECTORS void gc_jpeg_upsample(const gc_jpeg_upsampling *how, const unsigned char *near,
                              const unsigned char *far, uint16_t *numbers, unsigned char *samples)
{
    const uint32_t width = how->width;
    if (!how->across) {
        memcpy(samples, near, width);
        return;
    }
    numbers++; /* the first and the last go on outside */
    for (uint32_t x = 0; x < width; x += AT_ONCE) {
        __m256i found = load(near + x);
        if (how->down)
            found = _mm256_add_epi16(thrice(found), load(far + x));
        _mm256_storeu_si256((__m256i *)(numbers + x), found);
    }
    numbers[-1] = numbers[0];
    numbers[width] = numbers[width - 1];
    for (uint32_t x = 0; x < width; x += AT_ONCE)
        if (how->down)
            interpolate(numbers + x, true, samples + (size_t)2 * x);
        else
            interpolate(numbers + x, false, samples + (size_t)2 * x);
}

/* ---- Colour ---------------------------------------------------------------------------------- */

/* (factor * c + 2^15) >> 16 of numbers from -128 to 127. */
static ALWAYS_VECTORS __m256i scale(__m256i c, int factor)
{
    __m256i twice = _mm256_mulhi_epi16(_mm256_add_epi16(c, c), _mm256_set1_epi16((short)factor));
    return _mm256_srai_epi16(_mm256_add_epi16(twice, _mm256_set1_epi16(1)), 1);
}

/* (-22554 cb + 18734 cr + 2^15) >> 16. */
static ALWAYS_VECTORS __m256i scale_both(__m256i cb, __m256i cr)
{
    const __m256i factors = _mm256_set1_epi32((int)((uint32_t)18734 << 16 | (uint16_t)-22554));
    const __m256i half = _mm256_set1_epi32(1 << 15);
    __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), factors);
    __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), factors);
    return _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, half), 16),
                              _mm256_srai_epi32(_mm256_add_epi32(high, half), 16));
}

/* Numbers of 16 bits as bytes, clamped. */
static ALWAYS_VECTORS __m128i clamp(__m256i numbers)
{
    return _mm_packus_epi16(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
}

/* Sixteen pixels of three planes as RGB. Byte i of vector v is byte (16 v + i) / 3 of one of the
 * planes; -1 stands for the other planes. */
static ALWAYS_VECTORS void store_rgb(__m128i red, __m128i green, __m128i blue, unsigned char *rgb)
{
    static const signed char places[3][3][16] = {
        {{0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5},
         {-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1},
         {-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1}},
        {{-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1},
         {5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10},
         {-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1}},
        {{-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1},
         {-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1},
         {10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15}}};
    for (int v = 0; v < 3; v++) {
        const __m128i *from = (const __m128i *)places[v];
        __m128i bytes = _mm_shuffle_epi8(red, _mm_loadu_si128(from));
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(green, _mm_loadu_si128(from + 1)));
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(blue, _mm_loadu_si128(from + 2)));
        _mm_storeu_si128((__m128i *)rgb + v, bytes);
    }
}

/* The factors of jdcolor.c, 1.402, 1.772, 0.71414 and 0.34414 times 2^16, less the multiple of 2^16
 * that leaves 16 bits. */
static ALWAYS_VECTORS void convert(const unsigned char *luma, const unsigned char *blueness,
                                   const unsigned char *redness, unsigned char *rgb)
{
    const __m256i middle = _mm256_set1_epi16(128);
    __m256i y = load(luma), cb = _mm256_sub_epi16(load(blueness), middle);
    __m256i cr = _mm256_sub_epi16(load(redness), middle);
    __m256i red = _mm256_add_epi16(_mm256_add_epi16(y, cr), scale(cr, 91881 - 65536));
    __m256i green = _mm256_add_epi16(_mm256_sub_epi16(y, cr), scale_both(cb, cr));
    __m256i blue = _mm256_add_epi16(y, _mm256_add_epi16(cb, cb));
    blue = _mm256_add_epi16(blue, scale(cb, 116130 - 131072));
    store_rgb(clamp(red), clamp(green), clamp(blue), rgb);
}

VECTORS void gc_jpeg_to_rgb(const unsigned char *y, const unsigned char *cb,
                            const unsigned char *cr, uint32_t width, unsigned char *rgb)
{
    uint32_t x = 0;
    for (; width - x >= AT_ONCE; x += AT_ONCE)
        convert(y + x, cb + x, cr + x, rgb + (size_t)x * 3);
    if (x < width) {
        unsigned char last[3 * AT_ONCE];
        convert(y + x, cb + x, cr + x, last);
        memcpy(rgb + (size_t)x * 3, last, (size_t)(width - x) * 3);
    }
}
