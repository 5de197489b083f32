/* JPEG files made and decoded by libjpeg alone, as a measure for other decoders: the planes as they
 * are stored, and the rows that gconv gets of libjpeg. */
#pragma once

#include "gconv.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

typedef struct turbo_image {
    gconv_encoded about;             /* of orientation 1 */
    int channels;                    /* of the rows: 1 or 3 */
    unsigned char *planes[3], *rows; /* rows without gaps */
    size_t pitches[3];
    uint32_t plane_widths[3], plane_heights[3];
} turbo_image;

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef struct turbo_errors {
    struct jpeg_error_mgr common;
    jmp_buf trap;
} turbo_errors;

static inline void turbo_fail(j_common_ptr jpeg)
{
    longjmp(((turbo_errors *)jpeg->err)->trap, 1);
}

/* Warnings are failures, too. */
static inline void turbo_message(j_common_ptr jpeg, int level)
{
    if (level < 0)
        turbo_fail(jpeg);
}

static inline struct jpeg_error_mgr *turbo_catch(turbo_errors *errors)
{
    jpeg_std_error(&errors->common);
    errors->common.error_exit = turbo_fail;
    errors->common.emit_message = turbo_message;
    return &errors->common;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static inline bool turbo_describe(const struct jpeg_decompress_struct *jpeg, turbo_image *image)
{
    const jpeg_component_info *parts = jpeg->comp_info;
    image->channels = jpeg->num_components;
    image->about.width = jpeg->image_width;
    image->about.height = jpeg->image_height;
    image->about.components = jpeg->num_components;
    bool grey = jpeg->num_components == 1;
    image->about.sampling_x = grey ? 1 : parts[0].h_samp_factor / parts[1].h_samp_factor;
    image->about.sampling_y = grey ? 1 : parts[0].v_samp_factor / parts[1].v_samp_factor;
    image->about.orientation = 1;
    for (int c = 0; c < jpeg->num_components && c < 3; c++) {
        image->plane_widths[c] = parts[c].downsampled_width;
        image->plane_heights[c] = parts[c].downsampled_height;
    }
    return jpeg->jpeg_color_space == JCS_YCbCr || jpeg->jpeg_color_space == JCS_GRAYSCALE;
}

/* A whole MCU row after the other. The planes have room for the padding of blocks. */
static inline void turbo_read_planes(struct jpeg_decompress_struct *jpeg, turbo_image *image)
{
    jpeg->raw_data_out = TRUE;
    jpeg_start_decompress(jpeg);
    for (int c = 0; c < jpeg->num_components; c++) {
        image->pitches[c] = (size_t)jpeg->comp_info[c].width_in_blocks * 8;
        image->planes[c] =
            malloc(image->pitches[c] * ((size_t)jpeg->comp_info[c].height_in_blocks * 8 + 32));
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW rows[3][32];
        JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
        uint32_t mcu_row = jpeg->output_scanline / (uint32_t)(jpeg->max_v_samp_factor * 8);
        for (int c = 0; c < jpeg->num_components; c++)
            for (int i = 0; i < jpeg->comp_info[c].v_samp_factor * 8; i++)
                rows[c][i] =
                    image->planes[c] +
                    image->pitches[c] *
                        (mcu_row * (uint32_t)jpeg->comp_info[c].v_samp_factor * 8 + (uint32_t)i);
        jpeg_read_raw_data(jpeg, planes, (JDIMENSION)jpeg->max_v_samp_factor * 8);
    }
}

static inline void turbo_read_rows(struct jpeg_decompress_struct *jpeg, turbo_image *image)
{
    jpeg_start_decompress(jpeg);
    size_t stride = (size_t)jpeg->image_width * (size_t)image->channels;
    image->rows = malloc(stride * jpeg->image_height);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = image->rows + stride * jpeg->output_scanline;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
}

static inline bool turbo_read(const gconv_encoded *file, bool raw, turbo_image *image)
{
    turbo_errors errors;
    struct jpeg_decompress_struct jpeg = {.err = turbo_catch(&errors)};
    jpeg_create_decompress(&jpeg);
    bool read = false;
    if (setjmp(errors.trap) == 0) {
        jpeg_mem_src(&jpeg, (unsigned char *)file->bytes, file->size);
        jpeg_read_header(&jpeg, TRUE);
        bool known = turbo_describe(&jpeg, image);
        if (known && raw)
            turbo_read_planes(&jpeg, image);
        else if (known)
            turbo_read_rows(&jpeg, image);
        if (known)
            jpeg_finish_decompress(&jpeg);
        read = known;
    }
    jpeg_destroy_decompress(&jpeg);
    return read;
}

static inline void turbo_free(turbo_image *image)
{
    for (int c = 0; c < 3; c++)
        free(image->planes[c]);
    free(image->rows);
}

/* False if libjpeg fails or warns, or the file is no YCbCr or grey. turbo_free is needed in any
 * case. */
static inline bool turbo_decode(const gconv_encoded *file, turbo_image *image)
{
    *image = (turbo_image){.channels = 0};
    bool decoded = turbo_read(file, true, image) && turbo_read(file, false, image);
    image->about.bytes = file->bytes;
    image->about.held = image->about.size = file->size;
    return decoded;
}

/* ---- Making ---------------------------------------------------------------------------------- */

typedef enum turbo_content {
    TURBO_NOISE,
    TURBO_GRADIENT,
    TURBO_CHECKERS,
    TURBO_CONTENTS
} turbo_content;

typedef struct turbo_settings {
    uint32_t width, height;
    int components, sampling_x, sampling_y, quality;
    int restart; /* MCUs; 0: none */
    bool optimized, progressive;
    turbo_content content;
    unsigned seed;
} turbo_settings;

static inline unsigned char turbo_sample(const turbo_settings *set, uint32_t x, uint32_t y, int c,
                                         unsigned *random)
{
    *random = *random * 1664525u + 1013904223u;
    switch (set->content) {
    case TURBO_NOISE:
        return (unsigned char)(*random >> 24);
    case TURBO_CHECKERS:
        return ((x ^ y) >> c & 1) != 0 ? 255 : 0;
    default:
        return (unsigned char)(x * 2 + y * (uint32_t)(c + 1) + (*random >> 29));
    }
}

static inline void turbo_write_rows(struct jpeg_compress_struct *jpeg, const turbo_settings *set)
{
    unsigned random = set->seed;
    unsigned char *row = malloc((size_t)set->width * 3);
    for (uint32_t y = 0; y < set->height; y++) {
        for (uint32_t x = 0; x < set->width; x++)
            for (int c = 0; c < set->components; c++)
                row[x * (uint32_t)set->components + (uint32_t)c] =
                    turbo_sample(set, x, y, c, &random);
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    free(row);
}

/* A file that `free` releases. Its colours are not converted: content goes into the planes. */
static inline unsigned char *turbo_make(const turbo_settings *set, unsigned long *size)
{
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct jpeg = {.err = jpeg_std_error(&errors)};
    unsigned char *bytes = NULL;
    jpeg_create_compress(&jpeg);
    *size = 0;
    jpeg_mem_dest(&jpeg, &bytes, size);
    jpeg.image_width = set->width;
    jpeg.image_height = set->height;
    jpeg.input_components = set->components;
    jpeg.in_color_space = set->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, set->quality, TRUE);
    jpeg.comp_info[0].h_samp_factor = set->sampling_x;
    jpeg.comp_info[0].v_samp_factor = set->sampling_y;
    jpeg.restart_interval = (unsigned)set->restart;
    jpeg.optimize_coding = set->optimized;
    if (set->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    turbo_write_rows(&jpeg, set);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return bytes;
}
