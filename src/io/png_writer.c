/* PNG of 1, 8 and 16 bits, by libpng. */
#include "core/memory.h"
#include "core/status.h"
#include "io/codec.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK_BYTES = 64 * 1024 }; /* of one IDAT */

typedef struct png_encoder {
    gc_encoder common;
    png_structp png;
    png_infop info;
    jmp_buf trap;
    gconv_error *error;    /* of the call in progress */
    gconv_status status;   /* of the failure that sprang the trap */
    unsigned char *packed; /* a row of 1-bit samples whose last bits are 0; else NULL */
    size_t row_bytes;
} png_encoder;

/* ---- What libpng calls ----------------------------------------------------------------------- */

static void take_error(png_structp png, png_const_charp message)
{
    png_encoder *encoder = png_get_error_ptr(png);
    encoder->status = gc_fail(encoder->error, GCONV_ERROR_WRITE, "libpng: %s", message);
    longjmp(encoder->trap, 1);
}

static void take_warning(png_structp png, png_const_charp message)
{
    png_encoder *encoder = png_get_error_ptr(png);
    gc_warn(&encoder->common.warnings, "PNG: %s", message);
}

static void write_bytes(png_structp png, png_bytep bytes, size_t size)
{
    png_encoder *encoder = png_get_io_ptr(png);
    encoder->status = gc_output_write(encoder->common.output, bytes, size, encoder->error);
    if (encoder->status != GCONV_OK)
        longjmp(encoder->trap, 1);
}

/* Nothing to do: gc_output_commit flushes. */
static void flush_bytes(png_structp png)
{
    (void)png;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Speed first unless a level is asked for. Measured with zlib 1.2.13 on 4096 x 3072 synthetic
 * photographs (grey, RGB) and an 8-bit edge map, level 1, milliseconds and MB:
 *     SUB, Z_RLE            106, 6.4    322, 19.1    29, 0.56
 *     UP,  Z_RLE            104, 6.3    311, 18.8    26, 0.31
 *     UP,  Z_HUFFMAN_ONLY    96, 6.3    284, 18.8    77, 1.64
 *     UP,  default          143, 7.3    413, 21.8    27, 0.45
 * UP is also a quarter faster to read back than SUB. One bit a sample gains nothing by a filter. */
static void set_compression(png_encoder *encoder)
{
    png_structp png = encoder->png;
    int level = encoder->common.compression;
    png_set_compression_buffer_size(png, CHUNK_BYTES);
    if (level < 0) {
        png_set_compression_level(png, 1);
        bool bits = encoder->common.shape.depth == 1;
        png_set_filter(png, PNG_FILTER_TYPE_BASE, bits ? PNG_FILTER_NONE : PNG_FILTER_UP);
        png_set_compression_strategy(png, Z_RLE);
        return;
    }
    png_set_compression_level(png, level);
    if (encoder->common.shape.depth == 1)
        png_set_filter(png, PNG_FILTER_TYPE_BASE, level == 9 ? PNG_ALL_FILTERS : PNG_FILTER_NONE);
}

static void set_header(png_encoder *encoder)
{
    static const int colours[] = {[1] = PNG_COLOR_TYPE_GRAY,
                                  [2] = PNG_COLOR_TYPE_GRAY_ALPHA,
                                  [3] = PNG_COLOR_TYPE_RGB,
                                  [4] = PNG_COLOR_TYPE_RGB_ALPHA};
    const gconv_shape *shape = &encoder->common.shape;
    png_set_user_limits(encoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(encoder->png, encoder->info, shape->width, shape->height, shape->depth,
                 colours[shape->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
}

static void set_resolution(png_encoder *encoder)
{
    gc_resolution resolution = gc_resolution_convert(encoder->common.metadata.resolution,
                                                     GC_RESOLUTION_PER_METRE, PNG_UINT_31_MAX);
    if (resolution.unit == GC_RESOLUTION_NONE)
        return;
    png_set_pHYs(encoder->png, encoder->info, resolution.x, resolution.y,
                 resolution.unit == GC_RESOLUTION_RATIO ? PNG_RESOLUTION_UNKNOWN
                                                        : PNG_RESOLUTION_METER);
}

/* An ICC profile and an sRGB chunk exclude each other: the profile says more. */
static void set_colour(png_encoder *encoder)
{
    const gconv_metadata *metadata = &encoder->common.metadata;
    const int32_t *c = metadata->chromaticities;
    if (metadata->has_gamma)
        png_set_gAMA_fixed(encoder->png, encoder->info, metadata->gamma);
    if (metadata->has_chromaticities)
        png_set_cHRM_fixed(encoder->png, encoder->info, c[0], c[1], c[2], c[3], c[4], c[5], c[6],
                           c[7]);
    if (metadata->icc != NULL)
        png_set_iCCP(encoder->png, encoder->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE,
                     metadata->icc, (png_uint_32)metadata->icc_bytes);
    else if (metadata->has_srgb)
        png_set_sRGB(encoder->png, encoder->info, metadata->srgb_intent);
}

static gconv_status write_header(png_encoder *encoder, gconv_error *error)
{
    encoder->error = error;
    /* Covers every libpng call of opening. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    encoder->png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, encoder, take_error, take_warning);
    encoder->info = encoder->png != NULL ? png_create_info_struct(encoder->png) : NULL;
    if (encoder->info == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "libpng cannot start");
    png_set_write_fn(encoder->png, encoder, write_bytes, flush_bytes);
    png_set_benign_errors(encoder->png, 1); /* broken metadata are dropped with a warning */
    set_header(encoder);
    set_compression(encoder);
    set_resolution(encoder);
    set_colour(encoder);
    if (encoder->common.metadata.exif != NULL)
        png_set_eXIf_1(encoder->png, encoder->info,
                       (png_uint_32)encoder->common.metadata.exif_bytes,
                       encoder->common.metadata.exif);
    png_write_info(encoder->png, encoder->info);
    const uint16_t one = 1;
    if (encoder->common.shape.depth == 16 && *(const unsigned char *)&one == 1)
        png_set_swap(encoder->png);
    return GCONV_OK;
}

static gconv_status open_encoder(const gc_encoder *common, gc_encoder **encoder, gconv_error *error)
{
    png_encoder *opened = calloc(1, sizeof *opened);
    *encoder = (gc_encoder *)opened;
    if (opened == NULL)
        return gc_fail_memory(error, sizeof *opened);
    opened->common = *common;
    opened->row_bytes = gconv_shape_row_bytes(&common->shape);
    if (common->shape.depth == 1 && common->shape.width % 8 != 0) {
        opened->packed = malloc(opened->row_bytes);
        if (opened->packed == NULL)
            return gc_fail_memory(error, opened->row_bytes);
    }
    return write_header(opened, error);
}

static void free_encoder(gc_encoder *common)
{
    png_encoder *encoder = (png_encoder *)common;
    png_destroy_write_struct(&encoder->png, &encoder->info);
    free(encoder->packed);
    free(encoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The row with the bits behind its end 0: equal pictures give equal files. */
static const unsigned char *clear_padding(png_encoder *encoder, const unsigned char *row)
{
    if (encoder->packed == NULL)
        return row;
    memcpy(encoder->packed, row, encoder->row_bytes);
    encoder->packed[encoder->row_bytes - 1] &=
        (unsigned char)(0xff00 >> encoder->common.shape.width % 8);
    return encoder->packed;
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    png_encoder *encoder = (png_encoder *)common;
    encoder->error = error;
    /* Covers the encoding of rows. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    for (uint32_t i = 0; i < count; i++)
        png_write_row(encoder->png, clear_padding(encoder, rows + i * stride));
    return GCONV_OK;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    png_encoder *encoder = (png_encoder *)common;
    encoder->error = error;
    /* Covers the end of the image data and IEND. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    png_write_end(encoder->png, NULL);
    return GCONV_OK;
}

const gc_encoder_type gc_png_encoder = {
    .open = open_encoder,
    .write = write_rows,
    .finish = finish,
    .free = free_encoder,
};
