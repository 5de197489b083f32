#include "cpu/window.h"

#include "core/border.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

static void fill_constant(const gc_window *window, float *row, int64_t count)
{
    for (int64_t x = 0; x < count; x++)
        for (int c = 0; c < window->channels; c++)
            *row++ = window->step->border[c];
}

static gconv_status allocate_rows(gc_window *window, gconv_error *error)
{
    bool constant = window->border == GCONV_BORDER_CONSTANT;
    size_t rows = (size_t)window->capacity + (constant ? 1 : 0);
    size_t row_bytes;
    if (gc_multiply(window->stride, sizeof(float), &row_bytes))
        window->rows = gc_allocate_aligned(rows, row_bytes);
    if (window->rows == NULL)
        return gc_fail_memory(error, rows * window->stride * sizeof(float));
    /* Vector code reads the slack; what it computes from it is never used. */
    for (size_t y = 0; y < rows; y++)
        memset(window->rows + (y + 1) * window->stride - GC_WINDOW_SLACK, 0,
               GC_WINDOW_SLACK * sizeof(float));
    if (constant) {
        window->constant_row = window->rows + (rows - 1) * window->stride + window->left;
        int64_t left = window->step->left;
        fill_constant(window, window->constant_row - left * window->channels,
                      window->width + window->step->width - 1);
    }
    return GCONV_OK;
}

gconv_status gc_window_create(gc_window *window, const gc_problem *problem, const gc_step *step,
                              int64_t chunk, gconv_error *error)
{
    const size_t align = GC_ALIGNMENT / sizeof(float);
    *window = (gc_window){.step = step,
                          .border = problem->job.border,
                          .width = problem->width,
                          .height = problem->height,
                          .channels = problem->channels};
    int64_t reach = gc_step_above(step) + gc_step_below(step);
    window->capacity = chunk + reach + 1;
    if (window->border != GCONV_BORDER_WRAP)
        window->capacity = gc_step_reads_any_row(problem, step)
                               ? window->height
                               : gc_smaller(window->height, window->capacity);
    size_t channels = (size_t)problem->channels;
    size_t right = (size_t)(step->width - 1 - step->left) * channels;
    window->left = ((size_t)step->left * channels + align - 1) / align * align;
    window->stride = window->left + problem->width * channels + right + GC_WINDOW_SLACK;
    window->stride = (window->stride + align - 1) / align * align;
    return allocate_rows(window, error);
}

void gc_window_destroy(gc_window *window)
{
    free(window->rows);
    window->rows = NULL;
}

float *gc_window_row(const gc_window *window, int64_t y)
{
    int64_t slot = y % window->capacity;
    slot = slot < 0 ? slot + window->capacity : slot;
    return window->rows + (size_t)slot * window->stride + window->left;
}

static void extend_column(const gc_window *window, float *row, int64_t x)
{
    size_t channels = (size_t)window->channels;
    int64_t from = gc_border_index(window->border, x, window->width);
    const float *source = from < 0 ? window->step->border : row + from * window->channels;
    memcpy(row + x * window->channels, source, channels * sizeof *row);
}

void gc_window_extend(const gc_window *window, int64_t y)
{
    float *row = gc_window_row(window, y);
    int64_t right = window->step->width - 1 - window->step->left;
    for (int64_t x = -window->step->left; x < 0; x++)
        extend_column(window, row, x);
    for (int64_t x = window->width; x < window->width + right; x++)
        extend_column(window, row, x);
}

void gc_window_taps(const gc_window *window, int64_t y, int64_t count, const float **rows)
{
    const gc_step *step = window->step;
    for (int64_t j = 0; j < step->height + count - 1; j++) {
        int64_t from = y + j - step->top;
        if (window->border != GCONV_BORDER_WRAP)
            from = gc_border_index(window->border, from, window->height);
        const float *row = from < 0 && window->constant_row != NULL ? window->constant_row
                                                                    : gc_window_row(window, from);
        rows[j] = row - (size_t)step->left * (size_t)window->channels;
    }
}
