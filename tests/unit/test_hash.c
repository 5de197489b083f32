/* The hash against published values. */
#include "core_support.h"

#include "base/hash.h"

static void assert_hash(const char *text, uint64_t high, uint64_t low)
{
    gc_hash hash = gc_hash_bytes(gc_hash_start(), text, strlen(text));
    assert_true(hash.high == high);
    assert_true(hash.low == low);
}

/* draft-eastlake-fnv; "" is the offset basis. */
TEST(published_values)
{
    assert_hash("", UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d));
    assert_hash("a", UINT64_C(0xd228cb696f1a8caf), UINT64_C(0x78912b704e4a8964));
    assert_hash("foobar", UINT64_C(0x343e1662793c64bf), UINT64_C(0x6f0d3597ba446f18));
}

TEST(pieces_are_one_text)
{
    gc_hash whole = gc_hash_bytes(gc_hash_start(), "foobar", 6);
    gc_hash pieces = gc_hash_bytes(gc_hash_bytes(gc_hash_start(), "foo", 3), "bar", 3);
    assert_memory_equal(&whole, &pieces, sizeof whole);
}

TEST(strings_keep_their_ends)
{
    gc_hash early = gc_hash_string(gc_hash_string(gc_hash_start(), "a"), "bc");
    gc_hash late = gc_hash_string(gc_hash_string(gc_hash_start(), "ab"), "c");
    assert_memory_not_equal(&early, &late, sizeof early);
}
