/* Instructions of tensor cores and others, in C++: what gpu/kernels/mma has as text of the assembler
 * (PTX ISA, "Matrix fragments for mma"). */
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

/* ldmatrix: register k of lane l has word l % 4 of row l / 4, whose address lane 8 k + l / 4 gives. */
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

/* m16n8k32 of bytes. */
static inline void gc_bytes_multiply(int (&sums)[4], const unsigned (&samples)[4], unsigned low,
                                     unsigned high)
{
    const gc_double_words *all[32];
    int lane = gc_double_lane();
    gc_double_show({{samples[0], samples[1], samples[2], samples[3], low, high}}, all);
    for (int c = 0; c < 4; c++) {
        int row = lane / 4 + c / 2 * 8, column = lane % 4 * 2 + c % 2;
        for (int k = 0; k < 32; k++) {
            int word = k % 16 / 4, shift = k % 4 * 8;
            unsigned sample = all[row % 8 * 4 + word]->at[row / 8 + k / 16 * 2] >> shift & 255;
            unsigned weight = all[column * 4 + word]->at[4 + k / 16] >> shift & 255;
            sums[c] += (int)sample * (signed char)weight;
        }
    }
}

static inline void gc_bytes_shift_in(unsigned &word, int sum, unsigned addend)
{
    word = 2 * word + (unsigned)((unsigned)sum + (unsigned long long)addend > 0xffffffffu);
}

static inline unsigned __shfl_xor_sync(unsigned, unsigned value, int mask)
{
    return gc_double_shuffled(value, gc_double_lane() ^ mask);
}

#endif
