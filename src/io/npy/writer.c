/* NPY: version 1 of the header, C's order, numbers as this machine has them. */
#include "base/memory.h"
#include "base/status.h"
#include "io/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct npy_encoder {
    gc_encoder common;
    size_t row_bytes;    /* in the file */
    unsigned char *bits; /* a row of bits as bools; NULL at other depths */
} npy_encoder;

/* The dictionary, filled up with blanks: the array begins at a multiple of 64. */
static gconv_status write_header(npy_encoder *encoder, gconv_error *error)
{
    enum { PREFIX = 10, BYTES = 128 };
    const gconv_shape *shape = &encoder->common.shape;
    char header[BYTES + 1], channels[16] = "";
    const char *type = shape->depth == 1 ? "b1" : shape->depth == 8 ? "u1" : "u2";
    if (shape->channels > 1)
        snprintf(channels, sizeof channels, ", %d", shape->channels);
    int used = snprintf(header + PREFIX, sizeof header - PREFIX,
                        "{'descr': '%c%s', 'fortran_order': False, 'shape': (%lu, %lu%s), }",
                        shape->depth <= 8       ? '|'
                        : GC_HOST_IS_BIG_ENDIAN ? '>'
                                                : '<',
                        shape->depth == 32 ? "f4" : type, (unsigned long)shape->height,
                        (unsigned long)shape->width, channels);
    memset(header + PREFIX + used, ' ', (size_t)(BYTES - PREFIX - used));
    memcpy(header, "\x93NUMPY\1\0", 8);
    header[8] = BYTES - PREFIX;
    header[9] = 0;
    header[BYTES - 1] = '\n';
    return gc_output_write(encoder->common.output, header, BYTES, error);
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    npy_encoder *opened = (npy_encoder *)common;
    opened->row_bytes = gconv_shape_row_bytes(&common->shape);
    if (common->shape.depth == 1) {
        opened->row_bytes = common->shape.width;
        opened->bits = gc_allocate_array(1, opened->row_bytes);
        GC_TRY_MEMORY(opened->bits != NULL, error, opened->row_bytes);
    }
    return write_header(opened, error);
}

static gconv_status write_row(gc_encoder *common, const unsigned char *row, gconv_error *error)
{
    npy_encoder *encoder = (npy_encoder *)common;
    if (encoder->bits != NULL) {
        gc_raw_unpack_bits(row, encoder->bits, encoder->row_bytes, 1);
        row = encoder->bits;
    }
    return gc_output_write(common->output, row, encoder->row_bytes, error);
}

static void free_encoder(gc_encoder *common)
{
    free(((npy_encoder *)common)->bits);
    free(common);
}

const gc_encoder_type gc_npy_encoder = {
    .size = sizeof(npy_encoder),
    .open = open_encoder,
    .write_row = write_row,
    .free = free_encoder,
};
