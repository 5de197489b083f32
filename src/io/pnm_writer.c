/* Binary PGM (P5) and PPM (P6), and PFM. */
#include "base/memory.h"
#include "base/status.h"
#include "io/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pnm_encoder {
    gc_encoder common;
    size_t row_bytes;   /* in the file */
    unsigned char *row; /* a row as the file has it; NULL if the caller's rows have this form */
    /* A PFM stores the last row first: rows are collected in a block, from its end to its start.
     * NULL for other formats. */
    unsigned char *block;
    uint32_t block_rows; /* the image's height if the output cannot seek */
    uint32_t held;       /* rows in the block */
    uint32_t rows;       /* taken */
    uint64_t body;       /* offset of the rows in the output */
} pnm_encoder;

enum { BLOCK_BYTES = 1 << 20 };

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status write_header(pnm_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    unsigned long width = shape->width;
    unsigned long height = encoder->common.part_of > 0 ? encoder->common.part_of : shape->height;
    char header[64];
    if (encoder->common.part_first > 0)
        return GCONV_OK;
    if (shape->depth == 32) /* the sign of the scale says little-endian */
        snprintf(header, sizeof header, "P%c\n%lu %lu\n-%.17g\n", shape->channels == 1 ? 'f' : 'F',
                 width, height, encoder->common.white);
    else
        snprintf(header, sizeof header, "P%c\n%lu %lu\n%lu\n",
                 encoder->common.format == GCONV_FORMAT_PGM ? '5' : '6', width, height,
                 (1ul << shape->depth) - 1);
    gconv_status status = gc_output_write(encoder->common.output, header, strlen(header), error);
    encoder->body = gc_output_position(encoder->common.output);
    return status;
}

static uint32_t choose_block_rows(const pnm_encoder *encoder)
{
    uint32_t height = encoder->common.shape.height;
    size_t rows = encoder->row_bytes < BLOCK_BYTES ? BLOCK_BYTES / encoder->row_bytes : 1;
    return gc_output_seeks(encoder->common.output) && rows < height ? (uint32_t)rows : height;
}

static gconv_status allocate(pnm_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    size_t rows = 1;
    unsigned char **buffer = &encoder->row;
    encoder->row_bytes = gconv_shape_row_bytes(shape);
    if (shape->depth == 8)
        return GCONV_OK;
    if (shape->depth == 1)
        encoder->row_bytes =
            encoder->common.format == GCONV_FORMAT_PPM ? (size_t)shape->width * 3 : shape->width;
    if (shape->depth == 32) {
        encoder->block_rows = choose_block_rows(encoder);
        rows = encoder->block_rows;
        buffer = &encoder->block;
    }
    *buffer = gc_allocate_array(rows, encoder->row_bytes);
    return *buffer != NULL ? GCONV_OK : gc_fail_memory(error, rows * encoder->row_bytes);
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    pnm_encoder *opened = (pnm_encoder *)common;
    gconv_status status = allocate(opened, error);
    return status == GCONV_OK ? write_header(opened, error) : status;
}

static void free_encoder(gc_encoder *common)
{
    pnm_encoder *encoder = (pnm_encoder *)common;
    free(encoder->row);
    free(encoder->block);
    free(encoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void unpack_bits(const unsigned char *bits, unsigned char *samples, uint32_t width,
                        size_t channels)
{
    for (size_t x = 0; x < width; x++)
        memset(samples + x * channels, bits[x / 8] >> (7 - x % 8) & 1, channels);
}

static void store_big_endian(const unsigned char *samples, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t sample;
        memcpy(&sample, samples + 2 * i, 2);
        bytes[2 * i] = (unsigned char)(sample >> 8);
        bytes[2 * i + 1] = (unsigned char)sample;
    }
}

static void store_little_endian(const unsigned char *samples, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t sample;
        memcpy(&sample, samples + 4 * i, 4);
        for (size_t b = 0; b < 4; b++)
            bytes[4 * i + b] = (unsigned char)(sample >> 8 * b);
    }
}

static gconv_status write_block(pnm_encoder *encoder, gconv_error *error)
{
    gc_output *output = encoder->common.output;
    size_t size = encoder->held * encoder->row_bytes;
    const unsigned char *bytes =
        encoder->block + (encoder->block_rows - encoder->held) * encoder->row_bytes;
    uint64_t behind = encoder->common.shape.height - encoder->rows;
    encoder->held = 0;
    if (behind == 0 && encoder->block_rows == encoder->common.shape.height)
        return gc_output_write(output, bytes, size, error);
    return gc_output_write_at(output, encoder->body + behind * encoder->row_bytes, bytes, size,
                              error);
}

static gconv_status hold_row(pnm_encoder *encoder, const unsigned char *row, gconv_error *error)
{
    encoder->held++;
    encoder->rows++;
    store_little_endian(row,
                        encoder->block + (encoder->block_rows - encoder->held) * encoder->row_bytes,
                        encoder->row_bytes / 4);
    bool complete =
        encoder->held == encoder->block_rows || encoder->rows == encoder->common.shape.height;
    return complete ? write_block(encoder, error) : GCONV_OK;
}

static gconv_status write_row(pnm_encoder *encoder, const unsigned char *row, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    switch (shape->depth) {
    case 1:
        unpack_bits(row, encoder->row, shape->width, encoder->row_bytes / shape->width);
        break;
    case 16:
        store_big_endian(row, encoder->row, encoder->row_bytes / 2);
        break;
    case 32:
        return hold_row(encoder, row, error);
    default:
        return gc_output_write(encoder->common.output, row, encoder->row_bytes, error);
    }
    return gc_output_write(encoder->common.output, encoder->row, encoder->row_bytes, error);
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    pnm_encoder *encoder = (pnm_encoder *)common;
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++)
        status = write_row(encoder, rows + i * stride, error);
    return status;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    const pnm_encoder *encoder = (pnm_encoder *)common;
    uint32_t height = common->shape.height;
    if (encoder->block == NULL || encoder->block_rows == height)
        return GCONV_OK;
    return gc_output_skip(common->output, (uint64_t)height * encoder->row_bytes, error);
}

const gc_encoder_type gc_pnm_encoder = {
    .size = sizeof(pnm_encoder),
    .open = open_encoder,
    .write = write_rows,
    .finish = finish,
    .free = free_encoder,
};
