/* PBM, PGM and PPM, as text and binary (P1 to P6), PAM (P7), and PFM (Pf, PF). */
#include "io/pnm/header.h"
#include "io/pnm/text.h"
#include "io/raw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pnm_decoder {
    gc_decoder common;
    gc_pnm_header header;
    size_t row_samples;
    size_t row_bytes; /* in the file if it is binary */
    uint16_t *levels; /* what sample 0..maxval becomes; NULL if it stays as it is */
} pnm_decoder;

static bool is_pfm(const pnm_decoder *decoder)
{
    return decoder->common.format == GCONV_FORMAT_PFM;
}

static bool is_pbm(const pnm_decoder *decoder)
{
    return decoder->common.format == GCONV_FORMAT_PBM;
}

static bool is_text(const pnm_decoder *decoder)
{
    return decoder->header.kind >= '1' && decoder->header.kind <= '3';
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status make_levels(pnm_decoder *decoder, gconv_error *error)
{
    uint32_t full = decoder->common.shape.depth == 16 ? UINT16_MAX : UINT8_MAX;
    if (is_pfm(decoder) || decoder->header.maxval == full)
        return GCONV_OK;
    decoder->levels = gc_raw_levels(decoder->header.maxval, full, error);
    if (decoder->levels == NULL)
        return GCONV_ERROR_MEMORY;
    if (is_pbm(decoder)) { /* 1 is black there */
        decoder->levels[0] = UINT8_MAX;
        decoder->levels[1] = 0;
    }
    return GCONV_OK;
}

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    pnm_decoder *opened = (pnm_decoder *)common;
    GC_TRY(gc_pnm_read_header(common, &opened->header, error));
    opened->row_bytes = gconv_shape_row_bytes(&common->shape);
    if (is_pbm(opened))
        opened->row_bytes = (opened->row_bytes + 7) / 8;
    opened->row_samples = (size_t)common->shape.width * (size_t)common->shape.channels;
    if (is_pfm(opened))
        common->floats = gc_floats_begin(fabs(opened->header.scale), common->white, &common->shape);
    common->bottom_up = is_pfm(opened);
    return make_levels(opened, error);
}

static void free_decoder(gc_decoder *common)
{
    pnm_decoder *decoder = (pnm_decoder *)common;
    free(decoder->levels);
    free(decoder);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads one row of a text, as a binary file has it, or passes over it if `row` is NULL. */
static gconv_status read_text(pnm_decoder *decoder, unsigned char *row, gconv_error *error)
{
    size_t got = 0, count = decoder->row_samples;
    size_t sample_bytes = (size_t)decoder->common.shape.depth / 8;
    gconv_status status = GCONV_OK;
    if (!decoder->common.stopped)
        status = gc_pnm_read_text(decoder->common.input, decoder->header.maxval, is_pbm(decoder),
                                  row, count, &got, error);
    if (status == GCONV_OK && got < count)
        status = gc_raw_stop(&decoder->common, error);
    if (row != NULL)
        memset(row + got * sample_bytes, 0, (count - got) * sample_bytes);
    return status;
}

/* Reads one row, with a byte or two for each sample. */
static gconv_status read_samples(pnm_decoder *decoder, unsigned char *row, gconv_error *error)
{
    if (is_text(decoder))
        return read_text(decoder, row, error);
    if (!is_pbm(decoder))
        return gc_raw_read(&decoder->common, row, decoder->row_bytes, error);
    /* Read to the end of the row, so that unpacking from the front never overwrites unread bits. */
    unsigned char *bits = row + decoder->row_samples - decoder->row_bytes;
    GC_TRY(gc_raw_read(&decoder->common, bits, decoder->row_bytes, error));
    gc_raw_unpack_bits(bits, row, decoder->row_samples, 1);
    return GCONV_OK;
}

/* Both convert a row in place, and return its largest sample before the levels are applied. */
static uint32_t convert_8(const pnm_decoder *decoder, uint8_t *row)
{
    uint8_t largest = 0;
    for (size_t i = 0; i < decoder->row_samples; i++)
        largest = row[i] > largest ? row[i] : largest;
    for (size_t i = 0; largest <= decoder->header.maxval && i < decoder->row_samples; i++)
        row[i] = (uint8_t)decoder->levels[row[i]];
    return largest;
}

static uint32_t convert_16(const pnm_decoder *decoder, uint16_t *row)
{
    const unsigned char *bytes = (const unsigned char *)row;
    uint16_t largest = 0;
    for (size_t i = 0; i < decoder->row_samples; i++) {
        uint16_t sample = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
        largest = sample > largest ? sample : largest;
        row[i] = sample;
    }
    if (decoder->levels == NULL || largest > decoder->header.maxval)
        return largest;
    for (size_t i = 0; i < decoder->row_samples; i++)
        row[i] = decoder->levels[row[i]];
    return largest;
}

static void convert_32(pnm_decoder *decoder, float *row)
{
    bool is_big_endian = decoder->header.scale > 0;
    if (is_big_endian != GC_HOST_IS_BIG_ENDIAN)
        gc_raw_swap(row, decoder->row_samples, sizeof *row);
    gc_floats_convert(&decoder->common.floats, row, decoder->row_samples);
}

static gconv_status read_row(gc_decoder *common, unsigned char *row, gconv_error *error)
{
    pnm_decoder *decoder = (pnm_decoder *)common;
    GC_TRY(read_samples(decoder, row, error));
    uint32_t largest = 0;
    if (is_pfm(decoder))
        convert_32(decoder, (float *)(void *)row);
    else if (decoder->common.shape.depth == 16)
        largest = convert_16(decoder, (uint16_t *)(void *)row);
    else if (decoder->levels != NULL)
        largest = convert_8(decoder, row);
    return largest > decoder->header.maxval
               ? gc_pnm_fail_above(largest, decoder->header.maxval, error)
               : GCONV_OK;
}

static gconv_status skip_rows(gc_decoder *common, uint32_t count, gconv_error *error)
{
    pnm_decoder *decoder = (pnm_decoder *)common;
    if (!is_text(decoder))
        return gc_input_pass(common->input, (uint64_t)count * decoder->row_bytes, error);
    for (uint32_t i = 0; i < count; i++)
        GC_TRY(read_text(decoder, NULL, error));
    return GCONV_OK;
}

/* ---- The next image -------------------------------------------------------------------------- */

/* Whether 1 or more bytes may begin another image. */
static bool may_begin_image(const unsigned char *bytes, size_t size)
{
    return bytes[0] == 'P' && (size < 2 || memchr("1234567fF", bytes[1], 9) != NULL) &&
           (size < 3 || gc_pnm_is_blank(bytes[2]) || bytes[2] == '#');
}

/* Blanks between images are passed over. */
static gconv_status look_behind(gc_decoder *common, bool wait, bool *alone, gconv_error *error)
{
    enum { MAGIC_BYTES = 3 };
    gc_input *input = common->input;
    const unsigned char *bytes;
    size_t size;
    size_t blanks;
    do {
        if (!wait && !gc_input_has_more(input, 0))
            return GCONV_OK;
        GC_TRY(gc_input_peek(input, wait ? MAGIC_BYTES : 1, &bytes, &size, error));
        for (blanks = 0; blanks < size && gc_pnm_is_blank(bytes[blanks]);)
            blanks++;
        gc_input_skip(input, blanks);
    } while (blanks > 0);
    if (size > 0 && may_begin_image(bytes, size) && (size >= MAGIC_BYTES || !wait))
        return GCONV_OK;
    *alone = true;
    return size > 0 ? gc_decoder_tell_trailing(common, error) : GCONV_OK;
}

const gc_decoder_type gc_pnm_decoder = {
    .name = "gconv",
    .size = sizeof(pnm_decoder),
    .open = open_decoder,
    .read_row = read_row,
    .skip = skip_rows,
    .look_behind = look_behind,
    .free = free_decoder,
};
