/* PGM, PPM and PFM: headers, levels, and what is written in place of channels that they lack. */
#include "io_support.h"

#include "io/grey.h"

static void pnm_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message; /* part of it; NULL where the file is right */
    } cases[] = {
        {"P5 2 1 255\nab", NULL},
        {"P5\n# a comment\n2#x\n 1\t255\rab", NULL},
        {"P5#c\n2 1 255 ab", NULL},
        {"P6 1 1 255\nabc", NULL},
        {"P5 2 1 255\na", "truncated"},
        {"P5 2 1 255\n", "truncated"},
        {"P5 2 1 255", "truncated"},
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
        {"P2 1 1 255\n9\n", "only binary"},
        {"P4 1 1 \n9\n", "only binary"},
        {"Pf\n1 1 -1.0\n9999", "PFM"},
        {"P5", "not a PNG, JPEG, PGM or PPM image"},
        {"GIF89a", "not a PNG, JPEG, PGM or PPM image"},
        {"", "empty"},
    };
    gconv_reader_options options = as_stored();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gconv_error error = {0};
        picture result;
        save_file(scratch_path("p"), cases[i].text, strlen(cases[i].text));
        gconv_status status = read_picture(scratch_path("p"), &options, 1, &result, &error);
        if (cases[i].message == NULL && status == GCONV_OK) {
            free_picture(&result);
            continue;
        }
        if (cases[i].message == NULL || status == GCONV_OK ||
            strstr(error.message, cases[i].message) == NULL)
            fail_msg("'%s' gave '%s'", cases[i].text, error.message);
    }
}

static void pnm_samples_are_stretched(void **state)
{
    (void)state;
    static const uint32_t maxvals[] = {1, 2, 99, 254, 256, 1000, 65534};
    gconv_reader_options options = as_stored();
    for (size_t m = 0; m < sizeof maxvals / sizeof maxvals[0]; m++) {
        uint32_t maxval = maxvals[m];
        size_t sample_bytes = maxval > 255 ? 2 : 1;
        blob file = {malloc(64 + (maxval + 1) * sample_bytes), 0};
        assert_non_null(file.bytes);
        file.size = (size_t)sprintf((char *)file.bytes, "P5 %u 1 %u\n", maxval + 1, maxval);
        for (uint32_t v = 0; v <= maxval; v++) {
            if (sample_bytes == 2)
                file.bytes[file.size++] = (unsigned char)(v >> 8);
            file.bytes[file.size++] = (unsigned char)v;
        }
        save_file(scratch_path("levels"), file.bytes, file.size);
        picture result = must_read(scratch_path("levels"), &options);
        double full = sample_bytes == 2 ? 65535 : 255;
        for (uint32_t v = 0; v <= maxval; v++)
            assert_int_equal(sample_at(&result, v, 0, 0), (unsigned int)(v * full / maxval + 0.5));
        free_picture(&result);
        free(file.bytes);
    }
}

static void bits_become_pnm(void **state)
{
    (void)state;
    static const gconv_format formats[] = {GCONV_FORMAT_PGM, GCONV_FORMAT_PPM};
    gconv_reader_options options = as_stored();
    picture source = make_picture(21, 6, 1, 1);
    for (int f = 0; f < 2; f++) {
        must_write(scratch_path("bits"), formats[f], &source);
        picture result = must_read(scratch_path("bits"), &options);
        assert_int_equal(result.shape.channels, f == 0 ? 1 : 3);
        for (uint32_t y = 0; y < 6; y++)
            for (uint32_t x = 0; x < 21; x++)
                for (int c = 0; c < result.shape.channels; c++)
                    assert_int_equal(sample_at(&result, x, y, c),
                                     source.rows[y * 3 + x / 8] << x % 8 & 0x80 ? 255 : 0);
        free_picture(&result);
    }
    free_picture(&source);
}

static void channels_are_adapted(void **state)
{
    (void)state;
    static const struct {
        gconv_format format;
        int channels;
        int written;
    } cases[] = {
        {GCONV_FORMAT_PGM, 2, 1}, {GCONV_FORMAT_PGM, 3, 1}, {GCONV_FORMAT_PGM, 4, 1},
        {GCONV_FORMAT_PPM, 1, 3}, {GCONV_FORMAT_PPM, 2, 3}, {GCONV_FORMAT_PPM, 4, 3},
    };
    gconv_reader_options reading = as_stored();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int depth = 8; depth <= 16; depth += 8) {
            picture source = make_picture(19, 5, cases[i].channels, depth);
            warnings_seen seen = {0};
            gconv_writer_options options = gconv_writer_options_default();
            options.format = cases[i].format;
            options.warn = remember_warning;
            options.warn_user = &seen;
            assert_int_equal(write_picture(scratch_path("adapted"), &options, 2, &source, NULL),
                             GCONV_OK);
            assert_int_equal(seen.count, cases[i].channels % 2 == 0);
            picture result = must_read(scratch_path("adapted"), &reading);
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
            free_picture(&source);
            free_picture(&result);
        }
}

static void pfm_is_bottom_up(void **state)
{
    (void)state;
    picture source = new_picture(2, 2, 4, 32);
    for (int i = 0; i < 16; i++)
        ((float *)(void *)source.rows)[i] = (float)i - 0.5f;
    must_write(scratch_path("f"), GCONV_FORMAT_PFM, &source);
    blob whole = load_file(scratch_path("f"));
    static const char header[] = "PF\n2 2\n-1.0\n";
    assert_int_equal(whole.size, strlen(header) + 4 * 12);
    assert_memory_equal(whole.bytes, header, strlen(header));
    static const float expected[12] = {7.5f,  8.5f, 9.5f, 11.5f, 12.5f, 13.5f,
                                       -0.5f, 0.5f, 1.5f, 3.5f,  4.5f,  5.5f};
    assert_memory_equal(whole.bytes + strlen(header), expected, sizeof expected);
    free(whole.bytes);
    free_picture(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pnm_headers),      cmocka_unit_test(pnm_samples_are_stretched),
        cmocka_unit_test(bits_become_pnm),  cmocka_unit_test(channels_are_adapted),
        cmocka_unit_test(pfm_is_bottom_up),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
