/* WebP with and without loss, by libwebp, which decodes a whole image. */
#include "base/status.h"
#include "io/raw.h"
#include "io/webp/libwebp.h"
#include "io/whole.h"

#include <stdio.h>
#include <string.h>

enum { HEAD_BYTES = 64, RIFF_HEAD_BYTES = 8 };

GC_MODULE_DEFINE(gc_webp, gc_libwebp_load, GC_WEBP_FILES, GC_LIBWEBP_FUNCTIONS)

const char *const gc_webp_chunks[] = {"ICCP", "EXIF", "XMP "};

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status corrupt(VP8StatusCode code, gconv_error *error)
{
    if (code == VP8_STATUS_NOT_ENOUGH_DATA || code == VP8_STATUS_SUSPENDED)
        return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libwebp cannot decode");
    return gc_fail(error, GCONV_ERROR_FORMAT, "corrupt WebP: libwebp rejects it");
}

/* Sets the shape by the first `size` bytes. */
static VP8StatusCode read_features(gc_whole_decoder *decoder, const void *bytes, size_t size,
                                   bool *animated)
{
    WebPBitstreamFeatures features;
    VP8StatusCode code =
        gc_webp.WebPGetFeaturesInternal(bytes, size, &features, WEBP_DECODER_ABI_VERSION);
    if (code != VP8_STATUS_OK)
        return code;
    *animated = features.has_animation != 0;
    decoder->common.shape = (gconv_shape){.width = (uint32_t)features.width,
                                          .height = (uint32_t)features.height,
                                          .channels = features.has_alpha ? 4 : 3,
                                          .depth = 8};
    return code;
}

/* The bytes of a file that begins with `head`. libwebp rejects odd sizes. */
static uint64_t file_bytes(const unsigned char *head)
{
    return RIFF_HEAD_BYTES + ((uint64_t)head[4] | (uint64_t)head[5] << 8 | (uint64_t)head[6] << 16 |
                              (uint64_t)head[7] << 24);
}

/* Takes a chunk as a blob. Some programs put the beginning that EXIF has in a JPEG before it. */
static gconv_status read_blob(gc_whole_decoder *decoder, WebPDemuxer *demuxer, gc_blob_kind kind,
                              gconv_error *error)
{
    WebPChunkIterator chunk;
    gc_decoder *common = &decoder->common;
    gconv_status status = GCONV_OK;
    if (!gc_webp.WebPDemuxGetChunk(demuxer, gc_webp_chunks[kind], 1, &chunk))
        return GCONV_OK;
    const uint8_t *bytes = chunk.chunk.bytes;
    size_t size = chunk.chunk.size, skip = size > 6 && memcmp(bytes, "Exif\0\0", 6) == 0 ? 6 : 0;
    char what[16];
    snprintf(what, sizeof what, "%s chunk", gc_webp_chunks[kind]);
    if (kind != GC_XMP)
        status = gc_whole_check_blob(what, size, error);
    GC_THEN(status, gc_metadata_keep(&common->metadata, kind, bytes + skip, size - skip,
                                     &common->warnings, error));
    gc_webp.WebPDemuxReleaseChunkIterator(&chunk);
    return status;
}

static gconv_status read_metadata(gc_whole_decoder *decoder, gconv_error *error)
{
    const WebPData data = {(const uint8_t *)decoder->file.bytes, decoder->file.size};
    WebPDemuxState state;
    WebPDemuxer *demuxer = gc_webp.WebPDemuxInternal(&data, 1, &state, WEBP_DEMUX_ABI_VERSION);
    if (demuxer == NULL)
        return state == WEBP_DEMUX_PARSE_ERROR ? corrupt(VP8_STATUS_BITSTREAM_ERROR, error)
                                               : corrupt(VP8_STATUS_NOT_ENOUGH_DATA, error);
    uint32_t flags = gc_webp.WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS);
    static const uint32_t flag_of[] = {ICCP_FLAG, EXIF_FLAG, XMP_FLAG};
    gconv_status status = GCONV_OK;
    for (int i = GC_ICC; status == GCONV_OK && i <= GC_XMP; i++)
        if ((flags & flag_of[i]) != 0)
            status = read_blob(decoder, demuxer, (gc_blob_kind)i, error);
    gc_webp.WebPDemuxDelete(demuxer);
    return status;
}

static gconv_status decode(gc_whole_decoder *decoder, size_t row_bytes, gconv_error *error);

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    gc_whole_decoder *opened = (gc_whole_decoder *)common;
    const unsigned char *bytes;
    size_t size;
    bool animated = false;
    opened->decode = decode;
    GC_TRY(gc_libwebp_load(error));
    GC_TRY(gc_input_peek(common->input, HEAD_BYTES, &bytes, &size, error));
    /* The canvas, if it is said here, is checked before the file is read. */
    VP8StatusCode code = read_features(opened, bytes, size, &animated);
    if (code == VP8_STATUS_OK)
        GC_TRY(gc_decoder_check_size(common, error));
    else if (code != VP8_STATUS_NOT_ENOUGH_DATA)
        return corrupt(code, error);
    GC_TRY(gc_whole_load(opened, file_bytes(bytes), error));
    code = read_features(opened, opened->file.bytes, opened->file.size, &animated);
    if (code != VP8_STATUS_OK)
        return corrupt(code, error);
    if (animated)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "an animated WebP, which gconv does not read; webpmux -get frame takes one "
                       "image of it");
    GC_TRY(gc_decoder_check_size(common, error));
    return read_metadata(opened, error);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Decodes what the file has; other rows stay 0. */
static gconv_status decode(gc_whole_decoder *decoder, size_t row_bytes, gconv_error *error)
{
    const gconv_shape *shape = &decoder->common.shape;
    WebPDecoderConfig config;
    if (!gc_webp.WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION))
        return gc_fail(error, GCONV_ERROR_READ, "libwebp has changed its interface");
    config.options.use_threads = decoder->threads > 1;
    config.output.colorspace = shape->channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = decoder->image;
    config.output.u.RGBA.stride = (int)row_bytes;
    config.output.u.RGBA.size = row_bytes * shape->height;
    WebPIDecoder *incremental = gc_webp.WebPIDecode(NULL, 0, &config);
    if (incremental == NULL)
        return corrupt(VP8_STATUS_OUT_OF_MEMORY, error);
    VP8StatusCode code =
        gc_webp.WebPIAppend(incremental, (const uint8_t *)decoder->file.bytes, decoder->file.size);
    int last = 0;
    if (code == VP8_STATUS_SUSPENDED)
        gc_webp.WebPIDecGetRGB(incremental, &last, NULL, NULL, NULL);
    gc_webp.WebPIDelete(incremental);
    if (code == VP8_STATUS_OK)
        return GCONV_OK;
    if (code != VP8_STATUS_SUSPENDED && code != VP8_STATUS_NOT_ENOUGH_DATA)
        return corrupt(code, error);
    last = last < 0 ? 0 : last;
    memset(decoder->image + (size_t)last * row_bytes, 0,
           (shape->height - (size_t)last) * row_bytes);
    return gc_raw_stop(&decoder->common, error);
}

const gc_decoder_type gc_webp_decoder = {
    .name = "libwebp",
    .size = sizeof(gc_whole_decoder),
    .open = open_decoder,
    .read = gc_whole_read,
    .finish = gc_whole_finish,
    .spread = gc_whole_spread,
    .help = gc_whole_help,
    .free = gc_whole_free,
};
