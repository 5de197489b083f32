/* JPEG of every colour space, order and sampling: the pixels that libjpeg gives. */
#include "container_support.h"

#include "core/grey.h"

/* The rows that plain libjpeg gives. */
static picture plain_jpeg(const char *path, J_COLOR_SPACE wanted, int channels)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = wanted;
    jpeg_start_decompress(&jpeg);
    picture result = new_picture(jpeg.output_width, jpeg.output_height, channels, 8);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = result.rows + jpeg.output_scanline * result.row_bytes;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    fclose(file);
    return result;
}

/* The picture that a grey or RGB reader must make of libjpeg's rows. */
static picture expected_jpeg(const char *path, const jpeg_kind *kind, bool grey)
{
    if (kind->stored == JCS_GRAYSCALE || (grey && kind->stored == JCS_YCbCr))
        return plain_jpeg(path, JCS_GRAYSCALE, 1);
    bool ink = kind->channels == 4;
    OWNED_PICTURE plain = plain_jpeg(path, ink ? JCS_CMYK : JCS_RGB, ink ? 4 : 3);
    picture result = new_picture(plain.shape.width, plain.shape.height, grey ? 1 : 3, 8);
    for (uint32_t y = 0; y < plain.shape.height; y++)
        for (uint32_t x = 0; x < plain.shape.width; x++) {
            unsigned int rgb[3];
            for (int c = 0; c < 3; c++) {
                rgb[c] = sample_at(&plain, x, y, c);
                if (ink) /* libjpeg writes an Adobe marker: 255 is no ink */
                    rgb[c] = (rgb[c] * sample_at(&plain, x, y, 3) + 127) / 255;
            }
            unsigned char *row = result.rows + y * result.row_bytes;
            if (grey)
                row[x] = (unsigned char)gc_luma(rgb[0], rgb[1], rgb[2]);
            for (size_t c = 0; c < 3 && !grey; c++)
                row[3 * x + c] = (unsigned char)rgb[c];
        }
    return result;
}

TEST(jpeg_of_every_kind)
{
    static const jpeg_kind kinds[] = {
        {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, false, 0, 1, NULL, 0},
        {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, true, 0, 1, NULL, 0},
        {JCS_RGB, JCS_YCbCr, 3, false, 0, 2, NULL, 0},
        {JCS_RGB, JCS_YCbCr, 3, false, 1, 1, NULL, 0},
        {JCS_RGB, JCS_YCbCr, 3, true, 0, 2, NULL, 0},
        {JCS_RGB, JCS_YCbCr, 3, true, 1, 2, NULL, 0},
        {JCS_RGB, JCS_RGB, 3, false, 0, 1, NULL, 0},
        {JCS_CMYK, JCS_CMYK, 4, false, 0, 1, NULL, 0},
        {JCS_CMYK, JCS_YCCK, 4, false, 0, 2, NULL, 0},
        {JCS_CMYK, JCS_YCCK, 4, true, 0, 1, NULL, 0},
    };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        OWNED_PICTURE source = make_picture(45, 39, kinds[i].channels, 8);
        write_plain_jpeg("kind.jpg", &kinds[i], 100, &source);
        for (int grey = 0; grey < 2; grey++) {
            gconv_reader_options options = grey ? as_grey() : as_stored();
            OWNED_PICTURE result = must_read("kind.jpg", &options);
            OWNED_PICTURE expected = expected_jpeg("kind.jpg", &kinds[i], grey);
            assert_same_picture(&result, &expected);
        }
    }
}

/* Without Adobe's marker CMYK is what it says: 255 is full ink. */
TEST(cmyk_without_an_adobe_marker)
{
    static const jpeg_kind kind = {JCS_CMYK, JCS_CMYK, 4, false, 0, 1, NULL, 0};
    enum { SEGMENT_BYTES = 16 };
    OWNED_PICTURE source = make_picture(45, 39, 4, 8);
    write_plain_jpeg("ink.jpg", &kind, 100, &source);
    OWNED_BLOB file = load_file("ink.jpg");
    size_t at = 2;
    while (file.bytes[at] != 0xff || file.bytes[at + 1] != 0xee)
        at++;
    assert_memory_equal(file.bytes + at + 4, "Adobe", 5);
    memmove(file.bytes + at, file.bytes + at + SEGMENT_BYTES, file.size - at - SEGMENT_BYTES);
    save_file("ink.jpg", file.bytes, file.size - SEGMENT_BYTES);
    OWNED_PICTURE ink = plain_jpeg("ink.jpg", JCS_CMYK, 4);
    OWNED_PICTURE result = must_read("ink.jpg", NULL);
    for (uint32_t y = 0; y < 39; y++)
        for (uint32_t x = 0; x < 45; x++)
            for (int c = 0; c < 3; c++) {
                unsigned int light =
                    (255 - sample_at(&ink, x, y, c)) * (255 - sample_at(&ink, x, y, 3));
                assert_int_equal(sample_at(&result, x, y, c), (light + 127) / 255);
            }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
