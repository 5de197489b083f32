/* What is written as PNG, PNM or JPEG is what is read again. */
#include "io_support.h"

static void round_trip(gconv_format format, int channels, int depth, uint32_t width,
                       uint32_t height)
{
    OWNED_PICTURE source = make_picture(width, height, channels, depth);
    must_write("trip", format, &source);
    OWNED_PICTURE result = must_read("trip", NULL);
    assert_same_picture(&source, &result);
}

TEST(pnm_keeps_samples)
{
    for (int depth = 8; depth <= 16; depth += 8) {
        round_trip(GCONV_FORMAT_PGM, 1, depth, 61, 37);
        round_trip(GCONV_FORMAT_PPM, 3, depth, 61, 37);
    }
    round_trip(GCONV_FORMAT_PPM, 3, 8, 1, 300000);
}

TEST(png_keeps_samples_at_every_level)
{
    for (int level = -1; level <= 9; level++)
        for (int depth = 1; depth <= 8; depth += 7) {
            OWNED_PICTURE source = make_picture(77, 19, 1, depth);
            gconv_writer_options options = writing_as(GCONV_FORMAT_PNG);
            options.compression = level;
            assert_ok(write_picture("level", &options, 4, &source, NULL));
            OWNED_PICTURE result = must_read("level", NULL);
            for (uint32_t y = 0; y < 19; y++)
                for (uint32_t x = 0; x < 77; x++) {
                    const unsigned char *row = source.rows + y * source.row_bytes;
                    unsigned int expected = depth == 8                   ? row[x]
                                            : row[x / 8] << x % 8 & 0x80 ? 255
                                                                         : 0;
                    assert_int_equal(sample_at(&result, x, y, 0), expected);
                }
        }
}

static size_t png_size(const picture *source, int level)
{
    gconv_writer_options options = writing_as(GCONV_FORMAT_PNG);
    options.compression = level;
    assert_ok(write_picture("size", &options, 16, source, NULL));
    OWNED_BLOB whole = load_file("size");
    return whole.size;
}

/* Equal pictures give equal files, whatever stands in the bits behind the ends of their rows. */
TEST(bits_behind_a_row_do_not_reach_the_file)
{
    for (int level = -1; level <= 6; level += 7)
        for (uint32_t width = 1; width <= 17; width++) {
            gconv_writer_options options = writing_as(GCONV_FORMAT_PNG);
            options.compression = level;
            OWNED_PICTURE source = make_picture(width, 9, 1, 1);
            write_picture("clear", &options, 4, &source, NULL);
            for (size_t y = 0; width % 8 != 0 && y < 9; y++)
                source.rows[(y + 1) * source.row_bytes - 1] |= (unsigned char)(0xff >> width % 8);
            write_picture("set", &options, 4, &source, NULL);
            OWNED_BLOB clear = load_file("clear");
            OWNED_BLOB set = load_file("set");
            assert_int_equal(clear.size, set.size);
            assert_memory_equal(clear.bytes, set.bytes, clear.size);
        }
}

/* Bytes of which every `sparsity`th on average is one that nobody can foretell, the others 0. */
static void fill_with_noise(picture *made, unsigned int sparsity)
{
    uint64_t noise = 1;
    for (size_t i = 0; i < made->row_bytes * made->shape.height; i++) {
        noise = noise * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        made->rows[i] = (noise >> 32) % sparsity == 0 ? (unsigned char)(noise >> 56) : 0;
    }
}

/* Not larger than the fast file; by chance a level may be a little smaller for a made-up
 * picture. */
TEST(the_highest_png_level_gives_the_smallest_file)
{
    static const int depths[] = {1, 8, 16};
    for (int d = 0; d < 3; d++)
        for (unsigned int sparsity = 0; sparsity <= 64; sparsity = 4 * sparsity + (sparsity == 0)) {
            OWNED_PICTURE source = make_picture(256, 200, 1, depths[d]);
            if (sparsity > 0)
                fill_with_noise(&source, sparsity);
            size_t smallest = png_size(&source, 9);
            assert_in_range(smallest, 1, png_size(&source, -1));
            for (int level = 0; level < 9; level++)
                assert_in_range(smallest, 1, png_size(&source, level) * 1.02);
        }
}

/* So much that the attempts of the highest level are not all kept in memory to the end. */
TEST(the_highest_png_level_takes_large_pictures)
{
    OWNED_PICTURE source = new_picture(4200, 4200, 1, 8);
    fill_with_noise(&source, 1);
    assert_in_range(png_size(&source, 9), 4200 * 4200, png_size(&source, -1));
    OWNED_PICTURE result = must_read("size", NULL);
    assert_memory_equal(source.rows, result.rows, 4200 * 4200);
}

/* JPEG: no sample far from the source at quality 100. */
TEST(jpeg_is_close)
{
    for (int channels = 1; channels <= 3; channels += 2) {
        OWNED_PICTURE source = new_picture(50, 41, channels, 8);
        for (uint32_t y = 0; y < 41; y++)
            for (size_t i = 0; i < source.row_bytes; i++)
                source.rows[y * source.row_bytes + i] =
                    (unsigned char)(40 + 3 * (i / (size_t)channels) + y);
        gconv_writer_options options = writing_as(GCONV_FORMAT_JPEG);
        options.quality = 100;
        assert_ok(write_picture("close", &options, 9, &source, NULL));
        OWNED_PICTURE result = must_read("close", NULL);
        assert_int_equal(result.shape.channels, channels);
        for (size_t i = 0; i < 41 * source.row_bytes; i++)
            assert_in_range(result.rows[i] + 4 - source.rows[i], 0, 8);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
