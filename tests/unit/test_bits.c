/* Flags packed to bits, of every count and at every address. */
#include "core_support.h"

#include "base/bits.h"

enum { COUNT_MAX = 300, ADDRESSES = 33, GUARD = 0x5a };

static void check_count(size_t count, size_t address)
{
    uint8_t flags[COUNT_MAX + ADDRESSES + 8] = {0}, bits[COUNT_MAX / 8 + 2];
    for (size_t i = 0; i < count; i++)
        flags[address + i] = (uint8_t)((i * i + i / 5 + count) * 2654435761u >> 13 & 1);
    memset(bits, GUARD, sizeof bits);
    gc_pack_bits(flags + address, count, bits);
    for (size_t i = 0; i < (count + 7) / 8 * 8; i++)
        assert_int_equal(bits[i / 8] >> (7 - i % 8) & 1, i < count ? flags[address + i] : 0);
    assert_int_equal(bits[(count + 7) / 8], GUARD);
}

TEST(every_count)
{
    for (size_t count = 0; count <= COUNT_MAX; count++)
        for (size_t address = 0; address < ADDRESSES; address += 8)
            check_count(count, address + count % 8);
}
