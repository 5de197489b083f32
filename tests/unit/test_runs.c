/* Compressed runs, as rows of 1 bit are: zlib makes of the stream what went into it, whatever that
 * is. */
#include "core_support.h"
#include "pack_support.h"

enum { BYTES_MAX = 5 * GC_PACK_BLOCK / 2 };

static uint8_t bytes[BYTES_MAX], packed[2 * BYTES_MAX + 4096], unpacked[BYTES_MAX + 1];

static size_t assert_round_trip(size_t count, size_t part)
{
    size_t size = pack_bytes(bytes, count, part, packed);
    uLongf found = sizeof unpacked;
    assert_int_equal(uncompress(unpacked, &found, packed, size), Z_OK);
    assert_int_equal(found, count);
    assert_memory_equal(unpacked, bytes, count);
    return size;
}

/* Bytes of several kinds: random, few values, runs of all lengths, a steep distribution, a
 * period. */
static void make_bytes(int kind, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int random = rand() >> 8;
        bool stays = i > 0 && random % (kind == 3 ? 8 : 300) != 0;
        switch (kind) {
        case 0:
            bytes[i] = (uint8_t)random;
            break;
        case 1:
            bytes[i] = random % 50 == 0 ? (uint8_t)(random >> 8) : 0;
            break;
        case 2:
            bytes[i] = (uint8_t)__builtin_ctz((unsigned)random | 1 << 20);
            break;
        case 3:
        case 4:
            bytes[i] = stays ? bytes[i - 1] : (uint8_t)(random >> 8);
            break;
        default:
            bytes[i] = (uint8_t)i;
            break;
        }
    }
}

TEST(small_streams_come_back)
{
    srand(3);
    for (int n = 0; n < 1200; n++) {
        size_t count = (size_t)n;
        make_bytes(n % 6, count);
        assert_round_trip(count, 1 + (size_t)rand() % 40);
    }
}

TEST(large_streams_come_back)
{
    srand(4);
    for (int kind = 0; kind < 6; kind++) {
        make_bytes(kind, BYTES_MAX);
        size_t size = assert_round_trip(BYTES_MAX, 1000);
        assert_true(size < BYTES_MAX + BYTES_MAX / 50); /* what has no runs hardly grows */
        assert_round_trip(GC_PACK_BLOCK, GC_PACK_BLOCK);
    }
}

/* Runs are found 64 bytes at a time: one of every length, at every place among them. */
TEST(runs_of_any_length_come_back)
{
    enum { LENGTH_MAX = 600, AFTER = 5 };
    for (size_t before = 1; before <= 64; before++)
        for (size_t length = 1; length <= LENGTH_MAX; length++) {
            size_t count = before + length + AFTER;
            for (size_t i = 0; i < count; i++)
                bytes[i] = (uint8_t)(i < before || i >= before + length ? i : 0xaa);
            size_t size = assert_round_trip(count, count);
            /* What is no run takes at most 9 bits a byte, and the longest run less than 4 bytes. */
            assert_true(size <= 9 * (before + AFTER) / 8 + 4 * (length / 258 + 2) + 10);
        }
}

/* A block is at most a twentieth larger than what zlib makes of runs alone. Lengths of codes, which
 * few bytes pay for, have another 150 bytes. */
TEST(no_run_is_missed)
{
    srand(5);
    for (int kind = 0; kind < 6; kind++) {
        make_bytes(kind, GC_PACK_BLOCK);
        size_t size = pack_bytes(bytes, GC_PACK_BLOCK, GC_PACK_BLOCK, packed);
        z_stream z = {.next_in = bytes,
                      .avail_in = GC_PACK_BLOCK,
                      .next_out = packed,
                      .avail_out = sizeof packed};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15, 9, Z_RLE), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        assert_true(size <= z.total_out + z.total_out / 20 + 150);
        deflateEnd(&z);
    }
}

/* Counts that double from byte to byte ask for codes longer than any may be. Literals would have to
 * give these bytes one length (io/png/fast/literals.h), so they are no choice. */
TEST(steep_distributions_come_back)
{
    enum { GROUP = 0x60 };
    size_t count = 0;
    for (int value = 0; value < 15; value++)
        for (int i = 0; i < 1 << value && count + 2 < GC_PACK_BLOCK; i++) {
            bytes[count++] = (uint8_t)(GROUP + value);
            bytes[count++] = (uint8_t)(255 - i % 2);
        }
    assert_round_trip(count, count);
}

TEST(all_of_one_value_is_small)
{
    memset(bytes, 0, sizeof bytes);
    /* Two bits for each of the longest runs, and the heads of three blocks. */
    assert_true(assert_round_trip(BYTES_MAX, BYTES_MAX) < BYTES_MAX / 258 / 4 + 100);
}
