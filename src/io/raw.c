#include "io/raw.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

gconv_status gc_raw_check_sides(gc_decoder *decoder, uint64_t width, uint64_t height,
                                gconv_error *error)
{
    if (width == 0 || height == 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the header says a width or height of 0");
    if (width > INT32_MAX || height > INT32_MAX)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "the header says a width or height of more than %ld", (long)INT32_MAX);
    decoder->shape.width = (uint32_t)width;
    decoder->shape.height = (uint32_t)height;
    return gc_decoder_check_size(decoder, error);
}

gconv_status gc_raw_stop(gc_decoder *decoder, gconv_error *error)
{
    const char *message = "truncated: the file ends in the image data";
    if (!decoder->tolerant)
        return gc_fail(error, GCONV_ERROR_FORMAT, "%s", message);
    if (!decoder->stopped)
        gc_warn_damage(&decoder->warnings, "%s", message);
    decoder->stopped = true;
    return GCONV_OK;
}

gconv_status gc_raw_read(gc_decoder *decoder, void *bytes, size_t size, gconv_error *error)
{
    size_t got = 0;
    gconv_status status =
        decoder->stopped ? GCONV_OK : gc_input_read(decoder->input, bytes, size, &got, error);
    if (status == GCONV_OK && got < size) {
        status = gc_raw_stop(decoder, error);
        memset((char *)bytes + got, 0, size - got);
    }
    return status;
}

void gc_raw_swap(void *numbers, size_t count, size_t number_bytes)
{
    uint16_t *two = numbers;
    uint32_t *four = numbers;
    uint64_t *eight = numbers;
    for (size_t i = 0; number_bytes == 2 && i < count; i++)
        two[i] = __builtin_bswap16(two[i]);
    for (size_t i = 0; number_bytes == 4 && i < count; i++)
        four[i] = __builtin_bswap32(four[i]);
    for (size_t i = 0; number_bytes == 8 && i < count; i++)
        eight[i] = __builtin_bswap64(eight[i]);
}

void gc_raw_unpack_bits(const unsigned char *bits, unsigned char *bytes, size_t count,
                        size_t copies)
{
    for (size_t i = 0; i < count; i++)
        memset(bytes + i * copies, bits[i / 8] >> (7 - i % 8) & 1, copies);
}

uint16_t *gc_raw_levels(uint32_t most, uint32_t full, gconv_error *error)
{
    uint16_t *levels = gc_allocate_array(most + 1, sizeof *levels);
    if (levels == NULL)
        gc_fail_memory(error, (most + 1) * sizeof *levels);
    for (uint32_t v = 0; levels != NULL && v <= most; v++)
        levels[v] = (uint16_t)((v * full + most / 2) / most);
    return levels;
}

void gc_raw_turn_colours(const unsigned char *pixels, unsigned char *turned, size_t count)
{
    for (size_t i = 0; i < 3 * count; i += 3) {
        turned[i] = pixels[i + 2];
        turned[i + 1] = pixels[i + 1];
        turned[i + 2] = pixels[i];
    }
}

/* ---- The last row first ---------------------------------------------------------------------- */

gconv_status gc_upward_open(gc_upward *upward, gc_output *output, size_t row_bytes, uint32_t height,
                            gconv_error *error)
{
    enum { BLOCK_BYTES = 1 << 20 };
    size_t rows = row_bytes < BLOCK_BYTES ? BLOCK_BYTES / row_bytes : 1;
    if (!gc_output_seeks(output) || rows > height)
        rows = height;
    *upward = (gc_upward){.row_bytes = row_bytes,
                          .block = gc_allocate_array(rows, row_bytes),
                          .block_rows = (uint32_t)rows,
                          .height = height,
                          .body = gc_output_position(output)};
    return upward->block != NULL ? GCONV_OK : gc_fail_memory(error, rows * row_bytes);
}

unsigned char *gc_upward_row(const gc_upward *upward)
{
    return upward->block + (upward->block_rows - upward->held - 1) * upward->row_bytes;
}

gconv_status gc_upward_write(gc_upward *upward, gc_output *output, gconv_error *error)
{
    const unsigned char *bytes = gc_upward_row(upward);
    uint64_t behind = upward->height - ++upward->rows;
    if (++upward->held < upward->block_rows && behind > 0)
        return GCONV_OK;
    size_t size = upward->held * upward->row_bytes;
    upward->held = 0;
    if (behind == 0 && upward->block_rows == upward->height)
        return gc_output_write(output, bytes, size, error);
    return gc_output_write_at(output, upward->body + behind * upward->row_bytes, bytes, size,
                              error);
}

gconv_status gc_upward_finish(const gc_upward *upward, gc_output *output, gconv_error *error)
{
    if (upward->block_rows == upward->height)
        return GCONV_OK;
    return gc_output_skip(output, (uint64_t)upward->height * upward->row_bytes, error);
}
