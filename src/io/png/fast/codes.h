/* Huffman codes of deflate (RFC 1951, 3.2): lengths, canonical codes, and how they are written. */
#pragma once

#include "io/png/fast/bit_writer.h"

/* Symbols (RFC 1951, 3.2.5): bytes, the end of a block, and lengths of matches. GC_LONGEST is the
 * last length. The two symbols after it never occur. */
enum { GC_END_OF_BLOCK = 256, GC_LONGEST = 285, GC_SYMBOLS = 288, GC_CODE_MAX = 15 };

typedef struct gc_code {
    uint32_t bits; /* the first one lowest */
    int length;
} gc_code;

static inline void gc_put_code(gc_bits *to, gc_code code)
{
    gc_put(to, code.bits, code.length);
}

/* A code of at most 16 bits, the first one last. */
uint32_t gc_reverse_bits(uint32_t bits, int length);

/* Chooses code lengths of 1 to GC_CODE_MAX for the symbols whose counts are not 0. At least two
 * symbols must have one. */
void gc_choose_lengths(const uint32_t counts[GC_SYMBOLS], int lengths[GC_SYMBOLS]);

/* The canonical code of these lengths. */
void gc_make_codes(const int *lengths, int count, gc_code *codes);

/* Appends what a block with its own code says after its type: the code lengths of the symbols, and
 * one distance whose code has one bit. */
void gc_put_lengths(gc_bits *to, const int lengths[GC_SYMBOLS]);
