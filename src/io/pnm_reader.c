/* Binary PGM (P5) and PPM (P6), and PFM (Pf, PF). */
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/floats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES_MAX = 64 * 1024 }; /* comments included */

typedef struct pnm_decoder {
    gc_decoder common;
    uint32_t maxval;
    double scale;     /* of a PFM; below 0 its samples are little-endian */
    gc_floats floats; /* of a PFM */
    size_t row_samples;
    size_t row_bytes; /* in the file */
    uint16_t *levels; /* what sample 0..maxval becomes; NULL if it stays as it is */
    bool stopped;     /* tolerant: there is no more data, rows are 0 from here on */
} pnm_decoder;

/* ---- The header ------------------------------------------------------------------------------ */

typedef struct header {
    const unsigned char *bytes;
    size_t size;
    size_t at;
} header;

static bool is_blank(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A comment, from # up to the end of the line, if one begins here. */
static void skip_comment(header *text)
{
    if (text->at < text->size && text->bytes[text->at] == '#')
        while (text->at < text->size && text->bytes[text->at] != '\n' &&
               text->bytes[text->at] != '\r')
            text->at++;
}

static void skip_blanks(header *text)
{
    for (skip_comment(text); text->at < text->size && is_blank(text->bytes[text->at]);) {
        text->at++;
        skip_comment(text);
    }
}

/* What stands for a number that is missing, and for all above INT32_MAX. */
#define NUMBER_MISSING UINT32_MAX
#define NUMBER_TOO_LARGE (UINT32_MAX - 1)

static uint32_t read_number(header *text)
{
    uint64_t value = 0;
    skip_blanks(text);
    size_t first = text->at;
    while (text->at < text->size && text->bytes[text->at] >= '0' && text->bytes[text->at] <= '9') {
        value = 10 * value + (uint64_t)(text->bytes[text->at++] - '0');
        if (value > INT32_MAX)
            value = NUMBER_TOO_LARGE;
    }
    return text->at == first ? NUMBER_MISSING : (uint32_t)value;
}

/* The scale of a PFM; 0 if no number stands there. */
static double read_scale(header *text)
{
    skip_blanks(text);
    size_t first = text->at;
    while (text->at < text->size && !is_blank(text->bytes[text->at]) &&
           text->bytes[text->at] != '#')
        text->at++;
    double scale;
    size_t length = text->at - first;
    bool is_number =
        length > 0 && gc_read_number((const char *)text->bytes + first, length, &scale) == length;
    return is_number && isfinite(scale) ? scale : 0;
}

static bool is_pfm(const pnm_decoder *decoder)
{
    return decoder->common.format == GCONV_FORMAT_PFM;
}

/* Parses the header up to the blank that ends it; false if the text ends before that. The end of a
 * comment right behind the last number is this blank. */
static bool parse_header(pnm_decoder *decoder, header *text)
{
    gconv_shape *shape = &decoder->common.shape;
    text->at = 2;
    shape->width = read_number(text);
    shape->height = read_number(text);
    if (is_pfm(decoder)) {
        decoder->scale = read_scale(text);
        shape->channels = text->bytes[1] == 'F' ? 3 : 1;
        shape->depth = 32;
    } else {
        decoder->maxval = read_number(text);
        shape->channels = decoder->common.format == GCONV_FORMAT_PPM ? 3 : 1;
        shape->depth = decoder->maxval > UINT8_MAX ? 16 : 8;
    }
    skip_comment(text);
    return text->at < text->size;
}

static gconv_status check_numbers(const pnm_decoder *decoder, bool ends_well, gconv_error *error)
{
    const gconv_shape *shape = &decoder->common.shape;
    bool has_sides = shape->width != NUMBER_MISSING && shape->height != NUMBER_MISSING;
    if (is_pfm(decoder) && (!ends_well || !has_sides || decoder->scale == 0))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header is not width, height and scale, two whole numbers and one that "
                       "is not 0");
    if (!ends_well || !has_sides || (!is_pfm(decoder) && decoder->maxval == NUMBER_MISSING))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header is not width, height and maximum, three whole numbers");
    return GCONV_OK;
}

static gconv_status check_header(const pnm_decoder *decoder, bool ends_well, gconv_error *error)
{
    const gconv_shape *shape = &decoder->common.shape;
    gconv_status status = check_numbers(decoder, ends_well, error);
    if (status != GCONV_OK)
        return status;
    if (shape->width == 0 || shape->height == 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the header says a width or height of 0");
    if (shape->width > INT32_MAX || shape->height > INT32_MAX)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header says a width or height of more than %ld", (long)INT32_MAX);
    if (!is_pfm(decoder) && (decoder->maxval < 1 || decoder->maxval > UINT16_MAX))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header says a maximum that is not within 1 to 65535");
    return GCONV_OK;
}

static gconv_status read_header(pnm_decoder *decoder, gconv_error *error)
{
    gc_input *input = decoder->common.input;
    header text = {0};
    bool complete = false;
    for (size_t wanted = 64; !complete && wanted <= HEADER_BYTES_MAX; wanted *= 4) {
        gconv_status status = gc_input_peek(input, wanted, &text.bytes, &text.size, error);
        if (status != GCONV_OK)
            return status;
        complete = parse_header(decoder, &text);
        if (!complete && text.size < wanted)
            return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
    }
    bool ends_well = complete && is_blank(text.bytes[text.at]);
    gconv_status status = check_header(decoder, ends_well, error);
    if (status != GCONV_OK)
        return status;
    gc_input_skip(input, text.at + 1);
    return gc_decoder_check_size(&decoder->common, error);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Samples 0..maxval stretched to 0..255 or 0..65535 (contract.md, rule 29). */
static gconv_status make_levels(pnm_decoder *decoder, gconv_error *error)
{
    uint32_t maxval = decoder->maxval;
    uint32_t full = decoder->common.shape.depth == 16 ? UINT16_MAX : UINT8_MAX;
    if (maxval == full)
        return GCONV_OK;
    decoder->levels = gc_allocate_array(maxval + 1, sizeof *decoder->levels);
    if (decoder->levels == NULL)
        return gc_fail_memory(error, (maxval + 1) * sizeof *decoder->levels);
    for (uint32_t v = 0; v <= maxval; v++)
        decoder->levels[v] = (uint16_t)((v * full + maxval / 2) / maxval);
    return GCONV_OK;
}

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    pnm_decoder *opened = (pnm_decoder *)common;
    gconv_status status = read_header(opened, error);
    if (status != GCONV_OK)
        return status;
    opened->row_bytes = gconv_shape_row_bytes(&opened->common.shape);
    opened->row_samples =
        (size_t)opened->common.shape.width * (size_t)opened->common.shape.channels;
    opened->common.bottom_up = is_pfm(opened);
    opened->floats = gc_floats_begin(fabs(opened->scale), opened->common.white);
    return is_pfm(opened) ? GCONV_OK : make_levels(opened, error);
}

static void free_decoder(gc_decoder *common)
{
    pnm_decoder *decoder = (pnm_decoder *)common;
    free(decoder->levels);
    free(decoder);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads one row as it is in the file; what is missing at the end is an error or 0. */
static gconv_status read_raw(pnm_decoder *decoder, unsigned char *row, gconv_error *error)
{
    size_t got = 0;
    if (!decoder->stopped) {
        gconv_status status =
            gc_input_read(decoder->common.input, row, decoder->row_bytes, &got, error);
        if (status != GCONV_OK)
            return status;
    }
    if (got == decoder->row_bytes)
        return GCONV_OK;
    const char *message = "truncated: the file ends in the image data";
    if (!decoder->common.tolerant)
        return gc_fail(error, GCONV_ERROR_FORMAT, "%s", message);
    if (!decoder->stopped)
        gc_warn_damage(&decoder->common.warnings, "%s", message);
    decoder->stopped = true;
    memset(row + got, 0, decoder->row_bytes - got);
    return GCONV_OK;
}

/* Both convert a row in place, and return its largest sample before the levels are applied. */
static uint32_t convert_8(const pnm_decoder *decoder, uint8_t *row)
{
    uint8_t largest = 0;
    for (size_t i = 0; i < decoder->row_samples; i++)
        largest = row[i] > largest ? row[i] : largest;
    for (size_t i = 0; largest <= decoder->maxval && i < decoder->row_samples; i++)
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
    if (decoder->levels == NULL || largest > decoder->maxval)
        return largest;
    for (size_t i = 0; i < decoder->row_samples; i++)
        row[i] = decoder->levels[row[i]];
    return largest;
}

/* Puts the bytes of a row of floats in the order of this machine. */
static void order_32(const pnm_decoder *decoder, float *row)
{
    const unsigned char *bytes = (const unsigned char *)row;
    const unsigned high = decoder->scale < 0 ? 3 : 0; /* the byte with the sign */
    for (size_t i = 0; i < decoder->row_samples; i++, bytes += 4) {
        uint32_t bits = (uint32_t)bytes[high] << 24 | (uint32_t)bytes[high ^ 1] << 16 |
                        (uint32_t)bytes[high ^ 2] << 8 | bytes[high ^ 3];
        memcpy(&row[i], &bits, sizeof bits);
    }
}

static gconv_status read_row(pnm_decoder *decoder, unsigned char *row, gconv_error *error)
{
    gconv_status status = read_raw(decoder, row, error);
    if (status != GCONV_OK)
        return status;
    if (is_pfm(decoder)) {
        order_32(decoder, (float *)(void *)row);
        return gc_floats_convert(&decoder->floats, (float *)(void *)row, decoder->row_samples,
                                 error);
    }
    uint32_t largest = 0;
    if (decoder->common.shape.depth == 16)
        largest = convert_16(decoder, (uint16_t *)(void *)row);
    else if (decoder->levels != NULL)
        largest = convert_8(decoder, row);
    if (largest > decoder->maxval)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "corrupt: a sample of %lu is above the maximum %lu", (unsigned long)largest,
                       (unsigned long)decoder->maxval);
    return GCONV_OK;
}

static gconv_status read_rows(gc_decoder *common, uint32_t count, unsigned char *rows,
                              size_t stride, gconv_error *error)
{
    pnm_decoder *decoder = (pnm_decoder *)common;
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++)
        status = read_row(decoder, rows + i * stride, error);
    return status;
}

static gconv_status skip_rows(gc_decoder *common, uint32_t count, gconv_error *error)
{
    pnm_decoder *decoder = (pnm_decoder *)common;
    return gc_input_pass(common->input, (uint64_t)count * decoder->row_bytes, error);
}

/* look_behind looks at the bytes after the last row. They may be another image. */
static gconv_status finish(gc_decoder *common, gconv_error *error)
{
    const pnm_decoder *decoder = (const pnm_decoder *)common;
    (void)error;
    if (is_pfm(decoder))
        gc_floats_finish(&decoder->floats, &common->warnings);
    return GCONV_OK;
}

/* ---- The next image -------------------------------------------------------------------------- */

/* Whether 1 or more bytes may begin a PNM or PFM image. P1 to P4 count, too, though gconv does not
 * read them. */
static bool may_begin_image(const unsigned char *bytes, size_t size)
{
    return bytes[0] == 'P' && (size < 2 || memchr("123456fF", bytes[1], 8) != NULL) &&
           (size < 3 || is_blank(bytes[2]) || bytes[2] == '#');
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
        if (!wait && !gc_input_has_more(input))
            return GCONV_OK;
        gconv_status status = gc_input_peek(input, wait ? MAGIC_BYTES : 1, &bytes, &size, error);
        if (status != GCONV_OK)
            return status;
        for (blanks = 0; blanks < size && is_blank(bytes[blanks]);)
            blanks++;
        gc_input_skip(input, blanks);
    } while (blanks > 0);
    if (size > 0 && may_begin_image(bytes, size) && (size >= MAGIC_BYTES || !wait))
        return GCONV_OK;
    *alone = true;
    if (size > 0)
        gc_decoder_warn_trailing(common);
    return GCONV_OK;
}

const gc_decoder_type gc_pnm_decoder = {
    .name = "gconv",
    .size = sizeof(pnm_decoder),
    .open = open_decoder,
    .read = read_rows,
    .skip = skip_rows,
    .finish = finish,
    .look_behind = look_behind,
    .free = free_decoder,
};
