#include "core/kept_alpha.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

enum { BLOCK_ROWS = 64 };

static size_t block_count(const gc_kept_alpha *alpha)
{
    return (alpha->input->height + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

static size_t sample_bytes(const gconv_shape *input)
{
    return (size_t)input->depth / 8;
}

gconv_status gc_kept_alpha_create(gc_kept_alpha *alpha, const gc_conversion *conversion,
                                  gconv_error *error)
{
    *alpha = (gc_kept_alpha){.input = &conversion->input};
    if (!conversion->keeps_alpha)
        return GCONV_OK;
    alpha->row_bytes = (size_t)alpha->input->width * sample_bytes(alpha->input);
    alpha->blocks = calloc(block_count(alpha), sizeof *alpha->blocks);
    if (alpha->blocks == NULL)
        return gc_fail_memory(error, block_count(alpha) * sizeof *alpha->blocks);
    return GCONV_OK;
}

void gc_kept_alpha_destroy(gc_kept_alpha *alpha)
{
    for (size_t i = 0; alpha->blocks != NULL && i < block_count(alpha); i++)
        free(alpha->blocks[i]);
    free(alpha->blocks);
    alpha->blocks = NULL;
}

static char *row_of(const gc_kept_alpha *alpha, uint32_t y)
{
    return (char *)alpha->blocks[y / BLOCK_ROWS] + y % BLOCK_ROWS * alpha->row_bytes;
}

gconv_status gc_kept_alpha_add(gc_kept_alpha *alpha, uint32_t y, uint32_t count, const void *rows,
                               size_t stride, gconv_error *error)
{
    for (uint32_t i = 0; alpha->blocks != NULL && i < count; i++) {
        void **block = &alpha->blocks[(y + i) / BLOCK_ROWS];
        if (*block == NULL)
            *block = gc_allocate_array(BLOCK_ROWS, alpha->row_bytes);
        if (*block == NULL)
            return gc_fail_memory(error, BLOCK_ROWS * alpha->row_bytes);
        gc_extract_alpha(alpha->input, (const char *)rows + i * stride, row_of(alpha, y + i));
    }
    return GCONV_OK;
}

const void *gc_kept_alpha_at(const gc_kept_alpha *alpha, uint32_t y, size_t x)
{
    return alpha->blocks == NULL ? NULL : row_of(alpha, y) + x * sample_bytes(alpha->input);
}

void gc_kept_alpha_drop(gc_kept_alpha *alpha, uint32_t first, uint32_t end)
{
    for (uint32_t i = first / BLOCK_ROWS; alpha->blocks != NULL && i < end / BLOCK_ROWS; i++) {
        free(alpha->blocks[i]);
        alpha->blocks[i] = NULL;
    }
}
