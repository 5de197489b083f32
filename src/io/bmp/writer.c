/* BMP of Windows: RGB of 24 bits, grey of 8 bits and 1 bit, the last row first. */
#include "base/status.h"
#include "io/raw.h"

#include <stdlib.h>
#include <string.h>

typedef struct bmp_encoder {
    gc_encoder common;
    gc_upward rows;
} bmp_encoder;

static void put_four(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
}

static gconv_status write_header(const gc_encoder *common, uint64_t pixel_bytes, gconv_error *error)
{
    enum { HEADER = 54, MOST = HEADER + 1024 };
    const gconv_shape *shape = &common->shape;
    unsigned char bytes[MOST] = "BM";
    uint32_t bits = (uint32_t)(shape->depth * shape->channels);
    uint32_t colours = bits <= 8 ? 1u << bits : 0, size = HEADER + 4 * colours;
    gc_resolution metre =
        gc_resolution_convert(common->metadata.resolution, GC_RESOLUTION_PER_METRE, INT32_MAX);
    if (pixel_bytes > UINT32_MAX - MOST)
        return gc_fail(error, GCONV_ERROR_LIMIT, "BMP holds less than 4 GiB");
    put_four(bytes + 2, size + (uint32_t)pixel_bytes);
    put_four(bytes + 10, size);
    put_four(bytes + 14, 40);
    put_four(bytes + 18, shape->width);
    put_four(bytes + 22, shape->height);
    put_four(bytes + 26, 1 | bits << 16);
    put_four(bytes + 34, (uint32_t)pixel_bytes);
    if (metre.unit == GC_RESOLUTION_PER_METRE) {
        put_four(bytes + 38, metre.x);
        put_four(bytes + 42, metre.y);
    }
    for (uint32_t i = 0; i < colours; i++)
        put_four(bytes + HEADER + 4 * i, i * (UINT8_MAX / (colours - 1)) * 0x10101);
    return gc_output_write(common->output, bytes, size, error);
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    bmp_encoder *opened = (bmp_encoder *)common;
    size_t row_bytes = (gconv_shape_row_bytes(&common->shape) + 3) / 4 * 4;
    GC_TRY(write_header(common, (uint64_t)row_bytes * common->shape.height, error));
    return gc_upward_open(&opened->rows, common->output, row_bytes, common->shape.height, error);
}

static gconv_status write_row(gc_encoder *common, const unsigned char *row, gconv_error *error)
{
    bmp_encoder *encoder = (bmp_encoder *)common;
    size_t row_bytes = gconv_shape_row_bytes(&common->shape);
    unsigned char *to = gc_upward_row(&encoder->rows);
    if (common->shape.channels == 3)
        gc_raw_turn_colours(row, to, common->shape.width);
    else
        memcpy(to, row, row_bytes);
    memset(to + row_bytes, 0, encoder->rows.row_bytes - row_bytes);
    return gc_upward_write(&encoder->rows, common->output, error);
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    return gc_upward_finish(&((bmp_encoder *)common)->rows, common->output, error);
}

static void free_encoder(gc_encoder *common)
{
    free(((bmp_encoder *)common)->rows.block);
    free(common);
}

const gc_encoder_type gc_bmp_encoder = {
    .size = sizeof(bmp_encoder),
    .open = open_encoder,
    .write_row = write_row,
    .finish = finish,
    .free = free_encoder,
};
