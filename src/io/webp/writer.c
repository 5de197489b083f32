/* WebP, without loss or by a quality, by libwebp, which encodes a whole image. */
#include "base/status.h"
#include "io/webp/libwebp.h"
#include "io/whole.h"

enum { DEFAULT_EFFORT = 1, LEVEL_MOST = 9, METHOD_MOST = 6 /* of libwebp, with loss */ };

typedef struct webp_encoder {
    gc_whole_encoder whole;
    WebPPicture picture;
} webp_encoder;

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    webp_encoder *opened = (webp_encoder *)common;
    const gconv_shape *shape = &common->shape;
    GC_TRY(gc_libwebp_load(error));
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
    return gc_whole_keep(&opened->whole, true, error);
}

static void free_encoder(gc_encoder *common)
{
    webp_encoder *encoder = (webp_encoder *)common;
    if (encoder->picture.width > 0)
        gc_webp.WebPPictureFree(&encoder->picture);
    gc_whole_release(common);
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    webp_encoder *encoder = (webp_encoder *)common;
    const size_t channels = (size_t)common->shape.channels, colours = channels < 3 ? 1 : 3;
    (void)error;
    for (uint32_t i = 0; i < count; i++, encoder->whole.row++) {
        uint32_t *pixels = encoder->picture.argb +
                           (size_t)encoder->whole.row * (size_t)encoder->picture.argb_stride;
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
static gconv_status write_container(const gc_whole_encoder *whole, const WebPData *image,
                                    gconv_error *error)
{
    WebPData file = {NULL, 0};
    WebPMux *mux = gc_webp.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    bool done = mux != NULL && gc_webp.WebPMuxSetImage(mux, image, 0) == WEBP_MUX_OK;
    for (int i = GC_ICC; done && i <= GC_XMP; i++) {
        const WebPData chunk = {whole->blobs[i].bytes, whole->blobs[i].size};
        done = chunk.bytes == NULL ||
               gc_webp.WebPMuxSetChunk(mux, gc_webp_chunks[i], &chunk, 0) == WEBP_MUX_OK;
    }
    done = done && gc_webp.WebPMuxAssemble(mux, &file) == WEBP_MUX_OK;
    gconv_status status =
        done ? gc_output_write(whole->common.output, file.bytes, file.size, error)
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
    else if (encoder->whole.has_blobs)
        status = write_container(&encoder->whole, &(WebPData){memory.mem, memory.size}, error);
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
