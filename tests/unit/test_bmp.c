/* BMP: headers that are refused, fields of bits, and what is written. tests/formats/bmp.py asks
 * Pillow. */
#include "io_support.h"

enum { PIXELS = 54, SIZE = 80 };

/* A BMP of 2 x 2 pixels. */
static void make_bmp(unsigned char bytes[SIZE], int bits, int method)
{
    static const unsigned char head[] = {'B', 'M', SIZE, 0, 0, 0, 0, 0, 0, 0, PIXELS, 0, 0, 0,
                                         40,  0,   0,    0, 2, 0, 0, 0, 2, 0, 0,      0, 1};
    for (int i = 0; i < SIZE; i++)
        bytes[i] = i < PIXELS ? 0 : (unsigned char)(i + 10);
    memcpy(bytes, head, sizeof head);
    bytes[28] = (unsigned char)bits;
    bytes[30] = (unsigned char)method;
}

TEST(bmp_headers)
{
    static const struct {
        int bits, method, at, value;
        const char *message; /* part of it; NULL where the file is right */
    } cases[] = {
        {24, 0, 14, 40, NULL},
        {32, 0, 22, 1, NULL},
        {8, 1, 14, 40, "compressed by RLE, which"},
        {4, 2, 14, 40, "compressed by RLE, which"},
        {24, 4, 14, 40, "compressed by JPEG"},
        {24, 5, 14, 40, "compressed by PNG"},
        {1, 3, 14, 64, "compressed by Huffman"},
        {24, 9, 14, 40, "compressed by another method"},
        {24, 9, 14, 17, NULL}, /* OS/2 2: the method lies beyond */
        {24, 0, 14, 13, "a header of 13 bytes"},
        {24, 0, 14, 125, "a header of 125 bytes"},
        {3, 0, 14, 40, "3 bits a pixel"},
        {0, 0, 14, 40, "0 bits a pixel"},
        {64, 0, 14, 40, "64 bits a pixel"},
        {24, 3, 14, 40, "masks of colours"},
        {16, 3, 14, 40, "masks of colours"},
        {24, 0, 10, 53, "pixels inside of itself"},
        {24, 0, 10, 79, "truncated"},
        {24, 0, 18, 0, "a width or height of 0"},
        {24, 0, 21, 0x80, "a width or height of 0"},
        {24, 0, 21, 0x7f, "--max-pixels"},
        {24, 0, 25, 0x80, "of more than"},
        {8, 0, 14, 40, "a colour of 65, and the palette has 0"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned char bytes[SIZE];
        picture result;
        make_bmp(bytes, cases[i].bits, cases[i].method);
        bytes[cases[i].at] = (unsigned char)cases[i].value;
        if (cases[i].at == 25)
            bytes[22] = 0;
        save_file("b.bmp", bytes, SIZE);
        gconv_status status = read_picture("b.bmp", NULL, 1, &result, &error);
        if (status == GCONV_OK)
            free_picture(&result);
        const char *message = cases[i].message;
        if ((message == NULL) != (status == GCONV_OK) ||
            (message != NULL && strstr(error.message, message) == NULL))
            fail_msg("case %zu gave '%s'", i, error.message);
    }
}

TEST(bmp_rows_are_turned_and_selected)
{
    for (int depth = 1; depth <= 8; depth += 7)
        for (int channels = 1; channels <= (depth == 8 ? 3 : 1); channels += 2) {
            OWNED_PICTURE source = make_picture(61, 400, channels, depth);
            must_write("b.bmp", GCONV_FORMAT_BMP, &source);
            OWNED_PICTURE result = must_read("b.bmp", NULL);
            assert_int_equal(result.shape.channels, channels);
            if (depth == 8)
                assert_same_picture(&result, &source);
            gconv_reader *reader = opened_reader("b.bmp", NULL);
            const gconv_source *rows = gconv_reader_source(reader);
            unsigned char row[3 * 61];
            assert_ok(rows->select(rows->user, 7, 1, NULL));
            assert_ok(rows->read(rows->user, 1, row, sizeof row, NULL));
            assert_memory_equal(row, result.rows + 7 * result.row_bytes, result.row_bytes);
            gconv_reader_free(reader);
        }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
