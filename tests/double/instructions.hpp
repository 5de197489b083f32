/* Instructions of tensor cores and others, in C++: what gpu/kernels/mma has as text of the
 * assembler (PTX ISA, "Matrix fragments for mma"). */
#ifndef GC_DOUBLE_INSTRUCTIONS_HPP
#define GC_DOUBLE_INSTRUCTIONS_HPP

#include "compiled.hpp"

/* Shared memory is numbered from gc_bytes_memory on. */
static __thread uint4 gc_bytes_memory[(227 << 10) / sizeof(uint4)];

#define __cvta_generic_to_shared(pointer) ((const char *)(pointer) - (const char *)gc_bytes_memory)

static inline const char *gc_double_shared(unsigned address)
{
    return (const char *)gc_bytes_memory + (int)address;
}

/* ldmatrix: register k of lane l has word l % 4 of row l / 4, whose address lane 8 k + l / 4
 * gives. */
static inline void gc_double_load(unsigned *to, int count, unsigned address)
{
    const gc_double_words *all[32];
    int lane = gc_double_lane();
    gc_double_show({{address}}, all);
    for (int k = 0; k < count; k++)
        memcpy(&to[k], gc_double_shared(all[8 * k + lane / 4]->at[0]) + lane % 4 * 4, 4);
}

static inline void gc_fragments_load4(unsigned (&to)[4], unsigned address)
{
    gc_double_load(to, 4, address);
}

static inline void gc_fragments_load2(unsigned (&to)[4], unsigned address)
{
    gc_double_load(to, 2, address);
}

/* The sum of 32 products of a byte without a sign and one with a sign. */
static inline int gc_double_products(const unsigned (&samples)[8], const unsigned (&weights)[8])
{
    unsigned char first[32];
    signed char second[32];
    memcpy(first, samples, sizeof first);
    memcpy(second, weights, sizeof second);
    int sum = 0;
    for (int k = 0; k < 32; k++)
        sum += first[k] * second[k];
    return sum;
}

/* m16n8k32 of bytes. */
static inline void gc_bytes_multiply(int (&sums)[4], const unsigned (&samples)[4], unsigned low,
                                     unsigned high)
{
    const gc_double_words *all[32];
    int lane = gc_double_lane();
    gc_double_show({{samples[0], samples[1], samples[2], samples[3], low, high}}, all);
    for (int c = 0; c < 4; c++) {
        int row = lane / 4 + c / 2 * 8, column = lane % 4 * 2 + c % 2;
        unsigned rows[8], columns[8];
        for (int k = 0; k < 8; k++) {
            rows[k] = all[row % 8 * 4 + k % 4]->at[row / 8 + k / 4 * 2];
            columns[k] = all[column * 4 + k % 4]->at[4 + k / 4];
        }
        sums[c] += gc_double_products(rows, columns);
    }
}

static inline void gc_bytes_shift_in(unsigned &word, int sum, unsigned addend)
{
    word = 2 * word + (unsigned)((unsigned)sum + (unsigned long long)addend > 0xffffffffu);
}

static inline unsigned gc_lines_word(unsigned address)
{
    unsigned word;
    memcpy(&word, gc_double_shared(address), sizeof word);
    return word;
}

static inline unsigned gc_lines_signs(unsigned left, unsigned right)
{
    unsigned signs = 0;
    const unsigned bytes[4] = {left & 255, left >> 8 & 255, right & 255, right >> 8 & 255};
    for (int k = 0; k < 4; k++)
        signs |= (bytes[k] >= 128 ? 255u : 0u) << (8 * k);
    return signs;
}

static inline unsigned __shfl_xor_sync(unsigned, unsigned value, int mask)
{
    return gc_double_shuffled(value, gc_double_lane() ^ mask);
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

/* A half (IEEE 754 binary16) as a float. */
static inline float gc_double_of_half(unsigned half)
{
    int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 1023);
    float value = exponent == 0 ? ldexpf((float)fraction, -24)
                                : ldexpf((float)(1024 + fraction), exponent - 25);
    return half & 0x8000 ? -value : value;
}

/* The half nearest to a value below 65520. */
static inline unsigned gc_double_half(float value)
{
    int exponent;
    float size = fabsf(value);
    frexpf(size, &exponent);
    int shift =
        size == 0 || exponent < -13 ? 24 : 11 - exponent; /* one bit of a half is 2^-shift */
    unsigned bits = (unsigned)nearbyintf(ldexpf(size, shift));
    if (shift < 24)
        bits += (unsigned)(24 - shift) << 10; /* the leading bit of the fraction adds one more */
    return bits | (std::signbit(value) ? 0x8000u : 0);
}

static inline unsigned gc_halves_pack(float first, float second)
{
    return gc_double_half(first) | gc_double_half(second) << 16;
}

static inline float2 gc_halves_unpack(unsigned halves)
{
    return {gc_double_of_half(halves & 0xffff), gc_double_of_half(halves >> 16)};
}

static inline unsigned gc_halves_widen(unsigned bytes, unsigned which)
{
    unsigned two = __byte_perm(bytes, 0x64646464, which);
    return gc_halves_pack((float)(two & 255), (float)(two >> 16 & 255));
}

static inline uint4 gc_halves_look_up(unsigned weights)
{
    uint4 words;
    memcpy(&words, gc_double_shared(weights), sizeof words);
    return words;
}

/* m16n8k16 and m16n8k8 of halves. */
template <int columns>
static inline void gc_halves_multiply(float (&sums)[4], const unsigned (&samples)[4],
                                      unsigned first, unsigned second)
{
    const gc_double_words *all[32];
    int lane = gc_double_lane();
    bool both = columns == 16;
    gc_double_show(
        {{samples[0], samples[1], both ? samples[2] : 0, both ? samples[3] : 0, first, second}},
        all);
    for (int c = 0; c < 4; c++) {
        int row = lane / 4 + c / 2 * 8, column = lane % 4 * 2 + c % 2;
        double sum = sums[c];
        for (int k = 0; k < columns; k++) {
            int word = k % 8 / 2, shift = k % 2 * 16;
            unsigned sample = all[row % 8 * 4 + word]->at[row / 8 + k / 8 * 2] >> shift & 0xffff;
            unsigned weight = all[column * 4 + word]->at[4 + k / 8] >> shift & 0xffff;
            sum += (double)gc_double_of_half(sample) * gc_double_of_half(weight);
        }
        sums[c] = (float)sum;
    }
}

static inline float __shfl_xor_sync(unsigned, float value, int mask)
{
    return gc_double_shuffled(value, gc_double_lane() ^ mask);
}

#endif
