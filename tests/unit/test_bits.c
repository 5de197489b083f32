/* Flags packed to bits, of every count and at every address; samples set one by one. */
#include "core_support.h"

#include "base/bits.h"
#include "core/sums.h"

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

TEST(a_sample_replaces_what_stood_there_and_nothing_beside_it)
{
    uint8_t bits[2] = {0xff, 0x00};
    gc_set_sample(1, bits, 6, 0);
    gc_set_sample(1, bits, 5, 1);
    gc_set_sample(1, bits, 8, 1);
    gc_set_sample(1, bits, 15, 0);
    assert_int_equal(bits[0], 0xfd);
    assert_int_equal(bits[1], 0x80);
    uint16_t samples[3] = {0xffff, 0xffff, 0xffff};
    gc_set_sample(8, samples, 1, 0x12);
    gc_set_sample(16, samples, 1, 0x3456);
    assert_int_equal(((uint8_t *)samples)[0], 0xff);
    assert_int_equal(((uint8_t *)samples)[1], 0x12);
    assert_int_equal(samples[1], 0x3456);
    assert_int_equal(samples[2], 0xffff);
}
