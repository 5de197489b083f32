/* The loops of the inverse DCT, compiled for AVX2 and for AVX-512: two blocks at a time, or four.
 * The 128-bit part b of a vector holds a row or a column of block b. */
#include "io/jpeg/fast/islow.h"

#include <immintrin.h>

enum { SIDE = 8 };

#ifdef __AVX512BW__
enum { BLOCKS = 4 };
typedef __m512i vector;
#define OF(name) _mm512_##name

static inline bool any_of(vector bits, int16_t mask)
{
    return _mm512_test_epi16_mask(bits, _mm512_set1_epi16(mask)) != 0;
}

static inline vector repeat(const int16_t *row)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)row));
}

/* Four rows at a time: rows of a block lie behind each other in a vector. */
static inline void load(const int16_t *const blocks[BLOCKS], vector x[SIDE])
{
    for (int k = 0; k < SIDE; k += 4) {
        vector of[BLOCKS]; /* by block */
        for (int b = 0; b < BLOCKS; b++)
            of[b] = _mm512_loadu_si512(blocks[b] + SIDE * k);
        vector low01 = _mm512_shuffle_i32x4(of[0], of[1], 0x44);
        vector low23 = _mm512_shuffle_i32x4(of[2], of[3], 0x44);
        vector high01 = _mm512_shuffle_i32x4(of[0], of[1], 0xee);
        vector high23 = _mm512_shuffle_i32x4(of[2], of[3], 0xee);
        x[k] = _mm512_shuffle_i32x4(low01, low23, 0x88);
        x[k + 1] = _mm512_shuffle_i32x4(low01, low23, 0xdd);
        x[k + 2] = _mm512_shuffle_i32x4(high01, high23, 0x88);
        x[k + 3] = _mm512_shuffle_i32x4(high01, high23, 0xdd);
    }
}

/* Part b of `two` holds two rows of block b. */
static inline void store_rows(vector two, unsigned char *samples, size_t stride)
{
    two = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), two);
    _mm256_storeu_si256((__m256i *)samples, _mm512_castsi512_si256(two));
    _mm256_storeu_si256((__m256i *)(samples + stride), _mm512_extracti64x4_epi64(two, 1));
}
#else
enum { BLOCKS = 2 };
typedef __m256i vector;
#define OF(name) _mm256_##name

static inline bool any_of(vector bits, int16_t mask)
{
    return _mm256_testz_si256(bits, _mm256_set1_epi16(mask)) == 0;
}

static inline vector repeat(const int16_t *row)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)row));
}

static inline void load(const int16_t *const blocks[BLOCKS], vector x[SIDE])
{
    for (int k = 0; k < SIDE; k++) {
        __m128i low = _mm_loadu_si128((const __m128i *)(blocks[0] + SIDE * k));
        __m128i high = _mm_loadu_si128((const __m128i *)(blocks[1] + SIDE * k));
        x[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    }
}

/* Part b of `two` holds two rows of block b. */
static inline void store_rows(vector two, unsigned char *samples, size_t stride)
{
    two = _mm256_permute4x64_epi64(two, 0xd8);
    _mm_storeu_si128((__m128i *)samples, _mm256_castsi256_si128(two));
    _mm_storeu_si128((__m128i *)(samples + stride), _mm256_extracti128_si256(two, 1));
}
#endif

/* 32-bit numbers, of which one vector holds only half: those that `unpacklo` and `unpackhi` give in
 * the order that `packs` puts back. */
typedef struct wide {
    vector low, high;
} wide;

/* Two rows, interleaved for `rotate`. */
static inline wide pair(vector a, vector b)
{
    return (wide){OF(unpacklo_epi16)(a, b), OF(unpackhi_epi16)(a, b)};
}

/* a * x + b * y of the pair (x, y). */
static inline wide rotate(wide of, int a, int b)
{
    vector factors = OF(set1_epi32)((int)((uint32_t)b << 16 | (uint16_t)a));
    return (wide){OF(madd_epi16)(of.low, factors), OF(madd_epi16)(of.high, factors)};
}

static inline wide sum(wide a, wide b)
{
    return (wide){OF(add_epi32)(a.low, b.low), OF(add_epi32)(a.high, b.high)};
}

static inline wide difference(wide a, wide b)
{
    return (wide){OF(sub_epi32)(a.low, b.low), OF(sub_epi32)(a.high, b.high)};
}

/* Numbers over 2^shift; the half that rounds is in them. */
static inline vector narrow(wide of, int shift)
{
    return OF(packs_epi32)(OF(srai_epi32)(of.low, shift), OF(srai_epi32)(of.high, shift));
}

/* One pass (Loeffler, Ligtenberg and Moschytz 1989, with constants of 13 bits; jidctint.c), on all
 * lines of the blocks at a time: vector k has input k of each. Products of sums are written as sums
 * of products, which are the same whole numbers. */
static inline void transform(vector x[SIDE], int shift)
{
    const vector half = OF(set1_epi32)(1 << (shift - 1));
    const wide rounding = {half, half};
    wide outer = pair(x[0], x[4]), inner = pair(x[2], x[6]);
    wide both = sum(rotate(outer, 8192, 8192), rounding);
    wide apart = sum(rotate(outer, 8192, -8192), rounding);
    wide high = rotate(inner, 10703, 4433), low = rotate(inner, 4433, -10704);
    const wide even[4] = {sum(both, high), sum(apart, low), difference(apart, low),
                          difference(both, high)};

    wide sums = pair(OF(add_epi16)(x[7], x[3]), OF(add_epi16)(x[5], x[1]));
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

static inline void transpose(vector x[SIDE])
{
    vector y[SIDE];
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < SIDE; k++)
            y[k] = x[k];
        for (int k = 0; k < SIDE / 2; k++) {
            x[2 * k] = OF(unpacklo_epi16)(y[k], y[k + 4]);
            x[2 * k + 1] = OF(unpackhi_epi16)(y[k], y[k + 4]);
        }
    }
}

/* What is not sound: the sign of a 16-bit number in `signs`, or bits above the lowest 10 in `far`.
 */
typedef struct findings {
    vector signs, far;
} findings;

/* Dequantises the blocks. Coefficients within the limits cannot make the sums of squares overflow.
 */
static inline void dequantise(const gc_islow_steps *steps, vector x[SIDE], findings *to)
{
    vector energy = OF(set1_epi32)(0);
    for (int k = 0; k < SIDE; k++) {
        vector limits = repeat(steps->limits + SIDE * k);
        to->signs |= OF(sub_epi16)(limits, OF(abs_epi16)(x[k]));
        x[k] = OF(mullo_epi16)(x[k], repeat(steps->steps + SIDE * k));
        energy = OF(add_epi32)(energy, OF(madd_epi16)(x[k], x[k]));
    }
    energy = OF(add_epi32)(energy, OF(shuffle_epi32)(energy, 0x4e));
    energy = OF(add_epi32)(energy, OF(shuffle_epi32)(energy, 0xb1));
    vector left = OF(sub_epi32)(OF(set1_epi32)(steps->energy_max), energy);
    to->signs |= OF(srai_epi32)(left, 31);
}

/* A result outside -512 to 511: libjpeg-turbo without vectors wraps there. */
static inline void find_far(const vector x[SIDE], findings *to)
{
    for (int k = 0; k < SIDE; k++)
        to->far |= OF(add_epi16)(x[k], OF(set1_epi16)(512));
}

/* Stores columns as rows of samples: clamped to -128 to 127, and 128 more. */
static inline void store(const vector x[SIDE], unsigned char *samples, size_t stride)
{
    vector bytes[4], pairs[4], fours[4], rows[4];
    for (int k = 0; k < 4; k++)
        bytes[k] = OF(packs_epi16)(x[k], x[k + 4]);
    for (int k = 0; k < 2; k++) {
        pairs[k] = OF(unpacklo_epi8)(bytes[2 * k], bytes[2 * k + 1]);
        pairs[k + 2] = OF(unpackhi_epi8)(bytes[2 * k], bytes[2 * k + 1]);
    }
    for (int k = 0; k < 2; k++) { /* columns 0 to 3, and 4 to 7 */
        fours[2 * k] = OF(unpacklo_epi16)(pairs[2 * k], pairs[2 * k + 1]);
        fours[2 * k + 1] = OF(unpackhi_epi16)(pairs[2 * k], pairs[2 * k + 1]);
    }
    for (int k = 0; k < 2; k++) { /* rows 0 to 3, and 4 to 7 */
        rows[2 * k] = OF(unpacklo_epi32)(fours[k], fours[k + 2]);
        rows[2 * k + 1] = OF(unpackhi_epi32)(fours[k], fours[k + 2]);
    }
    for (int k = 0; k < 4; k++, samples += 2 * stride)
        store_rows(OF(add_epi8)(rows[k], OF(set1_epi8)(-128)), samples, stride);
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

bool GC_ISLOW(const int16_t *blocks, const gc_islow_layout *layout, uint32_t count,
              const gc_islow_steps *steps, unsigned char *samples, size_t stride)
{
    findings found = {OF(set1_epi32)(0), OF(set1_epi32)(0)};
    walk at = {.mcu = blocks};
    for (uint32_t i = 0; i < count; i += BLOCKS, samples += BLOCKS * SIDE) {
        const int16_t *some[BLOCKS];
        vector x[SIDE];
        for (uint32_t b = 0; b < BLOCKS; b++) /* behind the last one, that one again */
            some[b] = i + b < count ? next_block(&at, layout) : some[b - 1];
        load(some, x);
        dequantise(steps, x, &found);
        transform(x, 11);
        transpose(x);
        transform(x, 18);
        find_far(x, &found);
        store(x, samples, stride);
    }
    return !any_of(found.signs, INT16_MIN) && !any_of(found.far, ~1023);
}
