/* JPEG that several threads code: the file is that of one thread. */
#include "io_support.h"
#include "sanitized.h"

static uint64_t state = 1;

static unsigned int random_below(unsigned int bound)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned int)(state >> 33) % bound;
}

static blob write_with(const gconv_writer_options *options, const picture *source, int others)
{
    helpers_wanted = others;
    assert_ok(write_picture("random", options, 1 + random_below(100), source, NULL));
    helpers_wanted = 0;
    return load_file("random");
}

/* Flat, noise, or noise in places. Noise at a high quality ends blocks without a code for their
 * end. */
static picture random_picture(int n)
{
    picture made = new_picture(1 + random_below(n % 5 == 0 ? 3000 : 300), 200 + random_below(400),
                               n % 3 == 0 ? 1 : 3, 8);
    unsigned int place = 1 + random_below(3000);
    for (size_t i = 0; i < made.row_bytes * made.shape.height; i++)
        made.rows[i] = (uint8_t)(n % 4 == 0                 ? 77
                                 : i / place % (n % 4) == 0 ? random_below(256)
                                                            : i / 500);
    return made;
}

TEST(threads_write_the_file_of_one)
{
    static const gconv_chroma chromas[] = {GCONV_CHROMA_420, GCONV_CHROMA_422, GCONV_CHROMA_444};
    for (int n = 0; n < TRIALS(120); n++) {
        OWNED_PICTURE source = random_picture(n);
        gconv_writer_options options = writing_as(GCONV_FORMAT_JPEG);
        options.quality = n % 7 == 0 ? 100 : 1 + (int)random_below(100);
        options.chroma = chromas[n / 3 % 3];
        options.progressive = n % 31 == 30;
        OWNED_BLOB expected = write_with(&options, &source, 0);
        OWNED_BLOB found = write_with(&options, &source, n % 2 == 0 ? 2 : 15);
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.bytes, expected.bytes, found.size);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
