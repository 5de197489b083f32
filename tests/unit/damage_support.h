/* What the tests of damaged files share: files to damage, and reading bytes as a file. */
#pragma once

#include "container_support.h"

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
    save_file("damaged", bytes, size);
    return read_picture("damaged", &options, 4, result, error);
}

/* ---- Files to damage ------------------------------------------------------------------------- */

static inline blob sample_file(gconv_format format, int channels, int depth)
{
    picture source = make_picture(21, 17, channels, depth);
    must_write("sample", format, &source);
    free_picture(&source);
    return load_file("sample");
}

static inline blob interlaced_png(void)
{
    enum { COLUMNS = 21, ROWS = 17, IDAT_BYTES = 100 /* several chunks */ };
    static const png_header header = {COLUMNS, ROWS, PNG_COLOR_TYPE_RGB, 8, true, IDAT_BYTES};
    picture source = make_picture(COLUMNS, ROWS, 3, 8);
    png_bytep rows[ROWS];
    for (size_t y = 0; y < ROWS; y++)
        rows[y] = source.rows + y * source.row_bytes;
    write_plain_png("sample", &header, rows, NULL, NULL);
    free_picture(&source);
    return load_file("sample");
}

/* A square JPEG by libjpeg itself, of 1 or 3 channels; `scans` is a progressive script, or NULL. */
static inline blob sample_jpeg(uint32_t side, int channels, bool progressive, int restart,
                               const jpeg_scan_info *scans, int scan_count)
{
    enum { QUALITY = 75 };
    bool grey = channels == 1;
    const jpeg_kind kind = {.given = grey ? JCS_GRAYSCALE : JCS_RGB,
                            .stored = grey ? JCS_GRAYSCALE : JCS_YCbCr,
                            .channels = channels,
                            .progressive = progressive,
                            .restart = restart,
                            .sampling = grey ? 1 : 2,
                            .scans = scans,
                            .scan_count = scan_count};
    picture source = make_picture(side, side, channels, 8);
    write_plain_jpeg("sample", &kind, QUALITY, &source);
    free_picture(&source);
    return load_file("sample");
}

enum { AFTER_IHDR = 33, IEND_BYTES = 12 }; /* of a PNG: an offset, and the size of its last chunk */
