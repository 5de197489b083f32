/* Vectors of 16-bit and of 32-bit integers for bytes_loops.c, of AVX2 or of NEON (GC_NEON). What
 * both have bears the name that it has in AVX2. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { BLOCK = 32 }; /* pixels whose bits are found at once */

/* EITHER defines a function by its result with AVX2 and with NEON. */
#if defined(__AVX2__)
#include <immintrin.h>

typedef __m256i vector;
enum { LANES = 16 }; /* of 16 bits */

#define VECTOR(name) _mm256_##name
#define EITHER(type, name, parameters, avx2, neon)                                                 \
    static inline type name parameters                                                             \
    {                                                                                              \
        return avx2;                                                                               \
    }

/* The sums of squares of LANES gradients, as two vectors of 32 bits. */
static inline void add_squares(vector across, vector down, vector squares[2])
{
    vector low = VECTOR(unpacklo_epi16)(across, down);
    vector high = VECTOR(unpackhi_epi16)(across, down);
    low = VECTOR(madd_epi16)(low, low);
    high = VECTOR(madd_epi16)(high, high);
    squares[0] = VECTOR(permute2x128_si256)(low, high, 0x20);
    squares[1] = VECTOR(permute2x128_si256)(low, high, 0x31);
}

/* The bits of a block of masks of 16 bits, the first one in the most significant bit of the first
 * byte. */
static inline uint32_t bits_of(const vector masks[BLOCK / LANES])
{
    const vector order = VECTOR(broadcastsi128_si256)(
        _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    vector bytes = VECTOR(permute4x64_epi64)(VECTOR(packs_epi16)(masks[0], masks[1]), 0xd8);
    return (uint32_t)VECTOR(movemask_epi8)(VECTOR(shuffle_epi8)(bytes, order));
}

#elif defined(GC_NEON)
#include <arm_neon.h>

typedef int16x8_t vector;
enum { LANES = 8 };

#define EITHER(type, name, parameters, avx2, neon)                                                 \
    static inline type name parameters                                                             \
    {                                                                                              \
        return neon;                                                                               \
    }
#define VECTOR(name) vector_##name
#define WIDE(v) vreinterpretq_s32_s16(v)
#define OF_WIDE(v) vreinterpretq_s16_s32(v)
#define OF_MASK(v) vreinterpretq_s16_u16(v)
#define OF_WIDE_MASK(v) vreinterpretq_s16_u32(v)

#define BINARY(name, neon) EITHER(vector, VECTOR(name), (vector a, vector b), , neon)

BINARY(add_epi16, vaddq_s16(a, b))
BINARY(sub_epi16, vsubq_s16(a, b))
BINARY(and_si256, vandq_s16(a, b))
BINARY(xor_si256, veorq_s16(a, b))
BINARY(andnot_si256, vbicq_s16(b, a))
BINARY(max_epi16, vmaxq_s16(a, b))
BINARY(max_epi32, OF_WIDE(vmaxq_s32(WIDE(a), WIDE(b))))
BINARY(cmpgt_epi16, OF_MASK(vcgtq_s16(a, b)))
BINARY(cmpgt_epi32, OF_WIDE_MASK(vcgtq_s32(WIDE(a), WIDE(b))))
BINARY(cmpeq_epi16, OF_MASK(vceqq_s16(a, b)))
BINARY(cmpeq_epi32, OF_WIDE_MASK(vceqq_s32(WIDE(a), WIDE(b))))

#define vector_set1_epi16(x) vdupq_n_s16(x)
#define vector_set1_epi32(x) OF_WIDE(vdupq_n_s32(x))
#define vector_setzero_si256() vdupq_n_s16(0)
#define vector_abs_epi16(x) vabsq_s16(x)
#define vector_slli_epi16(x, by) vshlq_n_s16(x, by)
#define vector_srai_epi16(x, by) vshrq_n_s16(x, by)
#define vector_blendv_epi8(a, b, mask) vbslq_s16(vreinterpretq_u16_s16(mask), b, a)

static inline void add_squares(vector across, vector down, vector squares[2])
{
    int16x4_t x = vget_low_s16(across), y = vget_low_s16(down);
    squares[0] = OF_WIDE(vmlal_s16(vmull_s16(x, x), y, y));
    squares[1] = OF_WIDE(vmlal_high_s16(vmull_high_s16(across, across), down, down));
}

/* Masks of bytes keep the bits of their places, which sums of neighbours gather. */
static inline uint32_t bits_of(const vector masks[BLOCK / LANES])
{
    const uint8x16_t own = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x0102040810204080)));
    uint8x16_t bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = vandq_u8(
            vuzp1q_u8(vreinterpretq_u8_s16(masks[2 * i]), vreinterpretq_u8_s16(masks[2 * i + 1])),
            own);
    uint8x16_t sums = vpaddq_u8(bytes[0], bytes[1]);
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(sums, sums)), 0);
}
#endif

#ifdef EITHER
EITHER(vector, load, (const void *from), VECTOR(loadu_si256)(from), vld1q_s16(from))
EITHER(void, store, (void *to, vector values), VECTOR(storeu_si256)(to, values),
       vst1q_s16(to, values))
EITHER(vector, load_bytes, (const uint8_t *from),
       VECTOR(cvtepu8_epi16)(_mm_loadu_si128((const __m128i *)from)),
       vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from))))

/* LANES / 2 integers become vectors of 32 bits. */
EITHER(vector, load_wide, (const int16_t *from),
       VECTOR(cvtepi16_epi32)(_mm_loadu_si128((const __m128i *)from)),
       OF_WIDE(vmovl_s16(vld1_s16(from))))

/* x factor / 2^15, rounded down. */
EITHER(vector, scale, (vector x, int16_t factor),
       VECTOR(mulhi_epi16)(VECTOR(add_epi16)(x, x), VECTOR(set1_epi16)(factor)),
       vqdmulhq_n_s16(x, factor))

EITHER(bool, is_any, (vector mask), VECTOR(movemask_epi8)(mask) != 0,
       vmaxvq_u32(vreinterpretq_u32_s16(mask)) != 0)

/* Masks of 16 bits, of two vectors of masks of 32 bits. */
EITHER(vector, narrow, (vector first, vector second),
       VECTOR(permute4x64_epi64)(VECTOR(packs_epi32)(first, second), 0xd8),
       vuzp1q_s16(first, second))
#endif
