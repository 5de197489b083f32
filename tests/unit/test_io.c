/* Image files: what is written is what is read, for every format, depth and kind of picture. */
#include "io_support.h"

#include "io/exif.h"
#include "io/grey.h"
#include "io/metadata.h"

#include <fcntl.h>
#include <jpeglib.h>
#include <png.h>
#include <pthread.h>
#include <zlib.h>

static gconv_reader_options as_stored(void)
{
    return gconv_reader_options_default();
}

static gconv_reader_options as_grey(void)
{
    gconv_reader_options options = gconv_reader_options_default();
    options.grey = true;
    return options;
}

/* ---- Formats --------------------------------------------------------------------------------- */

static void formats_have_names(void **state)
{
    (void)state;
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
    for (int format = 1; format < GCONV_FORMAT_COUNT; format++)
        assert_int_equal(gconv_format_from_name(gconv_format_name((gconv_format)format)), format);
}

/* ---- Round trips ----------------------------------------------------------------------------- */

static void round_trip(gconv_format format, int channels, int depth, uint32_t width,
                       uint32_t height)
{
    gconv_reader_options options = as_stored();
    picture source = make_picture(width, height, channels, depth);
    must_write(scratch_path("trip"), format, &source);
    picture result = must_read(scratch_path("trip"), &options);
    assert_same_picture(&source, &result);
    free_picture(&source);
    free_picture(&result);
}

static void png_keeps_samples(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int depth = 8; depth <= 16; depth += 8) {
            round_trip(GCONV_FORMAT_PNG, channels, depth, 61, 37);
            round_trip(GCONV_FORMAT_PNG, channels, depth, 1, 1);
        }
}

static void pnm_keeps_samples(void **state)
{
    (void)state;
    for (int depth = 8; depth <= 16; depth += 8) {
        round_trip(GCONV_FORMAT_PGM, 1, depth, 61, 37);
        round_trip(GCONV_FORMAT_PPM, 3, depth, 61, 37);
    }
    round_trip(GCONV_FORMAT_PPM, 3, 8, 1, 300000);
}

static void png_keeps_samples_at_every_level(void **state)
{
    (void)state;
    gconv_reader_options reading = as_stored();
    for (int level = -1; level <= 9; level++)
        for (int depth = 1; depth <= 8; depth += 7) {
            picture source = make_picture(77, 19, 1, depth);
            gconv_writer_options options = gconv_writer_options_default();
            options.format = GCONV_FORMAT_PNG;
            options.compression = level;
            assert_int_equal(write_picture(scratch_path("level"), &options, 4, &source, NULL),
                             GCONV_OK);
            picture result = must_read(scratch_path("level"), &reading);
            for (uint32_t y = 0; y < 19; y++)
                for (uint32_t x = 0; x < 77; x++) {
                    const unsigned char *row = source.rows + y * source.row_bytes;
                    unsigned int expected = depth == 8                   ? row[x]
                                            : row[x / 8] << x % 8 & 0x80 ? 255
                                                                         : 0;
                    assert_int_equal(sample_at(&result, x, y, 0), expected);
                }
            free_picture(&source);
            free_picture(&result);
        }
}

static size_t png_size(const picture *source, int level)
{
    gconv_writer_options options = gconv_writer_options_default();
    options.format = GCONV_FORMAT_PNG;
    options.compression = level;
    assert_int_equal(write_picture(scratch_path("size"), &options, 16, source, NULL), GCONV_OK);
    blob whole = load_file(scratch_path("size"));
    free(whole.bytes);
    return whole.size;
}

/* Equal pictures give equal files, whatever stands in the bits behind the ends of their rows. */
static void bits_behind_a_row_do_not_reach_the_file(void **state)
{
    (void)state;
    for (int level = -1; level <= 6; level += 7)
        for (uint32_t width = 1; width <= 17; width++) {
            gconv_writer_options options = gconv_writer_options_default();
            options.format = GCONV_FORMAT_PNG;
            options.compression = level;
            picture source = make_picture(width, 9, 1, 1);
            write_picture(scratch_path("clear"), &options, 4, &source, NULL);
            for (size_t y = 0; width % 8 != 0 && y < 9; y++)
                source.rows[(y + 1) * source.row_bytes - 1] |= (unsigned char)(0xff >> width % 8);
            write_picture(scratch_path("set"), &options, 4, &source, NULL);
            blob clear = load_file(scratch_path("clear")), set = load_file(scratch_path("set"));
            assert_int_equal(clear.size, set.size);
            assert_memory_equal(clear.bytes, set.bytes, clear.size);
            free(clear.bytes);
            free(set.bytes);
            free_picture(&source);
        }
}

/* Bytes of which every `sparsity`th on average is one that nobody can foretell, the others 0. */
static void fill_with_noise(picture *made, unsigned int sparsity)
{
    uint64_t noise = 1;
    for (size_t i = 0; i < made->row_bytes * made->shape.height; i++) {
        noise = noise * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        made->rows[i] = (noise >> 32) % sparsity == 0 ? (unsigned char)(noise >> 56) : 0;
    }
}

/* Not larger than the fast file; by chance a level may be a little smaller for a made-up picture. */
static void the_highest_png_level_gives_the_smallest_file(void **state)
{
    (void)state;
    static const int depths[] = {1, 8, 16};
    for (int d = 0; d < 3; d++)
        for (unsigned int sparsity = 0; sparsity <= 64; sparsity = 4 * sparsity + (sparsity == 0)) {
            picture source = make_picture(256, 200, 1, depths[d]);
            if (sparsity > 0)
                fill_with_noise(&source, sparsity);
            size_t smallest = png_size(&source, 9);
            assert_in_range(smallest, 1, png_size(&source, -1));
            for (int level = 0; level < 9; level++)
                assert_in_range(smallest, 1, png_size(&source, level) * 1.02);
            free_picture(&source);
        }
}

/* So much that the attempts of the highest level are not all kept in memory to the end. */
static void the_highest_png_level_takes_large_pictures(void **state)
{
    (void)state;
    picture source = new_picture(4200, 4200, 1, 8);
    fill_with_noise(&source, 1);
    assert_in_range(png_size(&source, 9), 4200 * 4200, png_size(&source, -1));
    gconv_reader_options reading = as_stored();
    picture result = must_read(scratch_path("size"), &reading);
    assert_memory_equal(source.rows, result.rows, 4200 * 4200);
    free_picture(&source);
    free_picture(&result);
}

/* The bits behind the end of a row do not reach the file. */
static void equal_pictures_give_equal_files(void **state)
{
    (void)state;
    picture source = make_picture(13, 9, 1, 1);
    must_write(scratch_path("clean"), GCONV_FORMAT_PNG, &source);
    for (uint32_t y = 0; y < 9; y++)
        source.rows[y * 2 + 1] |= 7;
    must_write(scratch_path("dirty"), GCONV_FORMAT_PNG, &source);
    blob clean = load_file(scratch_path("clean"));
    blob dirty = load_file(scratch_path("dirty"));
    assert_int_equal(clean.size, dirty.size);
    assert_memory_equal(clean.bytes, dirty.bytes, clean.size);
    free(clean.bytes);
    free(dirty.bytes);
    free_picture(&source);
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

/* JPEG: no sample far from the source at quality 100. */
static void jpeg_is_close(void **state)
{
    (void)state;
    gconv_reader_options reading = as_stored();
    for (int channels = 1; channels <= 3; channels += 2) {
        picture source = new_picture(50, 41, channels, 8);
        for (uint32_t y = 0; y < 41; y++)
            for (size_t i = 0; i < source.row_bytes; i++)
                source.rows[y * source.row_bytes + i] =
                    (unsigned char)(40 + 3 * (i / (size_t)channels) + y);
        gconv_writer_options options = gconv_writer_options_default();
        options.format = GCONV_FORMAT_JPEG;
        options.quality = 100;
        assert_int_equal(write_picture(scratch_path("close"), &options, 9, &source, NULL),
                         GCONV_OK);
        picture result = must_read(scratch_path("close"), &reading);
        assert_int_equal(result.shape.channels, channels);
        for (size_t i = 0; i < 41 * source.row_bytes; i++)
            assert_in_range(result.rows[i] + 4 - source.rows[i], 0, 8);
        free_picture(&source);
        free_picture(&result);
    }
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

static void writers_refuse_what_they_cannot_hold(void **state)
{
    (void)state;
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gconv_writer *writer;
        gconv_error error = {0};
        gconv_writer_options options = gconv_writer_options_default();
        options.format = cases[i].format;
        options.shape = cases[i].shape;
        assert_int_equal(gconv_writer_open(scratch_path("refused"), &options, &writer, &error),
                         cases[i].status);
        assert_null(writer);
        assert_int_equal(error.status, cases[i].status);
    }
    assert_int_equal(count_entries("refused"), 0);
}

static void rows_are_counted(void **state)
{
    (void)state;
    gconv_error error;
    gconv_writer *writer;
    gconv_reader *reader;
    unsigned char rows[64] = {0};
    gconv_writer_options options = gconv_writer_options_default();
    options.format = GCONV_FORMAT_PGM;
    options.shape = (gconv_shape){4, 4, 1, 8};
    assert_int_equal(gconv_writer_open(scratch_path("count"), &options, &writer, &error), GCONV_OK);
    gconv_sink sink = gconv_writer_sink(writer);
    assert_int_equal(sink.write(sink.user, 3, rows, 4, &error), GCONV_OK);
    assert_int_equal(gconv_writer_finish(writer, &error), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_writer_write(writer, 2, rows, 4, &error), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_writer_write(writer, 1, rows, 4, &error), GCONV_OK);
    assert_int_equal(gconv_writer_finish(writer, &error), GCONV_OK);
    gconv_writer_free(writer);
    gconv_reader_options reading = as_stored();
    assert_int_equal(gconv_reader_open(scratch_path("count"), &reading, &reader, &error), GCONV_OK);
    assert_int_equal(gconv_reader_format(reader), GCONV_FORMAT_PGM);
    gconv_source source = gconv_reader_source(reader);
    assert_int_equal(source.read(source.user, 3, rows, 8, &error), GCONV_OK);
    assert_int_equal(gconv_reader_finish(reader, &error), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_reader_read(reader, 2, rows, 8, &error), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_reader_read(reader, 1, rows, 8, &error), GCONV_OK);
    assert_int_equal(gconv_reader_finish(reader, &error), GCONV_OK);
    gconv_reader_free(reader);
    gconv_reader_free(NULL);
    gconv_writer_free(NULL);
}

static void write_errors_are_reported(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG, GCONV_FORMAT_PPM};
    for (size_t i = 0; i < 3; i++)
        for (uint32_t side = 8; side <= 700; side += 692) {
            picture source = make_picture(side, side, 3, 8);
            gconv_error error = {0};
            gconv_writer_options options = gconv_writer_options_default();
            options.format = formats[i];
            assert_int_equal(write_picture("/dev/full", &options, 9, &source, &error),
                             GCONV_ERROR_WRITE);
            assert_non_null(strstr(error.message, "No space left"));
            free_picture(&source);
        }
}

/* ---- PNG of every kind ----------------------------------------------------------------------- */

typedef struct png_kind {
    int colour;
    int depth;
    bool transparent; /* has a tRNS chunk */
    bool interlaced;
} png_kind;

enum { KIND_WIDTH = 23, KIND_HEIGHT = 18 };

/* A sample as it is stored: of `depth` bits. */
static unsigned int stored_sample(uint32_t x, uint32_t y, int channel, int depth)
{
    unsigned int value = x * 7919u + y * 104729u + (unsigned int)channel * 1299709u;
    value ^= value >> 7;
    return value & ((1u << depth) - 1);
}

static int stored_channels(int colour)
{
    return ((colour & PNG_COLOR_MASK_COLOR) && colour != PNG_COLOR_TYPE_PALETTE ? 3 : 1) +
           ((colour & PNG_COLOR_MASK_ALPHA) ? 1 : 0);
}

static void pack_sample(unsigned char *row, size_t index, unsigned int sample, int depth)
{
    if (depth == 16) {
        row[2 * index] = (unsigned char)(sample >> 8);
        row[2 * index + 1] = (unsigned char)sample;
    } else {
        size_t bit = index * (size_t)depth;
        row[bit / 8] |= (unsigned char)(sample << (8 - (size_t)depth - bit % 8));
    }
}

static png_color palette_entry(unsigned int i)
{
    return (png_color){(png_byte)(i * 37), (png_byte)(255 - i), (png_byte)(i * 11)};
}

static unsigned int palette_alpha(unsigned int i)
{
    return i < 3 ? 80 * i : 255;
}

static void set_kind_chunks(png_structp png, png_infop info, const png_kind *kind)
{
    png_color palette[256];
    png_byte alpha[3] = {0, 80, 160};
    png_color_16 clear = {.red = (png_uint_16)stored_sample(1, 1, 0, kind->depth),
                          .green = (png_uint_16)stored_sample(1, 1, 1, kind->depth),
                          .blue = (png_uint_16)stored_sample(1, 1, 2, kind->depth),
                          .gray = (png_uint_16)stored_sample(1, 1, 0, kind->depth)};
    bool indexed = kind->colour == PNG_COLOR_TYPE_PALETTE;
    for (unsigned int i = 0; i < 256; i++)
        palette[i] = palette_entry(i);
    if (indexed)
        png_set_PLTE(png, info, palette, 1 << kind->depth);
    if (kind->transparent)
        png_set_tRNS(png, info, alpha, kind->depth == 1 ? 2 : 3, indexed ? NULL : &clear);
}

static void write_kind(const char *path, const png_kind *kind)
{
    unsigned char rows[KIND_HEIGHT][KIND_WIDTH * 8] = {{0}};
    png_bytep pointers[KIND_HEIGHT];
    int channels = stored_channels(kind->colour);
    for (uint32_t y = 0; y < KIND_HEIGHT; y++) {
        pointers[y] = rows[y];
        for (uint32_t x = 0; x < KIND_WIDTH; x++)
            for (int c = 0; c < channels; c++)
                pack_sample(rows[y], x * (size_t)channels + (size_t)c,
                            stored_sample(x, y, c, kind->depth), kind->depth);
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, KIND_WIDTH, KIND_HEIGHT, kind->depth, kind->colour,
                 kind->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    set_kind_chunks(png, info, kind);
    png_write_info(png, info);
    png_write_image(png, pointers);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

/* What the reader must deliver for one pixel: *channels samples. */
static void expected_pixel(const png_kind *kind, uint32_t x, uint32_t y, unsigned int pixel[4],
                           int *channels)
{
    int stored = stored_channels(kind->colour);
    unsigned int full = kind->depth == 16 ? 65535 : 255;
    unsigned int scale = kind->depth < 8 ? 255 / ((1u << kind->depth) - 1) : 1;
    bool clear = true;
    *channels = stored;
    for (int c = 0; c < stored; c++) {
        pixel[c] = stored_sample(x, y, c, kind->depth) * scale;
        clear = clear && stored_sample(x, y, c, kind->depth) == stored_sample(1, 1, c, kind->depth);
    }
    if (kind->colour == PNG_COLOR_TYPE_PALETTE) {
        unsigned int index = stored_sample(x, y, 0, kind->depth);
        png_color entry = palette_entry(index);
        pixel[0] = entry.red;
        pixel[1] = entry.green;
        pixel[2] = entry.blue;
        pixel[3] = palette_alpha(index);
        *channels = kind->transparent ? 4 : 3;
    } else if (kind->transparent) {
        pixel[(*channels)++] = clear ? 0 : full;
    }
}

static void check_kind(const png_kind *kind)
{
    write_kind(scratch_path("kind.png"), kind);
    gconv_reader_options stored = as_stored();
    gconv_reader_options grey = as_grey();
    picture result = must_read(scratch_path("kind.png"), &stored);
    picture luma = must_read(scratch_path("kind.png"), &grey);
    assert_int_equal(luma.shape.channels, 1);
    assert_int_equal(result.shape.depth, kind->depth == 16 ? 16 : 8);
    for (uint32_t y = 0; y < KIND_HEIGHT; y++)
        for (uint32_t x = 0; x < KIND_WIDTH; x++) {
            unsigned int pixel[4];
            int channels;
            expected_pixel(kind, x, y, pixel, &channels);
            assert_int_equal(result.shape.channels, channels);
            for (int c = 0; c < channels; c++)
                assert_int_equal(sample_at(&result, x, y, c), pixel[c]);
            unsigned int expected = pixel[0];
            if (channels >= 3) /* the contract's formula, in wider integers */
                expected = (unsigned int)((19595ull * pixel[0] + 38470ull * pixel[1] +
                                           7471ull * pixel[2] + 32768) >>
                                          16);
            assert_int_equal(sample_at(&luma, x, y, 0), expected);
        }
    free_picture(&result);
    free_picture(&luma);
}

static void png_of_every_kind(void **state)
{
    (void)state;
    static const struct {
        int colour;
        int first_depth;
        int last_depth;
        bool may_be_transparent;
    } colours[] = {
        {PNG_COLOR_TYPE_GRAY, 1, 16, true},       {PNG_COLOR_TYPE_PALETTE, 1, 8, true},
        {PNG_COLOR_TYPE_RGB, 8, 16, true},        {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 16, false},
        {PNG_COLOR_TYPE_RGB_ALPHA, 8, 16, false},
    };
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        for (int depth = colours[i].first_depth; depth <= colours[i].last_depth; depth *= 2)
            for (int variant = 0; variant < 4; variant++) {
                png_kind kind = {colours[i].colour, depth, variant & 1, variant & 2};
                if (!kind.transparent || colours[i].may_be_transparent)
                    check_kind(&kind);
            }
}

/* ---- JPEG of every kind ---------------------------------------------------------------------- */

typedef struct jpeg_kind {
    J_COLOR_SPACE given;  /* of the rows */
    J_COLOR_SPACE stored; /* in the file */
    int channels;
    bool progressive;
    int restart;  /* MCU rows between restart markers; 0 is none */
    int sampling; /* of the first component */
} jpeg_kind;

static void write_jpeg_kind(const char *path, const jpeg_kind *kind, const picture *source)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = source->shape.width;
    jpeg.image_height = source->shape.height;
    jpeg.input_components = kind->channels;
    jpeg.in_color_space = kind->given;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, kind->stored);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = kind->sampling;
    if (kind->stored == JCS_YCCK)
        jpeg.comp_info[3].h_samp_factor = jpeg.comp_info[3].v_samp_factor = kind->sampling;
    jpeg.restart_in_rows = kind->restart;
    if (kind->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (uint32_t y = 0; y < source->shape.height; y++) {
        JSAMPROW row = source->rows + y * source->row_bytes;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

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
    picture plain = plain_jpeg(path, ink ? JCS_CMYK : JCS_RGB, ink ? 4 : 3);
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
    free_picture(&plain);
    return result;
}

static void jpeg_of_every_kind(void **state)
{
    (void)state;
    static const jpeg_kind kinds[] = {
        {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, false, 0, 1},
        {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, true, 0, 1},
        {JCS_RGB, JCS_YCbCr, 3, false, 0, 2},
        {JCS_RGB, JCS_YCbCr, 3, false, 1, 1},
        {JCS_RGB, JCS_YCbCr, 3, true, 0, 2},
        {JCS_RGB, JCS_YCbCr, 3, true, 1, 2},
        {JCS_RGB, JCS_RGB, 3, false, 0, 1},
        {JCS_CMYK, JCS_CMYK, 4, false, 0, 1},
        {JCS_CMYK, JCS_YCCK, 4, false, 0, 2},
        {JCS_CMYK, JCS_YCCK, 4, true, 0, 1},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        picture source = make_picture(45, 39, kinds[i].channels, 8);
        write_jpeg_kind(scratch_path("kind.jpg"), &kinds[i], &source);
        for (int grey = 0; grey < 2; grey++) {
            gconv_reader_options options = grey ? as_grey() : as_stored();
            picture result = must_read(scratch_path("kind.jpg"), &options);
            picture expected = expected_jpeg(scratch_path("kind.jpg"), &kinds[i], grey);
            assert_same_picture(&result, &expected);
            free_picture(&result);
            free_picture(&expected);
        }
        free_picture(&source);
    }
}

/* Without Adobe's marker CMYK is what it says: 255 is full ink. */
static void cmyk_without_an_adobe_marker(void **state)
{
    (void)state;
    static const jpeg_kind kind = {JCS_CMYK, JCS_CMYK, 4, false, 0, 1};
    enum { SEGMENT_BYTES = 16 };
    picture source = make_picture(45, 39, 4, 8);
    write_jpeg_kind(scratch_path("ink.jpg"), &kind, &source);
    blob file = load_file(scratch_path("ink.jpg"));
    size_t at = 2;
    while (file.bytes[at] != 0xff || file.bytes[at + 1] != 0xee)
        at++;
    assert_memory_equal(file.bytes + at + 4, "Adobe", 5);
    memmove(file.bytes + at, file.bytes + at + SEGMENT_BYTES, file.size - at - SEGMENT_BYTES);
    save_file(scratch_path("ink.jpg"), file.bytes, file.size - SEGMENT_BYTES);
    picture ink = plain_jpeg(scratch_path("ink.jpg"), JCS_CMYK, 4);
    gconv_reader_options options = as_stored();
    picture result = must_read(scratch_path("ink.jpg"), &options);
    for (uint32_t y = 0; y < 39; y++)
        for (uint32_t x = 0; x < 45; x++)
            for (int c = 0; c < 3; c++) {
                unsigned int light =
                    (255 - sample_at(&ink, x, y, c)) * (255 - sample_at(&ink, x, y, 3));
                assert_int_equal(sample_at(&result, x, y, c), (light + 127) / 255);
            }
    free(file.bytes);
    free_picture(&ink);
    free_picture(&result);
    free_picture(&source);
}

/* ---- PNM by hand ----------------------------------------------------------------------------- */

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

/* ---- Orientation ----------------------------------------------------------------------------- */

/* Where the upright pixel (x, y) is stored: EXIF 2.32, the orientation tag. */
static void stored_place(int orientation, const gconv_shape *stored, uint32_t x, uint32_t y,
                         uint32_t *column, uint32_t *row)
{
    uint32_t right = stored->width - 1;
    uint32_t bottom = stored->height - 1;
    const uint32_t places[9][2] = {
        {0, 0}, {x, y},          {right - x, y},          {right - x, bottom - y}, {x, bottom - y},
        {y, x}, {y, bottom - x}, {right - y, bottom - x}, {right - y, x},
    };
    *column = places[orientation][0];
    *row = places[orientation][1];
}

static void check_upright(const picture *stored, const picture *upright, int orientation)
{
    bool swaps = orientation >= 5;
    assert_int_equal(upright->shape.width, swaps ? stored->shape.height : stored->shape.width);
    assert_int_equal(upright->shape.height, swaps ? stored->shape.width : stored->shape.height);
    for (uint32_t y = 0; y < upright->shape.height; y++)
        for (uint32_t x = 0; x < upright->shape.width; x++)
            for (int c = 0; c < stored->shape.channels; c++) {
                uint32_t column;
                uint32_t row;
                stored_place(orientation, &stored->shape, x, y, &column, &row);
                assert_int_equal(sample_at(upright, x, y, c), sample_at(stored, column, row, c));
            }
}

static void add_chunk(blob *png, const char *type, const void *bytes, size_t size);

static void orientation_is_applied(void **state)
{
    (void)state;
    static const int channels[] = {1, 2, 3, 4};
    gconv_reader_options apply = as_stored();
    gconv_reader_options leave = as_stored();
    leave.auto_orient = false;
    for (int orientation = 1; orientation <= GC_ORIENTATION_COUNT; orientation++)
        for (size_t i = 0; i < 8; i++) {
            picture source = make_picture(71, 40, channels[i % 4], i < 4 ? 8 : 16);
            must_write(scratch_path("turn.png"), GCONV_FORMAT_PNG, &source);
            blob whole = load_file(scratch_path("turn.png"));
            unsigned char exif[EXIF_BYTES];
            make_exif(exif, orientation, i & 1);
            add_chunk(&whole, "eXIf", exif, sizeof exif);
            save_file(scratch_path("turn.png"), whole.bytes, whole.size);
            free(whole.bytes);
            picture upright = must_read(scratch_path("turn.png"), &apply);
            check_upright(&source, &upright, orientation);
            free_picture(&upright);
            picture stored = must_read(scratch_path("turn.png"), &leave);
            assert_same_picture(&stored, &source);
            free_picture(&stored);
            free_picture(&source);
        }
}

/* ---- Metadata -------------------------------------------------------------------------------- */

static void store_u32(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Inserts a chunk before the image data. */
static void add_chunk(blob *png, const char *type, const void *bytes, size_t size)
{
    unsigned char head[8];
    unsigned char tail[4];
    size_t at = 8;
    while (memcmp(png->bytes + at + 4, "IDAT", 4) != 0)
        at += 12 + ((size_t)png->bytes[at + 2] << 8 | png->bytes[at + 3]);
    store_u32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uLong check = crc32(crc32(0, (const Bytef *)type, 4), bytes, (uInt)size);
    store_u32(tail, (uint32_t)check);
    splice(png, at, tail, sizeof tail);
    splice(png, at, bytes, size);
    splice(png, at, head, sizeof head);
}

enum { ICC_BYTES = 332 };

/* A header, no tags, and noise: libpng takes a chunk of fewer than 92 bytes for broken. */
static void make_icc(unsigned char icc[ICC_BYTES], const char *space)
{
    memset(icc, 0, ICC_BYTES);
    for (size_t i = 132; i < ICC_BYTES; i++)
        icc[i] = (unsigned char)stored_sample((uint32_t)i, 0, 0, 8);
    store_u32(icc, ICC_BYTES);
    icc[8] = 4;
    memcpy(icc + 12, "mntr", 4);
    memcpy(icc + 16, space, 4);
    memcpy(icc + 20, "XYZ ", 4);
    memcpy(icc + 36, "acsp", 4);
    store_u32(icc + 68, 0xf6d6); /* the D50 white point */
    store_u32(icc + 72, 0x10000);
    store_u32(icc + 76, 0xd32d);
}

/* A PNG with resolution, EXIF (orientation 6), and either an ICC profile or colour chunks. */
static void write_rich_png(const char *path, int channels, const char *space)
{
    picture source = make_picture(9, 5, channels, 8);
    must_write(path, GCONV_FORMAT_PNG, &source);
    free_picture(&source);
    blob whole = load_file(path);
    unsigned char exif[EXIF_BYTES];
    make_exif(exif, 6, false);
    if (space != NULL) {
        unsigned char icc[ICC_BYTES];
        unsigned char chunk[512] = "name\0";
        uLongf size = sizeof chunk - 6;
        make_icc(icc, space);
        compress(chunk + 6, &size, icc, sizeof icc);
        add_chunk(&whole, "iCCP", chunk, size + 6);
    } else {
        add_chunk(&whole, "sRGB", "\1", 1);
    }
    add_chunk(&whole, "gAMA", "\0\0\xb1\x8f", 4);
    add_chunk(&whole, "pHYs", "\0\0\x0b\x13\0\0\x17\x26\1", 9); /* 2835 and 5926 a metre */
    add_chunk(&whole, "eXIf", exif, sizeof exif);
    save_file(path, whole.bytes, whole.size);
    free(whole.bytes);
}

/* Copies an image and its metadata; returns a reader on the copy and how many warnings came. */
static gconv_reader *copy_with(const char *from, const char *to, gconv_format format,
                               gconv_keep keep, const gconv_reader_options *reading, int *warnings)
{
    gconv_reader *reader;
    gconv_writer *writer;
    gconv_error error = {0};
    warnings_seen seen = {0};
    gconv_writer_options options = gconv_writer_options_default();
    assert_int_equal(gconv_reader_open(from, reading, &reader, &error), GCONV_OK);
    options.format = format;
    options.shape = *gconv_reader_shape(reader);
    options.metadata = gconv_reader_metadata(reader);
    options.keep = keep;
    options.warn = remember_warning;
    options.warn_user = &seen;
    assert_int_equal(gconv_writer_open(to, &options, &writer, &error), GCONV_OK);
    unsigned char row[256];
    for (uint32_t y = 0; y < options.shape.height; y++) {
        assert_int_equal(gconv_reader_read(reader, 1, row, sizeof row, &error), GCONV_OK);
        assert_int_equal(gconv_writer_write(writer, 1, row, sizeof row, &error), GCONV_OK);
    }
    assert_int_equal(gconv_reader_finish(reader, &error), GCONV_OK);
    gconv_reader_free(reader);
    assert_int_equal(gconv_writer_finish(writer, &error), GCONV_OK);
    gconv_writer_free(writer);
    *warnings = seen.count;
    assert_int_equal(gconv_reader_open(to, reading, &reader, &error), GCONV_OK);
    return reader;
}

static void png_metadata_are_kept(void **state)
{
    (void)state;
    gconv_reader_options reading = as_stored();
    int warnings;
    write_rich_png(scratch_path("rich.png"), 3, "RGB ");
    gconv_reader *reader = copy_with(scratch_path("rich.png"), scratch_path("copy.png"),
                                     GCONV_FORMAT_PNG, GCONV_KEEP_ALL, &reading, &warnings);
    const gconv_metadata *kept = gconv_reader_metadata(reader);
    assert_int_equal(warnings, 0);
    assert_int_equal(kept->icc_bytes, ICC_BYTES);
    assert_int_equal(kept->gamma, 45455);
    assert_int_equal(kept->resolution.unit, GC_RESOLUTION_PER_METRE);
    assert_int_equal(kept->resolution.x, 5926); /* orientation 6 swaps the axes */
    assert_int_equal(kept->resolution.y, 2835);
    assert_int_equal(kept->exif_bytes, EXIF_BYTES);
    assert_int_equal(gc_exif_orientation(kept->exif, kept->exif_bytes), 1);
    gconv_reader_free(reader);
    write_rich_png(scratch_path("rich.png"), 3, NULL);
    reader = copy_with(scratch_path("rich.png"), scratch_path("copy.png"), GCONV_FORMAT_PNG,
                       GCONV_KEEP_ALL, &reading, &warnings);
    kept = gconv_reader_metadata(reader);
    assert_true(kept->has_srgb);
    assert_int_equal(kept->srgb_intent, 1);
    gconv_reader_free(reader);
}

/* Pixels of 2 by 3, without a unit: what PNG and JPEG can both say, and must not turn into metres. */
static void pixels_that_are_not_square_stay_so(void **state)
{
    (void)state;
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    gconv_reader_options reading = as_stored();
    picture source = make_picture(9, 5, 3, 8);
    must_write(scratch_path("ratio.png"), GCONV_FORMAT_PNG, &source);
    free_picture(&source);
    blob file = load_file(scratch_path("ratio.png"));
    add_chunk(&file, "pHYs", "\0\0\0\2\0\0\0\3\0", 9);
    save_file(scratch_path("ratio.png"), file.bytes, file.size);
    free(file.bytes);
    for (int f = 0; f < 2; f++) {
        int warnings;
        gconv_reader *reader = copy_with(scratch_path("ratio.png"), scratch_path("copy"),
                                         formats[f], GCONV_KEEP_ALL, &reading, &warnings);
        const gconv_metadata *kept = gconv_reader_metadata(reader);
        assert_int_equal(warnings, 0);
        assert_int_equal(kept->resolution.unit, GC_RESOLUTION_RATIO);
        assert_int_equal(kept->resolution.x, 2);
        assert_int_equal(kept->resolution.y, 3);
        gconv_reader_free(reader);
    }
}

/* Each colour chunk is kept as it is, beside the others and alone. */
static void colour_chunks_are_kept(void **state)
{
    (void)state;
    static const int32_t adobe_rgb[GC_CHROMATICITY_COUNT] = {31270, 32900, 64000, 33000,
                                                             21000, 71000, 15000, 6000};
    gconv_reader_options reading = as_stored();
    for (int chunks = 0; chunks < 4; chunks++) {
        bool gamma = (chunks & 1) != 0, chromaticities = (chunks & 2) != 0;
        unsigned char bytes[4 * GC_CHROMATICITY_COUNT];
        int warnings;
        for (size_t i = 0; i < GC_CHROMATICITY_COUNT; i++)
            store_u32(bytes + 4 * i, (uint32_t)adobe_rgb[i]);
        picture source = make_picture(9, 5, 3, 8);
        must_write(scratch_path("chunks.png"), GCONV_FORMAT_PNG, &source);
        blob file = load_file(scratch_path("chunks.png"));
        if (gamma)
            add_chunk(&file, "gAMA", "\0\0\xb1\x8e", 4); /* 45454 */
        if (chromaticities)
            add_chunk(&file, "cHRM", bytes, sizeof bytes);
        save_file(scratch_path("chunks.png"), file.bytes, file.size);
        gconv_reader *reader = copy_with(scratch_path("chunks.png"), scratch_path("copy.png"),
                                         GCONV_FORMAT_PNG, GCONV_KEEP_ALL, &reading, &warnings);
        const gconv_metadata *kept = gconv_reader_metadata(reader);
        assert_int_equal(warnings, 0);
        assert_int_equal(kept->has_gamma, gamma);
        assert_int_equal(kept->gamma, gamma ? 45454 : 0);
        assert_int_equal(kept->has_chromaticities, chromaticities);
        for (size_t i = 0; chromaticities && i < GC_CHROMATICITY_COUNT; i++)
            assert_int_equal(kept->chromaticities[i], adobe_rgb[i]);
        assert_false(kept->has_srgb);
        gconv_reader_free(reader);
        free(file.bytes);
        free_picture(&source);
    }
}

static void orientation_is_left_where_asked(void **state)
{
    (void)state;
    gconv_reader_options reading = as_stored();
    reading.auto_orient = false;
    int warnings;
    write_rich_png(scratch_path("rich.png"), 1, "GRAY");
    gconv_reader *reader = copy_with(scratch_path("rich.png"), scratch_path("copy.jpg"),
                                     GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, &reading, &warnings);
    const gconv_metadata *kept = gconv_reader_metadata(reader);
    assert_int_equal(warnings, 0);
    assert_int_equal(gc_exif_orientation(kept->exif, kept->exif_bytes), 6);
    assert_int_equal(kept->icc_bytes, ICC_BYTES);
    assert_int_equal(kept->resolution.unit, GC_RESOLUTION_PER_INCH);
    assert_int_equal(kept->resolution.x, 72);
    assert_int_equal(kept->resolution.y, 151);
    gconv_reader_free(reader);
}

static void keep_limits_what_is_kept(void **state)
{
    (void)state;
    gconv_reader_options reading = as_stored();
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    int warnings;
    write_rich_png(scratch_path("rich.png"), 3, "RGB ");
    for (int f = 0; f < 2; f++)
        for (int keep = GCONV_KEEP_NOTHING; keep <= GCONV_KEEP_RESOLUTION; keep++) {
            gconv_reader *reader = copy_with(scratch_path("rich.png"), scratch_path("copy"),
                                             formats[f], (gconv_keep)keep, &reading, &warnings);
            const gconv_metadata *kept = gconv_reader_metadata(reader);
            assert_null(kept->icc);
            assert_null(kept->exif);
            assert_false(kept->has_gamma);
            assert_int_equal(kept->resolution.unit != GC_RESOLUTION_NONE,
                             keep == GCONV_KEEP_RESOLUTION);
            gconv_reader_free(reader);
        }
}

/* Alpha is no colour: a grey profile fits images of one and two channels, an RGB one three and four. */
static void fitting_profiles_are_kept(void **state)
{
    (void)state;
    gconv_reader_options reading = as_stored();
    for (int channels = 1; channels <= 4; channels++) {
        int warnings;
        write_rich_png(scratch_path("rich.png"), channels, channels <= 2 ? "GRAY" : "RGB ");
        gconv_reader *reader = copy_with(scratch_path("rich.png"), scratch_path("copy.png"),
                                         GCONV_FORMAT_PNG, GCONV_KEEP_ALL, &reading, &warnings);
        assert_int_equal(warnings, 0);
        assert_int_equal(gconv_reader_metadata(reader)->icc_bytes, ICC_BYTES);
        gconv_reader_free(reader);
    }
}

static void unfitting_profiles_are_dropped(void **state)
{
    (void)state;
    gconv_reader_options reading = as_grey();
    int warnings;
    write_rich_png(scratch_path("rich.png"), 3, "RGB ");
    gconv_reader *reader = copy_with(scratch_path("rich.png"), scratch_path("copy.jpg"),
                                     GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, &reading, &warnings);
    assert_int_equal(warnings, 1);
    assert_null(gconv_reader_metadata(reader)->icc);
    gconv_reader_free(reader);
}

static void large_exif_does_not_fit_a_jpeg(void **state)
{
    (void)state;
    enum { LARGE = 65533 - 6 + 1 };
    gconv_reader_options reading = as_stored();
    for (size_t size = LARGE - 1; size <= LARGE; size++) {
        picture source = make_picture(9, 5, 1, 8);
        int warnings;
        must_write(scratch_path("large.png"), GCONV_FORMAT_PNG, &source);
        free_picture(&source);
        blob whole = load_file(scratch_path("large.png"));
        unsigned char *exif = calloc(1, size);
        assert_non_null(exif);
        make_exif(exif, 1, true);
        add_chunk(&whole, "eXIf", exif, size);
        free(exif);
        save_file(scratch_path("large.png"), whole.bytes, whole.size);
        free(whole.bytes);
        gconv_reader *reader = copy_with(scratch_path("large.png"), scratch_path("large.jpg"),
                                         GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, &reading, &warnings);
        assert_int_equal(warnings, size == LARGE);
        assert_int_equal(gconv_reader_metadata(reader)->exif_bytes, size == LARGE ? 0 : size);
        gconv_reader_free(reader);
    }
}

static void jpeg_exif_turns_the_picture(void **state)
{
    (void)state;
    gconv_reader_options apply = as_stored();
    gconv_reader_options leave = as_stored();
    leave.auto_orient = false;
    picture source = make_picture(40, 30, 3, 8);
    must_write(scratch_path("turn.jpg"), GCONV_FORMAT_JPEG, &source);
    free_picture(&source);
    blob whole = load_file(scratch_path("turn.jpg"));
    unsigned char exif[EXIF_BYTES];
    make_exif(exif, 8, true);
    add_exif_to_jpeg(&whole, exif, sizeof exif);
    save_file(scratch_path("turn.jpg"), whole.bytes, whole.size);
    free(whole.bytes);
    picture stored = must_read(scratch_path("turn.jpg"), &leave);
    picture upright = must_read(scratch_path("turn.jpg"), &apply);
    check_upright(&stored, &upright, 8);
    free_picture(&stored);
    free_picture(&upright);
}

/* ---- What EXIF says of the pixels ------------------------------------------------------------ */

static exif_kind camera_kind(int orientation)
{
    return (exif_kind){.big_endian = true,
                       .orientation = orientation,
                       .side_types = {3, 4},
                       .resolution = {254, 1, 127, 1},
                       .unit = 2};
}

/* An image of 9 x 5 with a full blob, and with the container's own resolution or without. */
static void write_camera_image(const char *path, gconv_format format, const exif_kind *kind,
                               bool own_resolution)
{
    unsigned char exif[FULL_EXIF_BYTES];
    make_full_exif(exif, kind);
    picture source = make_picture(9, 5, 3, 8);
    must_write(path, format, &source);
    free_picture(&source);
    blob whole = load_file(path);
    if (format == GCONV_FORMAT_PNG) {
        add_chunk(&whole, "eXIf", exif, sizeof exif);
        if (own_resolution)
            add_chunk(&whole, "pHYs", "\0\0\x03\xe8\0\0\x03\xe8\1", 9); /* 1000 a metre */
    } else {
        assert_memory_equal(whole.bytes + 6, "JFIF", 4);
        whole.bytes[13] = own_resolution ? 2 : 0; /* 10 a centimetre */
        whole.bytes[15] = whole.bytes[17] = own_resolution ? 10 : 1;
        add_exif_to_jpeg(&whole, exif, sizeof exif);
    }
    save_file(path, whole.bytes, whole.size);
    free(whole.bytes);
}

static void exif_resolution_serves_where_there_is_no_other(void **state)
{
    (void)state;
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    gconv_reader_options reading = as_grey();
    for (int i = 0; i < 16; i++) {
        exif_kind kind = camera_kind(i & 1 ? 6 : 1);
        gconv_format to = formats[i >> 1 & 1];
        bool own = i & 8;
        int warnings;
        write_camera_image(scratch_path("camera"), formats[i >> 2 & 1], &kind, own);
        gconv_reader *reader = copy_with(scratch_path("camera"), scratch_path("copy"), to,
                                         GCONV_KEEP_RESOLUTION, &reading, &warnings);
        gc_resolution kept = gconv_reader_metadata(reader)->resolution;
        assert_null(gconv_reader_metadata(reader)->exif);
        assert_int_not_equal(kept.unit, GC_RESOLUTION_NONE);
        assert_int_not_equal(kept.unit, GC_RESOLUTION_RATIO);
        kept = gc_resolution_convert(kept, GC_RESOLUTION_PER_CENTIMETRE, UINT32_MAX);
        assert_int_equal(kept.x, own ? 10 : i & 1 ? 50 : 100);
        assert_int_equal(kept.y, own ? 10 : i & 1 ? 100 : 50);
        gconv_reader_free(reader);
    }
}

/* No byte of the thumbnail is in the copy, and what is kept agrees with the pixels. */
static void check_camera_copy(const gconv_reader *reader, const exif_kind *kind, bool turned)
{
    const gconv_metadata *kept = gconv_reader_metadata(reader);
    unsigned char expected[FULL_EXIF_BYTES];
    exif_kind after = *kind;
    if (turned) {
        after.orientation = 1;
        after.side_types[0] = kind->side_types[1];
        after.side_types[1] = kind->side_types[0];
    }
    make_full_exif(expected, &after);
    if (turned) {
        put_exif(expected + FULL_EXIF_ENTRIES + 12 + 8, 82, 4, true);
        put_exif(expected + FULL_EXIF_ENTRIES + 24 + 8, 74, 4, true);
        put_entry(expected + 92, 0xa002, after.side_types[0], FULL_EXIF_HEIGHT, true);
        memset(expected + 104 + 8, 0, 4);
        put_entry(expected + 104, 0xa003, after.side_types[1], FULL_EXIF_WIDTH, true);
    }
    memset(expected + 70, 0, 4);
    assert_int_equal(kept->exif_bytes, FULL_EXIF_KEPT);
    assert_memory_equal(kept->exif, expected, FULL_EXIF_KEPT);
    blob copy = load_file(scratch_path("copy"));
    for (size_t i = 0; i + 4 <= copy.size; i++)
        assert_memory_not_equal(copy.bytes + i, "TTTT", 4);
    free(copy.bytes);
}

static void kept_exif_agrees_with_the_pixels(void **state)
{
    (void)state;
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    for (int i = 0; i < 4; i++)
        for (int orientation = 1; orientation <= GC_ORIENTATION_COUNT; orientation++) {
            exif_kind kind = camera_kind(orientation);
            gconv_reader_options reading = as_stored();
            reading.auto_orient = i & 1;
            if (reading.auto_orient && orientation > 1 && orientation < 5)
                continue; /* only the orientation changes: test_exif has it */
            int warnings;
            write_camera_image(scratch_path("camera"), formats[i >> 1], &kind, false);
            gconv_reader *reader = copy_with(scratch_path("camera"), scratch_path("copy"),
                                             formats[i >> 1], GCONV_KEEP_ALL, &reading, &warnings);
            assert_int_equal(warnings, 0);
            check_camera_copy(reader, &kind, reading.auto_orient && orientation >= 5);
            gconv_reader_free(reader);
        }
}

static void add_segment(blob *jpeg, int marker, const char *text, size_t size)
{
    unsigned char head[4] = {0xff, (unsigned char)marker, (unsigned char)((size + 2) >> 8),
                             (unsigned char)(size + 2)};
    splice(jpeg, 2, text, size);
    splice(jpeg, 2, head, sizeof head);
}

/* XMP, IPTC, a comment: told of where all is to be kept, and only there. */
static void what_is_not_kept_is_told(void **state)
{
    (void)state;
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>";
    static const char iptc[] = "Photoshop 3.0\0"
                               "8BIM";
    gconv_reader_options reading = as_stored();
    for (int present = 0; present < 8; present++)
        for (int keep = GCONV_KEEP_NOTHING; keep <= GCONV_KEEP_ALL; keep++) {
            exif_kind kind = camera_kind(1);
            int warnings;
            write_camera_image(scratch_path("told"), GCONV_FORMAT_JPEG, &kind, true);
            blob whole = load_file(scratch_path("told"));
            if (present & 1)
                add_segment(&whole, 0xe1, xmp, sizeof xmp);
            if (present & 2)
                add_segment(&whole, 0xed, iptc, sizeof iptc);
            if (present & 4)
                add_segment(&whole, 0xfe, "", 0);
            save_file(scratch_path("told"), whole.bytes, whole.size);
            free(whole.bytes);
            gconv_reader *reader =
                copy_with(scratch_path("told"), scratch_path("copy"), GCONV_FORMAT_JPEG,
                          (gconv_keep)keep, &reading, &warnings);
            int expected = (present & 1) + (present >> 1 & 1) + (present >> 2);
            assert_int_equal(warnings, keep == GCONV_KEEP_ALL ? expected : 0);
            assert_int_equal(gconv_reader_metadata(reader)->exif != NULL, keep == GCONV_KEEP_ALL);
            gconv_reader_free(reader);
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
static void pipes_are_read(void **state)
{
    (void)state;
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG, GCONV_FORMAT_PPM};
    gconv_reader_options options = as_stored();
    int before = dup(STDIN_FILENO);
    for (size_t i = 0; i < 3; i++) {
        picture source = make_picture(60, 50, 3, 8);
        must_write(scratch_path("pipe"), formats[i], &source);
        picture expected = must_read(scratch_path("pipe"), &options);
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pipe_feed feed = {ends[1], load_file(scratch_path("pipe"))};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        picture result = must_read("-", &options);
        pthread_join(thread, NULL);
        assert_same_picture(&result, &expected);
        free(feed.whole.bytes);
        free_picture(&source);
        free_picture(&result);
        free_picture(&expected);
    }
    dup2(before, STDIN_FILENO);
    close(before);
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    gconv_reader *reader;
    gconv_error error;
    gconv_reader_options options = as_stored();
    assert_int_equal(gconv_reader_open(scratch_path("none"), &options, &reader, &error),
                     GCONV_ERROR_OPEN);
    assert_non_null(strstr(error.message, "No such file"));
    assert_int_equal(gconv_reader_open(scratch, &options, &reader, &error), GCONV_ERROR_OPEN);
    assert_non_null(strstr(error.message, "directory"));
    int descriptor = open(scratch_path("huge"), O_CREAT | O_WRONLY, 0600);
    assert_true(descriptor >= 0);
    if (ftruncate(descriptor, ((off_t)4 << 30) + 1) == 0) {
        assert_int_equal(gconv_reader_open(scratch_path("huge"), &options, &reader, &error),
                         GCONV_ERROR_LIMIT);
        assert_non_null(strstr(error.message, "4 GiB"));
    }
    close(descriptor);
    save_file(scratch_path("p"), "P\0\0 no PNM", 9);
    assert_int_equal(gconv_reader_open(scratch_path("p"), &options, &reader, &error),
                     GCONV_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "not a PNG"));
}

static void options_may_be_left_out(void **state)
{
    (void)state;
    gconv_reader *reader;
    gconv_writer *writer;
    gconv_error error;
    save_file(scratch_path("p"), "P5 2 1 255\nab", 13);
    assert_int_equal(gconv_reader_open(scratch_path("p"), NULL, &reader, &error), GCONV_OK);
    assert_int_equal(gconv_reader_shape(reader)->width, 2);
    gconv_reader_free(reader);
    assert_int_equal(gconv_writer_open(scratch_path("q"), NULL, &writer, &error),
                     GCONV_ERROR_ARGUMENT);
    assert_null(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_names),
        cmocka_unit_test(png_keeps_samples),
        cmocka_unit_test(pnm_keeps_samples),
        cmocka_unit_test(png_keeps_samples_at_every_level),
        cmocka_unit_test(bits_behind_a_row_do_not_reach_the_file),
        cmocka_unit_test(the_highest_png_level_gives_the_smallest_file),
        cmocka_unit_test(the_highest_png_level_takes_large_pictures),
        cmocka_unit_test(equal_pictures_give_equal_files),
        cmocka_unit_test(bits_become_pnm),
        cmocka_unit_test(jpeg_is_close),
        cmocka_unit_test(channels_are_adapted),
        cmocka_unit_test(pfm_is_bottom_up),
        cmocka_unit_test(writers_refuse_what_they_cannot_hold),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(write_errors_are_reported),
        cmocka_unit_test(png_of_every_kind),
        cmocka_unit_test(jpeg_of_every_kind),
        cmocka_unit_test(cmyk_without_an_adobe_marker),
        cmocka_unit_test(pnm_headers),
        cmocka_unit_test(pnm_samples_are_stretched),
        cmocka_unit_test(orientation_is_applied),
        cmocka_unit_test(png_metadata_are_kept),
        cmocka_unit_test(pixels_that_are_not_square_stay_so),
        cmocka_unit_test(colour_chunks_are_kept),
        cmocka_unit_test(orientation_is_left_where_asked),
        cmocka_unit_test(keep_limits_what_is_kept),
        cmocka_unit_test(fitting_profiles_are_kept),
        cmocka_unit_test(unfitting_profiles_are_dropped),
        cmocka_unit_test(large_exif_does_not_fit_a_jpeg),
        cmocka_unit_test(jpeg_exif_turns_the_picture),
        cmocka_unit_test(exif_resolution_serves_where_there_is_no_other),
        cmocka_unit_test(kept_exif_agrees_with_the_pixels),
        cmocka_unit_test(what_is_not_kept_is_told),
        cmocka_unit_test(pipes_are_read),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(options_may_be_left_out),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
