/* JPEG: which decoder gives the rows. libjpeg reads the header and judges the file. The rows come
 * from a device that takes the whole image, else from gconv's own decoder (jpeg/fast), else from
 * libjpeg. */
#include "base/memory.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/fast.h"
#include "io/jpeg/libjpeg.h"

#include <stdio.h> /* jpeglib.h needs it before */
#include <stdlib.h>

#include <jpeglib.h>

#ifdef LIBJPEG_TURBO_VERSION
#define LIBRARY "libjpeg-turbo"
#else
#define LIBRARY "libjpeg"
#endif

enum { ROWS_AT_ONCE = 16 };

typedef struct jpeg_decoder {
    gc_decoder common;
    gc_libjpeg *libjpeg;

    /* A device. */
    void *offered_memory; /* of the image that is offered */
    size_t offered;       /* bytes of its file */
    bool accepted;        /* a device has decoded the image */
    bool trailing;        /* `accepted`: bytes follow the image */

    /* gconv's own decoder. */
    gc_jpeg_rows *own;    /* NULL before the first row, and if libjpeg has to decode */
    gc_jpeg_rows *helped; /* `own` once other threads may help, else NULL */
    bool own_tried;       /* making `own` was tried */
    uint32_t own_rows;    /* that `own` has given */
    bool own_stopped;     /* `own` has rejected the data, and libjpeg decodes */
} jpeg_decoder;

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    return gc_libjpeg_open(common, &((jpeg_decoder *)common)->libjpeg, error);
}

static void free_decoder(gc_decoder *common)
{
    jpeg_decoder *decoder = (jpeg_decoder *)common;
    gc_libjpeg_free(decoder->libjpeg);
    if (decoder->own != NULL)
        gc_fast.jpeg_decoding->free(decoder->own);
    free(decoder->offered_memory);
    free(decoder);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Makes `own` before the first row. */
static void try_own(jpeg_decoder *decoder)
{
    gc_decoder *common = &decoder->common;
    if (decoder->own_tried)
        return;
    decoder->own_tried = true;
    if (gc_fast.jpeg_decoding == NULL || common->libraries_only ||
        !gc_input_reads_twice(common->input))
        return;
    decoder->own = gc_fast.jpeg_decoding->create(gc_libjpeg_header(decoder->libjpeg), common->input,
                                                 gc_libjpeg_data_at(decoder->libjpeg));
    if (decoder->own != NULL)
        common->decoded_by = "gconv";
}

/* Lets libjpeg decode the file from its start and drops the rows that `own` has given. libjpeg goes
 * on from there, and says what is wrong with the file. */
static gconv_status catch_up(jpeg_decoder *decoder, gconv_error *error)
{
    size_t row_bytes = gconv_shape_row_bytes(&decoder->common.shape);
    unsigned char *dropped = gc_allocate_array(ROWS_AT_ONCE, row_bytes);
    GC_TRY_MEMORY(dropped != NULL, error, ROWS_AT_ONCE * row_bytes);
    gconv_status status = GCONV_OK;
    decoder->own_stopped = true;
    decoder->common.decoded_by = NULL;
    for (uint32_t y = 0; status == GCONV_OK && y < decoder->own_rows; y += ROWS_AT_ONCE) {
        uint32_t left = decoder->own_rows - y;
        status = gc_libjpeg_read(decoder->libjpeg, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE,
                                 dropped, row_bytes, error);
    }
    free(dropped);
    return status;
}

static gconv_status read_rows(gc_decoder *common, uint32_t count, unsigned char *rows,
                              size_t stride, gconv_error *error)
{
    jpeg_decoder *decoder = (jpeg_decoder *)common;
    gconv_status status = GCONV_OK;
    uint32_t given = 0;
    try_own(decoder);
    if (decoder->own != NULL && !decoder->own_stopped) {
        given = gc_fast.jpeg_decoding->read(decoder->own, count, rows, stride);
        decoder->own_rows += given;
        if (given == count)
            return GCONV_OK;
        status = catch_up(decoder, error);
    }
    GC_TRY(status);
    return gc_libjpeg_read(decoder->libjpeg, count - given, rows + given * stride, stride, error);
}

static void spread(gc_decoder *common, int threads)
{
    jpeg_decoder *decoder = (jpeg_decoder *)common;
    try_own(decoder);
    if (decoder->own != NULL && gc_fast.jpeg_decoding->spread(decoder->own, threads))
        decoder->helped = decoder->own;
}

static bool help(gc_decoder *common)
{
    const jpeg_decoder *decoder = (jpeg_decoder *)common;
    return decoder->helped != NULL && gc_fast.jpeg_decoding->help(decoder->helped);
}

static gconv_status finish(gc_decoder *common, gconv_error *error)
{
    jpeg_decoder *decoder = (jpeg_decoder *)common;
    if (decoder->accepted) { /* the device has told the end of the image */
        return decoder->trailing ? gc_decoder_tell_trailing(common, error) : GCONV_OK;
    }
    if (decoder->own != NULL && !decoder->own_stopped) {
        bool trailing;
        if (gc_fast.jpeg_decoding->end(decoder->own, &trailing))
            return trailing ? gc_decoder_tell_trailing(common, error) : GCONV_OK;
        gconv_status caught_up = catch_up(decoder, error);
        if (caught_up != GCONV_OK)
            return caught_up;
    }
    return gc_libjpeg_finish(decoder->libjpeg, error);
}

/* ---- A device -------------------------------------------------------------------------------- */

static gc_offer offer(gc_decoder *common, gconv_encoded *picture, const char **reason)
{
    jpeg_decoder *decoder = (jpeg_decoder *)common;
    if (gc_fast.jpeg_offer == NULL)
        return GC_OFFER_REFUSED;
    decoder->offered = picture->size;
    return gc_fast.jpeg_offer(gc_libjpeg_header(decoder->libjpeg),
                              gc_libjpeg_data_at(decoder->libjpeg), picture,
                              &decoder->offered_memory, reason);
}

static void accept_offer(gc_decoder *common, size_t size)
{
    jpeg_decoder *decoder = (jpeg_decoder *)common;
    decoder->accepted = true;
    decoder->trailing = size < decoder->offered;
}

const gc_decoder_type gc_jpeg_decoder = {
    .name = LIBRARY,
    .size = sizeof(jpeg_decoder),
    .open = open_decoder,
    .read = read_rows,
    .finish = finish,
    .offer = offer,
    .accept = accept_offer,
    .spread = spread,
    .help = help,
    .free = free_decoder,
};
