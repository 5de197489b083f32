/* Image files made without gconv: libpng and libjpeg write them, and tests put chunks and segments
 * into them. */
#pragma once

#include "io_support.h"

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

static inline void store_u32(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* ---- PNG ------------------------------------------------------------------------------------- */

/* What the file says before its image data. */
typedef struct png_header {
    uint32_t width, height;
    int colour; /* PNG_COLOR_TYPE_... */
    int depth;
    bool interlaced;
    size_t idat_bytes; /* of compressed data in an IDAT chunk; 0 is libpng's default */
} png_header;

/* Writes packed rows. `set_chunks` adds to the header and may be NULL. */
static inline void write_plain_png(const char *path, const png_header *header, png_bytepp rows,
                                   void (*set_chunks)(png_structp, png_infop, const void *user),
                                   const void *user)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, header->width, header->height, header->depth, header->colour,
                 header->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (header->idat_bytes > 0)
        png_set_compression_buffer_size(png, header->idat_bytes);
    if (set_chunks != NULL)
        set_chunks(png, info, user);
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

/* Inserts a chunk at an offset. `damage` is added to its checksum by exclusive or: 0 leaves it
 * right. */
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

/* Inserts a chunk before the image data. */
static inline void add_chunk(blob *png, const char *type, const void *bytes, size_t size)
{
    size_t at = 8;
    while (memcmp(png->bytes + at + 4, "IDAT", 4) != 0)
        at += 12 + ((size_t)png->bytes[at + 2] << 8 | png->bytes[at + 3]);
    insert_chunk(png, at, type, bytes, size, 0);
}

/* ---- JPEG ------------------------------------------------------------------------------------ */

typedef struct jpeg_kind {
    J_COLOR_SPACE given;  /* of the rows */
    J_COLOR_SPACE stored; /* in the file */
    int channels;
    bool progressive;
    int restart;                 /* MCU rows between restart markers; 0 is none */
    int sampling;                /* of the first component */
    const jpeg_scan_info *scans; /* a script of scans, or NULL */
    int scan_count;
} jpeg_kind;

static inline void write_plain_jpeg(const char *path, const jpeg_kind *kind, int quality,
                                    const picture *source)
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
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = kind->sampling;
    if (kind->stored == JCS_YCCK)
        jpeg.comp_info[3].h_samp_factor = jpeg.comp_info[3].v_samp_factor = kind->sampling;
    jpeg.restart_in_rows = kind->restart;
    if (kind->progressive)
        jpeg_simple_progression(&jpeg);
    if (kind->scans != NULL) {
        jpeg.scan_info = kind->scans;
        jpeg.num_scans = kind->scan_count;
    }
    jpeg_start_compress(&jpeg, TRUE);
    for (uint32_t y = 0; y < source->shape.height; y++) {
        JSAMPROW row = source->rows + y * source->row_bytes;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

/* Inserts a segment right after SOI. */
static inline void add_segment(blob *jpeg, int marker, const char *text, size_t size)
{
    unsigned char head[4] = {0xff, (unsigned char)marker, (unsigned char)((size + 2) >> 8),
                             (unsigned char)(size + 2)};
    splice(jpeg, 2, text, size);
    splice(jpeg, 2, head, sizeof head);
}

/* Puts an EXIF blob into a JPEG, right after SOI. */
static inline void add_exif_to_jpeg(blob *jpeg, const unsigned char *exif, size_t size)
{
    unsigned char marker[10] = {
        0xff, 0xe1, (unsigned char)((size + 8) >> 8), (unsigned char)(size + 8), 'E', 'x',
        'i',  'f'};
    splice(jpeg, 2, exif, size);
    splice(jpeg, 2, marker, sizeof marker);
}

/* ---- ICC profiles ---------------------------------------------------------------------------- */

enum { ICC_BYTES = 332 };

/* A profile for a colour space, "GRAY" or "RGB ": a header, no tags, and noise. libpng refuses a
 * compressed profile of fewer than 92 bytes. */
static inline void make_icc(unsigned char icc[ICC_BYTES], const char *space)
{
    uint32_t noise = 1;
    memset(icc, 0, ICC_BYTES);
    for (size_t i = 132; i < ICC_BYTES; i++)
        icc[i] = (unsigned char)((noise = noise * 1664525u + 1013904223u) >> 24);
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
