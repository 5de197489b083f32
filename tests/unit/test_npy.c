/* NPY: headers, types, orders, and what is written. tests/formats/arrays.py asks NumPy itself. */
#include "io_support.h"

/* Saves a file of this version whose header is `text`, and data behind it. */
static void save_npy(int version, const char *text, const void *data, size_t size)
{
    unsigned char bytes[512] = "\x93NUMPY";
    size_t length = strlen(text), prefix = version == 1 ? 10 : 12;
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + prefix, text, length);
    memcpy(bytes + prefix + length, data, size);
    save_file("n.npy", bytes, prefix + length + size);
}

TEST(npy_headers)
{
    static const struct {
        const char *text;
        const char *message; /* part of it; NULL where the file is right */
    } cases[] = {
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  \n", NULL},
        {"{\"shape\":(2L,3L),\"fortran_order\":True,\"descr\":\"u1\"}", NULL},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2, 3)}", NULL},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1, 3), }", NULL},
        {"{'descr': '=u2', 'fortran_order': False, 'shape': (1, 1, 1,), }", NULL},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1), }", "an array of type <i4"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1), }", "an array of type <f2"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "of records"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "an array of no number"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }", "an array of 6: an image"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2, 5), }", "3 x 2 x 5: an image"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 0), }", "2 x 3 x 0: an image"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3), }", "a width or height of 0"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 9999999999), }", "of more than"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999, 99999), }", "--max-pixels"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (9, 9), }", "truncated"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (9, 9)", "not a dictionary"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (9 9)}", "not a dictionary"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "not a dict"},
        {"{'descr': '|u1', 'fortran_order': False 'shape': (9, 9)}", "not a dictionary"},
        {"{'descr': '|u1', 'fortran_order': None, 'shape': (9, 9)}", "not a dictionary"},
        {"{'descr': 'a type of many bytes', 'fortran_order': False}", "not a dictionary"},
        {"{'descr': '|u1', 'shape': (9, 9)}", "not a dictionary"},
        {"{'descr': '|u1', 'order': False, 'shape': (9, 9)}", "not a dictionary"},
        {"", "not a dictionary"},
    };
    for (size_t i = 0; i < 3 * COUNT(cases); i++) {
        const char *message = cases[i / 3].message;
        picture result;
        save_npy((int)(i % 3) + 1, cases[i / 3].text, "abcdef", 6);
        gconv_status status = read_picture("n.npy", NULL, 1, &result, &error);
        if (status == GCONV_OK)
            free_picture(&result);
        if ((message == NULL) != (status == GCONV_OK) ||
            (message != NULL && strstr(error.message, message) == NULL))
            fail_msg("'%s' gave '%s'", cases[i / 3].text, error.message);
    }
    save_file("n.npy", "\x93NUMPY\4\0\0\0\0\0\0", 13);
    gconv_reader *reader;
    assert_int_equal(gconv_reader_open("n.npy", NULL, &reader, &error), GCONV_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "version 4"));
    save_file("n.npy", "\x93NUMPY\2\0\0\0\1\1{}", 14);
    assert_int_equal(gconv_reader_open("n.npy", NULL, &reader, &error), GCONV_ERROR_LIMIT);
}

TEST(npy_orders)
{
    static const char *const orders[] = {"False", "True"};
    for (int columns = 0; columns < 2; columns++) {
        char text[128];
        snprintf(text, sizeof text, "{'descr': '>u2', 'fortran_order': %s, 'shape': (2, 3, 2)}",
                 orders[columns]);
        save_npy(1, text, "\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l", 24);
        OWNED_PICTURE result = must_read("n.npy", NULL);
        for (uint32_t y = 0; y < 2; y++)
            for (uint32_t x = 0; x < 3; x++)
                for (int c = 0; c < 2; c++)
                    assert_int_equal(sample_at(&result, x, y, c),
                                     'a' + (columns ? (uint32_t)c * 6 + x * 2 + y
                                                    : y * 6 + x * 2 + (uint32_t)c));
        gconv_reader *reader = opened_reader("n.npy", NULL);
        const gconv_source *source = gconv_reader_source(reader);
        uint16_t row[6];
        assert_ok(source->select(source->user, 1, 1, NULL));
        assert_ok(source->read(source->user, 1, row, sizeof row, NULL));
        assert_memory_equal(row, result.rows + result.row_bytes, sizeof row);
        gconv_reader_free(reader);
    }
}

TEST(npy_doubles_are_rounded_with_a_warning)
{
    static const char text[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}";
    static const struct {
        double numbers[2];
        int warnings;
    } cases[] = {{{1.5, 300}, 1}, {{0.1, 20}, 1}, {{1.5, 20}, 0}, {{0.25, 0.1}, 2}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        gconv_reader_options options = gconv_reader_options_default();
        warnings_seen seen = {0};
        options.warn = remember_warning;
        options.warn_user = &seen;
        save_npy(1, text, cases[i].numbers, 16);
        OWNED_PICTURE result = must_read("n.npy", &options);
        for (int x = 0; x < 2; x++)
            assert_true(((float *)(void *)result.rows)[x] == (float)cases[i].numbers[x]);
        assert_int_equal(seen.count, cases[i].warnings);
    }
    static const double wrong[2] = {1e300, 0};
    picture result;
    save_npy(1, text, wrong, 16);
    assert_int_equal(read_picture("n.npy", NULL, 1, &result, &error), GCONV_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "infinite"));
}

TEST(npy_keeps_what_it_holds)
{
    static const int depths[] = {8, 16, 32};
    for (int channels = 1; channels <= 4; channels++)
        for (size_t i = 0; i < COUNT(depths); i++) {
            OWNED_PICTURE source = make_picture(21, 9, channels, depths[i] == 32 ? 8 : depths[i]);
            if (depths[i] == 32) {
                picture floats = new_picture(21, 9, channels, 32);
                for (size_t s = 0; s < source.row_bytes * 9; s++)
                    ((float *)(void *)floats.rows)[s] = (float)source.rows[s] / 7;
                free_picture(&source);
                source = floats;
            }
            must_write("kept.npy", GCONV_FORMAT_NPY, &source);
            OWNED_BLOB file = load_file("kept.npy");
            assert_int_equal(file.size, 128 + source.row_bytes * 9);
            OWNED_PICTURE result = must_read("kept.npy", NULL);
            assert_same_picture(&result, &source);
        }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
