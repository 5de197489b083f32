/* A reader offers a JPEG as it is stored: what it says of the file, and that reading goes on in
 * either way. */
#include "container_support.h"
#include "core_support.h"
#include "exif_support.h"

#include "core/stream.h"
#include "io/jpeg/fast/header.h"
#include "io/orient.h"

/* What a test reads, and what the reader has said. */
typedef struct offered {
    gconv_reader *reader;
    gconv_source source;
    gconv_encoded picture;
    warnings_seen warnings;
} offered;

static offered o;

static int forget(void **state)
{
    (void)state;
    gconv_reader_free(o.reader);
    o = (offered){.reader = NULL};
    return 0;
}

static void open_path(const char *path, gconv_reader_options options)
{
    forget(NULL);
    options.warn = remember_warning;
    options.warn_user = &o.warnings;
    o.reader = opened_reader(path, &options);
    o.source = *gconv_reader_source(o.reader);
}

static void open_with(const char *name, gconv_reader_options options)
{
    open_path(name, options);
}

static bool offers(void)
{
    return o.source.offer != NULL && o.source.offer(o.source.user, &o.picture);
}

/* Writes a JPEG in YCbCr or grey; `sampling` as in jpeg_kind. */
static void write_jpeg(const char *name, int channels, int sampling, bool progressive)
{
    J_COLOR_SPACE given = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    J_COLOR_SPACE stored = channels == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_kind kind = {given, stored, channels, progressive, 0, sampling, NULL, 0};
    OWNED_PICTURE source = make_picture(71, 40, channels, 8);
    write_plain_jpeg(name, &kind, 90, &source);
}

/* The same in colour, 4:2:0 and baseline, which the reader offers. */
static void open_offered(const char *name)
{
    write_jpeg(name, 3, 2, false);
    open_with(name, as_stored());
    assert_true(offers());
}

/* Changes a file. Arguments of `change`: the file and `user`. */
static void change_file(const char *name, void (*change)(blob *, int), int user)
{
    OWNED_BLOB whole = load_file(name);
    change(&whole, user);
    save_file(name, whole.bytes, whole.size);
}

static void append_bytes(blob *whole, int count)
{
    OWNED char *bytes = malloc((size_t)count);
    assert_non_null(bytes);
    memset(bytes, 'x', (size_t)count);
    splice(whole, whole->size, bytes, (size_t)count);
}

static void turn(blob *whole, int orientation)
{
    unsigned char exif[EXIF_BYTES];
    make_exif(exif, orientation, true);
    add_exif_to_jpeg(whole, exif, sizeof exif);
}

/* Decodes what was offered as a device would: to `channels` channels, and upright. */
static picture decode(const gconv_encoded *encoded, int channels)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, encoded->bytes, (unsigned long)encoded->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&jpeg);
    OWNED_PICTURE stored = new_picture(jpeg.output_width, jpeg.output_height, channels, 8);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = stored.rows + jpeg.output_scanline * stored.row_bytes;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    bool swaps = gc_orientation_swaps(encoded->orientation);
    uint32_t width = stored.shape.width;
    uint32_t height = stored.shape.height;
    picture upright = new_picture(swaps ? height : width, swaps ? width : height, channels, 8);
    gc_orient_rows(
        &(gc_stored_image){stored.rows, stored.shape, stored.row_bytes, encoded->orientation}, 0,
        upright.shape.height, upright.rows, upright.row_bytes);
    return upright;
}

static void must_finish(void)
{
    assert_succeeds(gconv_reader_finish(o.reader, &why));
}

/* Reads all rows of a reader that has given none, and finishes it. */
static void assert_reads(const picture *expected)
{
    const gconv_shape *shape = gconv_reader_shape(o.reader);
    OWNED_PICTURE read = new_picture(shape->width, shape->height, shape->channels, shape->depth);
    assert_succeeds(o.source.read(o.source.user, shape->height, read.rows, read.row_bytes, &why));
    assert_same_picture(&read, expected);
    must_finish();
}

/* What is offered is a file of write_jpeg that needs no turning. */
static void assert_facts(const blob *whole, int channels, int sampling)
{
    assert_int_equal(o.picture.size, whole->size);
    assert_int_equal(o.picture.width, 71);
    assert_int_equal(o.picture.height, 40);
    assert_int_equal(o.picture.components, channels);
    assert_int_equal(o.picture.sampling_x, sampling);
    assert_int_equal(o.picture.sampling_y, sampling);
    assert_int_equal(o.picture.orientation, 1);
}

/* ---- What is offered ------------------------------------------------------------------------- */

TEST(the_facts_are_those_of_the_file)
{
    for (int channels = 1; channels <= 3; channels += 2)
        for (int sampling = 1; sampling <= (channels == 1 ? 1 : 2); sampling++) {
            write_jpeg("facts.jpg", channels, sampling, false);
            OWNED_BLOB whole = load_file("facts.jpg");
            open_with("facts.jpg", as_stored());
            assert_true(offers());
            assert_facts(&whole, channels, sampling);
            assert_int_equal(o.picture.held, whole.size);
            assert_memory_equal(o.picture.bytes, whole.bytes, whole.size);
            assert_string_equal(gconv_reader_fallback(o.reader), "");
        }
}

/* The offer and `more` give the whole file. */
static void assert_gives(const blob *whole)
{
    const unsigned char *bytes = o.picture.bytes;
    size_t count = o.picture.held, given = 0;
    assert_true(count > 0);
    do {
        assert_true(count <= whole->size - given);
        assert_memory_equal(bytes, whole->bytes + given, count);
        given += count;
        assert_true(o.source.more(o.source.user, &bytes, &count));
    } while (count > 0);
    assert_int_equal(given, whole->size);
}

static void pad(blob *whole, int bytes)
{
    enum { SEGMENT_BYTES = 60000 };
    static unsigned char comment[SEGMENT_BYTES + 2] = {0xff, 0xfe, SEGMENT_BYTES >> 8,
                                                       SEGMENT_BYTES & 0xff};
    for (; bytes > 0; bytes -= SEGMENT_BYTES)
        splice(whole, 2, comment, sizeof comment);
}

/* The data come in pieces, whether the header is short or longer than what a reader
 * buffers; rows can be read after any number of them. */
TEST(a_long_file_comes_in_pieces)
{
    static const int header_bytes[] = {0, 400000};
    gconv_reader_options options = as_stored();
    for (size_t i = 0; i < 2; i++)
        for (int taken = 0; taken < 3; taken++) {
            const unsigned char *bytes;
            size_t count;
            write_jpeg("pieces.jpg", 3, 2, false);
            change_file("pieces.jpg", pad, header_bytes[i]);
            change_file("pieces.jpg", append_bytes, 500000);
            OWNED_BLOB whole = load_file("pieces.jpg");
            OWNED_PICTURE expected = must_read("pieces.jpg", &options);
            open_with("pieces.jpg", options);
            assert_true(offers());
            assert_int_equal(o.picture.held < whole.size, i == 0);
            if (taken == 2)
                assert_gives(&whole);
            else if (taken == 1)
                assert_true(o.source.more(o.source.user, &bytes, &count));
            assert_reads(&expected);
        }
}

TEST(a_file_that_becomes_shorter_gives_no_more)
{
    const unsigned char *bytes;
    size_t count;
    write_jpeg("shorter.jpg", 3, 2, false);
    change_file("shorter.jpg", append_bytes, 500000);
    open_with("shorter.jpg", as_stored());
    assert_true(offers());
    assert_int_equal(truncate("shorter.jpg", 1000), 0);
    assert_false(o.source.more(o.source.user, &bytes, &count));
}

/* The header is checked; the data may be anything. */
TEST(any_data_are_offered_with_their_layout)
{
    write_jpeg("layout.jpg", 3, 2, false);
    OWNED_BLOB whole = load_file("layout.jpg");
    whole.size -= 40;
    memset(whole.bytes + whole.size - 40, 0xff, 40);
    save_file("layout.jpg", whole.bytes, whole.size);
    open_with("layout.jpg", as_stored());
    assert_true(offers());
    assert_facts(&whole, 3, 2);
    assert_gives(&whole);
    assert_int_equal(o.picture.layout->mcus, 5 * 3);
}

TEST(what_is_offered_has_the_pixels_that_are_read)
{
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int grey = 0; grey <= 1; grey++) {
            write_jpeg("turned.jpg", 3, 2, false);
            change_file("turned.jpg", turn, orientation);
            gconv_reader_options options = grey ? as_grey() : as_stored();
            OWNED_PICTURE expected = must_read("turned.jpg", &options);
            open_with("turned.jpg", options);
            assert_true(offers());
            assert_int_equal(o.picture.orientation, orientation);
            OWNED_PICTURE decoded = decode(&o.picture, grey ? 1 : 3);
            assert_same_picture(&decoded, &expected);
        }
}

TEST(an_orientation_that_is_not_applied_is_not_offered)
{
    gconv_reader_options options = as_stored();
    options.auto_orient = false;
    write_jpeg("left.jpg", 3, 2, false);
    change_file("left.jpg", turn, 6);
    open_with("left.jpg", options);
    assert_true(offers());
    assert_int_equal(o.picture.orientation, 1);
}

/* ---- After the offer ------------------------------------------------------------------------- */

TEST(an_accepted_picture_is_read)
{
    unsigned char row[3 * 71];
    write_jpeg("accepted.jpg", 3, 2, false);
    open_with("accepted.jpg", as_stored());
    assert_string_equal(gconv_reader_decoder(o.reader), "libjpeg-turbo");
    assert_true(offers());
    o.source.accept(o.source.user, o.picture.size);
    assert_string_equal(gconv_reader_decoder(o.reader), "cuda");
    assert_string_equal(gconv_reader_fallback(o.reader), "");
    assert_invalid(o.source.read(o.source.user, 1, row, sizeof row, &error));
    assert_false(offers());
    must_finish();
    bool more = true;
    assert_ok(gconv_reader_next(o.reader, &more, &error));
    assert_false(more);
    assert_int_equal(o.warnings.count, 0);
}

TEST(without_accept_rows_are_read_as_ever)
{
    write_jpeg("declined.jpg", 3, 2, false);
    gconv_reader_options options = as_stored();
    OWNED_PICTURE expected = must_read("declined.jpg", &options);
    open_with("declined.jpg", options);
    assert_true(offers());
    assert_reads(&expected);
    assert_string_equal(gconv_reader_decoder(o.reader), "libjpeg-turbo");
    assert_string_equal(gconv_reader_fallback(o.reader),
                        "data that the GPU rejects, or lacks memory for");
}

TEST(accept_without_an_offer_does_nothing)
{
    write_jpeg("early.jpg", 3, 2, false);
    open_with("early.jpg", as_stored());
    o.source.accept(o.source.user, o.picture.size);
    assert_string_equal(gconv_reader_decoder(o.reader), "libjpeg-turbo");
    assert_invalid(gconv_reader_finish(o.reader, &error));
}

/* A device says where the image ends. */
TEST(bytes_behind_the_image_are_a_warning_in_every_way)
{
    for (int accepts = 0; accepts <= 1; accepts++) {
        write_jpeg("long.jpg", 3, 2, false);
        OWNED_BLOB whole = load_file("long.jpg");
        change_file("long.jpg", append_bytes, 300);
        gconv_reader_options options = as_stored();
        open_with("long.jpg", options);
        assert_true(offers());
        assert_int_equal(o.picture.size, whole.size + 300);
        OWNED_PICTURE expected = must_read("long.jpg", &options);
        if (accepts) {
            o.source.accept(o.source.user, whole.size);
            must_finish();
        } else {
            assert_reads(&expected);
        }
        assert_int_equal(o.warnings.count, 1);
        assert_string_equal(o.warnings.last, "bytes after the end of the image ignored");
    }
}

TEST(an_image_up_to_the_end_of_the_file_is_no_warning)
{
    open_offered("whole.jpg");
    o.source.accept(o.source.user, o.picture.size);
    assert_string_equal(gconv_reader_decoder(o.reader), "cuda");
    must_finish();
    assert_int_equal(o.warnings.count, 0);
}

/* ---- Through a stream ------------------------------------------------------------------------ */

static gconv_status drop_rows(void *user, uint32_t count, const void *rows, size_t stride,
                              gconv_error *error)
{
    (void)user, (void)count, (void)rows, (void)stride, (void)error;
    return GCONV_OK;
}

TEST(a_stream_passes_the_offer_on)
{
    gc_stream stream;
    gconv_encoded encoded;
    float weight = 1;
    gconv_filter filter = filter_of(1, 1, 1, &weight);
    OWNED_PROBLEM problem;
    write_jpeg("stream.jpg", 3, 2, false);
    open_with("stream.jpg", as_stored());
    gconv_job job = job_of(CHAIN(&filter), 1, *gconv_reader_shape(o.reader));
    problem = problem_of(&job);
    gconv_sink sink = {.size = sizeof(gconv_sink), .write = drop_rows};
    assert_ok(gc_stream_open(&stream, &problem, &o.source, &sink, false, &error));
    assert_true(gc_stream_offer(&stream, &encoded));
    assert_int_equal(encoded.width, 71);
    assert_true(stream.timings.decode > 0);
    assert_false(stream.own.asked); /* the CPU may still take over */
    gc_stream_accept(&stream, encoded.size);
    assert_true(stream.own.asked);
    assert_int_equal(stream.rows_read, 40);
    assert_false(gc_stream_offer(&stream, &encoded));
    must_finish();
    gc_stream_close(&stream);
    stream.source =
        (gconv_source){.size = sizeof(gconv_source), .read = o.source.read, .user = o.source.user};
    stream.own.asked = false;
    assert_false(gc_stream_offer(&stream, &encoded)); /* a source without offers */
}

/* ---- What is not offered --------------------------------------------------------------------- */

/* Nothing is offered, and the picture is read as ever. */
static void check_no_offer(const char *name, gconv_reader_options options, bool is_rejected)
{
    OWNED_PICTURE expected = must_read(name, &options);
    open_with(name, options);
    assert_false(offers());
    assert_int_equal(gconv_reader_fallback(o.reader)[0] != '\0', is_rejected);
    const char *reason = gconv_reader_fallback(o.reader);
    assert_reads(&expected);
    assert_string_equal(gconv_reader_fallback(o.reader), reason);
}

TEST(what_devices_do_not_decode_is_not_offered)
{
    write_jpeg("progressive.jpg", 3, 2, true);
    check_no_offer("progressive.jpg", as_stored(), true);
    OWNED_PICTURE source = make_picture(71, 40, 3, 8);
    jpeg_kind rgb = {JCS_RGB, JCS_RGB, 3, false, 0, 1, NULL, 0};
    write_plain_jpeg("rgb.jpg", &rgb, 90, &source);
    check_no_offer("rgb.jpg", as_stored(), true);
    must_write("plain.png", GCONV_FORMAT_PNG, &source);
    check_no_offer("plain.png", as_stored(), false);
    must_write("plain.ppm", GCONV_FORMAT_PPM, &source);
    check_no_offer("plain.ppm", as_stored(), false);
    open_with("plain.png", as_stored());
    assert_null(o.source.offer);
}

TEST(a_reader_for_the_cpu_offers_nothing)
{
    gconv_reader_options options = as_stored();
    options.decoder = GCONV_DECODER_CPU;
    write_jpeg("cpu.jpg", 3, 2, false);
    check_no_offer("cpu.jpg", options, false);
}

/* The device that is offered them finds no end. */
TEST(damage_of_the_data_is_found_by_libjpeg)
{
    write_jpeg("short.jpg", 3, 2, false);
    blob whole = load_file("short.jpg");
    save_file("short.jpg", whole.bytes, whole.size - 40);
    free(whole.bytes);
    open_with("short.jpg", as_stored());
    assert_true(offers());
    OWNED_PICTURE rows = new_picture(71, 40, 3, 8);
    assert_int_equal(o.source.read(o.source.user, 40, rows.rows, rows.row_bytes, &error),
                     GCONV_ERROR_FORMAT);
    assert_string_equal(gconv_reader_fallback(o.reader),
                        "data that the GPU rejects, or lacks memory for");
    assert_string_equal(gconv_reader_decoder(o.reader), "libjpeg-turbo");
}

/* The same of a complete image without EOI, which a tolerant reader lets pass. */
TEST(a_trailer_for_the_end_is_left_to_libjpeg)
{
    gconv_reader_options options = as_stored();
    options.tolerant = true;
    write_jpeg("trailer.jpg", 3, 2, false);
    OWNED_PICTURE expected = must_read("trailer.jpg", &options);
    OWNED_BLOB whole = load_file("trailer.jpg");
    whole.size -= 2;
    splice(&whole, whole.size, "trailer\xff\xd8", 9);
    save_file("trailer.jpg", whole.bytes, whole.size);
    open_with("trailer.jpg", options);
    assert_true(offers());
    assert_reads(&expected);
    assert_int_equal(o.warnings.count, 1);
}

TEST(rows_that_were_read_end_the_offer)
{
    unsigned char row[3 * 71];
    write_jpeg("begun.jpg", 3, 2, false);
    open_with("begun.jpg", as_stored());
    assert_ok(o.source.read(o.source.user, 1, row, sizeof row, &error));
    assert_false(offers());
}

TEST(a_pipe_is_not_offered)
{
    int ends[2];
    char path[64];
    write_jpeg("piped.jpg", 3, 2, false);
    OWNED_BLOB whole = load_file("piped.jpg");
    gconv_reader_options options = as_stored();
    OWNED_PICTURE expected = must_read("piped.jpg", &options);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], whole.bytes, whole.size), (ssize_t)whole.size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    open_path(path, options);
    assert_false(offers());
    assert_string_equal(gconv_reader_fallback(o.reader), "an input that cannot be read twice");
    assert_reads(&expected);
    close(ends[0]);
}

/* A file that became shorter than its header was. */
TEST(a_file_that_changes_is_not_offered)
{
    write_jpeg("changed.jpg", 3, 2, false);
    open_with("changed.jpg", as_stored());
    assert_int_equal(truncate("changed.jpg", 100), 0);
    assert_false(offers());
}

/* Without libjpeg's code for vectors nothing is offered. */
static const char *missing(void)
{
    return gc_jpeg_check() ? NULL : "libjpeg decodes in another way than libjpeg-turbo";
}

const test_suite suite = {
    .setup = enter_scratch, .teardown = remove_scratch, .after = forget, .missing = missing};
