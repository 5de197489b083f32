/* The JPEG files that check decoders: libjpeg decodes them without a warning, to the hashes that
 * are kept. With the argument --print the hashes are printed for src/io/jpeg/fast/trials.c. */
#include "unit.h"

#include "jpeg/turbo.h"

#include "io/jpeg/fast/trials.h"
#include "jpeg/sound.h"

#include <inttypes.h>

static gc_hash add_rows(gc_hash hash, const unsigned char *rows, size_t stride, size_t row_bytes,
                        uint32_t count)
{
    for (uint32_t y = 0; y < count; y++)
        hash = gc_hash_bytes(hash, rows + y * stride, row_bytes);
    return hash;
}

/* By jpeg_read_raw_data and jpeg_read_scanlines. */
static gc_hash hash_of(int index, size_t *size)
{
    gconv_encoded picture;
    turbo_image image;
    gc_jpeg_trial(index, &picture);
    *size = picture.size;
    assert_true(turbo_decode(&picture, &image));
    assert_int_equal(image.about.width, picture.width);
    assert_int_equal(image.about.height, picture.height);
    assert_int_equal(image.about.components, picture.components);
    assert_int_equal(image.about.sampling_x, picture.sampling_x);
    assert_int_equal(image.about.sampling_y, picture.sampling_y);
    size_t row_bytes = (size_t)picture.width * (size_t)image.channels;
    gc_hash hash =
        add_rows(gc_hash_start(), image.planes[0], image.pitches[0], picture.width, picture.height);
    hash = add_rows(hash, image.rows, row_bytes, row_bytes, picture.height);
    turbo_free(&image);
    return hash;
}

TEST(libjpeg_gives_what_is_kept)
{
#ifndef LIBJPEG_TURBO_VERSION
    skip();
#endif
    for (int i = 0; i < GC_JPEG_TRIALS; i++) {
        gconv_encoded picture;
        size_t size;
        gc_hash found = hash_of(i, &size), kept = gc_jpeg_trial(i, &picture);
        assert_true(found.high == kept.high && found.low == kept.low);
    }
}

/* One sample of a thousand that is off by one is found. */
TEST(they_have_samples_enough)
{
    size_t samples = 0, bytes_of_all = 0;
    for (int i = 0; i < GC_JPEG_TRIALS; i++) {
        gconv_encoded picture;
        gc_jpeg_trial(i, &picture);
        samples += (size_t)picture.width * picture.height;
        bytes_of_all += picture.size;
    }
    assert_true(samples > 15000);
    assert_true(bytes_of_all < 100000);
}

TEST(they_are_sound)
{
    for (int i = 0; i < GC_JPEG_TRIALS; i++) {
        gconv_encoded picture;
        jpeg_verdict verdict;
        gc_jpeg_trial(i, &picture);
        if (!jpeg_is_sound(picture.bytes, picture.size, &verdict))
            fail_msg("trial %d: %s", i, verdict.reason);
    }
}

static void print_hashes(void)
{
    for (int i = 0; i < GC_JPEG_TRIALS; i++) {
        size_t size;
        gc_hash hash = hash_of(i, &size);
        printf("    {0x%016" PRIx64 ", 0x%016" PRIx64 "}, /* %zu bytes */\n", hash.high, hash.low,
               size);
    }
}

int main(int count, char **arguments)
{
    if (count == 1 || strcmp(arguments[1], "--print") != 0)
        return run_unit_tests();
    print_hashes();
    return 0;
}
