/* BMP of Windows and OS/2 that is not compressed: palettes of 1 to 8 bits, colours of 16 to 32. */
#include "base/memory.h"
#include "base/status.h"
#include "io/raw.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILE_HEADER = 14,
    HEADER_MAX = 124,
    HEAD_BYTES = FILE_HEADER + HEADER_MAX + 16 + 1024, /* all that precedes the pixels */
    CORE = 12,                                         /* the header of OS/2 1 */
    COLOURS = 256
};

/* A colour or alpha in a pixel of 16 or 32 bits: up to 8 bits, the upper ones of a wider field. */
typedef struct field {
    unsigned shift;
    uint32_t mask; /* after the shift */
    uint8_t levels[COLOURS];
} field;

typedef struct bmp_decoder {
    gc_decoder common;
    unsigned bits;    /* of a pixel */
    field fields[4];  /* red, green, blue, alpha */
    uint32_t colours; /* in the palette */
    uint8_t palette[COLOURS][3];
    size_t line_bytes; /* of a row of the file */
    unsigned char *line;
} bmp_decoder;

/* What a header says beside the shape. */
typedef struct header {
    unsigned char bytes[HEAD_BYTES];
    uint32_t size, bits, method, colours, pixels; /* `pixels`: where they begin in the file */
    int64_t width, height;
} header;

static uint32_t two(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t four(const unsigned char *bytes)
{
    return two(bytes) | two(bytes + 2) << 16;
}

/* ---- The header ------------------------------------------------------------------------------ */

static gconv_status read_header(gc_input *input, header *h, gconv_error *error)
{
    const unsigned char *bytes;
    size_t size;
    GC_TRY(gc_input_peek(input, HEAD_BYTES, &bytes, &size, error));
    memcpy(h->bytes, bytes, size < HEAD_BYTES ? size : (size_t)HEAD_BYTES);
    h->pixels = four(h->bytes + 10);
    h->size = four(h->bytes + 14);
    if (size < FILE_HEADER + 4 || (h->size <= HEADER_MAX && size < FILE_HEADER + h->size))
        return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
    if (h->size > HEADER_MAX || (h->size != CORE && h->size < 16))
        return gc_fail(error, GCONV_ERROR_FORMAT, "a header of %lu bytes, which no BMP has",
                       (unsigned long)h->size);
    bool core = h->size == CORE;
    h->width = core ? (int32_t)two(h->bytes + 18) : (int32_t)four(h->bytes + 18);
    h->height = core ? (int32_t)two(h->bytes + 20) : (int32_t)four(h->bytes + 22);
    h->bits = two(h->bytes + (core ? 24 : 28));
    h->method = h->size >= 20 ? four(h->bytes + 30) : 0;
    h->colours = h->size >= 36 ? four(h->bytes + 46) : 0;
    return GCONV_OK;
}

static gconv_status check_method(const header *h, gconv_error *error)
{
    static const char *const names[] = {"RLE", "RLE", "Huffman's code", "JPEG", "PNG"};
    bool has_masks = (h->method == 3 || h->method == 6) && h->size != 64 && h->bits >= 16;
    if (h->method != 0 && !has_masks)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "a BMP that is compressed by %s, which gconv does not read; 'magick' "
                       "converts it",
                       h->method <= 5 ? names[h->method - 1] : "another method");
    if (h->bits > 32 || strchr("\1\2\4\10\20\30\40", (int)h->bits) == NULL || h->bits == 0)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header says %lu bits a pixel: BMP has 1, 2, 4, 8, 16, 24 or 32",
                       (unsigned long)h->bits);
    return GCONV_OK;
}

/* False if the bits of the mask have gaps. */
static bool set_field(field *f, uint32_t mask)
{
    *f = (field){.mask = mask};
    for (; mask != 0 && (f->mask & 1) == 0; f->shift++)
        f->mask >>= 1;
    bool whole = (f->mask & (f->mask + 1)) == 0;
    for (; f->mask >= COLOURS; f->shift++)
        f->mask >>= 1;
    for (uint32_t v = 0; f->mask > 0 && v <= f->mask; v++)
        f->levels[v] = (uint8_t)((v * UINT8_MAX + f->mask / 2) / f->mask);
    return whole;
}

/* Sets the fields of pixels of 16 and 32 bits. *end is where a palette would begin. */
static gconv_status read_fields(bmp_decoder *decoder, const header *h, uint32_t *end,
                                gconv_error *error)
{
    uint32_t masks[4] = {0xff0000, 0xff00, 0xff, 0};
    bool says = h->method != 0, whole = !says || h->bits != 24;
    uint32_t said = h->method == 6 || h->size >= 56 ? 4 : 3;
    if (h->bits == 16)
        memcpy(masks, (const uint32_t[]){0x7c00, 0x3e0, 0x1f, 0}, sizeof masks);
    for (uint32_t i = 0; says && i < said; i++)
        masks[i] = four(h->bytes + 54 + 4 * i);
    for (int i = 0; i < 4; i++) {
        bool fits = h->bits != 16 || masks[i] <= UINT16_MAX;
        whole = set_field(&decoder->fields[i], masks[i]) && fits && whole;
        whole = whole && (masks[i] != 0 || i == 3);
    }
    *end = FILE_HEADER + h->size + (says && h->size == 40 ? 4 * said : 0);
    decoder->common.shape.channels = masks[3] != 0 ? 4 : 3;
    return whole ? GCONV_OK
                 : gc_fail(error, GCONV_ERROR_FORMAT,
                           "the header says masks of colours that no BMP has");
}

/* The image is grey if all colours are. */
static void read_palette(bmp_decoder *decoder, const header *h)
{
    uint32_t entry = h->size == CORE ? 3 : 4, begin = FILE_HEADER + h->size;
    uint32_t room = h->pixels > begin ? (h->pixels - begin) / entry : 0;
    uint32_t most = 1u << h->bits, count = h->colours == 0 || h->colours > most ? most : h->colours;
    bool is_grey = true;
    decoder->colours = count < room ? count : room;
    for (uint32_t i = 0; i < decoder->colours; i++) {
        const unsigned char *colour = h->bytes + begin + entry * i;
        for (int c = 0; c < 3; c++)
            decoder->palette[i][c] = colour[2 - c];
        is_grey = is_grey && colour[0] == colour[1] && colour[1] == colour[2];
    }
    decoder->common.shape.channels = is_grey ? 1 : 3;
}

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    bmp_decoder *opened = (bmp_decoder *)common;
    header h = {.size = 0};
    uint32_t end;
    GC_TRY(read_header(common->input, &h, error));
    GC_TRY(check_method(&h, error));
    GC_TRY(read_fields(opened, &h, &end, error));
    if (h.pixels < end)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the header says pixels inside of itself");
    if (h.bits <= 8)
        read_palette(opened, &h);
    opened->bits = h.bits;
    common->shape.depth = 8;
    common->bottom_up = h.height > 0;
    if (h.size >= 40 && four(h.bytes + 38) > 0 && four(h.bytes + 42) > 0)
        common->metadata.resolution =
            (gc_resolution){GC_RESOLUTION_PER_METRE, four(h.bytes + 38), four(h.bytes + 42)};
    GC_TRY(gc_raw_check_sides(common, h.width > 0 ? (uint64_t)h.width : 0,
                              (uint64_t)(h.height < 0 ? -h.height : h.height), error));
    opened->line_bytes = (size_t)(((uint64_t)h.width * h.bits + 31) / 32 * 4);
    opened->line = gc_allocate_array(1, opened->line_bytes);
    GC_TRY_MEMORY(opened->line != NULL, error, opened->line_bytes);
    return gc_input_pass(common->input, h.pixels, error);
}

static void free_decoder(gc_decoder *common)
{
    free(((bmp_decoder *)common)->line);
    free(common);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Returns the largest index. */
static uint32_t put_colours(const bmp_decoder *decoder, unsigned char *row)
{
    size_t channels = (size_t)decoder->common.shape.channels;
    uint32_t bits = decoder->bits, largest = 0;
    for (size_t x = 0; x < decoder->common.shape.width; x++) {
        size_t at = x * bits;
        uint32_t index = decoder->line[at / 8] >> (8 - bits - at % 8) & ((1u << bits) - 1);
        largest = index > largest ? index : largest;
        memcpy(row + x * channels, decoder->palette[index], channels);
    }
    return largest;
}

static void put_fields(const bmp_decoder *decoder, unsigned char *row)
{
    int channels = decoder->common.shape.channels;
    size_t bytes = decoder->bits / 8;
    for (size_t x = 0; x < decoder->common.shape.width; x++) {
        const unsigned char *at = decoder->line + x * bytes;
        uint32_t pixel = bytes == 2 ? two(at) : four(at);
        for (int c = 0; c < channels; c++) {
            const field *f = &decoder->fields[c];
            *row++ = f->levels[pixel >> f->shift & f->mask];
        }
    }
}

static gconv_status read_row(gc_decoder *common, unsigned char *row, gconv_error *error)
{
    bmp_decoder *decoder = (bmp_decoder *)common;
    uint32_t largest = 0;
    GC_TRY(gc_raw_read(common, decoder->line, decoder->line_bytes, error));
    if (decoder->bits <= 8)
        largest = put_colours(decoder, row);
    else if (decoder->bits == 24)
        gc_raw_turn_colours(decoder->line, row, decoder->common.shape.width);
    else
        put_fields(decoder, row);
    if (decoder->bits <= 8 && largest >= decoder->colours)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "corrupt: a colour of %lu, and the palette has %lu", (unsigned long)largest,
                       (unsigned long)decoder->colours);
    return GCONV_OK;
}

static gconv_status skip_rows(gc_decoder *common, uint32_t count, gconv_error *error)
{
    return gc_input_pass(common->input, (uint64_t)count * ((bmp_decoder *)common)->line_bytes,
                         error);
}

const gc_decoder_type gc_bmp_decoder = {
    .name = "gconv",
    .size = sizeof(bmp_decoder),
    .open = open_decoder,
    .read_row = read_row,
    .skip = skip_rows,
    .finish = gc_decoder_check_trailing,
    .free = free_decoder,
};
