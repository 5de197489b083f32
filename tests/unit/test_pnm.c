/* PGM, PPM and PFM: headers, levels, and what is written in place of channels that they lack. */
#include "io_support.h"

#include "core/grey.h"

static const struct {
    const char *text;
    const char *message; /* part of it; NULL if the file is right */
} headers[] = {
    {"P5 2 1 255\nab", NULL},
    {"P5\n# a comment\n2#x\n 1\t255\rab", NULL},
    {"P5#c\n2 1 255 ab", NULL},
    {"P6 1 1 255\nabc", NULL},
    {"P5 2 1 255\na", "truncated"},
    {"P5 2 1 255\n", "truncated"},
    {"P5 2 1 255", "truncated"},
    {"P5 2 1 255#ab", "truncated"},
    {"P5 2 1 255#\na", "truncated"},
    {"P5 2 1#1 255\nab", "header"},
    {"P5 2 1", "truncated"},
    {"P5 ", "truncated"},
    {"P5 0 1 255\nab", "header"},
    {"P5 2 0 255\nab", "header"},
    {"P5 2 1 0\nab", "header"},
    {"P5 2 1 65536\nab", "header"},
    {"P5 99999999999999999999 1 255\nab", "header"},
    {"P5 -2 1 255\nab", "header"},
    {"P5 2 1 255xab", "header"},
    {"P5 2 1 99\nab", NULL},
    {"P5 2 1 97\nab", "above the maximum 97"},
    {"P5 99999 99999 255\nab", "--max-pixels"},
    {"P2 1 1 255\n9\n", NULL},
    {"P4 1 1\n9", NULL},
    {"P4 9 1\n9", "truncated"},
    {"P4 9#1", "truncated"},
    {"P4 9 x\n9", "width and height, two whole numbers"},
    {"P1#c\n3 2 1#c\n01\n1 0 #c\n0", NULL},
    {"P1 3 2\n01110", "truncated"},
    {"P1 2 1\n02", "above the maximum 1"},
    {"P1 2 1\n0a", "no part of a number"},
    {"P2 2 1 255\n9", "truncated"},
    {"P2 2 1 255\n9 #8", "truncated"},
    {"P2 2 1 255\n9 256", "a sample of 256 is above the maximum 255"},
    {"P2 2 1 999\n9 99999999999", "a sample of 65536 is above the maximum 999"},
    {"P2 2 1 255\n9 -8", "no part of a number"},
    {"P3 1 1 7\n0 1 7", NULL},
    {"P7\nWIDTH 1\n#c\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nENDHDR\nabc", NULL},
    {"P7\nENDHDR\nabc", "the header is not WIDTH, HEIGHT, DEPTH and MAXVAL"},
    {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nENDHDR", "truncated"},
    {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 0\nENDHDR\nabc", "1 to 65535"},
    {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\nabcde", "5 channels"},
    {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\nabcd", "'CMYK'"},
    {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\nabc",
     "3 channels and the tuple type 'GRAYSCALE'"},
    {"P7\nTUPLTYPE \t\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE\nENDHDR\nabc", NULL},
    {"P7\nTUPLTYPE#c\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\nabc", NULL},
    {"P7\nTUPLTYPE RGB\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE ALPHA\nENDHDR\nabcd",
     "several tuple types"},
    {"P7\nWIDE 1\nENDHDR\nabc", "a line that no PAM has"},
    {"Pf\n1 1 -1.0\n9999", NULL},
    {"PF\t1\n1 +2.5e1\n999999999999", NULL},
    {"Pf#c\n1 1 -1\n9999", NULL},
    {"Pf\n1 1 -1.0\n999", "truncated"},
    {"Pf\n1 1 -1.0", "truncated"},
    {"Pf\n1 1 0.0\n9999", "header"},
    {"Pf\n1 1 -0\n9999", "header"},
    {"Pf\n1 1 1e999\n9999", "header"},
    {"Pf\n1 1 nan\n9999", "header"},
    {"Pf\n1 1 1x\n9999", "header"},
    {"Pf\n1 -1.0\n9999", "header"},
    {"Pf\n0 1 -1.0\n9999", "header"},
    {"Pf\n99999 99999 -1.0\n9999", "--max-pixels"},
    {"Pfx1 1 -1.0\n9999", "not a PNG"},
    {"P5", "not a PNG, JPEG, PGM, "},
    {"GIF89a", "this is GIF, which gconv does not read; 'vips copy' converts it"},
    {"", "empty"},
};

TEST(pnm_headers)
{
    for (size_t i = 0; i < COUNT(headers); i++) {
        picture result;
        save_file("p", headers[i].text, strlen(headers[i].text));
        gconv_status status = read_picture("p", NULL, 1, &result, &error);
        if (headers[i].message == NULL && status == GCONV_OK) {
            free_picture(&result);
            continue;
        }
        if (headers[i].message == NULL || status == GCONV_OK ||
            strstr(error.message, headers[i].message) == NULL)
            fail_msg("'%s' gave '%s'", headers[i].text, error.message);
    }
}

/* The data begin where netpbm's reader finds them. */
TEST(comments_in_pnm_headers)
{
    static const struct {
        const char *text;
        int first; /* the first sample */
    } cases[] = {
        {"P5\n4 3\n255#c\nABCDEFGHIJKL", 'A'},
        {"P5#\n4#4\n3#255\r255#\rABCDEFGHIJKL", 'A'},
        {"P5#c\n#d\n 4 #5 5\n\n#e\n3\n#f\n255#c#c\nABCDEFGHIJKL", 'A'},
        {"P5 4 3 255#c\r\nABCDEFGHIJK", '\n'},
        {"P5 4 3 255 #BCDEFGHIJKL", '#'},
        {"P5 4 3 255\n\nBCDEFGHIJKL", '\n'},
        {"P6 2 2#\n255#c\nABCDEFGHIJKL", 'A'},
        {"Pf#c\n1#\n3#\n-255#c\nABCDEFGHIJKL", 'I'}, /* the last row comes first */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        save_file("p", cases[i].text, strlen(cases[i].text));
        OWNED_PICTURE result = must_read("p", NULL);
        assert_int_equal(result.rows[0], cases[i].first);
    }
}

TEST(pnm_samples_are_stretched)
{
    static const uint32_t maxvals[] = {1, 2, 99, 254, 256, 1000, 65534};
    for (size_t m = 0; m < COUNT(maxvals); m++) {
        uint32_t maxval = maxvals[m];
        size_t sample_bytes = maxval > 255 ? 2 : 1;
        OWNED_BLOB file = {malloc(64 + (maxval + 1) * sample_bytes), 0};
        assert_non_null(file.bytes);
        file.size = (size_t)sprintf((char *)file.bytes, "P5 %u 1 %u\n", maxval + 1, maxval);
        for (uint32_t v = 0; v <= maxval; v++) {
            if (sample_bytes == 2)
                file.bytes[file.size++] = (unsigned char)(v >> 8);
            file.bytes[file.size++] = (unsigned char)v;
        }
        save_file("levels", file.bytes, file.size);
        OWNED_PICTURE result = must_read("levels", NULL);
        double full = sample_bytes == 2 ? 65535 : 255;
        for (uint32_t v = 0; v <= maxval; v++)
            assert_int_equal(sample_at(&result, v, 0, 0), (unsigned int)(v * full / maxval + 0.5));
    }
}

/* All 16-bit samples, divided by 257 and rounded to float32, lead back to themselves. */
TEST(pfm_keeps_16_bits)
{
    enum { LEVELS = 65536 };
    gconv_reader_options options = as_stored();
    picture source = new_picture(LEVELS, 1, 1, 32);
    float *samples = (float *)(void *)source.rows;
    for (int v = 0; v < LEVELS; v++)
        samples[v] = (float)v;
    gconv_writer_options writing = writing_as(GCONV_FORMAT_PFM);
    writing.shape = source.shape;
    writing.white = 65535;
    gconv_writer *writer = opened_writer("w.pfm", &writing);
    assert_ok(gconv_writer_write(writer, 1, source.rows, 0, &error));
    assert_ok(gconv_writer_finish(writer, &error));
    gconv_writer_free(writer);
    blob file = load_file("w.pfm");
    assert_memory_equal(file.bytes, "Pf\n65536 1\n-65535\n", 19);
    free(file.bytes);
    picture result = must_read("w.pfm", &options);
    const float *levels = (const float *)(const void *)result.rows;
    for (int v = 0; v < LEVELS; v++) {
        assert_true(levels[v] == (float)(255.0 * v / 65535));
        assert_int_equal(lrint((double)levels[v] * 257), v);
    }
    free_picture(&result);
    options.white = 255; /* takes the place of what the header says */
    result = must_read("w.pfm", &options);
    assert_memory_equal(result.rows, source.rows, source.row_bytes);
    free_picture(&result);
    free_picture(&source);
    static const double wrong[] = {-1, HUGE_VAL, NAN};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        gconv_reader *reader;
        options.white = writing.white = wrong[i];
        assert_invalid(gconv_reader_open("w.pfm", &options, &reader, &error));
        assert_invalid(gconv_writer_open("x.pfm", &writing, &writer, &error));
    }
}

TEST(bits_become_samples)
{
    static const gconv_format formats[] = {GCONV_FORMAT_PPM, GCONV_FORMAT_PGM, GCONV_FORMAT_PBM,
                                           GCONV_FORMAT_PAM, GCONV_FORMAT_NPY};
    OWNED_PICTURE source = make_picture(21, 6, 1, 1);
    for (size_t f = 0; f < COUNT(formats); f++) {
        must_write("bits", formats[f], &source);
        OWNED_PICTURE result = must_read("bits", NULL);
        assert_int_equal(result.shape.channels, f == 0 ? 3 : 1);
        for (uint32_t y = 0; y < 6; y++)
            for (uint32_t x = 0; x < 21; x++)
                for (int c = 0; c < result.shape.channels; c++)
                    assert_int_equal(sample_at(&result, x, y, c),
                                     source.rows[y * 3 + x / 8] << x % 8 & 0x80 ? 255 : 0);
    }
}

TEST(channels_are_adapted)
{
    static const struct {
        gconv_format format;
        int channels;
        int written;
    } cases[] = {
        {GCONV_FORMAT_PGM, 2, 1}, {GCONV_FORMAT_PGM, 3, 1}, {GCONV_FORMAT_PGM, 4, 1},
        {GCONV_FORMAT_PPM, 1, 3}, {GCONV_FORMAT_PPM, 2, 3}, {GCONV_FORMAT_PPM, 4, 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int depth = 8; depth <= 16; depth += 8) {
            OWNED_PICTURE source = make_picture(19, 5, cases[i].channels, depth);
            warnings_seen seen = {0};
            gconv_writer_options options = writing_as(cases[i].format);
            options.warn = remember_warning;
            options.warn_user = &seen;
            assert_ok(write_picture("adapted", &options, 2, &source, NULL));
            bool loses_colours = cases[i].channels > 2 && cases[i].written == 1;
            assert_int_equal(seen.count, (cases[i].channels % 2 == 0) + loses_colours);
            OWNED_PICTURE result = must_read("adapted", NULL);
            assert_int_equal(result.shape.channels, cases[i].written);
            for (uint32_t y = 0; y < 5; y++)
                for (uint32_t x = 0; x < 19; x++)
                    for (int c = 0; c < cases[i].written; c++) {
                        unsigned int expected = sample_at(&source, x, y, 0);
                        if (cases[i].channels >= 3 && cases[i].written == 3)
                            expected = sample_at(&source, x, y, c);
                        else if (cases[i].channels >= 3)
                            expected = gc_luma(expected, sample_at(&source, x, y, 1),
                                               sample_at(&source, x, y, 2));
                        assert_int_equal(sample_at(&result, x, y, c), expected);
                    }
        }
}

TEST(pfm_is_bottom_up)
{
    OWNED_PICTURE source = new_picture(2, 2, 4, 32);
    for (int i = 0; i < 16; i++)
        ((float *)(void *)source.rows)[i] = (float)i - 0.5f;
    must_write("f", GCONV_FORMAT_PFM, &source);
    OWNED_BLOB whole = load_file("f");
    static const char header[] = "PF\n2 2\n-255\n";
    assert_int_equal(whole.size, strlen(header) + 4 * 12);
    assert_memory_equal(whole.bytes, header, strlen(header));
    static const float expected[12] = {7.5f,  8.5f, 9.5f, 11.5f, 12.5f, 13.5f,
                                       -0.5f, 0.5f, 1.5f, 3.5f,  4.5f,  5.5f};
    assert_memory_equal(whole.bytes + strlen(header), expected, sizeof expected);
}

/* A PFM of 2 x 1 samples with these bits, in this byte order. */
static void save_pfm(const char *name, const uint32_t bits[2], bool big)
{
    char bytes[64];
    int size = snprintf(bytes, sizeof bytes, "Pf\n2 1\n%s\n", big ? "1.0" : "-1.0");
    for (int i = 0; i < 2; i++)
        for (int b = 0; b < 4; b++)
            bytes[size++] = (char)(bits[i] >> 8 * (big ? 3 - b : b));
    save_file(name, bytes, (size_t)size);
}

TEST(pfm_in_both_byte_orders)
{
    /* 1.5 and -2^-149 */
    static const uint32_t bits[2] = {0x3fc00000, 0x80000001};
    for (int big = 0; big < 2; big++) {
        save_pfm("order", bits, big);
        OWNED_PICTURE result = must_read("order", NULL);
        assert_int_equal(result.shape.depth, 32);
        assert_int_equal(result.shape.channels, 1);
        assert_memory_equal(result.rows, bits, sizeof bits);
    }
}

TEST(pfm_samples_have_limits)
{
    static const uint32_t wrong[] = {0x7f800000, 0xff800000, 0x7fc00000,
                                     0xffc00001, 0x4f800001, 0xcf800001};
    OWNED_PICTURE result;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        save_pfm("limits", (uint32_t[]){0, wrong[i]}, i % 2 == 0);
        assert_fails(read_picture("limits", NULL, 1, &result, &error), GCONV_ERROR_FORMAT, &error,
                     "a sample is infinite, not a number, or beyond");
    }
    save_pfm("limits", (uint32_t[]){0x4f800000, 0xcf800000}, true); /* 2^32 */
    result = must_read("limits", NULL);
}

/* Whether rows are asked for all at once or one by one, and whatever orientation is applied. */
TEST(pfm_is_read_as_written)
{
    for (int n = 0; n < 8; n++) {
        OWNED_PICTURE source = new_picture(7, 5, n % 2 == 0 ? 1 : 3, 32);
        OWNED_PICTURE result;
        for (size_t i = 0; i < source.shape.height * source.row_bytes / 4; i++)
            ((float *)(void *)source.rows)[i] = (float)i / 3 - 20;
        must_write("f", GCONV_FORMAT_PFM, &source);
        gconv_reader_options options = as_stored();
        options.auto_orient = n / 2 % 2 == 0;
        assert_ok(read_picture("f", &options, n / 4 == 0 ? 1 : 5, &result, NULL));
        assert_memory_equal(&result.shape, &source.shape, sizeof source.shape);
        assert_memory_equal(result.rows, source.rows, source.shape.height * source.row_bytes);
    }
}

TEST(grey_of_floats)
{
    static const float colours[] = {1.25f, 1.25f, 1.25f, 65536, 0, 0, 0, -65536, 0, 0, 0, 65536};
    static const float greys[] = {1.25f, 19595, -38470, 7471};
    OWNED_PICTURE source = new_picture(4, 1, 3, 32);
    memcpy(source.rows, colours, sizeof colours);
    must_write("f", GCONV_FORMAT_PFM, &source);
    gconv_reader_options options = as_stored();
    options.grey = true;
    OWNED_PICTURE result = must_read("f", &options);
    assert_int_equal(result.shape.channels, 1);
    assert_memory_equal(result.rows, greys, sizeof greys);
}

/* Writes rows of a picture as a part of it. */
static gconv_status write_part(const char *path, const picture *whole, uint32_t first,
                               uint32_t count, uint32_t part_of, gconv_format format,
                               gconv_error *error)
{
    gconv_writer_options options = gconv_writer_options_default();
    picture part = *whole;
    part.shape.height = count;
    part.rows += first * whole->row_bytes;
    options.format = format;
    options.part_of = part_of;
    options.part_first = first;
    return write_picture(path, &options, 3, &part, error);
}

TEST(parts_make_the_whole)
{
    OWNED_PICTURE whole = make_picture(9, 20, 3, 16);
    must_write("whole", GCONV_FORMAT_PPM, &whole);
    OWNED_BLOB wanted = load_file("whole");
    size_t at = 0;
    for (uint32_t y = 0; y < 20; y += 6) {
        uint32_t count = y + 6 < 20 ? 6 : 20 - y;
        assert_ok(write_part("part", &whole, y, count, 20, GCONV_FORMAT_PPM, &error));
        OWNED_BLOB part = load_file("part");
        assert_true(part.size <= wanted.size - at);
        assert_memory_equal(part.bytes, wanted.bytes + at, part.size);
        at += part.size;
    }
    assert_int_equal(at, wanted.size);
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_PPM, GCONV_FORMAT_PPM};
    static const uint32_t firsts[] = {0, 4, 19}, counts[] = {5, 17, 1}, heights[] = {20, 20, 19};
    for (int i = 0; i < 3; i++)
        assert_invalid(
            write_part("no", &whole, firsts[i], counts[i], heights[i], formats[i], &error));
    assert_string_equal(error.message, "1 rows from row 19 on are no part of an image of 19 rows");
}

static void assert_selected(const char *path, const picture *whole, uint32_t first, uint32_t count)
{
    gconv_error error;
    OWNED_PICTURE rows =
        new_picture(whole->shape.width, count, whole->shape.channels, whole->shape.depth);
    bool more = true;
    OWNED_READER reader = opened_reader(path, NULL);
    const gconv_source *source = gconv_reader_source(reader);
    assert_ok(source->select(source->user, first, count, &error));
    for (uint32_t y = 0; y < count; y++)
        assert_ok(
            source->read(source->user, 1, rows.rows + y * rows.row_bytes, rows.row_bytes, &error));
    assert_memory_equal(rows.rows, whole->rows + first * rows.row_bytes, count * rows.row_bytes);
    assert_invalid(source->read(source->user, 1, rows.rows, rows.row_bytes, &error));
    assert_ok(gconv_reader_finish(reader, &error));
    assert_ok(gconv_reader_next(reader, &more, &error));
    assert_false(more);
    assert_invalid(source->select(source->user, 0, 1, &error));
}

/* Rows alone, of files beyond the reader's buffer and of several images. */
TEST(readers_select_rows)
{
    static const gconv_format formats[] = {GCONV_FORMAT_PGM, GCONV_FORMAT_PFM, GCONV_FORMAT_PNG};
    static const int depths[] = {16, 32, 8};
    for (int i = 0; i < 3; i++) {
        OWNED_PICTURE whole = make_picture(400, 700, 1, depths[i]);
        for (size_t v = 0; depths[i] == 32 && v < 400 * 700; v++)
            ((float *)(void *)whole.rows)[v] = (float)v / 8;
        must_write("rows", formats[i], &whole);
        blob file = load_file("rows");
        if (formats[i] != GCONV_FORMAT_PNG)
            splice(&file, file.size, "P5 1 1 255 x", 12);
        save_file("rows", file.bytes, file.size);
        free(file.bytes);
        assert_selected("rows", &whole, 0, 1);
        assert_selected("rows", &whole, 650, 50);
        assert_selected("rows", &whole, 1, 600);
    }
}

TEST(rows_of_texts_are_selected)
{
    static const char text[] = "P2 2 4 300 1 2 3 4 5#6\n6\n7 8 P1 2 3 01 10 11";
    uint16_t row[2];
    save_file("text", text, strlen(text));
    OWNED_READER reader = opened_reader("text", NULL);
    const gconv_source *source = gconv_reader_source(reader);
    assert_ok(source->select(source->user, 2, 1, NULL));
    assert_ok(source->read(source->user, 1, row, sizeof row, NULL));
    for (uint32_t x = 0; x < 2; x++)
        assert_int_equal(row[x], (65535 * (5 + x) + 150) / 300);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
