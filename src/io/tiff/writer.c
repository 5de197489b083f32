/* TIFF of 1, 8 and 16 bits, and of floats, in strips. libtiff compresses strips, and so do faster
 * ways (fast.h) where this costs no size. Several threads may do so. */
#include "base/memory.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/exif.h"
#include "io/parts.h"
#include "io/tiff/libtiff.h"

#include <stdlib.h>
#include <string.h>

enum { STRIP_BYTES = 256 * 1024 };

/* A strip of SAMPLE_BYTES or less is libtiff's. So is one whose first SAMPLE_BYTES libtiff
 * compresses to less than others do by one part in SAMPLE_GAIN. */
enum { DEFLATE_LEVEL = 6, SAMPLE_BYTES = 32 * 1024, SAMPLE_GAIN = 100 };

typedef struct strip {
    gc_part head;
    uint32_t number, held; /* rows */
    size_t size;           /* of what it became */
    gconv_status status;
    gconv_error error;
    /* Of the rows, as the predictor left them; from strip_bytes on, what they became. */
    _Alignas(16) unsigned char bytes[];
} strip;

/* What a thread compresses with. */
typedef struct compressor {
    gc_tiff_file file;
    void *states[GC_DEFLATING_MAX]; /* NULL: no memory yet */
} compressor;

typedef struct tiff_encoder {
    gc_encoder common;
    gc_tiff_file file;
    size_t row_bytes, strip_bytes;
    uint32_t strip_rows, filled; /* rows of a strip; strips that are filled */
    bool predicts;               /* here, so that libtiff need not */
    gc_parts strips;
    compressor compressors[GC_PARTS_MAX];
} tiff_encoder;

/* ---- Tags ------------------------------------------------------------------------------------ */

/* Of the output, or of a file in memory that strips are compressed in. */
static void set_compression(const tiff_encoder *encoder, TIFF *tiff)
{
    const int level = encoder->common.compression, depth = encoder->common.shape.depth;
    if (level <= 0) {
        gc_tiff.TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
        return;
    }
    bool lzw = level == GCONV_COMPRESSION_LZW;
    gc_tiff.TIFFSetField(tiff, TIFFTAG_COMPRESSION,
                         lzw ? COMPRESSION_LZW : COMPRESSION_ADOBE_DEFLATE);
    if (!lzw)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, level);
    if (depth > 1 && (tiff == encoder->file.tiff || !encoder->predicts))
        gc_tiff.TIFFSetField(tiff, TIFFTAG_PREDICTOR,
                             depth == 32 ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
}

static void set_samples(const tiff_encoder *encoder, TIFF *tiff)
{
    const gconv_shape *shape = &encoder->common.shape;
    const uint16_t alpha[] = {EXTRASAMPLE_UNASSALPHA};
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

/* ---- Compressing ----------------------------------------------------------------------------- */

static strip *filling(const tiff_encoder *encoder)
{
    return (strip *)encoder->strips.filling;
}

/* Room for what a strip becomes: LZW makes at most 12 bits of a byte. */
static size_t room_of(const tiff_encoder *encoder)
{
    return encoder->strip_bytes + encoder->strip_bytes / 2 + 1024;
}

/* Encodes bytes of a strip into `file`, which is the output, or the file of a compressor. */
static gconv_status encode(gc_tiff_file *file, uint32_t number, strip *encoded, size_t size,
                           gconv_error *error)
{
    tmsize_t put =
        gc_tiff.TIFFWriteEncodedStrip(file->tiff, number, encoded->bytes, (tmsize_t)size);
    if (put < 0 || file->failure.status != GCONV_OK)
        return gc_tiff_fail(file, "a strip was not written", error);
    return GCONV_OK;
}

/* Has libtiff compress the first bytes of a strip. */
static gconv_status press_by_libtiff(const tiff_encoder *encoder, compressor *by, strip *pressed,
                                     size_t size)
{
    gc_tiff_empty_part(&by->file);
    gconv_status status = encode(&by->file, pressed->number, pressed, size, &pressed->error);
    if (status != GCONV_OK)
        return status;
    const void *bytes = gc_tiff_part_bytes(&by->file, &pressed->size);
    if (pressed->size > room_of(encoder))
        return gc_fail(&pressed->error, GCONV_ERROR_WRITE, "a strip grows when it is compressed");
    memcpy(pressed->bytes + encoder->strip_bytes, bytes, pressed->size);
    return GCONV_OK;
}

/* Compresses the strip, or its first `size` bytes. Returns 0 if that needs too much room. */
static size_t deflate_by(const tiff_encoder *encoder, compressor *by, int which, strip *deflated,
                         size_t size)
{
    return gc_fast.deflating[which]->deflate(by->states[which], deflated->bytes, size,
                                             deflated->bytes + encoder->strip_bytes,
                                             encoder->strip_bytes);
}

/* Compresses the strip in one of the ways that are faster than libtiff's, if one is as good. */
static gconv_status press_fast(const tiff_encoder *encoder, compressor *by, strip *pressed,
                               size_t size)
{
    gconv_status status = press_by_libtiff(encoder, by, pressed, SAMPLE_BYTES);
    const size_t most = pressed->size + pressed->size / SAMPLE_GAIN;
    pressed->size = 0;
    for (int i = 0; status == GCONV_OK && pressed->size == 0 && i < GC_DEFLATING_MAX; i++) {
        const gc_deflating *deflating = gc_fast.deflating[i];
        if (deflating == NULL)
            continue;
        if (by->states[i] == NULL && (by->states[i] = malloc(deflating->bytes)) == NULL)
            return gc_fail_memory(&pressed->error, deflating->bytes);
        size_t took = deflate_by(encoder, by, i, pressed, SAMPLE_BYTES);
        if (took > 0 && took <= most)
            pressed->size = deflate_by(encoder, by, i, pressed, size);
    }
    return status;
}

static gconv_status press_strip(const tiff_encoder *encoder, compressor *by, strip *pressed)
{
    const size_t size = pressed->held * encoder->row_bytes;
    gconv_status status = GCONV_OK;
    if (by->file.tiff == NULL) {
        status = gc_tiff_open_part(&by->file, &encoder->file, &pressed->error);
        if (status != GCONV_OK)
            return status;
        set_samples(encoder, by->file.tiff);
        set_compression(encoder, by->file.tiff);
    }
    pressed->size = 0;
    if (encoder->common.compression == DEFLATE_LEVEL && encoder->predicts && size > SAMPLE_BYTES)
        status = press_fast(encoder, by, pressed, size);
    return status == GCONV_OK && pressed->size == 0 ? press_by_libtiff(encoder, by, pressed, size)
                                                    : status;
}

/* A gc_part_compress. */
static void compress(void *user, gc_part *part, int place)
{
    tiff_encoder *encoder = user;
    strip *compressed = (strip *)part;
    compressed->status = press_strip(encoder, &encoder->compressors[place], compressed);
}

static bool help(gc_encoder *common)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    return common->compression > 0 && gc_parts_help(&encoder->strips);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* No other thread uses one. */
static void free_compressors(tiff_encoder *encoder)
{
    for (int i = 0; i < GC_PARTS_MAX; i++) {
        compressor *freed = &encoder->compressors[i];
        gc_tiff_close(&freed->file);
        for (int way = 0; way < GC_DEFLATING_MAX; way++)
            free(freed->states[way]);
        *freed = (compressor){.states = {NULL}};
    }
}

static gconv_status begin_image(tiff_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    encoder->row_bytes = gconv_shape_row_bytes(shape);
    size_t rows = encoder->row_bytes < STRIP_BYTES ? STRIP_BYTES / encoder->row_bytes : 1;
    encoder->strip_rows = rows < shape->height ? (uint32_t)rows : shape->height;
    if (encoder->row_bytes > SIZE_MAX / 4 ||
        !gc_multiply(encoder->strip_rows, encoder->row_bytes, &encoder->strip_bytes))
        return gc_fail_memory(error, SIZE_MAX);
    free_compressors(encoder);
    encoder->filled = 0;
    encoder->predicts =
        encoder->common.compression > 0 && (shape->depth == 8 || shape->depth == 16);
    set_samples(encoder, encoder->file.tiff);
    set_compression(encoder, encoder->file.tiff);
    set_metadata(encoder);
    if (encoder->file.failure.status != GCONV_OK)
        return gc_tiff_fail(&encoder->file, "", error);
    gconv_status status = gc_parts_begin(
        &encoder->strips, sizeof(strip) + encoder->strip_bytes + room_of(encoder), error);
    if (status == GCONV_OK)
        filling(encoder)->held = 0;
    return status;
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *opened = (tiff_encoder *)common;
    const gconv_shape *shape = &common->shape;
    uint64_t bytes = (uint64_t)gconv_shape_row_bytes(shape) * shape->height;
    gc_parts_create(&opened->strips, compress, opened);
    opened->file.warnings = &common->warnings;
    gconv_status status =
        gc_tiff_open_output(&opened->file, common->output,
                            bytes > GC_TIFF_SMALL_BYTES_MAX || common->metadata.is_long, error);
    return status == GCONV_OK ? begin_image(opened, error) : status;
}

static void free_encoder(gc_encoder *common)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gc_tiff_close(&encoder->file);
    free_compressors(encoder);
    gc_parts_destroy(&encoder->strips);
    free(encoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static gconv_status write_compressed(tiff_encoder *encoder, strip *written, gconv_error *error)
{
    gc_tiff_file *file = &encoder->file;
    if (written->status != GCONV_OK)
        return gc_fail(error, written->status, "%s", written->error.message);
    if (gc_tiff.TIFFWriteRawStrip(file->tiff, written->number,
                                  written->bytes + encoder->strip_bytes,
                                  (tmsize_t)written->size) < 0 ||
        file->failure.status != GCONV_OK)
        return gc_tiff_fail(file, "a strip was not written", error);
    return GCONV_OK;
}

/* Hands over the strip that was filled, and writes those that are compressed. */
static gconv_status pass_strip(tiff_encoder *encoder, bool last, gconv_error *error)
{
    gc_part *part;
    gconv_status status = GCONV_OK;
    strip *filled = filling(encoder);
    filled->number = encoder->filled++;
    if (encoder->common.compression <= 0) {
        status = encode(&encoder->file, filled->number, filled, filled->held * encoder->row_bytes,
                        error);
    } else {
        gc_parts_push(&encoder->strips, last);
        while (status == GCONV_OK && (part = gc_parts_take(&encoder->strips)) != NULL) {
            status = write_compressed(encoder, (strip *)part, error);
            gc_parts_give_back(&encoder->strips, part);
        }
    }
    if (status == GCONV_OK && !last)
        filling(encoder)->held = 0;
    return status;
}

/* The predictor of TIFF: each sample less that of the pixel before. */
static void predict(const gconv_shape *shape, const unsigned char *row, unsigned char *predicted)
{
    const size_t pixel = (size_t)shape->channels, count = shape->width * pixel;
    const uint16_t *from = (const uint16_t *)(const void *)row;
    uint16_t *to = (uint16_t *)(void *)predicted;
    memcpy(predicted, row, pixel * (size_t)shape->depth / 8);
    if (shape->depth == 8)
        for (size_t i = pixel; i < count; i++)
            predicted[i] = (unsigned char)(row[i] - row[i - pixel]);
    else
        for (size_t i = pixel; i < count; i++)
            to[i] = (uint16_t)(from[i] - from[i - pixel]);
}

/* Equal pictures give equal files: unused bits of the last byte are 0. */
static void hold_row(const tiff_encoder *encoder, strip *filled, const unsigned char *row)
{
    const gconv_shape *shape = &encoder->common.shape;
    unsigned char *held = filled->bytes + filled->held++ * encoder->row_bytes;
    if (encoder->predicts)
        predict(shape, row, held);
    else
        memcpy(held, row, encoder->row_bytes);
    if (shape->depth == 1 && shape->width % 8 != 0)
        held[encoder->row_bytes - 1] &= (unsigned char)(0xff00 >> shape->width % 8);
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++) {
        strip *filled = filling(encoder);
        hold_row(encoder, filled, rows + i * stride);
        bool last =
            (uint64_t)encoder->filled * encoder->strip_rows + filled->held == common->shape.height;
        if (filled->held == encoder->strip_rows || last)
            status = pass_strip(encoder, last, error);
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
    .help = help,
    .free = free_encoder,
};
