/* Rows of samples enter the window of the first stage, and results of a stage the window of the
 * next, a few rows at a time. So a chain's intermediate results stay in cache. The first rows of a
 * strip repeat some work of the strip above, as far as later filters reach. So do the columns at
 * its sides. */
#include "cpu/pipeline/strip.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "core/conversion.h"

#include <stdlib.h>
#include <string.h>

/* Columns [first, end) of the output of stage p: those that the next stage reads. */
static int64_t first_column(const gc_strip *strip, int p)
{
    return p + 1 < strip->stages->count ? strip->windows[p + 1].first : strip->first;
}

static int64_t end_column(const gc_strip *strip, int p)
{
    return p + 1 < strip->stages->count ? strip->windows[p + 1].end : strip->end;
}

static size_t values_of_stage(const gc_strip *strip, int p)
{
    return (size_t)(end_column(strip, p) - first_column(strip, p)) *
           (size_t)strip->problem->chain.channels;
}

/* A window serves as many rows as later stages ask for at once: rows_at_once, and all that they
 * reach. */
static gconv_status create_windows(gc_strip *strip, int64_t columns, gconv_error *error)
{
    int64_t at_once = strip->stages->rows_at_once;
    gconv_status status = GCONV_OK;
    for (int p = strip->stages->count - 1; status == GCONV_OK && p >= 0; p--) {
        const gc_step *step = strip->stages->list[p].step;
        columns = gc_smaller(columns + step->width - 1, strip->problem->chain.width);
        bool bytes = strip->stages->list[p].method->takes_bytes;
        status = gc_window_create(&strip->windows[p], &strip->problem->chain, step, bytes, at_once,
                                  columns, error);
        at_once += step->height;
    }
    return status;
}

gconv_status gc_strip_create(gc_strip *strip, const gc_problem *problem, const gc_stages *stages,
                             int64_t columns, gconv_error *error)
{
    const size_t align = GC_ALIGNMENT / sizeof(float);
    size_t count = (size_t)stages->count;
    size_t rows = (size_t)stages->rows_at_once;
    *strip = (gc_strip){.problem = problem, .stages = stages};
    size_t values = (size_t)columns * (size_t)problem->chain.channels;
    strip->stride = (values + align - 1) / align * align;
    size_t row_bytes = strip->stride * sizeof *strip->result;
    strip->windows = calloc(count, sizeof *strip->windows);
    strip->ready = calloc(count, sizeof *strip->ready);
    strip->needed = calloc(count, sizeof *strip->needed);
    strip->result = gc_allocate_aligned(rows, row_bytes);
    strip->scratch = gc_allocate_aligned(stages->scratch, sizeof *strip->scratch);
    strip->rows = calloc(GCONV_FILTER_SIDE_MAX + rows, sizeof *strip->rows);
    strip->bytes = calloc(GCONV_FILTER_SIDE_MAX + rows, sizeof *strip->bytes);
    strip->out = calloc(rows, sizeof *strip->out);
    if (strip->windows == NULL || strip->ready == NULL || strip->needed == NULL ||
        strip->result == NULL || strip->scratch == NULL || strip->rows == NULL ||
        strip->bytes == NULL || strip->out == NULL)
        return gc_fail_memory(error, rows * row_bytes);
    gconv_status status = GCONV_OK;
    if (stages->finds_edges)
        status = gc_edges_create(&strip->edges, problem, error);
    return status == GCONV_OK ? create_windows(strip, columns, error) : status;
}

void gc_strip_destroy(gc_strip *strip)
{
    for (int p = 0; strip->windows != NULL && p < strip->stages->count; p++)
        gc_window_destroy(&strip->windows[p]);
    free(strip->windows);
    free(strip->ready);
    free(strip->needed);
    free(strip->result);
    free(strip->scratch);
    gc_edges_release(&strip->edges);
    free(strip->rows);
    free(strip->bytes);
    free(strip->out);
}

/* ---- Samples in, output out ------------------------------------------------------------------ */

/* Loads the columns of the first window from a row of samples. */
static void load_row(const gc_strip *strip, const char *samples, void *row)
{
    const gc_problem *problem = strip->problem;
    const gc_samples_loops *loops = strip->stages->instructions->samples;
    const gc_window *window = &strip->windows[0];
    const gconv_shape *shape = &problem->conversion.input;
    size_t pixels = (size_t)(window->end - window->first);
    size_t count = pixels * (size_t)problem->chain.channels;
    samples += (size_t)window->first * (size_t)shape->channels * (size_t)shape->depth / 8;
    if (strip->stages->list[0].method->takes_bytes)
        memcpy(row, samples, count);
    else if (problem->conversion.keeps_alpha || problem->conversion.premultiplies)
        gc_load_pixels(&problem->conversion, samples, pixels, row);
    else if (shape->depth == 8)
        loops->load8((const uint8_t *)samples, count, row);
    else
        loops->load16((const uint16_t *)(const void *)samples, count, row);
}

/* How chain values become output: unchanged, as 8-bit levels from 8-bit samples, or by the general
 * conversion, which takes whole rows. */
typedef enum storing { STORE_CHAIN, STORE_LEVELS, STORE_ROW } storing;

static storing choose_storing(const gc_conversion *conversion, const gc_stream *stream)
{
    if (stream->chain_only)
        return STORE_CHAIN;
    if (conversion->keeps_alpha || conversion->premultiplies || conversion->bilevel)
        return STORE_ROW;
    if (conversion->output.depth == 8 && conversion->input.depth == 8)
        return STORE_LEVELS;
    bool unscaled = conversion->divisor == 1 && conversion->scale == 1 && conversion->offset == 0 &&
                    !conversion->absolute;
    return conversion->output.depth == 32 && unscaled ? STORE_CHAIN : STORE_ROW;
}

/* ---- Rows through the stages ----------------------------------------------------------------- */

/* Loads rows into the first window until it holds every row that is needed. Under wrap a row may
 * lie outside the image; it then stands for a row inside. */
static void load_rows(gc_strip *strip, const gc_sample_rows *input)
{
    const gc_window *window = &strip->windows[0];
    for (; strip->ready[0] <= strip->needed[0]; strip->ready[0]++) {
        int64_t y = strip->ready[0] % window->height;
        y = y < 0 ? y + window->height : y;
        load_row(strip, input->samples + (size_t)(y % input->capacity) * input->stride,
                 gc_window_row(window, strip->ready[0]));
        gc_window_extend(window, strip->ready[0]);
    }
}

/* Where the taps of filter row r of stage `p` start for value `first` of output row y: floats, or
 * bytes. */
static const void *taps_at(const gc_strip *strip, int p, int64_t y, int r, size_t first)
{
    const gc_window *window = &strip->windows[p];
    const char *row = gc_window_taps(window, first_column(strip, p), y - window->step->top + r);
    return row + first * window->sample;
}

/* The input of rows y to y + count - 1 of what stage `p` computes, from value `first` on. Where
 * loops read more rows than count these, the last row stands for the others. */
static gc_stage_input input_of(const gc_strip *strip, int p, int64_t y, int count, size_t first)
{
    const gc_stage *stage = &strip->stages->list[p];
    int needed = stage->step->height + count - 1;
    int readable = stage->step->height + GC_ROWS_TOGETHER - 1;
    for (int r = 0; r < needed || r < readable; r++) {
        const void *row = taps_at(strip, p, y, r < needed ? r : needed - 1, first);
        if (stage->method->takes_bytes)
            strip->bytes[r] = row;
        else
            strip->rows[r] = row;
    }
    return (gc_stage_input){.rows = strip->rows, .bytes = strip->bytes, .scratch = strip->scratch};
}

/* Computes rows y to y + count - 1 of stage `p`, at most its rows_at_once: values `first` to `first
 * + values - 1` of the strip's columns. A tiled stage computes all columns. */
static void convolve(const gc_strip *strip, int p, int64_t y, int count, size_t first,
                     size_t values, float *const *out)
{
    const gc_stage *stage = &strip->stages->list[p];
    gc_stage_input input = input_of(strip, p, y, count, first);
    stage->method->run(stage, &input, values, count, out);
}

/* Fills window p until it holds every row that is needed. */
static void fill_window(gc_strip *strip, int p)
{
    while (strip->ready[p] <= strip->needed[p]) {
        int64_t y = strip->ready[p];
        int count =
            (int)gc_smaller(strip->needed[p] - y + 1, strip->stages->list[p - 1].rows_at_once);
        for (int o = 0; o < count; o++)
            strip->out[o] = gc_window_row(&strip->windows[p], y + o);
        convolve(strip, p - 1, y, count, 0, values_of_stage(strip, p - 1), strip->out);
        for (int o = 0; o < count; o++)
            gc_window_extend(&strip->windows[p], y + o);
        strip->ready[p] += count;
    }
}

/* Fills every window until the last stage can compute output rows up to `last`. */
static void advance(gc_strip *strip, const gc_sample_rows *input, int64_t first, int64_t last)
{
    int64_t ignored;
    for (int p = strip->stages->count - 1; p >= 0; p--) {
        gc_step_range(&strip->problem->chain, strip->stages->list[p].step, first, last, &ignored,
                      &strip->needed[p]);
        first = strip->ready[p];
        last = strip->needed[p];
    }
    load_rows(strip, input);
    for (int p = 1; p < strip->stages->count; p++)
        fill_window(strip, p);
}

/* Sets where the windows begin: the first rows and the columns that the area depends on. */
static void begin(gc_strip *strip, gc_area area)
{
    int64_t first = area.top, last = area.bottom - 1;
    strip->first = area.first;
    strip->end = area.end;
    for (int p = strip->stages->count - 1; p >= 0; p--) {
        gc_step_range(&strip->problem->chain, strip->stages->list[p].step, first, last,
                      &strip->ready[p], &last);
        first = strip->ready[p];
        gc_window_hold(&strip->windows[p], first_column(strip, p), end_column(strip, p));
    }
}

/* Computes rows y to y + count - 1 of output, at most the last stage's rows_at_once. Levels are
 * computed segment by segment, so that each is converted while it is in the first-level cache. */
static void finish_rows(gc_strip *strip, const gc_stream *stream, int64_t y, int count,
                        char *output, size_t stride)
{
    storing how = choose_storing(&strip->problem->conversion, stream);
    int last = strip->stages->count - 1;
    size_t values = values_of_stage(strip, last);
    size_t before = (size_t)strip->first * (size_t)strip->problem->chain.channels;
    bool in_segments = how == STORE_LEVELS && !strip->stages->list[last].method->tiled;
    size_t segment = in_segments ? GC_SEGMENT_VALUES : values;
    for (int o = 0; o < count; o++)
        strip->out[o] = how == STORE_CHAIN ? (float *)(void *)(output + (size_t)o * stride) + before
                                           : strip->result + (size_t)o * strip->stride;
    for (size_t first = 0; first < values; first += segment) {
        size_t width = values - first < segment ? values - first : segment;
        convolve(strip, last, y, count, first, width, strip->out);
        for (int o = 0; o < count && how != STORE_CHAIN; o++) {
            char *to = output + (size_t)o * stride;
            if (how == STORE_LEVELS)
                strip->stages->instructions->samples->store8(&strip->problem->conversion,
                                                             strip->out[o], width,
                                                             (uint8_t *)to + before + first);
            else
                gc_stream_store_pixels(stream, (uint32_t)(y + o), (size_t)strip->first,
                                       (size_t)(strip->end - strip->first), strip->out[o], to);
        }
    }
}

/* Computes output rows `first` to `last`: as many as all stages together find cheapest. The last
 * stage may take them in several parts. */
static void finish_together(gc_strip *strip, const gc_stream *stream, int64_t first, int64_t last,
                            char *output, size_t stride)
{
    int rows = strip->stages->list[strip->stages->count - 1].rows_at_once;
    for (int64_t y = first; y <= last; y += rows)
        finish_rows(strip, stream, y, (int)gc_smaller(last - y + 1, rows),
                    output + (size_t)(y - first) * stride, stride);
}

/* Row y of the image as the border extends it, -height <= y < 2 * height. The border is not
 * constant. */
static const uint8_t *samples_row(const gc_strip *strip, const gc_sample_rows *input, int64_t y)
{
    y = gc_border_index(strip->problem->chain.border, y, strip->problem->chain.height);
    return (const uint8_t *)input->samples + (size_t)(y % input->capacity) * input->stride;
}

/* Finds the edges in rows top to bottom - 1. Rows are whole: where edges are found in one pass,
 * there are no panels. */
static void find_edges(const gc_strip *strip, const gc_sample_rows *input, int64_t top,
                       int64_t bottom, char *output, size_t stride)
{
    for (int64_t y = top; y < bottom; y++) {
        const uint8_t *rows[7];
        for (int j = 0; j < 7; j++)
            rows[j] = samples_row(strip, input, y + j - 3);
        gc_edges_run(&strip->edges, strip->stages->instructions->edges, strip->problem, rows,
                     output + (size_t)(y - top) * stride);
    }
}

void gc_strip_compute(gc_strip *strip, const gc_stream *stream, const gc_sample_rows *input,
                      gc_area area, char *output, size_t stride)
{
    if (strip->edges.memory != NULL && !stream->chain_only) {
        find_edges(strip, input, area.top, area.bottom, output, stride);
        return;
    }
    begin(strip, area);
    for (int64_t y = area.top; y < area.bottom; y += strip->stages->rows_at_once) {
        int64_t last = gc_smaller(y + strip->stages->rows_at_once, area.bottom) - 1;
        advance(strip, input, y, last);
        finish_together(strip, stream, y, last, output + (size_t)(y - area.top) * stride, stride);
    }
}
