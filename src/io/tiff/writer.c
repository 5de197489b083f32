/* TIFF of 1, 8 and 16 bits, and of floats, in strips, or in tiles if it is large and compressed.
 * libtiff compresses strips, or a faster way (fast.h) where it costs at most 1 % of size. Several
 * threads may compress. In this file a tile counts as a strip. */
#include "base/memory.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/exif.h"
#include "io/parts.h"
#include "io/tiff/libtiff.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP_BYTES = 256 * 1024, TILE_SIDE = 256 };

/* The least side of an image in tiles: what the last tiles hold beyond it adds about a quarter, at
 * most. */
enum { TILED_SIDE_MIN = 4 * TILE_SIDE };

/* The most pixels of a compressed image in strips. A larger one has tiles: a program that shows a
 * part decodes few of them, where strips are as wide as the image. */
#define STRIPS_PIXELS_MAX (UINT64_C(1) << 27)

/* libtiff compresses strips of SAMPLE_BYTES or less, and those of which it makes the first
 * SAMPLE_BYTES smaller than the faster way does, by more than one part in SAMPLE_GAIN. */
enum { SAMPLE_BYTES = 32 * 1024, SAMPLE_GAIN = 100 };

typedef struct strip {
    gc_part head;
    uint32_t number; /* in the file */
    uint32_t held;   /* rows */
    size_t size;     /* of the compressed bytes */
    gconv_status status;
    gconv_error error;
    /* The rows as the predictor left them; from strip_bytes on, the compressed bytes. */
    _Alignas(16) unsigned char bytes[];
} strip;

/* What a thread compresses with. */
typedef struct compressor {
    gc_tiff_file file, sampler; /* strips of the image, and of SAMPLE_BYTES */
    void *state;                /* of the faster way; NULL: no memory yet */
} compressor;

typedef struct tiff_encoder {
    gc_encoder common;
    gc_tiff_file file;
    size_t row_bytes, strip_bytes;
    uint32_t strip_rows, filled; /* rows of a strip; strips that are filled */
    uint32_t strip_width;        /* pixels */
    size_t strip_row_bytes;
    unsigned char *band; /* NULL: strips; else rows for a row of tiles */
    uint32_t band_rows;  /* that it holds */
    uint32_t rows;       /* received */
    bool predicts;       /* the writer applies the predictor, and libtiff does not */
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
    const bool whole = tiff == encoder->file.tiff;
    gc_tiff.TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, whole ? shape->width : encoder->strip_width);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, whole ? shape->height : encoder->strip_rows);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, shape->depth);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, shape->channels);
    gc_tiff.TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    if (whole && encoder->band != NULL) {
        gc_tiff.TIFFSetField(tiff, TIFFTAG_TILEWIDTH, (uint32_t)TILE_SIDE);
        gc_tiff.TIFFSetField(tiff, TIFFTAG_TILELENGTH, (uint32_t)TILE_SIDE);
    } else {
        gc_tiff.TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, encoder->strip_rows);
    }
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
    const gc_blob *icc = &metadata->blobs[GC_ICC], *xmp = &metadata->blobs[GC_XMP];
    const gc_blob *exif = &metadata->blobs[GC_EXIF];
    if (icc->bytes != NULL)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)icc->size, icc->bytes);
    if (xmp->bytes != NULL)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_XMLPACKET, (uint32_t)xmp->size, xmp->bytes);
    if (exif->size > GC_TIFF_ORIENTATION_BYTES)
        gc_warn(&encoder->common.warnings, "EXIF dropped but for the orientation");
    if (exif->bytes != NULL)
        gc_tiff.TIFFSetField(tiff, TIFFTAG_ORIENTATION,
                             gc_exif_orientation(exif->bytes, exif->size));
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

/* The memory of the faster way, and a file in memory whose strips have SAMPLE_BYTES: libtiff has
 * libdeflate compress whole strips. */
static gconv_status open_sampler(const tiff_encoder *encoder, compressor *by, gconv_error *error)
{
    gc_tiff_file *sampler = &by->sampler;
    if (by->state == NULL)
        by->state = malloc(gc_fast.deflating->bytes);
    GC_TRY_MEMORY(by->state != NULL, error, gc_fast.deflating->bytes);
    GC_TRY(gc_tiff_open_part(sampler, &encoder->file, error));
    gc_tiff.TIFFSetField(sampler->tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)SAMPLE_BYTES);
    gc_tiff.TIFFSetField(sampler->tiff, TIFFTAG_IMAGELENGTH, (uint32_t)1);
    gc_tiff.TIFFSetField(sampler->tiff, TIFFTAG_BITSPERSAMPLE, CHAR_BIT);
    gc_tiff.TIFFSetField(sampler->tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    set_compression(encoder, sampler->tiff);
    return GCONV_OK;
}

/* Has libtiff compress the first bytes of a strip. */
static gconv_status press_by_libtiff(const tiff_encoder *encoder, gc_tiff_file *file,
                                     strip *pressed, size_t size)
{
    const void *bytes = gc_tiff_encode(file, pressed->bytes, size, &pressed->size);
    if (bytes == NULL)
        return gc_tiff_fail(file, "a strip was not compressed", &pressed->error);
    if (pressed->size > room_of(encoder))
        return gc_fail(&pressed->error, GCONV_ERROR_WRITE, "a strip grows when it is compressed");
    memcpy(pressed->bytes + encoder->strip_bytes, bytes, pressed->size);
    return GCONV_OK;
}

/* Compresses the strip, or its first `size` bytes. Returns 0 if that needs too much room. */
static size_t deflate(const tiff_encoder *encoder, compressor *by, strip *deflated, size_t size)
{
    return gc_fast.deflating->deflate(by->state, deflated->bytes, size,
                                      deflated->bytes + encoder->strip_bytes, encoder->strip_bytes);
}

/* Compresses the strip in the way that is faster than libtiff's, if it is as good. */
static gconv_status press_fast(const tiff_encoder *encoder, compressor *by, strip *pressed,
                               size_t size)
{
    if (by->sampler.tiff == NULL)
        GC_TRY(open_sampler(encoder, by, &pressed->error));
    GC_TRY(press_by_libtiff(encoder, &by->sampler, pressed, SAMPLE_BYTES));
    const size_t most = pressed->size + pressed->size / SAMPLE_GAIN;
    const size_t took = deflate(encoder, by, pressed, SAMPLE_BYTES);
    pressed->size = took > 0 && took <= most ? deflate(encoder, by, pressed, size) : 0;
    return GCONV_OK;
}

static gconv_status press_strip(const tiff_encoder *encoder, compressor *by, strip *pressed)
{
    const size_t size = pressed->held * encoder->strip_row_bytes;
    gconv_status status = GCONV_OK;
    if (by->file.tiff == NULL) {
        GC_TRY(gc_tiff_open_part(&by->file, &encoder->file, &pressed->error));
        set_samples(encoder, by->file.tiff);
        set_compression(encoder, by->file.tiff);
    }
    pressed->size = 0;
    if (gc_fast.deflating != NULL && encoder->common.compression == GC_TIFF_DEFLATE_LEVEL &&
        encoder->predicts && size > SAMPLE_BYTES)
        status = press_fast(encoder, by, pressed, size);
    return status == GCONV_OK && pressed->size == 0
               ? press_by_libtiff(encoder, &by->file, pressed, size)
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
        gc_tiff_close(&freed->sampler);
        free(freed->state);
        *freed = (compressor){.state = NULL};
    }
}

/* Divides the image into strips or tiles. */
static gconv_status divide(tiff_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    const bool tiles = encoder->common.compression > 0 && shape->width >= TILED_SIDE_MIN &&
                       shape->height >= TILED_SIDE_MIN &&
                       (uint64_t)shape->width * shape->height > STRIPS_PIXELS_MAX;
    gconv_shape strip_shape = *shape;
    size_t band_bytes, rows = TILE_SIDE;
    encoder->row_bytes = gconv_shape_row_bytes(shape);
    if (!tiles)
        rows = encoder->row_bytes < STRIP_BYTES ? STRIP_BYTES / encoder->row_bytes : 1;
    uint32_t held_rows = rows < shape->height ? (uint32_t)rows : shape->height;
    if (encoder->row_bytes > SIZE_MAX / 4 ||
        !gc_multiply(held_rows, encoder->row_bytes, &band_bytes))
        return gc_fail_memory(error, SIZE_MAX);
    encoder->strip_rows = tiles ? TILE_SIDE : held_rows;
    encoder->strip_width = strip_shape.width = tiles ? TILE_SIDE : shape->width;
    encoder->strip_row_bytes = gconv_shape_row_bytes(&strip_shape);
    encoder->strip_bytes = encoder->strip_rows * encoder->strip_row_bytes;
    free(encoder->band);
    encoder->band = tiles ? malloc(band_bytes) : NULL;
    encoder->band_rows = 0;
    return tiles && encoder->band == NULL ? gc_fail_memory(error, band_bytes) : GCONV_OK;
}

/* Without --compression an output is compressed as the TIFF that it is made of. */
static int compression_of(const gc_encoder *common)
{
    return common->compression < 0 ? common->metadata.compression : common->compression;
}

static gconv_status begin_image(tiff_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    encoder->common.compression = compression_of(&encoder->common);
    GC_TRY(divide(encoder, error));
    free_compressors(encoder);
    encoder->filled = encoder->rows = 0;
    encoder->predicts =
        encoder->common.compression > 0 && (shape->depth == 8 || shape->depth == 16);
    set_samples(encoder, encoder->file.tiff);
    set_compression(encoder, encoder->file.tiff);
    set_metadata(encoder);
    if (encoder->file.failure.status != GCONV_OK)
        return gc_tiff_fail(&encoder->file, "", error);
    GC_TRY(gc_parts_begin(&encoder->strips, sizeof(strip) + encoder->strip_bytes + room_of(encoder),
                          error));
    filling(encoder)->held = 0;
    return GCONV_OK;
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *opened = (tiff_encoder *)common;
    const gconv_shape *shape = &common->shape;
    uint64_t bytes = (uint64_t)gconv_shape_row_bytes(shape) * shape->height;
    if (compression_of(common) == GCONV_COMPRESSION_LZW)
        bytes += bytes / 2; /* as room_of has it */
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
    free(encoder->band);
    free(encoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Writes a strip as it is to stand in the file. */
static gconv_status write_strip(tiff_encoder *encoder, uint32_t number, void *bytes, size_t size,
                                gconv_error *error)
{
    gc_tiff_file *file = &encoder->file;
    tmsize_t put = encoder->band != NULL
                       ? gc_tiff.TIFFWriteRawTile(file->tiff, number, bytes, (tmsize_t)size)
                       : gc_tiff.TIFFWriteRawStrip(file->tiff, number, bytes, (tmsize_t)size);
    if (put < 0 || file->failure.status != GCONV_OK)
        return gc_tiff_fail(file, "a strip was not written", error);
    return GCONV_OK;
}

static gconv_status write_compressed(tiff_encoder *encoder, strip *written, gconv_error *error)
{
    if (written->status != GCONV_OK)
        return gc_fail(error, written->status, "%s", written->error.message);
    return write_strip(encoder, written->number, written->bytes + encoder->strip_bytes,
                       written->size, error);
}

/* Hands over the strip that was filled, and writes those that are compressed. */
static gconv_status pass_strip(tiff_encoder *encoder, bool last, gconv_error *error)
{
    gc_part *part;
    gconv_status status = GCONV_OK;
    strip *filled = filling(encoder);
    filled->number = encoder->filled++;
    if (encoder->common.compression <= 0) {
        status = write_strip(encoder, filled->number, filled->bytes,
                             filled->held * encoder->strip_row_bytes, error);
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

/* Holds what a strip has of a row, from column x on. Equal pictures give equal files: bits and
 * bytes beyond the image are 0. */
static void hold_row(const tiff_encoder *encoder, strip *filled, const unsigned char *row,
                     uint32_t x)
{
    gconv_shape part = encoder->common.shape;
    if (part.width - x < encoder->strip_width)
        part.width -= x;
    else
        part.width = encoder->strip_width;
    const size_t bytes = gconv_shape_row_bytes(&part);
    unsigned char *held = filled->bytes + filled->held++ * encoder->strip_row_bytes;
    row += (size_t)x / 8 * (size_t)(part.channels * part.depth);
    memset(held + bytes, 0, encoder->strip_row_bytes - bytes);
    if (encoder->predicts)
        predict(&part, row, held);
    else
        memcpy(held, row, bytes);
    if (part.depth == 1 && part.width % 8 != 0)
        held[bytes - 1] &= (unsigned char)(0xff00 >> part.width % 8);
}

/* Makes tiles of the band. Rows below the image are 0. */
static gconv_status pass_tiles(tiff_encoder *encoder, bool last, gconv_error *error)
{
    const uint32_t width = encoder->common.shape.width;
    gconv_status status = GCONV_OK;
    for (uint32_t x = 0; status == GCONV_OK && x < width; x += TILE_SIDE) {
        strip *filled = filling(encoder);
        while (filled->held < encoder->band_rows)
            hold_row(encoder, filled, encoder->band + filled->held * encoder->row_bytes, x);
        memset(filled->bytes + filled->held * encoder->strip_row_bytes, 0,
               (TILE_SIDE - filled->held) * encoder->strip_row_bytes);
        filled->held = TILE_SIDE;
        status = pass_strip(encoder, last && width - x <= TILE_SIDE, error);
    }
    encoder->band_rows = 0;
    return status;
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++) {
        bool last = ++encoder->rows == common->shape.height;
        if (encoder->band != NULL) {
            memcpy(encoder->band + encoder->band_rows++ * encoder->row_bytes, rows + i * stride,
                   encoder->row_bytes);
            if (encoder->band_rows == TILE_SIDE || last)
                status = pass_tiles(encoder, last, error);
            continue;
        }
        strip *filled = filling(encoder);
        hold_row(encoder, filled, rows + i * stride, 0);
        if (filled->held == encoder->strip_rows || last)
            status = pass_strip(encoder, last, error);
    }
    return status;
}

static gconv_status next(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    GC_TRY(gc_tiff_end_image(&encoder->file, error));
    GC_TRY(gc_tiff_next_image(&encoder->file, error));
    return begin_image(encoder, error);
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    GC_TRY(gc_tiff_end_image(&encoder->file, error));
    return gc_tiff_end_output(&encoder->file, error);
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
