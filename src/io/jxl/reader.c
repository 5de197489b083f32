/* JPEG XL, by libjxl, which decodes a whole image and turns it. */
#include "base/status.h"
#include "io/jxl/libjxl.h"
#include "io/raw.h"
#include "io/whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define NO_FORMAT NULL, /* an argument of old versions, which they do not use */
#else
#define NO_FORMAT
#endif

typedef struct jxl_decoder {
    gc_whole_decoder whole;
    JxlDecoder *jxl;
    JxlPixelFormat format;
    unsigned char *box; /* that is being read, else NULL */
    gc_blob_kind kind;  /* GC_EXIF or GC_XMP */
} jxl_decoder;

GC_MODULE_DEFINE(gc_jxl, gc_libjxl_load, GC_JXL_FILES, GC_LIBJXL_FUNCTIONS)

static gconv_status corrupt(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_FORMAT, "corrupt JPEG XL: libjxl rejects it");
}

/* Begins at the first byte of the file. */
static gconv_status begin(jxl_decoder *decoder, int events, gconv_error *error)
{
    const gc_buffer *file = &decoder->whole.file;
    gc_jxl.JxlDecoderReset(decoder->jxl);
    gc_jxl.JxlDecoderSetUnpremultiplyAlpha(decoder->jxl, JXL_TRUE);
    gc_jxl.JxlDecoderSetDecompressBoxes(decoder->jxl, JXL_TRUE);
    if (gc_jxl.JxlDecoderSubscribeEvents(decoder->jxl, events) != JXL_DEC_SUCCESS ||
        gc_jxl.JxlDecoderSetInput(decoder->jxl, (const uint8_t *)file->bytes, file->size) !=
            JXL_DEC_SUCCESS)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libjxl cannot start");
    return GCONV_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status read_shape(jxl_decoder *decoder, gconv_error *error)
{
    JxlBasicInfo info;
    gc_decoder *common = &decoder->whole.common;
    if (gc_jxl.JxlDecoderGetBasicInfo(decoder->jxl, &info) != JXL_DEC_SUCCESS)
        return corrupt(error);
    if (info.have_animation)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "an animated JPEG XL, which gconv does not read; djxl writes its images");
    JxlDataType type = info.bits_per_sample > 8 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8;
    if (info.exponent_bits_per_sample > 0 || info.bits_per_sample > 16)
        type = JXL_TYPE_FLOAT;
    common->shape = (gconv_shape){.width = info.xsize,
                                  .height = info.ysize,
                                  .channels = (int)info.num_color_channels + (info.alpha_bits > 0),
                                  .depth = type == JXL_TYPE_FLOAT    ? 32
                                           : type == JXL_TYPE_UINT16 ? 16
                                                                     : 8};
    decoder->format = (JxlPixelFormat){.num_channels = (uint32_t)common->shape.channels,
                                       .data_type = type,
                                       .endianness = JXL_NATIVE_ENDIAN};
    gconv_status status = gc_decoder_check_size(common, error);
    char what[64];
    uint32_t left = info.num_extra_channels - (info.alpha_bits > 0);
    snprintf(what, sizeof what, "%lu extra channels are no alpha", (unsigned long)left);
    return status != GCONV_OK || left == 0
               ? status
               : gc_metadata_lose(&common->warnings, GCONV_KEEP_NOTHING, what, error);
}

/* Of samples as they are decoded. sRGB, which most files have, is no profile. */
static gconv_status read_profile(jxl_decoder *decoder, gconv_error *error)
{
    const JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    gc_decoder *common = &decoder->whole.common;
    JxlColorEncoding colours;
    size_t size = 0;
    if (gc_jxl.JxlDecoderGetColorAsEncodedProfile(decoder->jxl, NO_FORMAT target, &colours) ==
            JXL_DEC_SUCCESS &&
        colours.transfer_function == JXL_TRANSFER_FUNCTION_SRGB &&
        colours.white_point == JXL_WHITE_POINT_D65 &&
        (colours.color_space == JXL_COLOR_SPACE_GRAY || colours.primaries == JXL_PRIMARIES_SRGB))
        return GCONV_OK;
    if (gc_jxl.JxlDecoderGetICCProfileSize(decoder->jxl, NO_FORMAT target, &size) !=
            JXL_DEC_SUCCESS ||
        size < 128)
        return GCONV_OK;
    GC_TRY(gc_whole_room(&decoder->whole, "ICC profile", size, error));
    const unsigned char *bytes = decoder->whole.blob;
    if (gc_jxl.JxlDecoderGetColorAsICCProfile(decoder->jxl, NO_FORMAT target, decoder->whole.blob,
                                              size) != JXL_DEC_SUCCESS)
        return corrupt(error);
    if (memcmp(bytes + 16, "CMYK", 4) == 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "a JPEG XL of CMYK, which gconv does not read");
    return gc_metadata_keep(&common->metadata, GC_ICC, bytes, size, &common->warnings, error);
}

/* Ends the box before, and begins this one if it is EXIF or XMP. */
static gconv_status turn_box(jxl_decoder *decoder, bool begins, gconv_error *error)
{
    gc_decoder *common = &decoder->whole.common;
    gconv_metadata *metadata = &common->metadata;
    gconv_status status = GCONV_OK;
    JxlBoxType type = "";
    if (decoder->box != NULL) {
        size_t size = GC_WHOLE_BLOB_BYTES_MAX - gc_jxl.JxlDecoderReleaseBoxBuffer(decoder->jxl);
        status = gc_whole_set_box(common, decoder->kind, decoder->box, size, error);
        gc_metadata_set_upright(metadata); /* libjxl turns the image */
        free(decoder->box);
        decoder->box = NULL;
    }
    if (!begins || status != GCONV_OK ||
        gc_jxl.JxlDecoderGetBoxType(decoder->jxl, type, JXL_TRUE) != JXL_DEC_SUCCESS)
        return status;
    decoder->kind = memcmp(type, "Exif", sizeof type) == 0 ? GC_EXIF : GC_XMP;
    if ((decoder->kind == GC_XMP && memcmp(type, "xml ", sizeof type) != 0) ||
        metadata->blobs[decoder->kind].bytes != NULL)
        return status;
    decoder->box = malloc(GC_WHOLE_BLOB_BYTES_MAX);
    GC_TRY_MEMORY(decoder->box != NULL, error, GC_WHOLE_BLOB_BYTES_MAX);
    gc_jxl.JxlDecoderSetBoxBuffer(decoder->jxl, decoder->box, GC_WHOLE_BLOB_BYTES_MAX);
    return GCONV_OK;
}

static gconv_status read_headers(jxl_decoder *decoder, gconv_error *error)
{
    gconv_status status =
        begin(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_BOX, error);
    while (status == GCONV_OK) {
        switch (gc_jxl.JxlDecoderProcessInput(decoder->jxl)) {
        case JXL_DEC_BASIC_INFO:
            status = read_shape(decoder, error);
            break;
        case JXL_DEC_COLOR_ENCODING:
            status = read_profile(decoder, error);
            break;
        case JXL_DEC_BOX:
            status = turn_box(decoder, true, error);
            break;
        case JXL_DEC_BOX_NEED_MORE_OUTPUT:
            return gc_whole_check_blob(decoder->kind == GC_EXIF ? "EXIF" : "XMP",
                                       GC_WHOLE_BLOB_BYTES_MAX + 1, error);
        case JXL_DEC_NEED_MORE_INPUT: /* decode tells whether the image ends early */
        case JXL_DEC_SUCCESS:
            if (decoder->whole.common.shape.width == 0)
                return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
            return turn_box(decoder, false, error);
        default:
            return corrupt(error);
        }
    }
    return status;
}

static gconv_status decode(gc_whole_decoder *whole, size_t row_bytes, gconv_error *error);

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    jxl_decoder *opened = (jxl_decoder *)common;
    opened->whole.decode = decode;
    GC_TRY(gc_libjxl_load(error));
    GC_TRY(gc_whole_load(&opened->whole, UINT64_MAX, error));
    opened->jxl = gc_jxl.JxlDecoderCreate(NULL);
    if (opened->jxl == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libjxl cannot start");
    return read_headers(opened, error);
}

static void free_decoder(gc_decoder *common)
{
    jxl_decoder *decoder = (jxl_decoder *)common;
    if (decoder->jxl != NULL)
        gc_jxl.JxlDecoderDestroy(decoder->jxl);
    free(decoder->box);
    gc_whole_free(common);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The sample 1 is white, unless the caller says otherwise. */
static void convert_floats(gc_whole_decoder *whole, size_t bytes)
{
    gc_floats *floats = &whole->common.floats;
    *floats =
        gc_floats_begin(0, whole->common.white > 0 ? whole->common.white : 1, &whole->common.shape);
    gc_floats_convert(floats, (float *)(void *)whole->image, bytes / sizeof(float));
}

static gconv_status decode(gc_whole_decoder *whole, size_t row_bytes, gconv_error *error)
{
    jxl_decoder *decoder = (jxl_decoder *)whole;
    const size_t bytes = row_bytes * whole->common.shape.height;
    bool complete = false, ended = false;
    gconv_status status = begin(decoder, JXL_DEC_FULL_IMAGE, error);
    while (status == GCONV_OK && !ended) {
        switch (gc_jxl.JxlDecoderProcessInput(decoder->jxl)) {
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (gc_jxl.JxlDecoderSetImageOutBuffer(decoder->jxl, &decoder->format, whole->image,
                                                   bytes) != JXL_DEC_SUCCESS)
                status = corrupt(error);
            break;
        case JXL_DEC_FULL_IMAGE:
            complete = true;
            break;
        case JXL_DEC_SUCCESS:
            whole->has_more = gc_jxl.JxlDecoderReleaseInput(decoder->jxl) > 0;
            ended = true;
            break;
        case JXL_DEC_NEED_MORE_INPUT: /* also behind a last box that does not say where it ends */
            if (!complete)
                status = gc_raw_stop(&whole->common, error);
            ended = true;
            break;
        default:
            status = corrupt(error);
        }
    }
    if (status == GCONV_OK && whole->common.shape.depth == 32)
        convert_floats(whole, bytes);
    return status;
}

const gc_decoder_type gc_jxl_decoder = {
    .name = "libjxl",
    .size = sizeof(jxl_decoder),
    .open = open_decoder,
    .read = gc_whole_read,
    .finish = gc_whole_finish,
    .free = free_decoder,
};
