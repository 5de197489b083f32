/* Bits of a deflate stream (RFC 1951): the first one is the lowest of a byte. */
#pragma once

#include <stdint.h>
#include <string.h>

/* A place for bits: whole bytes go to `next`, the others wait. */
typedef struct gc_bits {
    uint8_t *next;
    uint64_t waiting;
    unsigned count; /* of the bits that wait */
} gc_bits;

static inline void gc_store_little_endian(uint8_t *to, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, sizeof word);
}

static inline uint64_t gc_load_little_endian(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Appends at most 56 bits: up to 7 wait already. Writes 8 bytes from `next` on. */
static inline void gc_put(gc_bits *to, uint64_t bits, int length)
{
    to->waiting |= bits << to->count;
    to->count += (unsigned)length;
    gc_store_little_endian(to->next, to->waiting);
    to->next += to->count / 8;
    to->waiting >>= to->count & ~7u;
    to->count &= 7;
}
