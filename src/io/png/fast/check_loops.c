/* The checks of zlib and PNG, compiled once for every instruction set. */
#include "io/png/fast/pack_loops.h"

#include <zlib.h>
#ifdef __ARM_FEATURE_CRC32
#include <arm_acle.h>
#endif

/* ---- Adler-32 -------------------------------------------------------------------------------- */

#ifdef GC_HAS_VECTORS
/* STEPS_MAX: so few that sums of 32 bits hold them, and sums of one place 16 bits. */
enum { ADLER_BASE = 65521, STEP = 32, STEPS_MAX = 172 };

/* Sums of the bytes of several steps: of all; of those before each step, for each; and of all times
 * STEP, STEP - 1, ... 1, by their place in a step. */
typedef struct step_sums {
    uint32_t all, before, weighted;
} step_sums;

#ifdef __AVX2__
static inline uint32_t sum_of(__m256i v)
{
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

static step_sums sum_steps(const uint8_t *bytes, size_t steps)
{
    const __m256i weights =
        _mm256_set_epi8(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    const __m256i ones = _mm256_set1_epi16(1), zero = _mm256_setzero_si256();
    __m256i all = zero, before = zero, weighted = zero;
    for (size_t i = 0; i < steps; i++) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(bytes + STEP * i));
        before = _mm256_add_epi32(before, all);
        all = _mm256_add_epi32(all, _mm256_sad_epu8(v, zero));
        weighted =
            _mm256_add_epi32(weighted, _mm256_madd_epi16(_mm256_maddubs_epi16(v, weights), ones));
    }
    return (step_sums){sum_of(all), sum_of(before), sum_of(weighted)};
}
#else
/* Bytes are added up by their places, which are weighted at last. */
static step_sums sum_steps(const uint8_t *bytes, size_t steps)
{
    static const uint16_t weights[STEP] = {32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22,
                                           21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11,
                                           10, 9,  8,  7,  6,  5,  4,  3,  2,  1};
    uint16x8_t places[4] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
    uint32x4_t all = vdupq_n_u32(0), before = all, weighted = all;
    for (size_t i = 0; i < steps; i++) {
        vec v = vec_load(bytes + STEP * i);
        before = vaddq_u32(before, all);
        all = vpadalq_u16(all, vpadalq_u8(vpaddlq_u8(v.half[0]), v.half[1]));
        for (int k = 0; k < 2; k++) {
            places[2 * k] = vaddw_u8(places[2 * k], vget_low_u8(v.half[k]));
            places[2 * k + 1] = vaddw_u8(places[2 * k + 1], vget_high_u8(v.half[k]));
        }
    }
    for (int k = 0; k < 4; k++) {
        uint16x8_t by = vld1q_u16(weights + 8 * k);
        weighted = vmlal_u16(weighted, vget_low_u16(places[k]), vget_low_u16(by));
        weighted = vmlal_u16(weighted, vget_high_u16(places[k]), vget_high_u16(by));
    }
    return (step_sums){vaddvq_u32(all), vaddvq_u32(before), vaddvq_u32(weighted)};
}
#endif

/* The second sum of n bytes b[0], b[1], ... grows by n times the first sum before them, and by
 * n*b[0] + (n-1)*b[1] + ... */
uint32_t GC_PACK(adler32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    uint32_t first = check & 0xffff, second = check >> 16;
    while (count >= STEP) {
        size_t steps = count / STEP < STEPS_MAX ? count / STEP : STEPS_MAX;
        step_sums sums = sum_steps(bytes, steps);
        second = (uint32_t)((second + (uint64_t)first * (STEP * steps) +
                             (uint64_t)STEP * sums.before + sums.weighted) %
                            ADLER_BASE);
        first = (first + sums.all) % ADLER_BASE;
        bytes += STEP * steps;
        count -= STEP * steps;
    }
    return (uint32_t)adler32(second << 16 | first, bytes, (uInt)count);
}
#else
uint32_t GC_PACK(adler32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    return (uint32_t)adler32(check, bytes, (uInt)count);
}
#endif

/* ---- CRC-32 ---------------------------------------------------------------------------------- */

#if defined __AVX2__ && defined __PCLMUL__
/* A sum of two products of polynomials modulo the CRC's: the lower and the higher half of `v` times
 * the halves of `by`. */
static inline __m128i fold(__m128i v, __m128i by, __m128i next)
{
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(v, by, 0x00), _mm_clmulepi64_si128(v, by, 0x11)), next);
}

/* Folds 64 bytes at a time, and at last to 16 bytes that have the same CRC. The factors are x^n
 * modulo the polynomial with bits reversed: n = 512 +- 32, and 128 +- 32 (V. Gopal et al., "Fast
 * CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009). */
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
#elif defined __ARM_FEATURE_CRC32
/* zlib begins and ends with the complement. */
uint32_t GC_PACK(crc32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    check = ~check;
    for (; count >= 8; bytes += 8, count -= 8)
        check = __crc32d(check, gc_load_little_endian(bytes));
    return (uint32_t)crc32(~check, bytes, (uInt)count);
}
#else
uint32_t GC_PACK(crc32)(uint32_t check, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32(check, bytes, (uInt)count);
}
#endif
