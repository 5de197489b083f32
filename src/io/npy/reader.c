/* NPY: arrays of NumPy. */
#include "base/memory.h"
#include "base/status.h"
#include "io/npy/header.h"
#include "io/raw.h"

#include <stdlib.h>
#include <string.h>

typedef struct npy_decoder {
    gc_decoder common;
    gc_npy_header header;
    size_t row_numbers;
    size_t row_bytes;     /* in the file */
    unsigned char *line;  /* a row of the file, if samples have another size or order */
    unsigned char *array; /* the whole array in Fortran's order; allocated when needed */
    uint32_t next;        /* row of it */
} npy_decoder;

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    npy_decoder *opened = (npy_decoder *)common;
    gconv_status status = gc_npy_read_header(common, &opened->header, error);
    if (status != GCONV_OK)
        return status;
    size_t number_bytes = opened->header.number_bytes;
    if (opened->header.kind == 'f')
        common->floats = gc_floats_begin(0, common->white);
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
    if (decoder->array == NULL)
        return gc_fail_memory(error, decoder->row_bytes * decoder->common.shape.height);
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
    const gc_npy_header *header = &decoder->header;
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
