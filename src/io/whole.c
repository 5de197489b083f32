#include "io/whole.h"

#include "base/bits.h"
#include "base/status.h"
#include "io/exif.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------- */

gconv_status gc_whole_load(gc_whole_decoder *decoder, uint64_t most, gconv_error *error)
{
    return gc_input_collect(decoder->common.input, most, &decoder->file, &decoder->has_more, error);
}

gconv_status gc_whole_check_blob(const char *name, size_t size, gconv_error *error)
{
    if (size <= GC_WHOLE_BLOB_BYTES_MAX)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_LIMIT, "the %s has %zu bytes, more than the limit of 8 MiB",
                   name, size);
}

gconv_status gc_whole_room(gc_whole_decoder *decoder, const char *name, size_t size,
                           gconv_error *error)
{
    gconv_status status = gc_whole_check_blob(name, size, error);
    free(decoder->blob);
    decoder->blob = status == GCONV_OK ? malloc(size) : NULL;
    return status == GCONV_OK && decoder->blob == NULL ? gc_fail_memory(error, size) : status;
}

gconv_status gc_whole_set_box(gc_decoder *decoder, gc_blob_kind kind, const unsigned char *bytes,
                              size_t size, gconv_error *error)
{
    size_t start = kind != GC_EXIF ? 0 : size > 4 ? 4 + (size_t)gc_big_endian(bytes) : size;
    if (kind == GC_EXIF && start >= size)
        return gc_metadata_lose(&decoder->warnings, GCONV_KEEP_ALL, "EXIF is damaged", error);
    return gc_metadata_keep(&decoder->metadata, kind, bytes + start, size - start,
                            &decoder->warnings, error);
}

gconv_status gc_whole_read(gc_decoder *common, uint32_t count, unsigned char *rows, size_t stride,
                           gconv_error *error)
{
    gc_whole_decoder *decoder = (gc_whole_decoder *)common;
    const size_t row_bytes = gconv_shape_row_bytes(&common->shape);
    gconv_status status = GCONV_OK;
    if (decoder->image == NULL) {
        decoder->image = calloc(common->shape.height, row_bytes);
        GC_TRY_MEMORY(decoder->image != NULL, error, common->shape.height * row_bytes);
        status = decoder->decode(decoder, row_bytes, error);
        gc_buffer_free(&decoder->file);
    }
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++)
        memcpy(rows + i * stride, decoder->image + decoder->row++ * row_bytes, row_bytes);
    return status;
}

gconv_status gc_whole_finish(gc_decoder *common, gconv_error *error)
{
    bool has_more = ((const gc_whole_decoder *)common)->has_more;
    return has_more ? gc_decoder_tell_trailing(common, error) : GCONV_OK;
}

bool gc_whole_help(gc_decoder *common)
{
    (void)common;
    return false;
}

void gc_whole_spread(gc_decoder *common, int threads)
{
    ((gc_whole_decoder *)common)->threads = threads;
}

void gc_whole_free(gc_decoder *common)
{
    gc_whole_decoder *decoder = (gc_whole_decoder *)common;
    gc_buffer_free(&decoder->file);
    free(decoder->image);
    free(decoder->blob);
    free(decoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

gconv_status gc_whole_keep(gc_whole_encoder *encoder, bool rgb, gconv_error *error)
{
    gconv_metadata *from = &encoder->common.metadata;
    const gc_warnings *warnings = &encoder->common.warnings;
    const char *title = gconv_format_describe(encoder->common.format)->title;
    const gc_blob *exif = &from->blobs[GC_EXIF];
    if (encoder->common.format != GCONV_FORMAT_WEBP && exif->bytes != NULL &&
        gc_exif_orientation(exif->bytes, exif->size) != GC_ORIENTATION_UPRIGHT)
        gc_warn(warnings, "programs that read %s do not turn it as its EXIF says", title);
    if (rgb && encoder->common.shape.channels < 3 && from->blobs[GC_ICC].bytes != NULL) {
        gc_warn(warnings, "ICC profile dropped: it is for grey, and %s is RGB", title);
        from->blobs[GC_ICC] = (gc_blob){NULL, 0};
    }
    for (int i = 0; i < GC_BLOBS; i++) {
        gc_blob *kept = &encoder->blobs[i];
        if (from->blobs[i].bytes == NULL)
            continue;
        *kept = (gc_blob){malloc(from->blobs[i].size), from->blobs[i].size};
        GC_TRY_MEMORY(kept->bytes != NULL, error, kept->size);
        memcpy(kept->bytes, from->blobs[i].bytes, kept->size);
        encoder->has_blobs = true;
    }
    return GCONV_OK;
}

gconv_status gc_whole_write(gc_encoder *common, uint32_t count, const unsigned char *rows,
                            size_t stride, gconv_error *error)
{
    gc_whole_encoder *encoder = (gc_whole_encoder *)common;
    const size_t from = (size_t)common->shape.channels, to = (size_t)encoder->channels;
    (void)error;
    for (uint32_t i = 0; i < count; i++, encoder->row++) {
        const unsigned char *row = rows + i * stride;
        unsigned char *held = encoder->image + encoder->row * encoder->stride;
        if (from == to)
            memcpy(held, row, gconv_shape_row_bytes(&common->shape));
        else
            for (size_t x = 0; x < common->shape.width; x++, row += from, held += to) {
                memset(held, row[0], 3);
                held[to - 1] = row[from - 1];
            }
    }
    return GCONV_OK;
}

void gc_whole_release(gc_encoder *common)
{
    gc_whole_encoder *encoder = (gc_whole_encoder *)common;
    for (int i = 0; i < GC_BLOBS; i++)
        free(encoder->blobs[i].bytes);
    free(encoder);
}
