/* Readers and writers of files apart from the samples: names of formats, counting of rows, pipes,
 * and what is refused. */
#include "io_support.h"

#include <fcntl.h>
#include <pthread.h>

TEST(formats_have_names)
{
    assert_string_equal(gconv_format_name(GCONV_FORMAT_JPEG), "jpeg");
    assert_string_equal(gconv_format_name(GCONV_FORMAT_UNKNOWN), "unknown");
    assert_int_equal(gconv_format_from_name("JPG"), GCONV_FORMAT_JPEG);
    assert_int_equal(gconv_format_from_name("jp"), GCONV_FORMAT_UNKNOWN);
    assert_int_equal(gconv_format_from_name("jpegs"), GCONV_FORMAT_UNKNOWN);
    assert_int_equal(gconv_format_from_path("a.b/c.JFIF"), GCONV_FORMAT_JPEG);
    assert_int_equal(gconv_format_from_path("a.png/c"), GCONV_FORMAT_UNKNOWN);
    assert_int_equal(gconv_format_from_path("x.pnm"), GCONV_FORMAT_PPM);
    assert_int_equal(gconv_format_from_path("x.pfm"), GCONV_FORMAT_PFM);
    assert_int_equal(gconv_format_from_path(".png"), GCONV_FORMAT_UNKNOWN);
    assert_int_equal(gconv_format_from_path(""), GCONV_FORMAT_UNKNOWN);
    assert_int_equal(gconv_format_from_path(NULL), GCONV_FORMAT_UNKNOWN);
    assert_int_equal(gconv_format_from_name(NULL), GCONV_FORMAT_UNKNOWN);
    for (int format = 1; format < GCONV_FORMAT_COUNT; format++) {
        bool missing = gconv_format_describe((gconv_format)format)->missing != NULL;
        assert_int_equal(gconv_format_from_name(gconv_format_name((gconv_format)format)),
                         missing ? GCONV_FORMAT_UNKNOWN : format);
    }
}

#define F(text) text, sizeof text - 1
static const struct {
    const char *name, *extension, *bytes;
    size_t count;
} foreign_files[] = {
    {"TIFF", "tif", F("II*\0\x08\0\0\0")},
    {"TIFF", "TIFF", F("MM\0*\0\0\0\x08")},
    {"TIFF", "tiff", F("MM\0+\0\x08\0\0")},
    {"TIFF", "Tif", F("II+\0\x08\0\0\0")},
    {"WebP", "webp", F("RIFF\x24\0\0\0WEBPVP8 ")},
    {"GIF", "gif", F("GIF87a\1\0\1\0")},
    {"GIF", "gif", F("GIF89a\1\0\1\0")},
    {"HEIC", "heic", F("\0\0\0\030ftypheic\0\0\0\0mif1heic")},
    {"HEIC", "heif", F("\0\0\0\030ftypmif1\0\0\0\0mif1heic")},
    {"HEIC", "hif", F("\0\0\0\030ftyphevc\0\0\0\0msf1hevc")},
    {"AVIF", "avif", F("\0\0\0\040ftypavif\0\0\0\0avifmif1")},
    {"AVIF", "avif", F("\0\0\0\040ftypavis\0\0\0\0avifavis")},
    {"JPEG XL", "jxl", F("\xff\x0a\x10\x20")},
    {"JPEG XL", "jxl", F("\0\0\0\x0cJXL \r\n\x87\n\0")},
    {"JPEG 2000", "jp2", F("\0\0\0\x0cjP  \r\n\x87\n\0")},
    {"JPEG 2000", "j2k", F("\xff\x4f\xff\x51\0\x2f")},
    {"NPZ or another ZIP archive", "npz", F("PK\3\4\x2d\0\0\0")},
    {"FITS", "fits", F("SIMPLE  =                    T")},
    {"OpenEXR", "exr", F("\x76\x2f\x31\x01\2\0\0\0")},
    {"Radiance HDR", "hdr", F("#?RADIANCE\n")},
    {"PSD", "psd", F("8BPS\0\1")},
    {"QOI", "qoi", F("qoif\0\0\0\1")},
    {"ICO", "ico", F("\0\0\1\0\1\0\x10\x10\0\0\1\0")},
    {"ICNS", "icns", F("icns\0\0\7\0")},
    {"DDS", "dds", F("DDS \x7c\0\0\0\7\x10")},
    {"SGI", "sgi", F("\1\xda\1\1\0\3\0\x78")},
    {"SGI", "sgi", F("\1\xda\0\2\0\3\0\x78")},
    {"PCX", "pcx", F("\n\5\1\x08\0\0\0\0")},
    {"PostScript", "eps", F("%!PS-Adobe-3.0 EPSF-3.0\n")},
    {"PDF", "pdf", F("%PDF-1.7\n")},
    {"SVG", "svg", F("<svg xmlns='http://www.w3.org/2000/svg'/>")},
    {"SVG", "svg", F("\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a drawing -->\n<svg/>")},
    {"XCF", "xcf", F("gimp xcf v011\0\0\0\1\x90")},
    {"TGA", "tga", F("\0\0\2\0\0\0\0\0\0\0\0\0\1\0\1\0\x18\0")},
    {"TGA", "tga", F("\5\0\x0b\0\0\0\0\0\0\0\0\0\1\0\1\0\x08\0")},
    {"a camera's raw image", "cr3", F("\0\0\0\030ftypcrx \0\0\0\1crx isom")},
    {"a camera's raw image", "raf", F("FUJIFILMCCD-RAW 0201")},
    {"a camera's raw image", "orf", F("IIRO\x08\0\0\0")},
    {"a gzip file", "gz", F("\x1f\x8b\x08\0\0\0\0\0\0\3")},
    {"a bzip2 file", "bz2", F("BZh91AY&SY")},
    {"an xz file", "xz",
     F("\xfd"
       "7zXZ\0\0\4")},
    {"a Zstandard file", "zst", F("\x28\xb5\x2f\xfd\4")},
    {"MP4 or MOV", "mp4", F("\0\0\0\040ftypisom\0\0\2\0isomiso2")},
    {"MP4 or MOV", "mov", F("\0\0\0\024ftypqt  \0\0\2\0qt  ")},
    {"MP4 or MOV", "mov", F("\0\0\1\0moov\0\0\0\154mvhd\0\0\0\0")},
    {"MP4 or MOV", "m4v", F("\0\0\0\010wide\0\1\2\3mdat")},
    {"Matroska or WebM", "mkv", F("\x1a\x45\xdf\xa3\xa3\x42\x86")},
    {"Matroska or WebM", "webm", F("\x1a\x45\xdf\xa3\x9f\x42\x86")},
    {"AVI", "avi", F("RIFF\x36\x1e\0\0AVI LIST")},
    {"MPEG", "mpg", F("\0\0\1\xba\x21\0\1\0")},
    {"an HTML page", NULL, F("\n <!DOCTYPE html><title>404</title>")},
    {"an HTML page", NULL, F("<HTML><body><svg/></body></HTML>")},
    {"a Git LFS pointer", NULL, F("version https://git-lfs.github.com/spec/v1\noid ")},
    {NULL, "png", F("\x89PNG\r\n\x1a\n")},
    {NULL, "jpg", F("\xff\xd8\xff\xe0")},
    {NULL, "pgm", F("P5 1 1 255\n")},
    {NULL, "pfm", F("PF\n1 1\n-1.0\n")},
    {NULL, "dib", F("BM\x46\0\0\0\0\0\0\0\x8a\0\0\0\x7c\0\0\0")},
    {NULL, "pam", F("P7\nWIDTH 1\n")},
    {NULL, "pbm", F("P1\n1 1\n0\n")},
    {NULL, "pbm", F("P4#c\n1 1\n0")},
    {NULL, "pgm", F("P2\t1 1 1 1\n")},
    {NULL, "npy", F("\x93NUMPY\1\0")},
    {NULL, "txt", F("BMW and others, a list of makers, with years")},
    {NULL, "txt", F("abcdmoov and other words")},
    {NULL, "txt", F("\0\0\0\x08wide words")},
    {NULL, "txt", F("how ftyp is spelled")},
    {NULL, "html", F("a text about <svg> and <html>")},
    {NULL, "", F("P11")},
    {NULL, "gi", F("GIF8")},
    {NULL, "giff", F("")},
};

TEST(foreign_formats_are_named)
{
    for (size_t i = 0; i < COUNT(foreign_files); i++) {
        const char *extension =
            foreign_files[i].extension != NULL ? foreign_files[i].extension : "pgm";
        char path[32];
        snprintf(path, sizeof path, "a.tif/b.%s", extension);
        const gconv_foreign_format *by_content =
            gconv_foreign_from_content(foreign_files[i].bytes, foreign_files[i].count);
        const gconv_foreign_format *by_name = gconv_foreign_from_path(path);
        const gconv_format own =
            gconv_format_from_content(foreign_files[i].bytes, foreign_files[i].count);
        if (foreign_files[i].name != NULL && own != GCONV_FORMAT_UNKNOWN) { /* in this build */
            assert_string_equal(gconv_format_describe(own)->title, foreign_files[i].name);
            assert_int_equal(gconv_format_from_path(path), own);
            assert_null(by_content);
            assert_null(by_name);
            continue;
        }
        assert_true((by_name != NULL) ==
                    (foreign_files[i].name != NULL && foreign_files[i].extension != NULL));
        assert_true((by_content != NULL) == (foreign_files[i].name != NULL));
        if (by_name != NULL)
            assert_string_equal(by_name->name, foreign_files[i].name);
        if (by_content == NULL)
            continue;
        assert_string_equal(by_content->name, foreign_files[i].name);
        assert_int_equal(by_content->image, strstr(by_content->about, "no image") == NULL);
        assert_int_equal(gconv_format_from_content(foreign_files[i].bytes, foreign_files[i].count),
                         GCONV_FORMAT_UNKNOWN);
    }
    static const char converted[] = "which gconv does not read; '%s' converts it";
    static const char *const converters[][2] = {{"a.exr", "vips colourspace IN OUT.png srgb"},
                                                {"a.hdr", "vips colourspace IN OUT.png srgb"},
                                                {"a.qoi", "ffmpeg -i IN OUT.png"},
                                                {"a.ico", "magick' or 'convert"}};
    for (size_t i = 0; i < COUNT(converters); i++) {
        char about[100];
        snprintf(about, sizeof about, converted, converters[i][1]);
        assert_string_equal(gconv_foreign_from_path(converters[i][0])->about, about);
    }
    assert_null(gconv_foreign_from_path(".gif"));
    assert_null(gconv_foreign_from_path("gif"));
    assert_null(gconv_foreign_from_path(NULL));
    assert_null(gconv_foreign_from_content(NULL, 0));
}

TEST(rows_are_counted)
{
    unsigned char rows[64] = {0};
    gconv_writer_options options = writing_as(GCONV_FORMAT_PGM);
    options.shape = (gconv_shape){4, 4, 1, 8};
    gconv_writer *writer = opened_writer("count", &options);
    const gconv_sink *sink = gconv_writer_sink(writer);
    assert_ok(sink->write(sink->user, 3, rows, 4, &error));
    assert_invalid(gconv_writer_finish(writer, &error));
    assert_invalid(gconv_writer_write(writer, 2, rows, 4, &error));
    assert_ok(gconv_writer_write(writer, 1, rows, 4, &error));
    assert_ok(gconv_writer_finish(writer, &error));
    gconv_writer_free(writer);
    OWNED_READER reader = opened_reader("count", NULL);
    assert_int_equal(gconv_reader_format(reader), GCONV_FORMAT_PGM);
    const gconv_source *source = gconv_reader_source(reader);
    assert_ok(source->read(source->user, 3, rows, 8, &error));
    assert_invalid(gconv_reader_finish(reader, &error));
    assert_invalid(gconv_reader_read(reader, 2, rows, 8, &error));
    assert_ok(gconv_reader_read(reader, 1, rows, 8, &error));
    assert_ok(gconv_reader_finish(reader, &error));
    gconv_reader_free(NULL);
    gconv_writer_free(NULL);
}

static bool takes_compressed(const gconv_sink *sink, uint32_t width, uint32_t height, int depth)
{
    const gconv_shape shape = {width, height, 1, depth};
    return sink->takes_compressed != NULL && sink->takes_compressed(sink->user, &shape);
}

/* Whether a writer of 16x8 pixels takes an image of a device's blocks, before the first row and
 * after it. */
static void expect_compressed(gconv_format format, int depth, int compression, bool takes)
{
    gconv_error error;
    unsigned char row[16] = {0};
    gconv_writer_options options = writing_as(format);
    options.compression = compression;
    options.shape = (gconv_shape){16, 8, 1, depth};
    OWNED_WRITER writer = opened_writer("packed", &options);
    const gconv_sink *sink = gconv_writer_sink(writer);
    assert_true(takes_compressed(sink, 16, 8, depth) == takes);
    assert_false(takes_compressed(sink, 16, 4, depth)); /* two images, one below the other */
    assert_false(takes_compressed(sink, 8, 8, depth));
    assert_ok(sink->write(sink->user, 1, row, sizeof row, &error));
    assert_false(takes_compressed(sink, 16, 8, depth));
}

TEST(png_of_one_bit_takes_blocks_of_a_whole_image)
{
    expect_compressed(GCONV_FORMAT_PNG, 1, -1, GC_HAS_FAST);
    expect_compressed(GCONV_FORMAT_PNG, 1, 6, false);
    expect_compressed(GCONV_FORMAT_PNG, 1, 9, false);
    expect_compressed(GCONV_FORMAT_PNG, 8, -1, false);
    expect_compressed(GCONV_FORMAT_JPEG, 8, -1, false);
}

/* Keeps the size of a file that is shown, and reads from it without moving its offset. */
static void take_opened(void *user, int descriptor)
{
    struct stat about;
    char first;
    assert_int_equal(fstat(descriptor, &about), 0);
    assert_int_equal(pread(descriptor, &first, 1, 0), 1);
    *(long long *)user = about.st_size;
}

TEST(opened_files_are_shown)
{
    long long size = 0;
    unsigned char rows[4];
    static const char image[] = "P5 2 2 255\nabcd", broken[] = "P5 2 x";
    gconv_reader_options options = as_stored();
    options.opened = take_opened;
    options.opened_user = &size;
    save_file("shown", image, sizeof image - 1);
    gconv_reader *reader = opened_reader("shown", &options);
    assert_int_equal(size, sizeof image - 1);
    assert_ok(gconv_reader_read(reader, 2, rows, 2, &error));
    assert_memory_equal(rows, "abcd", 4);
    gconv_reader_free(reader);
    save_file("shown", broken, sizeof broken - 1); /* also where the header is wrong */
    assert_int_equal(gconv_reader_open("shown", &options, &reader, &error), GCONV_ERROR_FORMAT);
    assert_int_equal(size, sizeof broken - 1);
}

/* What was shown of a file, up to the first byte that was not. */
typedef struct copy {
    unsigned char bytes[1000000];
    size_t size;
    size_t behind; /* bytes that were shown beyond a hole */
} copy;

/* A gconv_bytes_function. */
static void take_bytes(void *user, uint64_t offset, const void *bytes, size_t size)
{
    copy *c = user;
    assert_true(offset + size <= sizeof c->bytes);
    if (offset <= c->size) {
        memcpy(c->bytes + offset, bytes, size);
        c->size = offset + size > c->size ? (size_t)offset + size : c->size;
    } else {
        c->behind += size;
    }
}

/* Writes an image of 400x400 pixels in colour, and keeps what is shown of its file. */
static void write_shown(const char *path, gconv_format format, int depth, copy *written)
{
    enum { SIDE = 400 };
    static unsigned char row[SIDE * 3 * 4];
    gconv_writer_options options = writing_as(format);
    options.shape = (gconv_shape){
        .width = SIDE, .height = SIDE, .channels = depth == 32 ? 1 : 3, .depth = depth};
    options.quality = 100; /* a JPEG is larger than the buffer of an input */
    options.written = take_bytes;
    options.complete_user = written;
    OWNED_WRITER writer = opened_writer(path, &options);
    for (uint32_t y = 0; y < SIDE; y++) {
        for (size_t i = 0; i < sizeof row; i++)
            row[i] = depth < 32 ? (unsigned char)(i * 7 + y * i) : 0;
        assert_ok(gconv_writer_write(writer, 1, row, 0, NULL));
    }
    assert_ok(gconv_writer_finish(writer, NULL));
}

TEST(bytes_are_shown_as_they_are_written_and_read)
{
    static const struct {
        gconv_format format;
        int depth;
    } cases[] = {{GCONV_FORMAT_PPM, 8},
                 {GCONV_FORMAT_PPM, 16},
                 {GCONV_FORMAT_PNG, 8},
                 {GCONV_FORMAT_JPEG, 8},
                 {GCONV_FORMAT_PFM, 32}};
    static unsigned char rows[400 * 400 * 3 * 2]; /* or 4 bytes of one channel */
    static copy written, seen;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *path = "bytes";
        written = seen = (copy){.size = 0};
        write_shown(path, cases[i].format, cases[i].depth, &written);
        OWNED_BLOB file = load_file(path);
        assert_int_equal(written.size, file.size);
        assert_memory_equal(written.bytes, file.bytes, file.size);
        gconv_reader_options options = as_stored();
        options.read = take_bytes;
        options.opened_user = &seen;
        gconv_reader *reader = opened_reader(path, &options);
        size_t row_bytes = gconv_shape_row_bytes(gconv_reader_shape(reader));
        assert_ok(gconv_reader_read(reader, 400, rows, row_bytes, NULL));
        assert_ok(gconv_reader_finish(reader, NULL));
        gconv_reader_free(reader);
        assert_int_equal(seen.behind, 0);
        assert_int_equal(seen.size, file.size);
        assert_memory_equal(seen.bytes, file.bytes, file.size);
    }
}

/* Each format can be told from its first bytes, and writes what it says that it holds. */
TEST(formats_say_what_they_hold)
{
    assert_null(gconv_format_describe(GCONV_FORMAT_UNKNOWN));
    assert_null(gconv_format_describe(GCONV_FORMAT_COUNT));
    for (int format = 1; format < GCONV_FORMAT_COUNT; format++) {
        const gconv_format_info *info = gconv_format_describe((gconv_format)format);
        assert_string_equal(info->name, gconv_format_name((gconv_format)format));
        if (info->missing != NULL) {
            assert_false(info->reads || info->writes);
            continue;
        }
        assert_int_equal(gconv_format_from_name(info->extension), format);
        assert_true(info->reads || info->writes);
        for (int depth = 1; depth <= 32; depth *= 2) {
            if (depth != 1 && depth < 8)
                continue;
            picture source = make_picture(9, 5, 1, depth);
            gconv_writer_options options = writing_as((gconv_format)format);
            gconv_status status = write_picture("held", &options, 5, &source, &error);
            assert_int_equal(status == GCONV_OK, info->writes && (info->depths & depth) != 0);
            free_picture(&source);
            if (status != GCONV_OK)
                continue;
            OWNED_BLOB whole = load_file("held");
            assert_int_equal(gconv_format_from_content(whole.bytes, whole.size),
                             info->reads ? format : GCONV_FORMAT_UNKNOWN);
        }
    }
}

/* ---- Pipes ----------------------------------------------------------------------------------- */

typedef struct pipe_feed {
    int descriptor;
    blob whole;
} pipe_feed;

static void *feed_pipe(void *user)
{
    pipe_feed *feed = user;
    for (size_t at = 0; at < feed->whole.size; at += 100) {
        size_t count = feed->whole.size - at < 100 ? feed->whole.size - at : 100;
        assert_int_equal(write(feed->descriptor, feed->whole.bytes + at, count), count);
    }
    close(feed->descriptor);
    return NULL;
}

/* Standard input in small pieces. */
TEST(pipes_are_read)
{
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG, GCONV_FORMAT_PPM};
    int before = dup(STDIN_FILENO);
    for (size_t i = 0; i < 3; i++) {
        OWNED_PICTURE source = make_picture(60, 50, 3, 8);
        must_write("pipe", formats[i], &source);
        OWNED_PICTURE expected = must_read("pipe", NULL);
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pipe_feed feed = {ends[1], load_file("pipe")};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        OWNED_PICTURE result = must_read("-", NULL);
        pthread_join(thread, NULL);
        assert_same_picture(&result, &expected);
        free(feed.whole.bytes);
    }
    dup2(before, STDIN_FILENO);
    close(before);
}

/* ---- Refusals and failures ------------------------------------------------------------------- */

TEST(writers_refuse_what_they_cannot_hold)
{
    static const struct {
        gconv_format format;
        gconv_shape shape;
        gconv_status status;
    } cases[] = {
        {GCONV_FORMAT_JPEG, {4, 4, 1, 16}, GCONV_ERROR_ARGUMENT},
        {GCONV_FORMAT_JPEG, {4, 4, 1, 1}, GCONV_ERROR_ARGUMENT},
        {GCONV_FORMAT_JPEG, {65501, 1, 1, 8}, GCONV_ERROR_LIMIT},
        {GCONV_FORMAT_PNG, {4, 4, 1, 32}, GCONV_ERROR_ARGUMENT},
        {GCONV_FORMAT_PNG, {4, 4, 3, 1}, GCONV_ERROR_ARGUMENT},
        {GCONV_FORMAT_PNG, {0, 4, 3, 8}, GCONV_ERROR_ARGUMENT},
        {GCONV_FORMAT_PNG, {4, 4, 5, 8}, GCONV_ERROR_ARGUMENT},
        {GCONV_FORMAT_PFM, {4, 4, 1, 8}, GCONV_ERROR_ARGUMENT},
        {GCONV_FORMAT_UNKNOWN, {4, 4, 1, 8}, GCONV_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        gconv_writer *writer;
        gconv_writer_options options = writing_as(cases[i].format);
        options.shape = cases[i].shape;
        assert_int_equal(gconv_writer_open("refused", &options, &writer, &error), cases[i].status);
        assert_null(writer);
        assert_int_equal(error.status, cases[i].status);
    }
    assert_int_equal(count_entries("refused"), 0);
}

TEST(write_errors_are_reported)
{
    if (access("/dev/full", W_OK) != 0)
        skip();
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG, GCONV_FORMAT_PPM};
    for (size_t i = 0; i < 3; i++)
        for (uint32_t side = 8; side <= 700; side += 692) {
            OWNED_PICTURE source = make_picture(side, side, 3, 8);
            gconv_writer_options options = writing_as(formats[i]);
            assert_fails(write_picture("/dev/full", &options, 9, &source, &error),
                         GCONV_ERROR_WRITE, &error, "No space left");
        }
}

TEST(what_cannot_be_read)
{
    gconv_reader *reader;
    assert_fails(gconv_reader_open("none", NULL, &reader, &error), GCONV_ERROR_OPEN, &error,
                 "No such file");
    assert_fails(gconv_reader_open(scratch, NULL, &reader, &error), GCONV_ERROR_OPEN, &error,
                 "directory");
    int descriptor = open("huge", O_CREAT | O_WRONLY, 0600);
    assert_true(descriptor >= 0);
    if (ftruncate(descriptor, ((off_t)4 << 30) + 1) == 0) {
        assert_fails(gconv_reader_open("huge", NULL, &reader, &error), GCONV_ERROR_LIMIT, &error,
                     "4 GiB");
    }
    close(descriptor);
    save_file("p", "P\0\0 no PNM", 9);
    assert_fails(gconv_reader_open("p", NULL, &reader, &error), GCONV_ERROR_FORMAT, &error,
                 "not a PNG");
}

/* Strips that are written as they are leave nothing to do for other threads. */
TEST(nobody_helps_with_a_tiff_that_is_not_compressed)
{
    if (!gconv_format_describe(GCONV_FORMAT_TIFF)->writes)
        skip();
    static unsigned char rows[8 << 16];
    gconv_writer_options options = writing_as(GCONV_FORMAT_TIFF);
    options.shape = (gconv_shape){.width = 1 << 16, .height = 8, .channels = 1, .depth = 8};
    for (int compression = -1; compression <= 1; compression++) {
        options.compression = compression;
        OWNED_WRITER writer = opened_writer("strips", &options);
        const gconv_sink *sink = gconv_writer_sink(writer);
        for (int y = 0; y < 8; y++) {
            assert_ok(gconv_writer_write(writer, 1, rows, 1 << 16, &error));
            if (compression <= 0 && sink->help != NULL)
                assert_false(sink->help(sink->user));
        }
        assert_ok(gconv_writer_finish(writer, &error));
    }
}

TEST(options_may_be_left_out)
{
    gconv_writer *writer;
    save_file("p", "P5 2 1 255\nab", 13);
    gconv_reader *reader = opened_reader("p", NULL);
    assert_int_equal(gconv_reader_shape(reader)->width, 2);
    gconv_reader_free(reader);
    assert_invalid(gconv_writer_open("q", NULL, &writer, &error));
    assert_null(writer);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
