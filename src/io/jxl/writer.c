/* JPEG XL, without loss or by a quality, by libjxl, which encodes a whole image. */
#include "base/memory.h"
#include "base/status.h"
#include "io/jxl/libjxl.h"
#include "io/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 18, DEFAULT_EFFORT = 1, DEFAULT_LOSSY_EFFORT = 5 };

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    gc_whole_encoder *opened = (gc_whole_encoder *)common;
    GC_TRY(gc_libjxl_load(error));
    GC_TRY(gc_whole_keep(opened, false, error));
    opened->channels = common->shape.channels;
    opened->stride = gconv_shape_row_bytes(&common->shape);
    opened->image = gc_allocate_array(common->shape.height, opened->stride);
    return opened->image != NULL ? GCONV_OK
                                 : gc_fail_memory(error, common->shape.height * opened->stride);
}

static void free_encoder(gc_encoder *common)
{
    free(((gc_whole_encoder *)common)->image);
    gc_whole_release(common);
}

/* The distance of cjxl, whose unit is what is just seen. */
static float distance_of(int quality)
{
    return quality >= 100  ? 0
           : quality >= 30 ? 0.1F + (float)(100 - quality) * 0.09F
                           : fminf(15, 6.4F + powf(2.5F, (float)(30 - quality) / 5) / 6.25F);
}

static bool set_image(JxlEncoder *jxl, const gc_whole_encoder *encoder)
{
    const gconv_shape *shape = &encoder->common.shape;
    const bool alpha = shape->channels % 2 == 0;
    JxlBasicInfo info;
    JxlColorEncoding colours;
    gc_jxl.JxlEncoderInitBasicInfo(&info);
    info.xsize = shape->width;
    info.ysize = shape->height;
    info.bits_per_sample = (uint32_t)shape->depth;
    info.num_color_channels = (uint32_t)shape->channels - alpha;
    info.num_extra_channels = alpha;
    info.alpha_bits = alpha ? info.bits_per_sample : 0;
    info.uses_original_profile = !encoder->common.lossy;
    if (gc_jxl.JxlEncoderSetBasicInfo(jxl, &info) != JXL_ENC_SUCCESS)
        return false;
    const gc_blob *icc = &encoder->blobs[GC_ICC];
    if (icc->bytes != NULL &&
        gc_jxl.JxlEncoderSetICCProfile(jxl, icc->bytes, icc->size) == JXL_ENC_SUCCESS)
        return true;
    if (icc->bytes != NULL)
        gc_warn(&encoder->common.warnings, "ICC profile dropped: libjxl does not take it");
    gc_jxl.JxlColorEncodingSetToSRGB(&colours, shape->channels < 3);
    return gc_jxl.JxlEncoderSetColorEncoding(jxl, &colours) == JXL_ENC_SUCCESS;
}

/* EXIF follows four bytes, the offset of its beginning. */
static bool add_boxes(JxlEncoder *jxl, const gc_whole_encoder *encoder)
{
    const gc_blob *exif = &encoder->blobs[GC_EXIF], *xmp = &encoder->blobs[GC_XMP];
    if (!encoder->has_blobs)
        return true;
    unsigned char *box = calloc(1, 4 + exif->size);
    if (box == NULL)
        return false;
    if (exif->bytes != NULL)
        memcpy(box + 4, exif->bytes, exif->size);
    bool added = gc_jxl.JxlEncoderUseBoxes(jxl) == JXL_ENC_SUCCESS &&
                 (exif->bytes == NULL || gc_jxl.JxlEncoderAddBox(jxl, "Exif", box, 4 + exif->size,
                                                                 JXL_FALSE) == JXL_ENC_SUCCESS) &&
                 (xmp->bytes == NULL || gc_jxl.JxlEncoderAddBox(jxl, "xml ", xmp->bytes, xmp->size,
                                                                JXL_FALSE) == JXL_ENC_SUCCESS);
    free(box);
    return added;
}

static bool add_frame(JxlEncoder *jxl, const gc_whole_encoder *encoder)
{
    const gc_encoder *common = &encoder->common;
    const JxlPixelFormat format = {.num_channels = (uint32_t)encoder->channels,
                                   .data_type =
                                       common->shape.depth == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16,
                                   .endianness = JXL_NATIVE_ENDIAN};
    int effort = common->lossy ? DEFAULT_LOSSY_EFFORT : DEFAULT_EFFORT;
    if (common->compression >= 0)
        effort = common->compression > 0 ? common->compression : 1;
    JxlEncoderFrameSettings *settings = gc_jxl.JxlEncoderFrameSettingsCreate(jxl, NULL);
    return settings != NULL &&
           gc_jxl.JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT,
                                                   effort) == JXL_ENC_SUCCESS &&
           (common->lossy
                ? gc_jxl.JxlEncoderSetFrameDistance(settings, distance_of(common->quality))
                : gc_jxl.JxlEncoderSetFrameLossless(settings, JXL_TRUE)) == JXL_ENC_SUCCESS &&
           gc_jxl.JxlEncoderAddImageFrame(settings, &format, encoder->image,
                                          encoder->stride * common->shape.height) ==
               JXL_ENC_SUCCESS;
}

static gconv_status put(JxlEncoder *jxl, gc_output *output, unsigned char *piece,
                        gconv_error *error)
{
    gconv_status status = GCONV_OK;
    JxlEncoderStatus next = JXL_ENC_NEED_MORE_OUTPUT;
    gc_jxl.JxlEncoderCloseInput(jxl);
    while (status == GCONV_OK && next == JXL_ENC_NEED_MORE_OUTPUT) {
        uint8_t *end = piece;
        size_t left = PIECE_BYTES;
        next = gc_jxl.JxlEncoderProcessOutput(jxl, &end, &left);
        if (next != JXL_ENC_ERROR)
            status = gc_output_write(output, piece, PIECE_BYTES - left, error);
    }
    return status == GCONV_OK && next != JXL_ENC_SUCCESS
               ? gc_fail(error, GCONV_ERROR_WRITE, "libjxl cannot encode the image")
               : status;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    const gc_whole_encoder *encoder = (const gc_whole_encoder *)common;
    JxlEncoder *jxl = gc_jxl.JxlEncoderCreate(NULL);
    unsigned char *piece = malloc(PIECE_BYTES);
    gconv_status status;
    if (jxl == NULL || piece == NULL)
        status = gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libjxl cannot start");
    else if (!add_boxes(jxl, encoder) || !set_image(jxl, encoder) || !add_frame(jxl, encoder))
        status = gc_fail(error, GCONV_ERROR_WRITE, "libjxl does not take the image");
    else
        status = put(jxl, common->output, piece, error);
    if (jxl != NULL)
        gc_jxl.JxlEncoderDestroy(jxl);
    free(piece);
    return status;
}

const gc_encoder_type gc_jxl_encoder = {
    .size = sizeof(gc_whole_encoder),
    .open = open_encoder,
    .write = gc_whole_write,
    .finish = finish,
    .free = free_encoder,
};
