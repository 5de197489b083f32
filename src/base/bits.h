/* Rows of packed bits. */
#ifndef GC_BASE_BITS_H
#define GC_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Packs `count` flags, each 0 or 1, to bits. The first flag becomes the most significant bit of the
 * first byte. The last byte is filled up with 0. `flags` has room for 7 more. */
void gc_pack_bits(uint8_t *flags, size_t count, uint8_t *bits);

#endif
