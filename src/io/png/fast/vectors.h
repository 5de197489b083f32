/* Vectors of 32 bytes for literal_loops.c and unfilter_loops.c, of AVX2 or of NEON, which has them
 * in two halves. Lookups and interleaving stay within 16 bytes, so both sets see the same
 * places. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* VEC_FUNCTION defines a function by its result with AVX2 and with NEON. VEC_UNARY and VEC_BINARY
 * do so for one and two vectors: with NEON by what becomes of halves a and b. */
#if defined __AVX2__
#define GC_HAS_VECTORS 1
#include <immintrin.h>

typedef __m256i vec;
typedef uint32_t vec_words32 __attribute__((vector_size(32)));

#define VEC_FUNCTION(type, name, parameters, avx2, neon)                                           \
    static inline type name parameters                                                             \
    {                                                                                              \
        return avx2;                                                                               \
    }
#define VEC_UNARY(name, avx2, neon) VEC_FUNCTION(vec, name, (vec a), avx2, neon)
#define VEC_BINARY(name, avx2, neon) VEC_FUNCTION(vec, name, (vec a, vec b), avx2, neon)

#elif defined __aarch64__ && defined __ARM_NEON && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define GC_HAS_VECTORS 1
#include <arm_neon.h>

typedef struct vec {
    uint8x16_t half[2];
} vec;

#define VEC_WORDS16(v) vreinterpretq_u16_u8(v)
#define VEC_WORDS32(v) vreinterpretq_u32_u8(v)
#define VEC_WORDS64(v) vreinterpretq_u64_u8(v)
#define VEC_BYTES16(v) vreinterpretq_u8_u16(v)
#define VEC_BYTES32(v) vreinterpretq_u8_u32(v)
#define VEC_BYTES64(v) vreinterpretq_u8_u64(v)

#define VEC_FUNCTION(type, name, parameters, avx2, neon)                                           \
    static inline type name parameters                                                             \
    {                                                                                              \
        return neon;                                                                               \
    }
VEC_FUNCTION(vec, vec_halves, (uint8x16_t low, uint8x16_t high), , ((vec){{low, high}}))
VEC_FUNCTION(vec, vec_twice, (uint8x16_t half), , vec_halves(half, half))

#define VEC_UNARY(name, avx2, neon)                                                                \
    VEC_FUNCTION(uint8x16_t, name##_half, (uint8x16_t a), , neon)                                  \
    VEC_FUNCTION(vec, name, (vec a), , vec_halves(name##_half(a.half[0]), name##_half(a.half[1])))
#define VEC_BINARY(name, avx2, neon)                                                               \
    VEC_FUNCTION(uint8x16_t, name##_half, (uint8x16_t a, uint8x16_t b), , neon)                    \
    VEC_FUNCTION(vec, name, (vec a, vec b), ,                                                      \
                 vec_halves(name##_half(a.half[0], b.half[0]), name##_half(a.half[1], b.half[1])))
#endif

#ifdef GC_HAS_VECTORS
VEC_FUNCTION(vec, vec_load, (const uint8_t from[32]), _mm256_loadu_si256((const __m256i *)from),
             vec_halves(vld1q_u8(from), vld1q_u8(from + 16)))
VEC_FUNCTION(void, vec_store, (void *to, vec v), _mm256_storeu_si256((__m256i *)to, v),
             (vst1q_u8((uint8_t *)to, v.half[0]), vst1q_u8((uint8_t *)to + 16, v.half[1])))
VEC_FUNCTION(vec, vec_set8, (uint8_t byte), _mm256_set1_epi8((char)byte),
             vec_twice(vdupq_n_u8(byte)))
VEC_FUNCTION(vec, vec_set32, (uint32_t word), _mm256_set1_epi32((int)word),
             vec_twice(VEC_BYTES32(vdupq_n_u32(word))))
VEC_FUNCTION(vec, vec_set64, (uint64_t word), _mm256_set1_epi64x((long long)word),
             vec_twice(VEC_BYTES64(vdupq_n_u64(word))))
VEC_FUNCTION(vec, vec_of_four, (uint64_t a, uint64_t b, uint64_t c, uint64_t d),
             _mm256_set_epi64x((long long)d, (long long)c, (long long)b, (long long)a),
             vec_halves(VEC_BYTES64(((uint64x2_t){a, b})), VEC_BYTES64(((uint64x2_t){c, d}))))
VEC_FUNCTION(vec, vec_of_eight,
             (uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f, uint32_t g,
              uint32_t h),
             ((vec)(vec_words32){a, b, c, d, e, f, g, h}),
             vec_halves(VEC_BYTES32(((uint32x4_t){a, b, c, d})),
                        VEC_BYTES32(((uint32x4_t){e, f, g, h}))))

/* Words 0 to 3 of 64 bits, and words 0 to 7 of 32 bits. */
VEC_FUNCTION(uint64_t, vec_word64, (vec v, int word), (uint64_t)v[word],
             VEC_WORDS64(v.half[word / 2])[word % 2])
VEC_FUNCTION(uint32_t, vec_word32, (vec v, int word), ((vec_words32)v)[word],
             VEC_WORDS32(v.half[word / 4])[word % 4])

/* Moves every word to the next place; `first` comes to the first one. */
VEC_FUNCTION(vec, vec_shift_in64, (vec v, uint64_t first),
             _mm256_blend_epi32(_mm256_permute4x64_epi64(v, 0x90),
                                _mm256_castsi128_si256(_mm_cvtsi64_si128((long long)first)), 3),
             vec_halves(vextq_u8(VEC_BYTES64(vdupq_n_u64(first)), v.half[0], 8),
                        vextq_u8(v.half[0], v.half[1], 8)))
VEC_FUNCTION(vec, vec_shift_in32, (vec v, uint32_t first),
             _mm256_blend_epi32(_mm256_permutevar8x32_epi32(v, _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0,
                                                                                0)),
                                _mm256_castsi128_si256(_mm_cvtsi32_si128((int)first)), 1),
             vec_halves(vextq_u8(VEC_BYTES32(vdupq_n_u32(first)), v.half[0], 12),
                        vextq_u8(v.half[0], v.half[1], 12)))

VEC_BINARY(vec_and, a &b, a &b)
VEC_BINARY(vec_or, a | b, a | b)
VEC_UNARY(vec_not, ~a, ~a)
VEC_BINARY(vec_xor, a ^ b, a ^ b)
VEC_BINARY(vec_add8, _mm256_add_epi8(a, b), vaddq_u8(a, b))
VEC_BINARY(vec_sub8, _mm256_sub_epi8(a, b), vsubq_u8(a, b))
VEC_BINARY(vec_add16, _mm256_add_epi16(a, b),
           VEC_BYTES16(vaddq_u16(VEC_WORDS16(a), VEC_WORDS16(b))))
VEC_BINARY(vec_add64, _mm256_add_epi64(a, b),
           VEC_BYTES64(vaddq_u64(VEC_WORDS64(a), VEC_WORDS64(b))))

/* Bytes: all ones if a <= b. */
VEC_BINARY(vec_at_most, _mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a), vcleq_u8(a, b))
VEC_BINARY(vec_smaller8, _mm256_min_epu8(a, b), vminq_u8(a, b))
VEC_BINARY(vec_larger8, _mm256_max_epu8(a, b), vmaxq_u8(a, b))

/* How much a exceeds b, 0 if it does not. */
VEC_BINARY(vec_excess8, _mm256_subs_epu8(a, b), vqsubq_u8(a, b))

/* The mean rounded up. */
VEC_BINARY(vec_mean8, _mm256_avg_epu8(a, b), vrhaddq_u8(a, b))

/* a if the byte of `mask` is all ones, b if it is 0. */
VEC_FUNCTION(vec, vec_choose, (vec mask, vec a, vec b), _mm256_blendv_epi8(b, a, mask),
             vec_halves(vbslq_u8(mask.half[0], a.half[0], b.half[0]),
                        vbslq_u8(mask.half[1], a.half[1], b.half[1])))

/* The 16 bytes of `table`, twice. */
VEC_FUNCTION(vec, vec_table, (const uint8_t table[16]),
             _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table)),
             vec_twice(vld1q_u8(table)))

/* Looks up bytes: 0 for those from 16 on. */
VEC_BINARY(vec_look_up, _mm256_shuffle_epi8(a, _mm256_adds_epu8(b, _mm256_set1_epi8(0x70))),
           vqtbl1q_u8(a, b))

/* The four upper bits of each byte. */
VEC_UNARY(vec_upper_bits, _mm256_and_si256(_mm256_srli_epi16(a, 4), _mm256_set1_epi8(0x0f)),
          vshrq_n_u8(a, 4))

/* Interleaves the lower or the upper halves of each 16 bytes. */
VEC_BINARY(vec_zip_low8, _mm256_unpacklo_epi8(a, b), vzip1q_u8(a, b))
VEC_BINARY(vec_zip_high8, _mm256_unpackhi_epi8(a, b), vzip2q_u8(a, b))
VEC_BINARY(vec_zip_low64, _mm256_unpacklo_epi64(a, b),
           VEC_BYTES64(vzip1q_u64(VEC_WORDS64(a), VEC_WORDS64(b))))
VEC_BINARY(vec_zip_high64, _mm256_unpackhi_epi64(a, b),
           VEC_BYTES64(vzip2q_u64(VEC_WORDS64(a), VEC_WORDS64(b))))
VEC_BINARY(vec_shift_left32, _mm256_sllv_epi32(a, b),
           VEC_BYTES32(vshlq_u32(VEC_WORDS32(a), vreinterpretq_s32_u8(b))))
VEC_BINARY(vec_shift_left64, _mm256_sllv_epi64(a, b),
           VEC_BYTES64(vshlq_u64(VEC_WORDS64(a), vreinterpretq_s64_u8(b))))
VEC_UNARY(vec_upper_half32, _mm256_srli_epi32(a, 16), VEC_BYTES32(vshrq_n_u32(VEC_WORDS32(a), 16)))
VEC_UNARY(vec_upper_half64, _mm256_srli_epi64(a, 32), VEC_BYTES64(vshrq_n_u64(VEC_WORDS64(a), 32)))

/* Whether a word of 64 bits exceeds `most`. All are less than 2^31. */
VEC_FUNCTION(bool, vec_any_above, (vec v, int most),
             _mm256_movemask_epi8(_mm256_cmpgt_epi32(v, _mm256_set1_epi64x(most))) != 0,
             (int)vmaxvq_u32(vmaxq_u32(VEC_WORDS32(v.half[0]), VEC_WORDS32(v.half[1]))) > most)

/* Reverses the `counts` lowest bits of words of 64 bits, 1 at least; the others are 0. */
#ifdef __AVX2__
static inline vec vec_reverse64(vec v, vec counts)
{
    const vec swap = _mm256_broadcastsi128_si256(
        _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    const vec reversed = _mm256_broadcastsi128_si256(
        _mm_set_epi8(15, 7, 11, 3, 13, 5, 9, 1, 14, 6, 10, 2, 12, 4, 8, 0));
    const vec nibble = _mm256_set1_epi8(0x0f);
    v = _mm256_shuffle_epi8(v, swap);
    vec lower = _mm256_and_si256(v, nibble), upper = vec_upper_bits(v);
    v = _mm256_or_si256(_mm256_shuffle_epi8(_mm256_slli_epi16(reversed, 4), lower),
                        _mm256_shuffle_epi8(reversed, upper));
    return _mm256_srlv_epi64(v, _mm256_sub_epi64(_mm256_set1_epi64x(64), counts));
}
#else
/* A negative count shifts to the right. */
VEC_BINARY(vec_reverse64, ,
           VEC_BYTES64(vshlq_u64(VEC_WORDS64(vrbitq_u8(vrev64q_u8(a))),
                                 vsubq_s64(vreinterpretq_s64_u8(b), vdupq_n_s64(64)))))
#endif
#endif
