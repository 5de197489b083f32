/* Blocks of literals: bytes in a Huffman code whose lengths vectors can look up (gc_byte_codes).
 * Bytes near 0, as numbers with a sign, have lengths of their own; each group of the others shares
 * one. The code is chosen from a sample of the bytes. */
#pragma once

#include "io/png/fast/loops.h"

#include <stdbool.h>

typedef struct gc_literals {
    int lengths[GC_SYMBOLS];
    uint64_t bits;      /* that all bytes take, estimated from the sample */
    uint64_t runs_bits; /* that they take as runs (block.c), estimated from the sample */
} gc_literals;

/* Adds the bytes to counts[256]. */
void gc_count_bytes(const uint8_t *bytes, size_t count, uint32_t *counts);

/* What bytes with these counts take, in 256ths of a bit, as literals in a code of this kind, and as
 * runs and other bytes in a code without such bounds. */
uint64_t gc_estimate_literals(const uint32_t counts[256]);
uint64_t gc_estimate_runs(const uint32_t counts[256], const gc_survey *survey);

/* Chooses code lengths for the bytes, which the survey is about. */
void gc_literals_choose(gc_literals *literals, const uint8_t *bytes, size_t count,
                        const gc_survey *survey);

/* Appends a block of the bytes to `to`. It writes up to 8 bytes more. */
gc_bits gc_literals_put(const gc_literals *literals, const uint8_t *bytes, size_t count,
                        const gc_pack_loops *loops, gc_bits to, bool last);
