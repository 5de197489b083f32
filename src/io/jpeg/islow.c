#include "io/jpeg/islow.h"

#include <math.h>

/* (1024 + norm of the steps / 2)^2, rounded down: 64 samples from -128 to 127 have an energy of at
 * most 1024^2, and rounding moves each coefficient by half a step. */
void gc_islow_set_limits(gc_islow_steps *steps)
{
    enum { LARGEST = 2047 /* of dequantised coefficients; those of sound blocks are smaller */ };
    int32_t sum = 0;
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++) {
        steps->limits[k] = (int16_t)(LARGEST / steps->steps[k]);
        sum += (int32_t)steps->steps[k] * steps->steps[k];
    }
    double largest = 1024 + sqrt(sum) / 2;
    steps->energy_max = (int32_t)(largest * largest);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define VECTORS __attribute__((target("avx2")))
#define ALWAYS_VECTORS inline __attribute__((target("avx2"), always_inline))

bool gc_islow_is_usable(void)
{
    return __builtin_cpu_supports("avx2");
}

/* A vector holds a row or a column of two blocks: that of the first block in its lower half. */
enum { SIDE = 8 };

/* 32-bit numbers, of which one vector holds only half: those that `unpacklo` and `unpackhi` give in
 * the order that `packs` puts back. */
typedef struct wide {
    __m256i low, high;
} wide;

/* Two rows, interleaved for `rotate`. */
static ALWAYS_VECTORS wide pair(__m256i a, __m256i b)
{
    return (wide){_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)};
}

/* a * x + b * y of the pair (x, y). */
static ALWAYS_VECTORS wide rotate(wide of, int a, int b)
{
    __m256i factors = _mm256_set1_epi32((int)((uint32_t)b << 16 | (uint16_t)a));
    return (wide){_mm256_madd_epi16(of.low, factors), _mm256_madd_epi16(of.high, factors)};
}

static ALWAYS_VECTORS wide sum(wide a, wide b)
{
    return (wide){_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}

static ALWAYS_VECTORS wide difference(wide a, wide b)
{
    return (wide){_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
}

/* Numbers over 2^shift; the half that rounds is in them. */
static ALWAYS_VECTORS __m256i narrow(wide of, int shift)
{
    return _mm256_packs_epi32(_mm256_srai_epi32(of.low, shift), _mm256_srai_epi32(of.high, shift));
}

/* One pass (Loeffler, Ligtenberg and Moschytz 1989, with constants of 13 bits; jidctint.c), on
 * sixteen lines at a time: vector k has input k of each. Products of sums are written as sums of
 * products, which are the same whole numbers. */
static ALWAYS_VECTORS void transform(__m256i x[SIDE], int shift)
{
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const wide rounding = {half, half};
    wide outer = pair(x[0], x[4]), inner = pair(x[2], x[6]);
    wide both = sum(rotate(outer, 8192, 8192), rounding);
    wide apart = sum(rotate(outer, 8192, -8192), rounding);
    wide high = rotate(inner, 10703, 4433), low = rotate(inner, 4433, -10704);
    const wide even[4] = {sum(both, high), sum(apart, low), difference(apart, low),
                          difference(both, high)};

    wide sums = pair(_mm256_add_epi16(x[7], x[3]), _mm256_add_epi16(x[5], x[1]));
    wide sums73 = rotate(sums, -6436, 9633), sums51 = rotate(sums, 9633, 6437);
    wide last = pair(x[7], x[1]), middle = pair(x[5], x[3]);
    const wide odd[4] = {
        sum(rotate(last, -7373, 4926), sums51), sum(rotate(middle, -20995, 4177), sums73),
        sum(rotate(middle, -4176, -20995), sums51), sum(rotate(last, -4927, -7373), sums73)};

    for (int k = 0; k < 4; k++) {
        x[k] = narrow(sum(even[k], odd[k]), shift);
        x[7 - k] = narrow(difference(even[k], odd[k]), shift);
    }
}

static ALWAYS_VECTORS void transpose(__m256i x[SIDE])
{
    __m256i y[SIDE];
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < SIDE; k++)
            y[k] = x[k];
        for (int k = 0; k < SIDE / 2; k++) {
            x[2 * k] = _mm256_unpacklo_epi16(y[k], y[k + 4]);
            x[2 * k + 1] = _mm256_unpackhi_epi16(y[k], y[k + 4]);
        }
    }
}

/* Loads a row of both blocks. */
static ALWAYS_VECTORS __m256i load_rows(const int16_t *first, const int16_t *second)
{
    __m128i low = _mm_loadu_si128((const __m128i *)first);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                   _mm_loadu_si128((const __m128i *)second), 1);
}

static ALWAYS_VECTORS __m256i load_twice(const int16_t *row)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)row));
}

/* Dequantises two blocks. What it returns is not 0 where one of them is not sound. Coefficients
 * within the limits cannot make the sums of squares overflow. */
static ALWAYS_VECTORS __m256i dequantise(const int16_t *first, const int16_t *second,
                                         const gc_islow_steps *steps, __m256i x[SIDE])
{
    __m256i doubt = _mm256_setzero_si256(), energy = _mm256_setzero_si256();
    for (int k = 0; k < SIDE; k++) {
        __m256i coefficients = load_rows(first + SIDE * k, second + SIDE * k);
        __m256i limits = load_twice(steps->limits + SIDE * k);
        doubt = _mm256_or_si256(doubt, _mm256_cmpgt_epi16(_mm256_abs_epi16(coefficients), limits));
        x[k] = _mm256_mullo_epi16(coefficients, load_twice(steps->steps + SIDE * k));
        energy = _mm256_add_epi32(energy, _mm256_madd_epi16(x[k], x[k]));
    }
    energy = _mm256_add_epi32(energy, _mm256_shuffle_epi32(energy, 0x4e));
    energy = _mm256_add_epi32(energy, _mm256_shuffle_epi32(energy, 0xb1));
    __m256i too_large = _mm256_cmpgt_epi32(energy, _mm256_set1_epi32(steps->energy_max));
    return _mm256_or_si256(doubt, too_large);
}

/* Not 0 where a result lies outside -512 to 511: libjpeg-turbo without vectors wraps there. */
static ALWAYS_VECTORS __m256i find_far(const __m256i x[SIDE])
{
    __m256i far = _mm256_setzero_si256();
    for (int k = 0; k < SIDE; k++)
        far = _mm256_or_si256(far, _mm256_add_epi16(x[k], _mm256_set1_epi16(512)));
    return _mm256_and_si256(far, _mm256_set1_epi16(~1023));
}

/* Stores columns as rows of samples: clamped to -128 to 127, and 128 more. */
static ALWAYS_VECTORS void store(const __m256i x[SIDE], unsigned char *samples, size_t stride)
{
    __m256i bytes[4], pairs[4], fours[4], rows[4];
    for (int k = 0; k < 4; k++)
        bytes[k] = _mm256_packs_epi16(x[k], x[k + 4]);
    for (int k = 0; k < 2; k++) {
        pairs[k] = _mm256_unpacklo_epi8(bytes[2 * k], bytes[2 * k + 1]);
        pairs[k + 2] = _mm256_unpackhi_epi8(bytes[2 * k], bytes[2 * k + 1]);
    }
    for (int k = 0; k < 2; k++) { /* columns 0 to 3, and 4 to 7 */
        fours[2 * k] = _mm256_unpacklo_epi16(pairs[2 * k], pairs[2 * k + 1]);
        fours[2 * k + 1] = _mm256_unpackhi_epi16(pairs[2 * k], pairs[2 * k + 1]);
    }
    for (int k = 0; k < 2; k++) { /* rows 0 to 3, and 4 to 7 */
        rows[2 * k] = _mm256_unpacklo_epi32(fours[k], fours[k + 2]);
        rows[2 * k + 1] = _mm256_unpackhi_epi32(fours[k], fours[k + 2]);
    }
    for (int k = 0; k < 4; k++, samples += 2 * stride) {
        __m256i two = _mm256_add_epi8(rows[k], _mm256_set1_epi8(-128));
        two = _mm256_permute4x64_epi64(two, 0xd8); /* from block by block to row by row */
        _mm_storeu_si128((__m128i *)samples, _mm256_castsi256_si128(two));
        _mm_storeu_si128((__m128i *)(samples + stride), _mm256_extracti128_si256(two, 1));
    }
}

/* The next block of a row. */
typedef struct walk {
    const int16_t *mcu;
    uint32_t x; /* in the MCU */
} walk;

static inline const int16_t *next_block(walk *at, const gc_islow_layout *layout)
{
    const int16_t *block = at->mcu + (size_t)at->x * GC_JPEG_COEFFICIENTS;
    if (++at->x == layout->across) {
        at->mcu += layout->mcu;
        at->x = 0;
    }
    return block;
}

VECTORS bool gc_islow(const int16_t *blocks, const gc_islow_layout *layout, uint32_t count,
                      const gc_islow_steps *steps, unsigned char *samples, size_t stride)
{
    __m256i doubt = _mm256_setzero_si256();
    walk at = {.mcu = blocks};
    for (uint32_t i = 0; i < count; i += 2, samples += 2 * SIDE) {
        __m256i x[SIDE];
        const int16_t *first = next_block(&at, layout);
        const int16_t *second = i + 1 < count ? next_block(&at, layout) : first;
        __m256i unsound = dequantise(first, second, steps, x);
        transform(x, 11);
        transpose(x);
        transform(x, 18);
        doubt = _mm256_or_si256(doubt, _mm256_or_si256(unsound, find_far(x)));
        store(x, samples, stride);
    }
    return _mm256_testz_si256(doubt, doubt) != 0;
}

#else

bool gc_islow_is_usable(void)
{
    return false;
}

bool gc_islow(const int16_t *blocks, const gc_islow_layout *layout, uint32_t count,
              const gc_islow_steps *steps, unsigned char *samples, size_t stride)
{
    (void)blocks, (void)layout, (void)count, (void)steps, (void)samples, (void)stride;
    return false;
}

#endif
