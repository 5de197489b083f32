/* Several images behind each other: what the library promises of gconv_reader_next and
 * gconv_writer_next. */
#include "io_support.h"

#include <sys/socket.h>

static gconv_writer_options writing(const picture *source, gconv_format format)
{
    gconv_writer_options options = writing_as(format);
    options.shape = source->shape;
    return options;
}

static void put_rows(gconv_writer *writer, const picture *source)
{
    assert_ok(
        gconv_writer_write(writer, source->shape.height, source->rows, source->row_bytes, NULL));
}

static void assert_next_is(gconv_reader *reader, const picture *wanted)
{
    const gconv_shape *shape = gconv_reader_shape(reader);
    OWNED_PICTURE got = new_picture(shape->width, shape->height, shape->channels, shape->depth);
    assert_ok(gconv_reader_read(reader, shape->height, got.rows, got.row_bytes, NULL));
    assert_ok(gconv_reader_finish(reader, NULL));
    assert_same_picture(&got, wanted);
}

TEST(images_follow_each_other)
{
    OWNED_PICTURE grey = make_picture(21, 17, 1, 8);
    OWNED_PICTURE colour = make_picture(5, 40, 3, 16);
    bool more;
    gconv_writer_options options = writing(&grey, GCONV_FORMAT_PGM);
    gconv_writer *writer = opened_writer("two", &options);
    gconv_writer_options next = writing(&colour, GCONV_FORMAT_PPM);
    assert_invalid(gconv_writer_next(writer, &next, &error)); /* no rows */
    put_rows(writer, &grey);
    next.format = GCONV_FORMAT_PNG;
    assert_invalid(gconv_writer_next(writer, &next, &error));
    next.format = GCONV_FORMAT_PPM;
    assert_ok(gconv_writer_next(writer, &next, &error));
    assert_invalid(gconv_writer_finish(writer, &error));
    put_rows(writer, &colour);
    assert_ok(gconv_writer_finish(writer, &error));
    gconv_writer_free(writer);

    gconv_reader_options reading = gconv_reader_options_default();
    warnings_seen seen = {0};
    reading.warn = remember_warning;
    reading.warn_user = &seen;
    OWNED_READER reader = opened_reader("two", &reading);
    assert_invalid(gconv_reader_next(reader, &more, &error));
    assert_next_is(reader, &grey);
    assert_ok(gconv_reader_next(reader, &more, &error));
    assert_true(more);
    assert_int_equal(gconv_reader_format(reader), GCONV_FORMAT_PPM);
    assert_next_is(reader, &colour);
    for (int i = 0; i < 2; i++) {
        assert_ok(gconv_reader_next(reader, &more, &error));
        assert_false(more);
    }
    assert_int_equal(seen.count, 0);
}

TEST(a_next_image_that_is_broken)
{
    static const char bytes[] = "P5 1 1 255\nxP6 0 1 255\n";
    unsigned char pixel;
    bool more = true;
    save_file("broken", bytes, sizeof bytes - 1);
    OWNED_READER reader = opened_reader("broken", NULL);
    assert_ok(gconv_reader_read(reader, 1, &pixel, 1, &error));
    assert_ok(gconv_reader_finish(reader, &error));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gconv_reader_next(reader, &more, &error), GCONV_ERROR_FORMAT);
        assert_true(more); /* the failure is its own */
        assert_contains(error.message, "width or height of 0");
    }
    assert_int_equal(gconv_reader_format(reader), GCONV_FORMAT_PGM); /* the one before */
    assert_int_equal(gconv_reader_shape(reader)->width, 1);
}

TEST(what_follows_an_image_is_no_failure_of_it)
{
    static const char bytes[] = "YUV4MPEG2 W1 H1 F1:1 Cmono\nFRAME\nxfilm";
    for (int whole = 0; whole < 2; whole++) {
        gconv_reader_options options = gconv_reader_options_default();
        unsigned char pixel;
        bool more = true;
        options.whole = whole;
        save_file("film", bytes, sizeof bytes - 1);
        OWNED_READER reader = opened_reader("film", &options);
        assert_ok(gconv_reader_read(reader, 1, &pixel, 1, &error));
        if (whole)
            assert_int_equal(gconv_reader_finish(reader, &error), GCONV_ERROR_FORMAT);
        else
            assert_ok(gconv_reader_finish(reader, &error));
        assert_int_equal(gconv_reader_next(reader, &more, &error), GCONV_ERROR_FORMAT);
        assert_false(more);
        assert_contains(error.message, "does not begin with FRAME");
    }
}

/* A socket with unread bytes on the other side, which is closed, fails after what was sent. */
TEST(a_failure_behind_an_image_is_no_image)
{
    static const char bytes[12 + 90] = "P5 90 1 255\n"; /* the header is looked for in 64 bytes */
    int sides[2], before = dup(STDIN_FILENO);
    unsigned char row[90];
    bool more = true;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sides), 0);
    assert_int_equal(write(sides[0], "unread", 6), 6);
    assert_int_equal(write(sides[1], bytes, sizeof bytes), (ssize_t)sizeof bytes);
    assert_int_equal(close(sides[1]), 0);
    assert_true(dup2(sides[0], STDIN_FILENO) >= 0);
    close(sides[0]);
    gconv_reader *reader = opened_reader("-", NULL);
    assert_ok(gconv_reader_read(reader, 1, row, sizeof row, &error));
    assert_ok(gconv_reader_finish(reader, &error));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gconv_reader_next(reader, &more, &error), GCONV_ERROR_READ);
        assert_false(more);
    }
    gconv_reader_free(reader);
    dup2(before, STDIN_FILENO);
    close(before);
}

TEST(pages_are_passed_over)
{
    static const char bytes[] = "P5 2 2 255\nabcdP2 1 1 255\n7 Pf 1 1 -1\n\0\0\300\177"
                                "P5 1 2 255\nxy";
    static const struct {
        uint32_t page, last;
        int images; /* before the end, or the failure */
        const char *message;
    } cases[] = {{0, 0, 2, "not a number"},
                 {0, 2, 2, NULL},
                 {1, 1, 1, NULL},
                 {2, 0, 1, NULL},
                 {4, 4, 1, NULL},
                 {3, 3, 0, "nan at x 0, y 0"},
                 {4, 5, 1, "no page 5: the file has 4"},
                 {5, 9, 0, "no page 5: the file has 4"},
                 {2, 1, 0, "before the first"}};
    save_file("four", bytes, sizeof bytes - 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        gconv_reader_options options = gconv_reader_options_default();
        OWNED_READER reader = NULL;
        unsigned char rows[8];
        int images = 0;
        bool more = true;
        options.page = cases[i].page;
        options.page_last = cases[i].last;
        gconv_status status = gconv_reader_open("four", &options, &reader, &error);
        while (status == GCONV_OK && more) {
            const gconv_shape *shape = gconv_reader_shape(reader);
            status = gconv_reader_read(reader, shape->height, rows, gconv_shape_row_bytes(shape),
                                       &error);
            images += status == GCONV_OK;
            if (status == GCONV_OK)
                status = gconv_reader_finish(reader, &error);
            if (status == GCONV_OK)
                status = gconv_reader_next(reader, &more, &error);
        }
        assert_int_equal(images, cases[i].images);
        if ((cases[i].message == NULL) != (status == GCONV_OK) ||
            (cases[i].message != NULL && strstr(error.message, cases[i].message) == NULL))
            fail_msg("case %zu gave '%s'", i, error.message);
    }
}

/* Formats of one image a file. */
TEST(a_png_writer_has_no_next)
{
    OWNED_PICTURE grey = make_picture(5, 4, 1, 8);
    bool more = true;
    gconv_writer_options options = writing(&grey, GCONV_FORMAT_PNG);
    gconv_writer *writer = opened_writer("one.png", &options);
    put_rows(writer, &grey);
    options.format = GCONV_FORMAT_PGM;
    assert_invalid(gconv_writer_next(writer, &options, &error));
    assert_ok(gconv_writer_finish(writer, &error));
    gconv_writer_free(writer);
    OWNED_READER reader = opened_reader("one.png", NULL);
    assert_next_is(reader, &grey);
    assert_ok(gconv_reader_next(reader, &more, &error));
    assert_false(more);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
