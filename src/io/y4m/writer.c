/* Y4M: frames in the form of those that are read, with their chroma, or grey. */
#include "base/memory.h"
#include "base/status.h"
#include "io/raw.h"
#include "io/y4m/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct y4m_encoder {
    gc_encoder common;
    gc_y4m *stream;
    unsigned char *row; /* as the file has it; NULL until it is needed */
    uint32_t left;      /* rows of this plane */
} y4m_encoder;

/* With the first frame begins the stream; of images that come from none it has grey frames. */
static gconv_status begin_stream(y4m_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    gc_y4m *from = encoder->common.metadata.y4m;
    gc_y4m *stream = encoder->stream = from != NULL ? from : calloc(1, sizeof *stream);
    GC_TRY_MEMORY(stream != NULL, error, sizeof *stream);
    if (from == NULL) {
        *stream = (gc_y4m){.bits = shape->depth, .planes = {*shape}, .frame_line = "FRAME\n"};
        snprintf(stream->stream_line, sizeof stream->stream_line,
                 "YUV4MPEG2 W%lu H%lu F25:1 Ip A0:0 Cmono%s\n", (unsigned long)shape->width,
                 (unsigned long)shape->height, shape->depth == 16 ? "16" : "");
    }
    stream->users++;
    return gc_output_write(encoder->common.output, stream->stream_line, strlen(stream->stream_line),
                           error);
}

/* Begins a plane; with the first one its frame. */
static gconv_status begin(gc_encoder *common, gconv_error *error)
{
    y4m_encoder *encoder = (y4m_encoder *)common;
    const gc_y4m *from = common->metadata.y4m;
    GC_TRY(encoder->stream == NULL ? begin_stream(encoder, error) : GCONV_OK);
    const gc_y4m *stream = encoder->stream;
    const gconv_shape *plane = &stream->planes[stream->plane];
    if ((from != NULL && from != stream) || plane->width != common->shape.width ||
        plane->height != common->shape.height)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the frames of a Y4M have one size and source");
    encoder->left = plane->height;
    return stream->plane > 0 ? GCONV_OK
                             : gc_output_write(common->output, stream->frame_line,
                                               strlen(stream->frame_line), error);
}

static void free_encoder(gc_encoder *common)
{
    y4m_encoder *encoder = (y4m_encoder *)common;
    gc_y4m_release(encoder->stream);
    free(encoder->row);
    free(encoder);
}

/* Makes samples of the file's bits. */
static gconv_status convert(y4m_encoder *encoder, const unsigned char *row, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    uint32_t most = (1u << encoder->stream->bits) - 1, full = (1u << shape->depth) - 1;
    if (encoder->row == NULL)
        encoder->row = gc_allocate_array(encoder->stream->planes[0].width, sizeof(uint16_t));
    GC_TRY_MEMORY(encoder->row != NULL, error, shape->width * sizeof(uint16_t));
    for (size_t x = 0; x < shape->width; x++) {
        uint32_t sample = shape->depth == 8 ? row[x] : ((const uint16_t *)(const void *)row)[x];
        sample = (sample * most + full / 2) / full;
        if (most == UINT8_MAX) {
            encoder->row[x] = (unsigned char)sample;
            continue;
        }
        encoder->row[2 * x] = (unsigned char)sample;
        encoder->row[2 * x + 1] = (unsigned char)(sample >> 8);
    }
    return GCONV_OK;
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    y4m_encoder *encoder = (y4m_encoder *)common;
    const gc_y4m *stream = encoder->stream;
    size_t bytes = common->shape.width * (stream->bits > 8 ? sizeof(uint16_t) : 1);
    bool same = common->shape.depth == stream->bits && !GC_HOST_IS_BIG_ENDIAN;
    uint32_t some = same && stride == bytes ? count : 1; /* at one time */
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i += some) {
        if (!same)
            status = convert(encoder, rows + i * stride, error);
        GC_THEN(status, gc_output_write(common->output, same ? rows + i * stride : encoder->row,
                                        some * bytes, error));
    }
    encoder->left -= count;
    if (status == GCONV_OK && encoder->left == 0 && stream->chroma_bytes > 0)
        status = gc_output_write(common->output, stream->chroma, stream->chroma_bytes, error);
    return status;
}

const gc_encoder_type gc_y4m_encoder = {
    .size = sizeof(y4m_encoder),
    .open = begin,
    .write = write_rows,
    .next = begin,
    .free = free_encoder,
};
