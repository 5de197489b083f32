/* WebP, without loss or by a quality, by libwebp, which encodes a whole image. */
#include "base/memory.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/webp/libwebp.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_EFFORT = 1, LEVEL_MOST = 9, METHOD_MOST = 6 /* of libwebp, with loss */ };

typedef struct webp_encoder {
    gc_encoder common;
    WebPPicture picture;
    unsigned char *blobs[2]; /* ICC profile and EXIF; NULL: there is none */
    size_t blob_bytes[2];
    uint32_t row;
} webp_encoder;

/* The metadata of the caller are valid during open alone. */
static gconv_status keep_blob(webp_encoder *encoder, int which, const void *bytes, size_t size,
                              gconv_error *error)
{
    if (bytes == NULL)
        return GCONV_OK;
    encoder->blobs[which] = malloc(size);
    if (encoder->blobs[which] == NULL)
        return gc_fail_memory(error, size);
    memcpy(encoder->blobs[which], bytes, size);
    encoder->blob_bytes[which] = size;
    return GCONV_OK;
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    webp_encoder *opened = (webp_encoder *)common;
    const gconv_shape *shape = &common->shape;
    const gconv_metadata *metadata = &common->metadata;
    gconv_status status = gc_libwebp_load(error);
    if (status != GCONV_OK)
        return status;
    if (shape->width > WEBP_MAX_DIMENSION || shape->height > WEBP_MAX_DIMENSION)
        return gc_fail(error, GCONV_ERROR_LIMIT,
                       "%lu x %lu exceeds WebP, which has %d x %d at most",
                       (unsigned long)shape->width, (unsigned long)shape->height,
                       WEBP_MAX_DIMENSION, WEBP_MAX_DIMENSION);
    if (!gc_webp.WebPPictureInitInternal(&opened->picture, WEBP_ENCODER_ABI_VERSION))
        return gc_fail(error, GCONV_ERROR_WRITE, "libwebp has changed its interface");
    opened->picture.use_argb = 1;
    opened->picture.width = (int)shape->width;
    opened->picture.height = (int)shape->height;
    if (!gc_webp.WebPPictureAlloc(&opened->picture))
        return gc_fail_memory(error, 4 * (size_t)shape->width * shape->height);
    if (shape->channels < 3 && metadata->icc != NULL)
        gc_warn(&common->warnings, "ICC profile dropped: it is for grey, and WebP is RGB");
    else
        status = keep_blob(opened, 0, metadata->icc, metadata->icc_bytes, error);
    return status == GCONV_OK ? keep_blob(opened, 1, metadata->exif, metadata->exif_bytes, error)
                              : status;
}

static void free_encoder(gc_encoder *common)
{
    webp_encoder *encoder = (webp_encoder *)common;
    if (encoder->picture.width > 0)
        gc_webp.WebPPictureFree(&encoder->picture);
    free(encoder->blobs[0]);
    free(encoder->blobs[1]);
    free(encoder);
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    webp_encoder *encoder = (webp_encoder *)common;
    const size_t channels = (size_t)common->shape.channels, colours = channels < 3 ? 1 : 3;
    (void)error;
    for (uint32_t i = 0; i < count; i++, encoder->row++) {
        uint32_t *pixels =
            encoder->picture.argb + (size_t)encoder->row * (size_t)encoder->picture.argb_stride;
        const unsigned char *pixel = rows + i * stride;
        for (uint32_t x = 0; x < common->shape.width; x++, pixel += channels) {
            uint32_t alpha = channels % 2 == 0 ? pixel[colours] : UINT8_MAX;
            pixels[x] = alpha << 24 | (uint32_t)pixel[0] << 16 | (uint32_t)pixel[colours / 2] << 8 |
                        pixel[colours - 1];
        }
    }
    return GCONV_OK;
}

static bool set_config(const gc_encoder *common, WebPConfig *config)
{
    const int level = common->compression;
    if (!gc_webp.WebPConfigInitInternal(config, WEBP_PRESET_DEFAULT, (float)common->quality,
                                        WEBP_ENCODER_ABI_VERSION))
        return false;
    config->exact = 1; /* colours under transparent pixels stay */
    if (!common->lossy)
        return gc_webp.WebPConfigLosslessPreset(config, level < 0 ? DEFAULT_EFFORT : level);
    if (level >= 0)
        config->method = level * METHOD_MOST / LEVEL_MOST;
    return true;
}

/* Puts the image and what stands beside it into one file. */
static gconv_status write_container(webp_encoder *encoder, const WebPData *image,
                                    gconv_error *error)
{
    static const char *const names[] = {"ICCP", "EXIF"};
    WebPData file = {NULL, 0};
    WebPMux *mux = gc_webp.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    bool done = mux != NULL && gc_webp.WebPMuxSetImage(mux, image, 0) == WEBP_MUX_OK;
    for (int i = 0; i < 2; i++) {
        const WebPData blob = {encoder->blobs[i], encoder->blob_bytes[i]};
        if (done && blob.bytes != NULL)
            done = gc_webp.WebPMuxSetChunk(mux, names[i], &blob, 0) == WEBP_MUX_OK;
    }
    done = done && gc_webp.WebPMuxAssemble(mux, &file) == WEBP_MUX_OK;
    gconv_status status =
        done ? gc_output_write(encoder->common.output, file.bytes, file.size, error)
             : gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libwebp cannot make the file");
    gc_webp.WebPMuxDelete(mux);
    gc_webp.WebPFree((void *)file.bytes);
    return status;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    webp_encoder *encoder = (webp_encoder *)common;
    WebPConfig config;
    WebPMemoryWriter memory;
    gconv_status status;
    if (!set_config(common, &config))
        return gc_fail(error, GCONV_ERROR_WRITE, "libwebp has changed its interface");
    gc_webp.WebPMemoryWriterInit(&memory);
    encoder->picture.writer = gc_webp.WebPMemoryWrite;
    encoder->picture.custom_ptr = &memory;
    if (!gc_webp.WebPEncode(&config, &encoder->picture))
        status = gc_fail(error, GCONV_ERROR_WRITE, "libwebp cannot encode the image: failure %d",
                         (int)encoder->picture.error_code);
    else if (encoder->blobs[0] != NULL || encoder->blobs[1] != NULL)
        status = write_container(encoder, &(WebPData){memory.mem, memory.size}, error);
    else
        status = gc_output_write(common->output, memory.mem, memory.size, error);
    gc_webp.WebPMemoryWriterClear(&memory);
    return status;
}

const gc_encoder_type gc_webp_encoder = {
    .size = sizeof(webp_encoder),
    .open = open_encoder,
    .write = write_rows,
    .finish = finish,
    .free = free_encoder,
};
