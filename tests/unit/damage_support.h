/* What the tests of damaged files share: files to damage, and reading bytes as a file. */
#ifndef GC_TESTS_DAMAGE_SUPPORT_H
#define GC_TESTS_DAMAGE_SUPPORT_H

#include "io_support.h"

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

static warnings_seen seen;
static int damage_seen; /* warnings among these that are of what `tolerant` lets pass */

static inline void remember_damage(void *user, const char *message)
{
    remember_warning(user, message);
    damage_seen++;
}

static inline gconv_reader_options reading(bool tolerant)
{
    gconv_reader_options options = gconv_reader_options_default();
    options.tolerant = tolerant;
    options.warn = remember_warning;
    options.warn_user = &seen;
    options.warn_damage = remember_damage;
    damage_seen = 0;
    seen = (warnings_seen){0};
    return options;
}

/* Reads bytes as a file. */
static inline gconv_status read_bytes(const void *bytes, size_t size, bool tolerant,
                                      picture *result, gconv_error *error)
{
    gconv_reader_options options = reading(tolerant);
    *error = (gconv_error){0};
    save_file(scratch_path("damaged"), bytes, size);
    return read_picture(scratch_path("damaged"), &options, 4, result, error);
}

/* ---- Files to damage ------------------------------------------------------------------------- */

static inline blob sample_file(gconv_format format, int channels, int depth)
{
    picture source = make_picture(21, 17, channels, depth);
    must_write(scratch_path("sample"), format, &source);
    free_picture(&source);
    return load_file(scratch_path("sample"));
}

static inline blob interlaced_png(void)
{
    picture source = make_picture(21, 17, 3, 8);
    png_bytep rows[17];
    FILE *file = fopen(scratch_path("sample"), "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, 21, 17, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7, 0, 0);
    png_set_compression_buffer_size(png, 100); /* several IDAT chunks */
    for (size_t y = 0; y < 17; y++)
        rows[y] = source.rows + y * source.row_bytes;
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
    free_picture(&source);
    return load_file(scratch_path("sample"));
}

/* A JPEG by libjpeg itself; `scans` is a progressive script, or NULL. */
static inline blob plain_jpeg(uint32_t side, int channels, bool progressive, int restart,
                              const jpeg_scan_info *scans, int scan_count)
{
    picture source = make_picture(side, side, channels, 8);
    FILE *file = fopen(scratch_path("sample"), "wb");
    assert_non_null(file);
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = jpeg.image_height = side;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg.restart_in_rows = restart;
    if (progressive)
        jpeg_simple_progression(&jpeg);
    if (scans != NULL) {
        jpeg.scan_info = scans;
        jpeg.num_scans = scan_count;
    }
    jpeg_start_compress(&jpeg, TRUE);
    for (uint32_t y = 0; y < side; y++) {
        JSAMPROW row = source.rows + y * source.row_bytes;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
    free_picture(&source);
    return load_file(scratch_path("sample"));
}

/* ---- Chunks of PNG --------------------------------------------------------------------------- */

enum { AFTER_IHDR = 33, IEND_BYTES = 12 };

static inline void store_u32(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
}

static inline void insert_chunk(blob *png, size_t at, const char *type, const void *bytes,
                                size_t size, uint32_t damage)
{
    unsigned char head[8];
    unsigned char tail[4];
    store_u32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uLong check = crc32(crc32(0, (const Bytef *)type, 4), bytes, (uInt)size);
    store_u32(tail, (uint32_t)check ^ damage);
    splice(png, at, tail, sizeof tail);
    splice(png, at, bytes, size);
    splice(png, at, head, sizeof head);
}

#endif
