/* AVIF and HEIC, without loss or by a quality, by libheif, which encodes a whole image. */
#include "base/status.h"
#include "io/heif/libheif.h"
#include "io/whole.h"

enum { SIDE_MAX = 32768 /* that libheif reads */, SPEED_MOST = 9 };

typedef struct heif_encoding {
    gc_whole_encoder whole;
    struct heif_context *context;
    struct heif_encoder *encoder;
    struct heif_image *image;
    gconv_error *error; /* of the call in progress */
} heif_encoding;

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    heif_encoding *opened = (heif_encoding *)common;
    const int width = (int)common->shape.width, height = (int)common->shape.height;
    const bool alpha = common->shape.channels % 2 == 0;
    int stride = 0;
    GC_TRY(gc_libheif_load(error));
    if (common->shape.width > SIDE_MAX || common->shape.height > SIDE_MAX)
        return gc_fail(error, GCONV_ERROR_LIMIT, "a file of libheif holds at most %d x %d pixels",
                       SIDE_MAX, SIDE_MAX);
    opened->context = gc_heif.heif_context_alloc();
    if (opened->context == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libheif cannot start");
    struct heif_error failure = gc_heif.heif_context_get_encoder_for_format(
        opened->context,
        common->format == GCONV_FORMAT_HEIC ? heif_compression_HEVC : heif_compression_AV1,
        &opened->encoder);
    if (failure.code == heif_error_Ok)
        failure = gc_heif.heif_image_create(
            width, height, heif_colorspace_RGB,
            alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, &opened->image);
    if (failure.code == heif_error_Ok)
        failure =
            gc_heif.heif_image_add_plane(opened->image, heif_channel_interleaved, width, height, 8);
    if (failure.code != heif_error_Ok)
        return gc_libheif_fail(failure, GCONV_ERROR_WRITE, error);
    opened->whole.channels = alpha ? 4 : 3;
    opened->whole.image =
        gc_heif.heif_image_get_plane(opened->image, heif_channel_interleaved, &stride);
    opened->whole.stride = (size_t)stride;
    return gc_whole_keep(&opened->whole, true, error);
}

static void free_encoder(gc_encoder *common)
{
    heif_encoding *encoding = (heif_encoding *)common;
    if (encoding->image != NULL)
        gc_heif.heif_image_release(encoding->image);
    if (encoding->encoder != NULL)
        gc_heif.heif_encoder_release(encoding->encoder);
    if (encoding->context != NULL)
        gc_heif.heif_context_free(encoding->context);
    gc_whole_release(common);
}

/* Without loss the file holds red, green and blue, else Y, Cb and Cr as JPEG has them. */
static struct heif_error set_colours(const heif_encoding *encoding)
{
    const gc_whole_encoder *whole = &encoding->whole;
    const gc_blob *icc = &whole->blobs[GC_ICC];
    struct heif_error failure = {.code = heif_error_Ok};
    struct heif_color_profile_nclx *colours = gc_heif.heif_nclx_color_profile_alloc();
    if (colours != NULL && !whole->common.lossy) {
        colours->matrix_coefficients = heif_matrix_coefficients_RGB_GBR;
        failure = gc_heif.heif_image_set_nclx_color_profile(encoding->image, colours);
    }
    gc_heif.heif_nclx_color_profile_free(colours);
    if (failure.code == heif_error_Ok && icc->bytes != NULL)
        failure = gc_heif.heif_image_set_raw_color_profile(encoding->image, "prof", icc->bytes,
                                                           icc->size);
    return failure;
}

static struct heif_error set_encoder(const heif_encoding *encoding)
{
    static const char *const chroma[] = {"420", "422", "444", "420"};
    const gc_encoder *common = &encoding->whole.common;
    char speed[2] = {(char)('0' + SPEED_MOST - common->compression), '\0'};
    struct heif_error failure = gc_heif.heif_encoder_set_parameter(
        encoding->encoder, "chroma", common->lossy ? chroma[common->chroma] : "444");
    if (failure.code == heif_error_Ok && common->compression >= 0 &&
        common->format == GCONV_FORMAT_AVIF)
        failure = gc_heif.heif_encoder_set_parameter(encoding->encoder, "speed", speed);
    if (failure.code == heif_error_Ok)
        failure = common->lossy
                      ? gc_heif.heif_encoder_set_lossy_quality(encoding->encoder, common->quality)
                      : gc_heif.heif_encoder_set_lossless(encoding->encoder, 1);
    return failure;
}

static struct heif_error put(struct heif_context *context, const void *bytes, size_t size,
                             void *user)
{
    const heif_encoding *encoding = user;
    struct heif_error result = {.code = heif_error_Ok, .message = "it cannot be written"};
    (void)context;
    if (gc_output_write(encoding->whole.common.output, bytes, size, encoding->error) != GCONV_OK)
        result.code = heif_error_Encoding_error;
    return result;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    heif_encoding *encoding = (heif_encoding *)common;
    const gc_blob *exif = &encoding->whole.blobs[GC_EXIF], *xmp = &encoding->whole.blobs[GC_XMP];
    struct heif_writer writer = {.writer_api_version = 1, .write = put};
    struct heif_image_handle *handle = NULL;
    gconv_error failed = {.status = GCONV_OK};
    encoding->error = &failed;
    struct heif_error failure = set_colours(encoding);
    if (failure.code == heif_error_Ok)
        failure = set_encoder(encoding);
    if (failure.code == heif_error_Ok)
        failure = gc_heif.heif_context_encode_image(encoding->context, encoding->image,
                                                    encoding->encoder, NULL, &handle);
    if (failure.code == heif_error_Ok && exif->bytes != NULL)
        failure = gc_heif.heif_context_add_exif_metadata(encoding->context, handle, exif->bytes,
                                                         (int)exif->size);
    if (failure.code == heif_error_Ok && xmp->bytes != NULL)
        failure = gc_heif.heif_context_add_XMP_metadata(encoding->context, handle, xmp->bytes,
                                                        (int)xmp->size);
    if (handle != NULL)
        gc_heif.heif_image_handle_release(handle);
    if (failure.code == heif_error_Ok)
        failure = gc_heif.heif_context_write(encoding->context, &writer, encoding);
    if (failed.status != GCONV_OK)
        return gc_fail(error, failed.status, "%s", failed.message);
    return failure.code == heif_error_Ok ? GCONV_OK
                                         : gc_libheif_fail(failure, GCONV_ERROR_WRITE, error);
}

const gc_encoder_type gc_heif_encoder = {
    .size = sizeof(heif_encoding),
    .open = open_encoder,
    .write = gc_whole_write,
    .finish = finish,
    .free = free_encoder,
};
