/* Vectors of samples, sums and floats for rank1_bytes_loops.c, of the instruction set that this
 * file is compiled for: AVX-512, AVX2, NEON (GC_NEON), or floats alone in portable code.
 *
 * A block is a vector of samples. Interleaving it with others and with zeros makes four vectors of
 * sums of it, whose lanes are in another order than the samples. Packing them undoes that:
 *
 *     samples of 128 bits    0 1 2 3 4 5 6 7 8 9 a b c d e f
 *     sums, vectors 0 to 3   0 1 2 3 | 4 5 6 7 | 8 9 a b | c d e f
 *
 * So vector v has samples 16 q + 4 v to 16 q + 4 v + 3 in quarter q. NEON widens
 * lanes in the samples' order, and the portable loops have four vectors of floats in that order.
 *
 * Columns are summed TOGETHER vectors at a time: so many that sums and rows stay in registers, and
 * weights of up to HELD rows. */
#pragma once

#include "cpu/fast/loops/loops.h"
#include "cpu/unroll.h"

#include <stdbool.h>
#include <stdint.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(GC_NEON)
#include <arm_neon.h>
#endif

/* Usual sides are constants in code of their own, up to SMALL. Rows of bytes are summed fast up to
 * FAST, others below it. */
enum { VECTORS = 4, SMALL = 15, FAST = 5 };
#define USUAL(of) of(3) of(5) of(7) of(9) of(11) of(13) of(15)

#if defined(__AVX2__) || defined(GC_NEON)
enum { IS_FUSED = true };
#else
enum { IS_FUSED = false };
#endif

/* Requests memory a row or more before it is needed: the processor does not see that a strip goes
 * on a row below. Requests of a whole row at once would fill its queue, and so do those of FAST
 * rows unless they end in the second-level cache. */
INLINE void request(const void *at, const bool is_fast)
{
    is_fast ? __builtin_prefetch(at, 0, 1) : __builtin_prefetch(at);
}

/* Compilers would load a vector that is used twice again, and most of these loads take two cache
 * lines. */
#define LOADED_ONCE(x) __asm__("" : "+v"(x))

#if defined(__AVX512BW__)

typedef __m512i integers;
typedef __m512 floats;
enum { LANES = 16, BLOCK = VECTORS * LANES, TOGETHER = 4, HELD = SMALL };

#define VECTOR(name) _mm512_##name
#define AND _mm512_and_si512
#define OR _mm512_or_si512
#define ANDNOT _mm512_andnot_si512

INLINE integers load_samples(const uint8_t *samples)
{
    integers x = _mm512_loadu_si512(samples);
    LOADED_ONCE(x);
    return x;
}

INLINE integers add_products(integers sums, integers pairs, int32_t taps)
{
#if defined(__AVX512VNNI__)
    return _mm512_dpwssd_epi32(sums, pairs, _mm512_set1_epi32(taps));
#else
    return _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi32(taps)));
#endif
}

INLINE integers no_sums(void)
{
    return _mm512_setzero_si512();
}

INLINE floats magnitude(floats x)
{
    return _mm512_abs_ps(x);
}

INLINE integers repeat_quarter(__m128i quarter)
{
    return _mm512_broadcast_i32x4(quarter);
}

/* Words of `even` and of `odd` in turn. */
INLINE integers take_words(integers even, integers odd)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaa, even, odd);
}

INLINE bool has_bits(integers x)
{
    return _mm512_test_epi32_mask(x, x) != 0;
}

/* Bit i: byte i is not 0. */
INLINE uint64_t bytes_set(integers x)
{
    return _mm512_test_epi8_mask(x, x);
}

INLINE void store_samples(integers samples, uint8_t *out)
{
    _mm512_storeu_si512(out, samples);
}

INLINE void stream_samples(integers samples, uint8_t *out)
{
    _mm512_stream_si512((__m512i *)(void *)out, samples);
}

/* Dword i is dword places[i] of x. */
INLINE integers permute(integers x, integers places)
{
    return _mm512_permutexvar_epi32(places, x);
}

#elif defined(__AVX2__)

typedef __m256i integers;
typedef __m256 floats;
enum { LANES = 8, BLOCK = VECTORS * LANES, TOGETHER = 2, HELD = 9 };

#define VECTOR(name) _mm256_##name
#define AND _mm256_and_si256
#define OR _mm256_or_si256
#define ANDNOT _mm256_andnot_si256

INLINE integers load_samples(const uint8_t *samples)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)samples);
}

INLINE integers add_products(integers sums, integers pairs, int32_t taps)
{
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi32(taps)));
}

INLINE integers no_sums(void)
{
    return _mm256_setzero_si256();
}

INLINE floats magnitude(floats x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

INLINE integers repeat_quarter(__m128i quarter)
{
    return _mm256_broadcastsi128_si256(quarter);
}

/* Words of `even` and of `odd` in turn. */
INLINE integers take_words(integers even, integers odd)
{
    return _mm256_blend_epi16(even, odd, 0xaa);
}

INLINE bool has_bits(integers x)
{
    return _mm256_testz_si256(x, x) == 0;
}

/* Bit i: byte i is not 0. */
INLINE uint64_t bytes_set(integers x)
{
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, no_sums()));
}

INLINE void store_samples(integers samples, uint8_t *out)
{
    _mm256_storeu_si256((__m256i *)(void *)out, samples);
}

/* Dword i is dword places[i] of x. */
INLINE integers permute(integers x, integers places)
{
    return _mm256_permutevar8x32_epi32(x, places);
}

#elif defined(GC_NEON)

typedef int32x4_t integers;
typedef float32x4_t floats;
enum { LANES = 4, BLOCK = VECTORS * LANES, TOGETHER = 2, HELD = SMALL };

INLINE floats all_of(float value)
{
    return vdupq_n_f32(value);
}

INLINE floats load(const float *from)
{
    return vld1q_f32(from);
}

INLINE floats load_once(const float *from)
{
    return vld1q_f32(from);
}

INLINE floats add(floats a, floats b)
{
    return vaddq_f32(a, b);
}

INLINE floats multiply_add(floats sum, floats a, floats b)
{
    return vfmaq_f32(sum, a, b);
}

INLINE floats magnitude(floats x)
{
    return vabsq_f32(x);
}

#else

enum { LANES = 4, BLOCK = VECTORS * LANES, TOGETHER = 2, HELD = SMALL };
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef float unaligned_floats
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t integers __attribute__((vector_size(LANES * sizeof(int32_t))));

INLINE floats all_of(float value)
{
    return (floats){value, value, value, value};
}

INLINE floats load(const float *from)
{
    return *(const unaligned_floats *)from;
}

INLINE floats load_once(const float *from)
{
    return load(from);
}

INLINE floats add(floats a, floats b)
{
    return a + b;
}

INLINE floats multiply_add(floats sum, floats a, floats b)
{
    return sum + a * b;
}

#endif

#if defined(__AVX2__)

INLINE integers load_twice(const uint8_t *samples)
{
    integers x = load_samples(samples);
    LOADED_ONCE(x);
    return x;
}

INLINE floats all_of(float value)
{
    return VECTOR(set1_ps)(value);
}

INLINE floats load(const float *from)
{
    return VECTOR(loadu_ps)(from);
}

INLINE floats load_once(const float *from)
{
    floats x = load(from);
    LOADED_ONCE(x);
    return x;
}

INLINE void store(floats x, float *to)
{
    VECTOR(storeu_ps)(to, x);
}

INLINE floats add(floats a, floats b)
{
    return VECTOR(add_ps)(a, b);
}

INLINE floats multiply_add(floats sum, floats a, floats b)
{
    return VECTOR(fmadd_ps)(a, b, sum);
}

INLINE floats multiply(floats a, floats b)
{
    return VECTOR(mul_ps)(a, b);
}

INLINE floats subtract_product(floats x, floats a, floats b)
{
    return VECTOR(fnmadd_ps)(a, b, x);
}

/* Divisors of short sums. */
typedef struct short_division {
    integers half, multiplier;
    __m128i shift;
    bool is_even, is_power;
} short_division;

INLINE short_division division_of(const gc_short_divisor *by)
{
    const int divisor = by->divisor;
    return (short_division){
        .half = VECTOR(set1_epi16)((int16_t)((divisor - 1) / 2)),
        .multiplier = VECTOR(set1_epi16)((int16_t)by->multiplier),
        .shift = _mm_cvtsi32_si128(by->shift),
        .is_even = divisor % 2 == 0,
        .is_power = by->multiplier == 0,
    };
}

INLINE integers short_quotient(const short_division *by, integers sum)
{
    return VECTOR(srl_epi16)(by->is_power ? sum : VECTOR(mulhi_epu16)(sum, by->multiplier),
                             by->shift);
}

/* sum / divisor, rounded, halves to the even number. An even divisor has halves: with less than
 * half of it added they go down, and with 1 more, if the number below is odd, up. */
INLINE integers divide_short(const short_division *by, integers sum)
{
    integers more = VECTOR(add_epi16)(sum, by->half);
    if (by->is_even) {
        const integers one = VECTOR(set1_epi16)(1);
        more = VECTOR(add_epi16)(more, AND(short_quotient(by, sum), one));
    }
    return short_quotient(by, more);
}

#endif
