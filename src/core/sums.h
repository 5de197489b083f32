/* The sums of a chain as its definition has them (contract.md, rule 5): without an error. The
 * reference computes with these, for whole images and for single pixels.
 *
 * A number is a double, if double holds all sums (gc_chain.sums_fit). Else it is a whole number in
 * two's complement, of gc_chain.limbs limbs, the lowest first, times a power of 2 that the step
 * knows. If no limbs are enough, numbers are doubles, which round. */
#pragma once

#include "core/problem.h"

typedef union gc_word {
    double real;
    uint64_t bits;
} gc_word;

/* The numbers from 2^GC_ROUNDING_LEAST to 2^GC_ROUNDING_MOST, with a sign, fit. */
enum { GC_LIMBS_MAX = (GC_ROUNDING_PARTS - 1) / 2 + 1 };

/* Sets sums_fit, limbs and units of a chain, after its range. */
void gc_chain_set_sums(const gc_conversion *conversion, gc_chain *chain);

/* Words of a number. */
static inline size_t gc_words(const gc_chain *chain)
{
    return chain->limbs > 0 ? (size_t)chain->limbs : 1;
}

/* Numbers of the input of the first step. */
void gc_words_load(const gc_chain *chain, const float *values, size_t count, gc_word *words);

/* The numbers of step `s`: its terms, and then its border, one for each channel. The caller frees
 * them. NULL if memory is short. */
gc_word *gc_words_of_step(const gc_chain *chain, int s);

/* *sum += a * b, of `limbs` limbs each. It is not inlined, so that its loop has all registers. */
static __attribute__((noinline)) void gc_add_limbs(size_t limbs, gc_word *restrict sum,
                                                   const gc_word *a, const gc_word *b)
{
    for (size_t i = 0; i < limbs; i++) {
        uint64_t factor = a[i].bits, carry = 0;
        for (size_t j = 0; factor != 0 && i + j < limbs; j++) {
            unsigned __int128 term = (unsigned __int128)factor * b[j].bits;
            term += sum[i + j].bits;
            term += carry;
            sum[i + j].bits = (uint64_t)term;
            carry = (uint64_t)(term >> 64);
        }
    }
}

/* *sum += a * b. `limbs` are those of the chain: a caller for which they are the constant 0 keeps
 * the sum in a register. */
static inline void gc_add_product(size_t limbs, gc_word *restrict sum, const gc_word *a,
                                  const gc_word *b)
{
    if (limbs == 0)
        sum->real += a->real * b->real;
    else
        gc_add_limbs(limbs, sum, a, b);
}

/* Chain values as float32: S, or next to it. */
void gc_words_to_chain(const gc_chain *chain, const gc_word *sums, size_t count, float *values);

/* Whether gc_words_round rounds: sums and rounding have no error. */
static inline bool gc_words_round_once(const gc_problem *problem)
{
    return problem->rounding.once && (problem->chain.sums_fit || problem->chain.limbs > 0);
}

/* Replaces the samples that gc_store_pixels has put into `output` by those of sums rounded once, if
 * gc_words_round_once. */
void gc_words_round(const gc_problem *problem, const gc_word *sums, size_t count, void *output);

/* Sets sample `index` of a row of 1, 8 or 16 bits. */
void gc_set_sample(int depth, void *row, size_t index, uint32_t sample);
