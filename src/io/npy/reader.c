/* NPY: arrays of NumPy. */
#include "base/memory.h"
#include "base/status.h"
#include "io/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES_MAX = 64 * 1024, DIMENSIONS_MAX = 8, TYPE_BYTES = 16 };

/* What a header says beside the shape. */
typedef struct npy_header {
    char kind;           /* of the numbers: 'u', 'f' or 'b' (bool) */
    size_t number_bytes; /* 1, 2, 4 or 8 */
    bool swapped;        /* their bytes are not in the order of this machine */
    bool by_columns;     /* Fortran's order: the first index changes first */
} npy_header;

/* A dictionary of Python, as far as it is read. */
typedef struct text {
    const char *at, *end;
} text;

typedef struct array {
    char type[TYPE_BYTES]; /* "<f4" */
    bool is_record;        /* its elements are structures: the type is a list */
    bool by_columns;
    int count; /* dimensions */
    uint64_t sides[DIMENSIONS_MAX];
    bool has_type, has_order, has_shape;
} array;

/* ---- The dictionary -------------------------------------------------------------------------- */

/* Passes over blanks, and then over `word`. False if something else stands there. */
static bool take(text *t, const char *word)
{
    size_t length = strlen(word);
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t'))
        t->at++;
    if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0)
        return false;
    t->at += length;
    return true;
}

/* A string of fewer than `room` bytes, without escapes. */
static bool read_string(text *t, char *string, size_t room)
{
    char quote = '"';
    size_t length = 0;
    if (!take(t, "\"") && !take(t, "'"))
        return false;
    quote = t->at[-1];
    for (; t->at < t->end && *t->at != quote && length + 1 < room; t->at++)
        string[length++] = *t->at;
    string[length] = '\0';
    return t->at < t->end && *t->at++ == quote;
}

/* A number, with the L that Python 2 wrote. All above INT32_MAX are the same. */
static bool read_side(text *t, uint64_t *side)
{
    take(t, "");
    const char *first = t->at;
    for (*side = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        *side = 10 * *side + (uint64_t)(*t->at - '0');
        *side = *side > INT32_MAX ? (uint64_t)INT32_MAX + 1 : *side;
    }
    return t->at > first && (take(t, "L") || true);
}

/* A tuple of numbers. */
static bool read_sides(text *t, array *a)
{
    bool goes_on = true;
    if (!take(t, "("))
        return false;
    for (a->count = 0; !take(t, ")"); a->count++) {
        if (!goes_on || a->count == DIMENSIONS_MAX || !read_side(t, &a->sides[a->count]))
            return false;
        goes_on = take(t, ",");
    }
    return true;
}

static bool read_entry(text *t, array *a)
{
    char key[TYPE_BYTES];
    if (!read_string(t, key, sizeof key) || !take(t, ":"))
        return false;
    if (strcmp(key, "descr") == 0) {
        a->is_record = take(t, "[");
        a->has_type = a->is_record || read_string(t, a->type, sizeof a->type);
        return a->has_type;
    }
    if (strcmp(key, "fortran_order") == 0) {
        a->by_columns = take(t, "True");
        a->has_order = a->by_columns || take(t, "False");
        return a->has_order;
    }
    a->has_shape = strcmp(key, "shape") == 0 && read_sides(t, a);
    return a->has_shape;
}

static bool read_dictionary(text *t, array *a)
{
    bool goes_on = take(t, "{");
    while (!take(t, "}")) {
        if (!goes_on || !read_entry(t, a))
            return false;
        if (a->is_record)
            return true;
        goes_on = take(t, ",");
    }
    return a->has_type && a->has_order && a->has_shape;
}

/* ---- What it says ---------------------------------------------------------------------------- */

static gconv_status check_type(const array *a, npy_header *header, gconv_error *error)
{
    static const char *const types[] = {"u1", "u2", "f4", "f8", "b1"};
    const char *type = a->type + (a->type[0] != '\0' && strchr("<>|=", a->type[0]) != NULL);
    for (size_t i = 0; !a->is_record && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i]) == 0) {
            *header = (npy_header){.kind = type[0],
                                   .number_bytes = (size_t)(type[1] - '0'),
                                   .swapped = a->type[0] == (GC_HOST_IS_BIG_ENDIAN ? '<' : '>'),
                                   .by_columns = a->by_columns};
            return GCONV_OK;
        }
    return gc_fail(error, GCONV_ERROR_FORMAT,
                   "an array of %s%s: gconv reads uint8, uint16, float32, float64 and bool; "
                   "a.astype(numpy.float32) makes one of them",
                   a->is_record ? "records" : "type ", a->is_record ? "" : a->type);
}

static gconv_status check_shape(const array *a, gc_decoder *decoder, gconv_error *error)
{
    char sides[DIMENSIONS_MAX * 16] = "no number";
    size_t used = 0;
    if (a->count == 2 || (a->count == 3 && a->sides[2] >= 1 && a->sides[2] <= 4)) {
        decoder->shape.channels = a->count == 2 ? 1 : (int)a->sides[2];
        return gc_raw_check_sides(decoder, a->sides[1], a->sides[0], error);
    }
    for (int i = 0; i < a->count; i++)
        used += (size_t)snprintf(sides + used, sizeof sides - used, "%s%lu", i > 0 ? " x " : "",
                                 (unsigned long)a->sides[i]);
    return gc_fail(error, GCONV_ERROR_FORMAT,
                   "an array of %s: an image is height x width, or height x width x 1 to 4 "
                   "channels (numpy.moveaxis)",
                   sides);
}

/* Reads the header up to the first byte of the array, and sets the decoder's shape. */
static gconv_status read_header(gc_decoder *decoder, npy_header *header, gconv_error *error)
{
    const unsigned char *bytes;
    size_t size, prefix = 10;
    GC_TRY(gc_input_peek(decoder->input, 12, &bytes, &size, error));
    if (size < 12)
        return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
    if (bytes[6] < 1 || bytes[6] > 3)
        return gc_fail(error, GCONV_ERROR_FORMAT, "version %d of NPY, and gconv reads 1 to 3",
                       bytes[6]);
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
        prefix = 12;
    }
    if (length > HEADER_BYTES_MAX)
        return gc_fail(error, GCONV_ERROR_LIMIT, "a header of more than 64 KiB");
    GC_TRY(gc_input_peek(decoder->input, prefix + length, &bytes, &size, error));
    if (size < prefix + length)
        return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
    text t = {(const char *)bytes + prefix, (const char *)bytes + prefix + length};
    array a = {.count = 0};
    if (!read_dictionary(&t, &a))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header is not a dictionary with 'descr', 'fortran_order' and 'shape'");
    gc_input_skip(decoder->input, prefix + length);
    gconv_status status = check_type(&a, header, error);
    decoder->shape.depth = header->kind == 'f' ? 32 : 8 * (int)header->number_bytes;
    return status == GCONV_OK ? check_shape(&a, decoder, error) : status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

typedef struct npy_decoder {
    gc_decoder common;
    npy_header header;
    size_t row_numbers;
    size_t row_bytes;     /* in the file */
    unsigned char *line;  /* a row of the file, if samples have another size or order */
    unsigned char *array; /* the whole array in Fortran's order; allocated when needed */
    uint32_t next;        /* row of it */
} npy_decoder;

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    npy_decoder *opened = (npy_decoder *)common;
    GC_TRY(read_header(common, &opened->header, error));
    size_t number_bytes = opened->header.number_bytes;
    if (opened->header.kind == 'f')
        common->floats = gc_floats_begin(0, common->white, &common->shape);
    opened->row_numbers = (size_t)common->shape.width * (size_t)common->shape.channels;
    if (!gc_multiply(opened->row_numbers, number_bytes, &opened->row_bytes))
        return gc_fail_memory(error, SIZE_MAX);
    if (number_bytes < 8 && !opened->header.by_columns)
        return GCONV_OK;
    opened->line = gc_allocate_array(opened->row_numbers, number_bytes);
    return opened->line != NULL ? GCONV_OK : gc_fail_memory(error, opened->row_bytes);
}

static void free_decoder(gc_decoder *common)
{
    npy_decoder *decoder = (npy_decoder *)common;
    free(decoder->line);
    free(decoder->array);
    free(decoder);
}

/* ---- Fortran's order ------------------------------------------------------------------------- */

static gconv_status load_array(npy_decoder *decoder, gconv_error *error)
{
    size_t size;
    if (decoder->array != NULL)
        return GCONV_OK;
    if (gc_multiply(decoder->row_bytes, decoder->common.shape.height, &size))
        decoder->array = gc_allocate_array(1, size);
    GC_TRY_MEMORY(decoder->array != NULL, error, decoder->row_bytes * decoder->common.shape.height);
    return gc_raw_read(&decoder->common, decoder->array, size, error);
}

/* Collects the next row: channels lie behind each other, and so do columns. */
static void gather(npy_decoder *decoder)
{
    const gconv_shape *shape = &decoder->common.shape;
    size_t bytes = decoder->header.number_bytes, channels = (size_t)shape->channels;
    size_t row = decoder->next++;
    for (size_t c = 0; c < channels; c++)
        for (size_t x = 0; x < shape->width; x++)
            memcpy(decoder->line + (x * channels + c) * bytes,
                   decoder->array + ((c * shape->width + x) * shape->height + row) * bytes, bytes);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Makes a row of samples of its numbers, which may lie at the same place. */
static void convert(npy_decoder *decoder, unsigned char *numbers, unsigned char *row)
{
    const npy_header *header = &decoder->header;
    size_t count = decoder->row_numbers;
    if (header->swapped)
        gc_raw_swap(numbers, count, header->number_bytes);
    if (header->number_bytes < 8 && numbers != row)
        memcpy(row, numbers, decoder->row_bytes);
    for (size_t i = 0; header->kind == 'b' && i < count; i++)
        row[i] = row[i] != 0 ? UINT8_MAX : 0;
    if (header->number_bytes == 8)
        gc_floats_narrow(&decoder->common.floats, numbers, row, count);
    if (header->kind == 'f')
        gc_floats_convert(&decoder->common.floats, (float *)(void *)row, count);
}

static gconv_status read_row(gc_decoder *common, unsigned char *row, gconv_error *error)
{
    npy_decoder *decoder = (npy_decoder *)common;
    unsigned char *numbers = decoder->line != NULL ? decoder->line : row;
    gconv_status status;
    if (decoder->header.by_columns) {
        status = load_array(decoder, error);
        if (status == GCONV_OK)
            gather(decoder);
    } else {
        status = gc_raw_read(common, numbers, decoder->row_bytes, error);
    }
    if (status == GCONV_OK)
        convert(decoder, numbers, row);
    return status;
}

static gconv_status skip_rows(gc_decoder *common, uint32_t count, gconv_error *error)
{
    npy_decoder *decoder = (npy_decoder *)common;
    if (!decoder->header.by_columns)
        return gc_input_pass(common->input, (uint64_t)count * decoder->row_bytes, error);
    decoder->next += count;
    return GCONV_OK;
}

const gc_decoder_type gc_npy_decoder = {
    .name = "gconv",
    .size = sizeof(npy_decoder),
    .open = open_decoder,
    .read_row = read_row,
    .skip = skip_rows,
    .finish = gc_decoder_check_trailing,
    .free = free_decoder,
};
