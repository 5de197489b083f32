#include "io/npy/header.h"

#include "base/status.h"
#include "io/raw.h"

#include <stdio.h>
#include <string.h>

enum { HEADER_BYTES_MAX = 64 * 1024, DIMENSIONS_MAX = 8, TYPE_BYTES = 16 };

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

static gconv_status check_type(const array *a, gc_npy_header *header, gconv_error *error)
{
    static const char *const types[] = {"u1", "u2", "f4", "f8", "b1"};
    const char *type = a->type + (a->type[0] != '\0' && strchr("<>|=", a->type[0]) != NULL);
    for (size_t i = 0; !a->is_record && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i]) == 0) {
            *header = (gc_npy_header){.kind = type[0],
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

gconv_status gc_npy_read_header(gc_decoder *decoder, gc_npy_header *header, gconv_error *error)
{
    const unsigned char *bytes;
    size_t size, prefix = 10;
    gconv_status status = gc_input_peek(decoder->input, 12, &bytes, &size, error);
    if (status != GCONV_OK)
        return status;
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
    status = gc_input_peek(decoder->input, prefix + length, &bytes, &size, error);
    if (status != GCONV_OK)
        return status;
    if (size < prefix + length)
        return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in the header");
    text t = {(const char *)bytes + prefix, (const char *)bytes + prefix + length};
    array a = {.count = 0};
    if (!read_dictionary(&t, &a))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header is not a dictionary with 'descr', 'fortran_order' and 'shape'");
    gc_input_skip(decoder->input, prefix + length);
    status = check_type(&a, header, error);
    decoder->shape.depth = header->kind == 'f' ? 32 : 8 * (int)header->number_bytes;
    return status == GCONV_OK ? check_shape(&a, decoder, error) : status;
}
