#include "base/bits.h"

#include "base/x86.h"

#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>
#define HAS_NEON 1
#endif

/* Packs eight flags to a byte, the first one in its most significant bit. The multiplication moves
 * flag k, which is bit 8k of the word, to bit 63 - k. */
static inline uint8_t pack_byte(const uint8_t flags[8])
{
    uint64_t word;
    memcpy(&word, flags, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return (uint8_t)((word * 0x8040201008040201u) >> 56);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Packs bytes of eight flags, four at a time, and returns how many: up to 3 are left. */
static __attribute__((target("avx2"))) size_t pack_vectors(const uint8_t *flags, size_t whole,
                                                           uint8_t *bits)
{
    const __m128i last_first = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    const __m256i order = _mm256_broadcastsi128_si256(last_first);
    size_t done = 0;
    for (; done + 4 <= whole; done += 4) {
        __m256i some = _mm256_loadu_si256((const __m256i *)(flags + 8 * done));
        some = _mm256_slli_epi16(_mm256_shuffle_epi8(some, order), 7);
        int packed = _mm256_movemask_epi8(some);
        memcpy(bits + done, &packed, 4);
    }
    return done;
}

static size_t pack_most(const uint8_t *flags, size_t whole, uint8_t *bits)
{
    return gc_x86_has(AVX2, "avx2") ? pack_vectors(flags, whole, bits) : 0;
}
#elif defined(HAS_NEON)
/* Packs bytes of eight flags, eight at a time. Flags move to their bits, and sums of neighbours
 * gather them. */
static size_t pack_most(const uint8_t *flags, size_t whole, uint8_t *bits)
{
    const int8x16_t places = {7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0};
    size_t done = 0;
    for (; done + 8 <= whole; done += 8) {
        uint8x16_t some[4];
        for (int k = 0; k < 4; k++)
            some[k] = vshlq_u8(vld1q_u8(flags + 8 * done + 16 * k), places);
        uint8x16_t sums = vpaddq_u8(vpaddq_u8(some[0], some[1]), vpaddq_u8(some[2], some[3]));
        vst1_u8(bits + done, vget_low_u8(vpaddq_u8(sums, sums)));
    }
    return done;
}
#else
static size_t pack_most(const uint8_t *flags, size_t whole, uint8_t *bits)
{
    (void)flags, (void)whole, (void)bits;
    return 0;
}
#endif

void gc_pack_bits(const uint8_t *flags, size_t count, uint8_t *bits)
{
    size_t whole = count / 8;
    for (size_t i = pack_most(flags, whole, bits); i < whole; i++)
        bits[i] = pack_byte(flags + 8 * i);
    if (count % 8 > 0) {
        uint8_t last[8] = {0};
        memcpy(last, flags + 8 * whole, count % 8);
        bits[whole] = pack_byte(last);
    }
}

/* A copy of the byte for each flag; of copy k bit 7 - k, moved to bit 7 by an addition, and then to
 * bit 0. */
void gc_unpack_bits(const uint8_t *bits, size_t count, bool inverted, uint8_t *flags)
{
    const uint64_t ones = 0x0101010101010101u, all = inverted ? ones : 0;
    for (size_t i = 0; i < (count + 7) / 8; i++) {
        uint64_t word = bits[i] * ones & 0x0102040810204080u;
        word = ((word + 0x7f * ones) >> 7 & ones) ^ all;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        memcpy(flags + 8 * i, &word, sizeof word);
    }
}
