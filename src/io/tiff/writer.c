/* TIFF of 1, 8 and 16 bits, and of floats, in strips, by libtiff. Several threads may compress
 * strips: each strip that waits has a file of its own in memory. */
#include "base/memory.h"
#include "base/processors.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/exif.h"
#include "io/tiff/libtiff.h"

#include <stdlib.h>
#include <string.h>

enum {
    STRIP_BYTES = 256 * 1024,
    STRIPS_MAX = 32 /* that are filled and not yet written */
};

typedef struct strip {
    unsigned char *rows; /* NULL: no memory yet */
    uint32_t held;       /* their number */
    bool compressed;
    gc_tiff_file file; /* the compressed bytes are in file.held */
    gconv_status status;
    gconv_error error;
} strip;

typedef struct tiff_encoder {
    gc_encoder common;
    gc_tiff_file file;
    size_t row_bytes, strip_bytes;
    uint32_t strip_rows;
    pthread_mutex_t lock; /* of all below, but not of what strips hold */
    pthread_cond_t compressed;
    bool helped;                     /* other threads compress */
    uint32_t ring;                   /* strips in use: strip `i` is strips[i % ring] */
    uint32_t filled, begun, written; /* strips of the image; filled >= begun >= written */
    strip strips[STRIPS_MAX];
} tiff_encoder;

/* ---- Tags ------------------------------------------------------------------------------------ */

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
    if (depth > 1)
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

/* ---- Opening --------------------------------------------------------------------------------- */

/* No strip waits, and no other thread uses one. */
static void free_strips(tiff_encoder *encoder)
{
    for (int i = 0; i < STRIPS_MAX; i++) {
        strip *freed = &encoder->strips[i];
        gc_fail(&freed->file.failure, GCONV_ERROR_WRITE, "closed"); /* libtiff writes no more */
        gc_tiff_close(&freed->file);
        free(freed->rows);
        *freed = (strip){.rows = NULL};
    }
}

/* Makes the strip that is filled next. */
static gconv_status begin_strip(tiff_encoder *encoder, gconv_error *error)
{
    strip *begun = &encoder->strips[encoder->filled % encoder->ring];
    begun->held = 0;
    begun->compressed = false;
    if (begun->rows == NULL)
        begun->rows = malloc(encoder->strip_bytes);
    return begun->rows != NULL ? GCONV_OK : gc_fail_memory(error, encoder->strip_bytes);
}

static gconv_status begin_image(tiff_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    encoder->row_bytes = gconv_shape_row_bytes(shape);
    size_t rows = encoder->row_bytes < STRIP_BYTES ? STRIP_BYTES / encoder->row_bytes : 1;
    encoder->strip_rows = rows < shape->height ? (uint32_t)rows : shape->height;
    if (!gc_multiply(encoder->strip_rows, encoder->row_bytes, &encoder->strip_bytes))
        return gc_fail_memory(error, SIZE_MAX);
    free_strips(encoder);
    pthread_mutex_lock(&encoder->lock);
    encoder->filled = encoder->begun = encoder->written = 0;
    pthread_mutex_unlock(&encoder->lock);
    set_samples(encoder, encoder->file.tiff);
    set_compression(encoder, encoder->file.tiff);
    set_metadata(encoder);
    return encoder->file.failure.status == GCONV_OK ? begin_strip(encoder, error)
                                                    : gc_tiff_fail(&encoder->file, "", error);
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    tiff_encoder *opened = (tiff_encoder *)common;
    const gconv_shape *shape = &common->shape;
    uint64_t bytes = (uint64_t)gconv_shape_row_bytes(shape) * shape->height;
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->compressed, NULL);
    opened->ring = 1;
    opened->file.warnings = &common->warnings;
    gconv_status status =
        gc_tiff_open_output(&opened->file, common->output,
                            bytes > GC_TIFF_SMALL_BYTES_MAX || common->metadata.is_long, error);
    return status == GCONV_OK ? begin_image(opened, error) : status;
}

static void free_encoder(gc_encoder *common)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    gc_fail(&encoder->file.failure, GCONV_ERROR_WRITE, "closed"); /* libtiff writes no more */
    gc_tiff_close(&encoder->file);
    free_strips(encoder);
    pthread_mutex_destroy(&encoder->lock);
    pthread_cond_destroy(&encoder->compressed);
    free(encoder);
}

/* ---- Compressing ----------------------------------------------------------------------------- */

/* Encodes a strip into `file`, which is the output, or the strip's own. */
static gconv_status encode(const tiff_encoder *encoder, gc_tiff_file *file, uint32_t number,
                           const strip *encoded, gconv_error *error)
{
    tmsize_t size = (tmsize_t)(encoded->held * encoder->row_bytes);
    tmsize_t put = gc_tiff.TIFFWriteEncodedStrip(file->tiff, number, encoded->rows, size);
    if (put < 0 || file->failure.status != GCONV_OK)
        return gc_tiff_fail(file, "a strip was not written", error);
    return GCONV_OK;
}

static gconv_status compress(const tiff_encoder *encoder, uint32_t number, strip *compressed)
{
    gc_tiff_file *file = &compressed->file;
    gconv_status status = GCONV_OK;
    if (file->tiff == NULL) {
        status = gc_tiff_open_part(file, &encoder->file, &compressed->error);
        if (status != GCONV_OK)
            return status;
        set_samples(encoder, file->tiff);
        set_compression(encoder, file->tiff);
    }
    gc_tiff_empty_part(file);
    return encode(encoder, file, number, compressed, &compressed->error);
}

/* Compresses the next strip, without the lock, which the caller has. */
static void compress_next(tiff_encoder *encoder)
{
    uint32_t number = encoder->begun++;
    strip *next = &encoder->strips[number % encoder->ring];
    pthread_mutex_unlock(&encoder->lock);
    next->status = compress(encoder, number, next);
    pthread_mutex_lock(&encoder->lock);
    next->compressed = true;
    pthread_cond_signal(&encoder->compressed);
}

/* For other threads: compresses a strip. False if none waits for it, as none does if strips are
 * written as they are. */
static bool help(gc_encoder *common)
{
    tiff_encoder *encoder = (tiff_encoder *)common;
    if (common->compression <= 0)
        return false;
    pthread_mutex_lock(&encoder->lock);
    encoder->helped = true;
    bool found = encoder->begun < encoder->filled;
    if (found)
        compress_next(encoder);
    pthread_mutex_unlock(&encoder->lock);
    return found;
}

/* How many strips keep so many threads busy. */
static uint32_t strips_of(int threads)
{
    return threads < STRIPS_MAX ? (uint32_t)threads + 1 : STRIPS_MAX;
}

/* The next strip, once it is compressed. NULL if it may wait, or there is none; never the former
 * with `last`. */
static strip *take_strip(tiff_encoder *encoder, bool last)
{
    strip *next = NULL;
    pthread_mutex_lock(&encoder->lock);
    while (next == NULL && encoder->written < encoder->filled) {
        strip *first = &encoder->strips[encoder->written % encoder->ring];
        if (first->compressed)
            next = first;
        else if (encoder->filled - encoder->written < encoder->ring && !last)
            break;
        else if (encoder->begun < encoder->filled)
            compress_next(encoder);
        else
            pthread_cond_wait(&encoder->compressed, &encoder->lock);
    }
    if (next == NULL && encoder->written == encoder->filled && encoder->helped)
        encoder->ring = strips_of(gc_thread_count(0));
    pthread_mutex_unlock(&encoder->lock);
    return next;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static gconv_status write_compressed(tiff_encoder *encoder, strip *written, gconv_error *error)
{
    gc_tiff_file *file = &encoder->file;
    size_t size;
    if (written->status != GCONV_OK)
        return gc_fail(error, written->status, "%s", written->error.message);
    void *bytes = gc_tiff_part_bytes(&written->file, &size);
    if (gc_tiff.TIFFWriteRawStrip(file->tiff, encoder->written, bytes, (tmsize_t)size) < 0 ||
        file->failure.status != GCONV_OK)
        return gc_tiff_fail(file, "a strip was not written", error);
    encoder->written++;
    return GCONV_OK;
}

/* Hands over the strip that was filled, and writes those that are compressed. */
static gconv_status pass_strip(tiff_encoder *encoder, bool last, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    strip *next = &encoder->strips[encoder->filled % encoder->ring];
    if (encoder->common.compression <= 0) {
        status = encode(encoder, &encoder->file, encoder->filled++, next, error);
    } else {
        pthread_mutex_lock(&encoder->lock);
        encoder->filled++;
        pthread_mutex_unlock(&encoder->lock);
        while (status == GCONV_OK && (next = take_strip(encoder, last)) != NULL)
            status = write_compressed(encoder, next, error);
    }
    return status == GCONV_OK && !last ? begin_strip(encoder, error) : status;
}

/* Equal pictures give equal files: unused bits of the last byte are 0. */
static void hold_row(const tiff_encoder *encoder, strip *filled, const unsigned char *row)
{
    unsigned char *held = filled->rows + filled->held++ * encoder->row_bytes;
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
        strip *filled = &encoder->strips[encoder->filled % encoder->ring];
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
