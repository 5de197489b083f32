/* The layers between a decoder and the caller: background and grey, missing samples, the turn. */
#include "base/memory.h"
#include "base/status.h"
#include "core/background.h"
#include "core/grey.h"
#include "io/orient.h"
#include "io/reader_parts.h"

#include <math.h>

enum { BAND_BYTES = 256 * 1024 }; /* of rows before their conversion: they fit the L2 cache */

static gconv_status allocate_band(gconv_reader *reader, size_t row_bytes, gconv_error *error)
{
    uint32_t rows = row_bytes < BAND_BYTES ? (uint32_t)(BAND_BYTES / row_bytes) : 1;
    if (rows > reader->stored.height)
        rows = reader->stored.height;
    reader->band = gc_allocate_aligned(rows, row_bytes);
    GC_TRY_MEMORY(reader->band != NULL, error, rows * row_bytes);
    reader->band_rows = rows;
    return GCONV_OK;
}

/* Makes a stored row from a row of the decoder, which it may overwrite. */
static void convert_row(gconv_reader *reader, unsigned char *row, unsigned char *stored)
{
    const gconv_shape *shape = &reader->decoder->shape;
    if (reader->flattens &&
        !gc_flatten_row(row, shape->width, shape->channels, shape->depth, reader->background))
        reader->composited = true;
    if (reader->to_grey)
        gc_grey_row(row, stored, shape->width, shape->channels, shape->depth, false);
    else
        gc_drop_alpha_row(row, stored, shape->width, shape->channels, (size_t)shape->depth / 8);
}

/* Fails if a sample of a decoder's row is none of contract.md, rule 82, and may not be. */
static gconv_status judge_row(const gconv_reader *reader, const float *row, uint32_t y,
                              gconv_error *error)
{
    const gconv_shape *shape = &reader->decoder->shape;
    size_t channels = (size_t)shape->channels, count = shape->width * channels, i = 0;
    bool takes_all = reader->options.nan != GCONV_NAN_REFUSE;
    while (i < count && (fabsf(row[i]) <= 0x1p32f || (takes_all && !isfinite(row[i]))))
        i++;
    if (i == count)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_FORMAT,
                   "a sample is infinite, not a number, or beyond 2^32: %g at x %zu, y %lu%s",
                   isnan(row[i]) ? (double)NAN : (double)row[i], i / channels,
                   (unsigned long)(reader->decoder->bottom_up ? shape->height - 1 - y : y),
                   takes_all || isfinite(row[i])
                       ? ""
                       : "; 'gconv filter -k gaussian:1 --nan ignore IN OUT' fills small holes");
}

/* Adds alpha to a row, from its end on, and makes the samples of missing pixels 0. */
static void mask_row(const gconv_reader *reader, float *row)
{
    size_t colours = (size_t)reader->stored.channels - 1;
    for (size_t x = reader->stored.width; x-- > 0;) {
        const float *from = row + x * colours;
        float *to = row + x * (colours + 1);
        bool is_there = true;
        for (size_t c = 0; c < colours; c++)
            is_there = is_there && isfinite(from[c]);
        to[colours] = is_there ? UINT8_MAX : 0;
        for (size_t c = colours; c-- > 0;)
            to[c] = is_there ? from[c] : 0;
    }
}

static gconv_status decode_rows(gc_decoder *decoder, uint32_t count, unsigned char *rows,
                                size_t stride, gconv_error *error)
{
    if (decoder->type->read != NULL)
        return decoder->type->read(decoder, count, rows, stride, error);
    for (uint32_t i = 0; i < count; i++)
        GC_TRY(decoder->type->read_row(decoder, rows + i * stride, error));
    return GCONV_OK;
}

/* The decoder's next rows, judged. */
static gconv_status decode(gconv_reader *reader, uint32_t count, unsigned char *rows, size_t stride,
                           gconv_error *error)
{
    gc_decoder *decoder = reader->decoder;
    gconv_status status = decode_rows(decoder, count, rows, stride, error);
    for (uint32_t i = 0; status == GCONV_OK && decoder->shape.depth == 32 && i < count; i++)
        status = judge_row(reader, (const float *)(const void *)(rows + i * stride),
                           reader->decoded + i, error);
    reader->decoded += count;
    return status;
}

/* The same, on the background, as grey, and with what is missing, if that is asked for. */
static gconv_status read_stored(gconv_reader *reader, uint32_t count, unsigned char *rows,
                                size_t stride, gconv_error *error)
{
    const gc_decoder *decoder = reader->decoder;
    bool converts = reader->to_grey || reader->flattens;
    size_t row_bytes = gconv_shape_row_bytes(&decoder->shape);
    gconv_status status = GCONV_OK;
    if (!converts)
        status = decode(reader, count, rows, stride, error);
    else if (reader->band == NULL)
        status = allocate_band(reader, row_bytes, error);
    for (uint32_t done = 0; converts && status == GCONV_OK && done < count;) {
        uint32_t some = count - done < reader->band_rows ? count - done : reader->band_rows;
        status = decode(reader, some, reader->band, row_bytes, error);
        for (uint32_t i = 0; status == GCONV_OK && i < some; i++)
            convert_row(reader, reader->band + i * row_bytes, rows + (done + i) * stride);
        done += some;
    }
    for (uint32_t i = 0; status == GCONV_OK && reader->masks && i < count; i++)
        mask_row(reader, (float *)(void *)(rows + i * stride));
    return status;
}

static gconv_status load_image(gconv_reader *reader, gconv_error *error)
{
    reader->image = gc_allocate_array(reader->stored.height, reader->stored_bytes);
    GC_TRY_MEMORY(reader->image != NULL, error, reader->stored.height * reader->stored_bytes);
    return read_stored(reader, reader->stored.height, reader->image, reader->stored_bytes, error);
}

gconv_status gc_reader_decode(gconv_reader *reader, uint32_t count, unsigned char *rows,
                              size_t stride, gconv_error *error)
{
    gconv_status status;
    switch (reader->orientation) {
    case 1:
        return read_stored(reader, count, rows, stride, error);
    case 2:
        status = read_stored(reader, count, rows, stride, error);
        for (uint32_t i = 0; status == GCONV_OK && i < count; i++)
            gc_orient_mirror_row(rows + i * stride, reader->stored.width,
                                 reader->stored_bytes / reader->stored.width);
        return status;
    default:
        status = reader->image != NULL ? GCONV_OK : load_image(reader, error);
        if (status == GCONV_OK)
            gc_orient_rows(&(gc_stored_image){reader->image, reader->stored, reader->stored_bytes,
                                              reader->orientation},
                           reader->delivered, count, rows, stride);
        return status;
    }
}

gconv_status gc_reader_skip(gconv_reader *reader, uint32_t count, gconv_error *error)
{
    gc_decoder *decoder = reader->decoder;
    size_t row_bytes = gconv_shape_row_bytes(&decoder->shape);
    reader->decoded += count;
    if (decoder->type->skip != NULL)
        return decoder->type->skip(decoder, count, error);
    gconv_status status = count == 0 ? GCONV_OK : allocate_band(reader, row_bytes, error);
    while (status == GCONV_OK && count > 0) {
        uint32_t some = count < reader->band_rows ? count : reader->band_rows;
        status = decode_rows(decoder, some, reader->band, row_bytes, error);
        count -= some;
    }
    return status;
}
