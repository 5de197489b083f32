/* A libjpeg that decodes in another way than libjpeg-turbo: no device is offered a file, since its
 * pixels would be others. */
#include "container_support.h"

JDIMENSION __real_jpeg_read_scanlines(j_decompress_ptr jpeg, JSAMPARRAY rows, JDIMENSION count);
JDIMENSION __wrap_jpeg_read_scanlines(j_decompress_ptr jpeg, JSAMPARRAY rows, JDIMENSION count);

/* One sample of each colour image is off by one. */
JDIMENSION __wrap_jpeg_read_scanlines(j_decompress_ptr jpeg, JSAMPARRAY rows, JDIMENSION count)
{
    JDIMENSION first = jpeg->output_scanline;
    JDIMENSION read = __real_jpeg_read_scanlines(jpeg, rows, count);
    if (first == 0 && read > 0 && jpeg->output_components == 3)
        rows[0][0] ^= 1;
    return read;
}

TEST(nothing_is_offered)
{
    OWNED_PICTURE image = make_picture(71, 40, 3, 8);
    must_write("sound.jpg", GCONV_FORMAT_JPEG, &image);
    for (int grey = 0; grey <= 1; grey++) {
        gconv_reader_options options = grey ? as_grey() : as_stored();
        gconv_encoded encoded;
        OWNED_READER reader = opened_reader("sound.jpg", &options);
        const gconv_source *source = gconv_reader_source(reader);
        assert_false(source->offer(source->user, &encoded));
        assert_string_equal(gconv_reader_fallback(reader),
                            "a libjpeg that decodes in another way than libjpeg-turbo");
        assert_ok(source->read(source->user, 40, image.rows, image.row_bytes, &error));
        assert_ok(gconv_reader_finish(reader, &error));
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
