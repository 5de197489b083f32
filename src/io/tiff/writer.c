/* TIFF of 1, 8 and 16 bits, and of floats, in strips, by libtiff. */
#include "base/memory.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/exif.h"
#include "io/tiff/libtiff.h"

#include <stdlib.h>
#include <string.h>

enum { STRIP_BYTES = 256 * 1024 };

/* Image data up to this fit a TIFF of 32-bit offsets beside all else. */
#define SMALL_BYTES_MAX ((UINT64_C(4) << 30) - (UINT64_C(64) << 20))

typedef struct tiff_encoder {
    gc_encoder common;
    gc_tiff_file file;
    size_t row_bytes;
    uint32_t strip_rows;
    unsigned char *strip; /* rows of the strip that is not complete */
    uint32_t held;        /* their number */
    uint32_t strips;      /* written */
} tiff_encoder;

/* ---- Tags ------------------------------------------------------------------------------------ */

static void set_compression(const tiff_encoder *encoder)
{
    const int level = encoder->common.compression, depth = encoder->common.shape.depth;
    TIFF *tiff = encoder->file.tiff;
    if (level <= 0) {
        gc_tiff.TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
        return;
    }
    bool lzw = level == GCONV_COMPRESSION_LZW;
    gc_tiff.TIFFSetField(tiff, TIFFTAG_COMPRESSION,
                         lzw ? COMPRESSION_LZW : COMPRESSION_ADOBE_DEFLATE);
    if (!lzw)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, level);
    if (depth > 1)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_PREDICTOR,
                             depth == 32 ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
}

static void set_samples(const tiff_encoder *encoder)
{
    const gconv_shape *shape = &encoder->common.shape;
    const uint16_t alpha[] = {EXTRASAMPLE_UNASSALPHA};
    TIFF *tiff = encoder->file.tiff;
    gc_tiff.TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, shape->width);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, shape->height);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, shape->depth);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, shape->channels);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, encoder->strip_rows);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                         shape->channels < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    if (shape->channels % 2 == 0)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, alpha);
    if (shape->depth == 32) {
        gc_tiff.TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
        gc_tiff.TIFFSetField(tiff, TIFFTAG_SMINSAMPLEVALUE, 0.0);
        gc_tiff.TIFFSetField(tiff, TIFFTAG_SMAXSAMPLEVALUE, encoder->common.white);
    }
}

static void set_metadata(tiff_encoder *encoder)
{
    static const uint16_t units[] = {[GC_RESOLUTION_RATIO] = RESUNIT_NONE,
                                     [GC_RESOLUTION_PER_INCH] = RESUNIT_INCH,
                                     [GC_RESOLUTION_PER_CENTIMETRE] = RESUNIT_CENTIMETER,
                                     [GC_RESOLUTION_PER_METRE] = RESUNIT_CENTIMETER};
    const gconv_metadata *metadata = &encoder->common.metadata;
    const gc_resolution *resolution = &metadata->resolution;
    TIFF *tiff = encoder->file.tiff;
    if (metadata->icc != NULL)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)metadata->icc_bytes,
                             metadata->icc);
    if (metadata->exif != NULL && metadata->exif_bytes > GC_TIFF_ORIENTATION_BYTES)
        gc_warn(&encoder->common.warnings, "EXIF dropped but for the orientation");
    if (metadata->exif != NULL)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_ORIENTATION,
                             gc_exif_orientation(metadata->exif, metadata->exif_bytes));
    gc_tiff_set_tags(&encoder->file, metadata);
    if (resolution->unit == GC_RESOLUTION_NONE)
        return;
    double per = resolution->unit == GC_RESOLUTION_PER_METRE ? 100 : 1;
    gc_tiff.TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, units[resolution->unit]);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_XRESOLUTION, resolution->x / per);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_YRESOLUTION, resolution->y / per);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status begin_image(tiff_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    size_t bytes;
    encoder->row_bytes = gconv_shape_row_bytes(shape);
    size_t rows = encoder->row_bytes < STRIP_BYTES ? STRIP_BYTES / encoder->row_bytes : 1;
    encoder->strip_rows = rows < shape->height ? (uint32_t)rows : shape->height;
    encoder->held = encoder->strips = 0;
    if (!gc_multiply(encoder->strip_rows, encoder->row_bytes, &bytes))
        return gc_fail_memory(error, SIZE_MAX);
    free(encoder->strip);
    encoder->strip = malloc(bytes);
    if (encoder->strip == NULL)
        return gc_fail_memory(error, bytes);
    set_samples(encoder);
    set_compression(encoder);
    set_metadata(encoder);
    return encoder->file.failure.status == GCONV_OK ? GCONV_OK
                                                    : gc_tiff_fail(&encoder->file, "", error);
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *opened = (tiff_encoder *)common;
    const gconv_shape *shape = &common->shape;
    uint64_t bytes = (uint64_t)gconv_shape_row_bytes(shape) * shape->height;
    opened->file.warnings = &common->warnings;
    gconv_status status = gc_tiff_open_output(
        &opened->file, common->output, bytes > SMALL_BYTES_MAX || common->metadata.is_long, error);
    return status == GCONV_OK ? begin_image(opened, error) : status;
}

static void free_encoder(gc_encoder *common)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gc_fail(&encoder->file.failure, GCONV_ERROR_WRITE, "closed"); /* libtiff writes no more */
    gc_tiff_close(&encoder->file);
    free(encoder->strip);
    free(encoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static gconv_status write_strip(tiff_encoder *encoder, gconv_error *error)
{
    tmsize_t size = (tmsize_t)(encoder->held * encoder->row_bytes);
    tmsize_t put =
        gc_tiff.TIFFWriteEncodedStrip(encoder->file.tiff, encoder->strips++, encoder->strip, size);
    encoder->held = 0;
    if (put < 0 || encoder->file.failure.status != GCONV_OK)
        return gc_tiff_fail(&encoder->file, "a strip was not written", error);
    return GCONV_OK;
}

/* Equal pictures give equal files: unused bits of the last byte are 0. */
static void hold_row(tiff_encoder *encoder, const unsigned char *row)
{
    unsigned char *held = encoder->strip + encoder->held++ * encoder->row_bytes;
    uint32_t width = encoder->common.shape.width;
    memcpy(held, row, encoder->row_bytes);
    if (encoder->common.shape.depth == 1 && width % 8 != 0)
        held[encoder->row_bytes - 1] &= (unsigned char)(0xff00 >> width % 8);
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++) {
        hold_row(encoder, rows + i * stride);
        uint64_t done = (uint64_t)encoder->strips * encoder->strip_rows + encoder->held;
        if (encoder->held == encoder->strip_rows || done == common->shape.height)
            status = write_strip(encoder, error);
    }
    return status;
}

static gconv_status next(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gconv_status status = gc_tiff_end_image(&encoder->file, error);
    if (status == GCONV_OK)
        status = gc_tiff_next_image(&encoder->file, error);
    return status == GCONV_OK ? begin_image(encoder, error) : status;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gconv_status status = gc_tiff_end_image(&encoder->file, error);
    return status == GCONV_OK ? gc_tiff_end_output(&encoder->file, error) : status;
}

const gc_encoder_type gc_tiff_encoder = {
    .size = sizeof(tiff_encoder),
    .open = open_encoder,
    .write = write_rows,
    .next = next,
    .finish = finish,
    .free = free_encoder,
};
