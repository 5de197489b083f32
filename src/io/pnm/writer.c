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
    gc_upward upward;   /* of a PFM */
} pnm_encoder;

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
    return gc_output_write(common->output, header, strlen(header), error);
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    pnm_encoder *opened = (pnm_encoder *)common;
    const gconv_shape *shape = &common->shape;
    gconv_status status = write_header(opened, error);
    opened->row_bytes = gconv_shape_row_bytes(shape);
    if (status != GCONV_OK || shape->depth == 8)
        return status;
    if (shape->depth == 32)
        return gc_upward_open(&opened->upward, common->output, opened->row_bytes, shape->height,
                              error);
    if (shape->depth == 1 && common->format != GCONV_FORMAT_PBM)
        opened->row_bytes =
            common->format == GCONV_FORMAT_PPM ? (size_t)shape->width * 3 : shape->width;
    opened->row = gc_allocate_array(1, opened->row_bytes);
    return opened->row != NULL ? GCONV_OK : gc_fail_memory(error, opened->row_bytes);
}

static void free_encoder(gc_encoder *common)
{
    pnm_encoder *encoder = (pnm_encoder *)common;
    free(encoder->row);
    free(encoder->upward.block);
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

static gconv_status write_floats(pnm_encoder *encoder, const unsigned char *row, gconv_error *error)
{
    unsigned char *to = gc_upward_row(&encoder->upward);
    memcpy(to, row, encoder->row_bytes);
    if (GC_HOST_IS_BIG_ENDIAN)
        gc_raw_swap(to, encoder->row_bytes / 4, 4);
    return gc_upward_write(&encoder->upward, encoder->common.output, error);
}

static gconv_status write_row(gc_encoder *common, const unsigned char *row, gconv_error *error)
{
    pnm_encoder *encoder = (pnm_encoder *)common;
    const gconv_shape *shape = &common->shape;
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
        return write_floats(encoder, row, error);
    default:
        return gc_output_write(encoder->common.output, row, encoder->row_bytes, error);
    }
    return gc_output_write(encoder->common.output, encoder->row, encoder->row_bytes, error);
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    return gc_upward_finish(&((pnm_encoder *)common)->upward, common->output, error);
}

const gc_encoder_type gc_pnm_encoder = {
    .size = sizeof(pnm_encoder),
    .open = open_encoder,
    .write_row = write_row,
    .finish = finish,
    .free = free_encoder,
};
