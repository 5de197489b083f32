#include "base/bits.h"

#include <string.h>

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

void gc_pack_bits(uint8_t *flags, size_t count, uint8_t *bits)
{
    size_t whole = count / 8;
    for (size_t i = 0; i < whole; i++)
        bits[i] = pack_byte(flags + 8 * i);
    if (count % 8 > 0) {
        memset(flags + count, 0, 8 - count % 8);
        bits[whole] = pack_byte(flags + 8 * whole);
    }
}
