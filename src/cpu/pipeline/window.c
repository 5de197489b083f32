#include "cpu/pipeline/window.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"

#include <stdlib.h>
#include <string.h>

static size_t pixel_bytes(const gc_window *window)
{
    return (size_t)window->channels * window->sample;
}

static void set_border_pixel(gc_window *window)
{
    if (window->sample == sizeof(float))
        memcpy(window->border_pixel, window->step->border, sizeof window->border_pixel);
    else
        for (int c = 0; c < GC_CHANNELS_MAX; c++)
            window->border_pixel[c] = (char)(uint8_t)window->step->border[c];
}

static void fill_constant(const gc_window *window, char *row, int64_t count)
{
    for (int64_t x = 0; x < count; x++, row += pixel_bytes(window))
        memcpy(row, window->border_pixel, pixel_bytes(window));
}

static gconv_status find_sources(gc_window *window, gconv_error *error)
{
    int64_t left = window->step->left, count = window->step->width - 1;
    window->sources = gc_allocate_array((size_t)count + 1, sizeof *window->sources);
    GC_TRY_MEMORY(window->sources != NULL, error, (size_t)count * sizeof *window->sources);
    for (int64_t i = 0; i < count; i++)
        window->sources[i] = gc_border_index(
            window->border, i < left ? i - left : window->width + i - left, window->width);
    return GCONV_OK;
}

static gconv_status allocate_rows(gc_window *window, gconv_error *error)
{
    const size_t slack = GC_ROW_SLACK * sizeof(float);
    bool constant = window->border == GCONV_BORDER_CONSTANT;
    size_t rows = (size_t)window->capacity + (constant ? 1 : 0);
    window->rows = gc_allocate_aligned(rows, window->stride);
    GC_TRY_MEMORY(window->rows != NULL, error, rows * window->stride);
    /* Vector code reads the slack. Results from it are not used. */
    for (size_t y = 0; y < rows; y++)
        memset(window->rows + (y + 1) * window->stride - slack, 0, slack);
    if (constant) {
        set_border_pixel(window);
        window->constant_row = window->rows + (rows - 1) * window->stride + window->left;
        fill_constant(window,
                      window->constant_row - (size_t)window->step->left * pixel_bytes(window),
                      window->columns + window->step->width - 1);
    }
    return GCONV_OK;
}

int64_t gc_window_capacity(const gc_chain *chain, const gc_step *step, int64_t at_once)
{
    int64_t capacity = at_once + gc_step_above(step) + gc_step_below(step) + 1;
    if (chain->border == GCONV_BORDER_WRAP)
        return capacity;
    return gc_step_reads_any_row(chain, step) ? chain->height : gc_smaller(chain->height, capacity);
}

gconv_status gc_window_create(gc_window *window, const gc_chain *chain, const gc_step *step,
                              bool bytes, int64_t at_once, int64_t columns, gconv_error *error)
{
    *window = (gc_window){.step = step,
                          .border = chain->border,
                          .width = chain->width,
                          .height = chain->height,
                          .channels = chain->channels,
                          .end = columns,
                          .columns = columns,
                          .capacity = gc_window_capacity(chain, step, at_once),
                          .sample = bytes ? 1 : sizeof(float)};
    window->left = gc_aligned((size_t)step->left * pixel_bytes(window));
    size_t right = (size_t)(step->width - 1 - step->left) * pixel_bytes(window), row;
    if (!gc_multiply((size_t)columns, pixel_bytes(window), &row))
        return gc_fail_memory(error, SIZE_MAX);
    window->stride = gc_aligned(window->left + row + right + GC_ROW_SLACK * sizeof(float));
    GC_TRY(find_sources(window, error));
    return allocate_rows(window, error);
}

void gc_window_destroy(gc_window *window)
{
    free(window->rows);
    free(window->sources);
    window->rows = NULL;
    window->sources = NULL;
}

void gc_window_hold(gc_window *window, int64_t first, int64_t end)
{
    const gc_step *step = window->step;
    window->first = gc_larger(first - step->left, 0);
    window->end = gc_smaller(end + step->width - 1 - step->left, window->width);
}

static char *row_at(const gc_window *window, int64_t y)
{
    int64_t index = y % window->capacity;
    index = index < 0 ? index + window->capacity : index;
    return window->rows + (size_t)index * window->stride + window->left;
}

void *gc_window_row(const gc_window *window, int64_t y)
{
    return row_at(window, y);
}

/* Copies pixels of a row, whose column 0 is at `row`, to columns from `x` on. */
static void copy_pixels(const gc_window *window, char *row, int64_t x, const int64_t *sources,
                        int64_t count)
{
    int64_t size = (int64_t)pixel_bytes(window);
    for (int64_t i = 0; i < count; i++) {
        const char *source = sources[i] < 0 ? window->border_pixel : row + sources[i] * size;
        if (size == 1)
            row[x + i] = *source;
        else if (size == sizeof(float))
            memcpy(row + (x + i) * size, source, sizeof(float));
        else
            memcpy(row + (x + i) * size, source, (size_t)size);
    }
}

void gc_window_extend(const gc_window *window, int64_t y)
{
    char *row = row_at(window, y) - window->first * (int64_t)pixel_bytes(window);
    int64_t left = window->step->left, right = window->step->width - 1 - left;
    if (window->first == 0)
        copy_pixels(window, row, -left, window->sources, left);
    if (window->end == window->width)
        copy_pixels(window, row, window->width, window->sources + left, right);
}

const void *gc_window_taps(const gc_window *window, int64_t x, int64_t y)
{
    if (window->border != GCONV_BORDER_WRAP)
        y = gc_border_index(window->border, y, window->height);
    const char *row =
        y < 0 && window->constant_row != NULL ? window->constant_row : row_at(window, y);
    return row + (x - window->step->left - window->first) * (int64_t)pixel_bytes(window);
}
