/* Rows of packed bits, and numbers of bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packs `count` flags, each 0 or 1, to bits. The first flag becomes the most significant bit of the
 * first byte. The last byte is filled up with 0. */
void gc_pack_bits(const uint8_t *flags, size_t count, uint8_t *bits);

/* The flags of `count` bits, exchanged if `inverted`. Writes up to a multiple of 8. */
void gc_unpack_bits(const uint8_t *bits, size_t count, bool inverted, uint8_t *flags);

static inline uint32_t gc_big_endian(const unsigned char bytes[4])
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}
