/* Rows of samples enter the window of the first step, results of a step enter the window of the
 * next, a few rows at a time, so that a chain's intermediate results stay in cache. The first rows
 * of a strip repeat some of the work of the strip above: what later filters reach. */
#include "cpu/strip.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>

/* Output rows per round through the chain. */
enum { ROUND_ROWS = 4 };

gconv_status gc_strip_create(gc_strip *strip, const gc_problem *problem, gconv_error *error)
{
    size_t steps = (size_t)problem->step_count;
    size_t values = (size_t)problem->width * (size_t)problem->channels + GC_WINDOW_SLACK;
    *strip = (gc_strip){.problem = problem, .convolve = gc_rows_kernel_best()->convolve};
    strip->windows = calloc(steps, sizeof *strip->windows);
    strip->ready = calloc(steps, sizeof *strip->ready);
    strip->needed = calloc(steps, sizeof *strip->needed);
    strip->result = gc_allocate_aligned(values, sizeof *strip->result);
    if (strip->windows == NULL || strip->ready == NULL || strip->needed == NULL ||
        strip->result == NULL)
        return gc_fail_memory(error, values * sizeof *strip->result);
    /* A window serves what later steps ask for at once: a round and all that they reach. */
    int64_t chunk = ROUND_ROWS;
    gconv_status status = GCONV_OK;
    for (int s = problem->step_count - 1; status == GCONV_OK && s >= 0; s--) {
        status = gc_window_create(&strip->windows[s], problem, &problem->steps[s], chunk, error);
        chunk += problem->steps[s].height;
    }
    return status;
}

void gc_strip_destroy(gc_strip *strip)
{
    for (int s = 0; strip->windows != NULL && s < strip->problem->step_count; s++)
        gc_window_destroy(&strip->windows[s]);
    free(strip->windows);
    free(strip->ready);
    free(strip->needed);
    free(strip->result);
}

static void load_rows(gc_strip *strip, const gc_stream *stream, const gc_sample_rows *input)
{
    const gc_window *window = &strip->windows[0];
    for (; strip->ready[0] <= strip->needed[0]; strip->ready[0]++) {
        int64_t y = strip->ready[0] % window->height;
        y = y < 0 ? y + window->height : y;
        gc_stream_load_row(stream, input->samples + (size_t)(y % input->capacity) * input->stride,
                           gc_window_row(window, strip->ready[0]));
        gc_window_extend(window, strip->ready[0]);
    }
}

static void convolve_row(const gc_strip *strip, int s, int64_t y, float *out)
{
    const gc_window *window = &strip->windows[s];
    const float *rows[GCONV_FILTER_SIDE_MAX];
    gc_window_taps(window, y, rows);
    strip->convolve(window->step, rows, (size_t)window->channels,
                    (size_t)window->width * (size_t)window->channels, out);
}

/* Brings every window to where the last step can compute output rows up to `last`. */
static void advance(gc_strip *strip, const gc_stream *stream, const gc_sample_rows *input,
                    int64_t first, int64_t last)
{
    int steps = strip->problem->step_count;
    int64_t ignored;
    for (int s = steps - 1; s >= 0; s--) {
        gc_step_range(strip->problem, &strip->problem->steps[s], first, last, &ignored,
                      &strip->needed[s]);
        first = strip->ready[s];
        last = strip->needed[s];
    }
    load_rows(strip, stream, input);
    for (int s = 1; s < steps; s++)
        for (; strip->ready[s] <= strip->needed[s]; strip->ready[s]++) {
            convolve_row(strip, s - 1, strip->ready[s],
                         gc_window_row(&strip->windows[s], strip->ready[s]));
            gc_window_extend(&strip->windows[s], strip->ready[s]);
        }
}

void gc_strip_compute(gc_strip *strip, const gc_stream *stream, const gc_sample_rows *input,
                      int64_t first, int64_t last, char *output)
{
    int steps = strip->problem->step_count;
    int64_t to = last;
    strip->ready[steps - 1] = first;
    for (int s = steps - 1; s >= 0; s--) {
        int64_t from = s == steps - 1 ? first : strip->ready[s + 1];
        gc_step_range(strip->problem, &strip->problem->steps[s], from, to, &strip->ready[s], &to);
    }
    for (int64_t row = first; row <= last; row += ROUND_ROWS) {
        int64_t end = row + ROUND_ROWS - 1 < last ? row + ROUND_ROWS - 1 : last;
        advance(strip, stream, input, row, end);
        for (int64_t y = row; y <= end; y++) {
            convolve_row(strip, steps - 1, y, strip->result);
            gc_stream_store_row(stream, (uint32_t)y, strip->result,
                                output + (size_t)(y - first) * stream->output_bytes);
        }
    }
}
