/* The checks of zlib and PNG, compiled once for every instruction set. */
#include "io/png/pack_loops.h"

#include <zlib.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

/* ---- Checks ---------------------------------------------------------------------------------- */

#ifdef __AVX2__
enum { ADLER_BASE = 65521 };

static inline uint32_t sum_of(__m256i v)
{
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

/* The second sum of n bytes b[0], b[1], ... grows by n times the first sum before them, and by
 * n*b[0] + (n-1)*b[1] + ... A part is short enough for sums of 32 bits. */
uint32_t GC_PACK(adler32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    enum { STEP = 32, STEPS_MAX = 172 };
    const __m256i weights =
        _mm256_set_epi8(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    const __m256i ones = _mm256_set1_epi16(1), zero = _mm256_setzero_si256();
    uint32_t first = check & 0xffff, second = check >> 16;
    while (count >= STEP) {
        size_t steps = count / STEP < STEPS_MAX ? count / STEP : STEPS_MAX;
        __m256i sums = zero, before = zero, weighted = zero;
        for (size_t i = 0; i < steps; i++) {
            __m256i v = _mm256_loadu_si256((const __m256i *)(bytes + STEP * i));
            before = _mm256_add_epi32(before, sums);
            sums = _mm256_add_epi32(sums, _mm256_sad_epu8(v, zero));
            weighted = _mm256_add_epi32(weighted,
                                        _mm256_madd_epi16(_mm256_maddubs_epi16(v, weights), ones));
        }
        second = (uint32_t)((second + (uint64_t)first * (STEP * steps) +
                             (uint64_t)STEP * sum_of(before) + sum_of(weighted)) %
                            ADLER_BASE);
        first = (first + sum_of(sums)) % ADLER_BASE;
        bytes += STEP * steps;
        count -= STEP * steps;
    }
    return (uint32_t)adler32(second << 16 | first, bytes, (uInt)count);
}

/* A sum of two products of polynomials modulo the CRC's: the lower and the higher half of `v` times
 * the halves of `by`. */
static inline __m128i fold(__m128i v, __m128i by, __m128i next)
{
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(v, by, 0x00), _mm_clmulepi64_si128(v, by, 0x11)), next);
}

/* Folds 64 bytes at a time, and at last to 16 bytes that have the same CRC. The factors are x^n
 * modulo the polynomial with bits reversed: n = 512 +- 32, and 128 +- 32 (V. Gopal et al., "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009). */
uint32_t GC_PACK(crc32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    const __m128i by64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    if (count < 128)
        return (uint32_t)crc32(check, bytes, (uInt)count);
    const __m128i *from = (const __m128i *)bytes;
    __m128i v[4];
    for (int k = 0; k < 4; k++)
        v[k] = _mm_loadu_si128(from + k);
    v[0] = _mm_xor_si128(v[0], _mm_cvtsi32_si128((int)~check));
    for (from += 4, count -= 64; count >= 64; from += 4, count -= 64)
        for (int k = 0; k < 4; k++)
            v[k] = fold(v[k], by64, _mm_loadu_si128(from + k));
    for (int k = 1; k < 4; k++)
        v[0] = fold(v[0], by16, v[k]);
    uint8_t folded[16];
    _mm_storeu_si128((__m128i *)folded, v[0]);
    /* zlib begins with the complement. */
    check = (uint32_t)crc32(0xffffffff, folded, sizeof folded);
    return (uint32_t)crc32(check, (const uint8_t *)from, (uInt)count);
}
#else
uint32_t GC_PACK(adler32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    return (uint32_t)adler32(check, bytes, (uInt)count);
}

uint32_t GC_PACK(crc32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32(check, bytes, (uInt)count);
}
#endif
