/* Binary PBM (P4), PGM (P5) and PPM (P6), PAM, and PFM. */
#include "base/memory.h"
#include "base/status.h"
#include "io/raw.h"

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

/* Prints the header for an image of `height` rows. */
static void print_header(const gc_encoder *common, unsigned long height, char *text, size_t room)
{
    static const char *const tuples[] = {"GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
    const gconv_shape *shape = &common->shape;
    unsigned long width = shape->width, maxval = (1ul << shape->depth % 32) - 1;
    const char *tuple = shape->depth == 1 ? "BLACKANDWHITE" : tuples[shape->channels - 1];
    switch (common->format) {
    case GCONV_FORMAT_PBM:
        snprintf(text, room, "P4\n%lu %lu\n", width, height);
        break;
    case GCONV_FORMAT_PAM:
        snprintf(text, room,
                 "P7\nWIDTH %lu\nHEIGHT %lu\nDEPTH %d\nMAXVAL %lu\nTUPLTYPE %s\nENDHDR\n", width,
                 height, shape->channels, maxval, tuple);
        break;
    case GCONV_FORMAT_PFM: /* the sign of the scale says little-endian */
        snprintf(text, room, "P%c\n%lu %lu\n-%.17g\n", shape->channels == 1 ? 'f' : 'F', width,
                 height, common->white);
        break;
    default:
        snprintf(text, room, "P%c\n%lu %lu\n%lu\n", common->format == GCONV_FORMAT_PGM ? '5' : '6',
                 width, height, maxval);
    }
}

static gconv_status write_header(pnm_encoder *encoder, gconv_error *error)
{
    const gc_encoder *common = &encoder->common;
    char header[128];
    if (common->part_first > 0)
        return GCONV_OK;
    print_header(common, common->part_of > 0 ? common->part_of : common->shape.height, header,
                 sizeof header);
    gconv_status status = gc_output_write(common->output, header, strlen(header), error);
    encoder->body = gc_output_position(common->output);
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
    if (shape->depth == 1 && encoder->common.format != GCONV_FORMAT_PBM)
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

/* A PBM has 1 for black. The bits behind the last pixel are 0. */
static void invert_bits(const unsigned char *bits, unsigned char *inverted, uint32_t width)
{
    size_t count = ((size_t)width + 7) / 8;
    for (size_t i = 0; i < count; i++)
        inverted[i] = (unsigned char)~bits[i];
    if (width % 8 != 0)
        inverted[count - 1] &= (unsigned char)(0xff00 >> width % 8);
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
    unsigned char *to = encoder->block + (encoder->block_rows - encoder->held) * encoder->row_bytes;
    memcpy(to, row, encoder->row_bytes);
    if (GC_HOST_IS_BIG_ENDIAN)
        gc_raw_swap(to, encoder->row_bytes / 4, 4);
    bool complete =
        encoder->held == encoder->block_rows || encoder->rows == encoder->common.shape.height;
    return complete ? write_block(encoder, error) : GCONV_OK;
}

static gconv_status write_row(pnm_encoder *encoder, const unsigned char *row, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    switch (shape->depth) {
    case 1:
        if (encoder->common.format == GCONV_FORMAT_PBM)
            invert_bits(row, encoder->row, shape->width);
        else
            gc_raw_unpack_bits(row, encoder->row, shape->width, encoder->row_bytes / shape->width);
        break;
    case 16:
        memcpy(encoder->row, row, encoder->row_bytes);
        if (!GC_HOST_IS_BIG_ENDIAN)
            gc_raw_swap(encoder->row, encoder->row_bytes / 2, 2);
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
