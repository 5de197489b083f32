#include "cpu/fast/lines.h"

#include "base/memory.h"
#include "base/status.h"
#include "cpu/fast/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unused bytes between the real and the imaginary part of lines, which would share a few sets of
 * the cache otherwise. */
enum { PART_PADDING = 1024 };

static size_t part_bytes(const gc_transform_loops *loops, int side)
{
    return (size_t)side * (size_t)loops->lanes * loops->value_size + PART_PADDING;
}

size_t gc_lines_scratch(const gc_transform_loops *loops, int side)
{
    return 2 * part_bytes(loops, side) / sizeof(float);
}

static gc_complex complex_in(const gc_transform_loops *loops, int side, void *scratch)
{
    return (gc_complex){scratch, (char *)scratch + part_bytes(loops, side)};
}

/* Tap k stands at -k, so that output i results at i. Dividing by the side undoes the factor of
 * `convolve`. */
static void transform_taps(gc_lines *lines, const float *taps, void *scratch)
{
    int side = lines->transform.side;
    gc_complex values = complex_in(lines->loops, side, scratch);
    memset(scratch, 0, 2 * part_bytes(lines->loops, side));
    for (int k = 0; k < lines->length; k++)
        lines->loops->set(values.real, (size_t)((side - k) % side) * lines->transform.stride,
                          (double)taps[k] / side);
    lines->loops->spectrum(&lines->transform, values, lines->factor);
}

gconv_status gc_lines_create(gc_lines *lines, const gc_transform_loops *loops, int side,
                             const float *taps, int length, gconv_error *error)
{
    size_t values = (size_t)side * loops->value_size;
    *lines = (gc_lines){.loops = loops,
                        .transform = {.side = side, .stride = (size_t)loops->lanes},
                        .length = length,
                        .outputs = side - length + 1};
    char *own = gc_allocate_aligned(4, values);
    void *scratch = gc_allocate_aligned(2, part_bytes(loops, side));
    if (own == NULL || scratch == NULL) {
        free(own);
        free(scratch);
        return gc_fail_memory(error, 2 * part_bytes(loops, side));
    }
    lines->transform.cosine = own;
    lines->transform.sine = own + values;
    lines->factor = (gc_complex){own + 2 * values, own + 3 * values};
    gc_make_roots(loops, &lines->transform);
    transform_taps(lines, taps, scratch);
    free(scratch);
    return GCONV_OK;
}

void gc_lines_destroy(gc_lines *lines)
{
    free(lines->transform.cosine);
    lines->transform.cosine = NULL;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Columns from `at` on for one part of the lines; none if none are left. */
static void load_part(const gc_lines *lines, void *part, gc_line_input input, int row_count,
                      size_t at, size_t count)
{
    size_t lanes = (size_t)lines->loops->lanes;
    size_t there = at < count ? smaller(count - at, lanes) : 0;
    size_t side = (size_t)lines->transform.side, rows = (size_t)(row_count + lines->length - 1);
    if (input.bytes != NULL)
        lines->loops->load_columns_of_bytes(part, side, input.bytes, rows, at, there);
    else
        lines->loops->load_columns(part, side, input.rows, rows, at, there);
}

static void store_part(const gc_lines *lines, const void *part, float *const *out, int row_count,
                       size_t at, size_t count)
{
    size_t lanes = (size_t)lines->loops->lanes;
    if (at < count)
        lines->loops->store_columns(part, out, (size_t)row_count, at, smaller(count - at, lanes));
}

void gc_lines_convolve_columns(const gc_lines *lines, float *scratch, gc_line_input input,
                               size_t count, int row_count, float *const *out)
{
    size_t lanes = (size_t)lines->loops->lanes;
    gc_complex values = complex_in(lines->loops, lines->transform.side, scratch);
    for (size_t at = 0; at < count; at += 2 * lanes) {
        load_part(lines, values.real, input, row_count, at, count);
        load_part(lines, values.imaginary, input, row_count, at + lanes, count);
        lines->loops->convolve(&lines->transform, values, lines->factor);
        store_part(lines, values.real, out, row_count, at, count);
        store_part(lines, values.imaginary, out, row_count, at + lanes, count);
    }
}

/* The beginnings of the lines of rows that go through a transform together: line l belongs to
 * channel (first + l) % channels of row (first + l) / channels. NULL beyond the last row. */
static void line_starts(const float *const *rows, int row_count, size_t channels, size_t first,
                        size_t lanes, size_t x, const float **starts)
{
    for (size_t l = 0; l < lanes; l++) {
        size_t row = (first + l) / channels, channel = (first + l) % channels;
        starts[l] = row < (size_t)row_count ? rows[row] + x * channels + channel : NULL;
    }
}

void gc_lines_convolve_rows(const gc_lines *lines, float *scratch, const float *const *rows,
                            size_t channels, size_t width, int row_count, float *const *out)
{
    size_t side = (size_t)lines->transform.side, lanes = (size_t)lines->loops->lanes;
    gc_complex values = complex_in(lines->loops, lines->transform.side, scratch);
    const float *from[2][GC_LANES_MAX], *to[2][GC_LANES_MAX];
    for (size_t first = 0; first < (size_t)row_count * channels; first += 2 * lanes)
        for (size_t x = 0; x < width; x += (size_t)lines->outputs) {
            size_t there = smaller(width + (size_t)lines->length - 1 - x, side);
            size_t count = smaller(width - x, (size_t)lines->outputs);
            void *parts[] = {values.real, values.imaginary};
            for (size_t p = 0; p < 2; p++) {
                line_starts(rows, row_count, channels, first + p * lanes, lanes, x, from[p]);
                line_starts((const float *const *)out, row_count, channels, first + p * lanes,
                            lanes, x, to[p]);
                lines->loops->load_rows(parts[p], side, from[p], channels, there);
            }
            lines->loops->convolve(&lines->transform, values, lines->factor);
            for (size_t p = 0; p < 2; p++)
                lines->loops->store_rows(parts[p], (float *const *)to[p], channels, count);
        }
}

double gc_lines_overhead(int side, int length, double count)
{
    return ceil(count / (side - length + 1)) * side / count;
}
