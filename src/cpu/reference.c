/* The reference: contract.md, rule 1, written down.
 *
 *     out(x,y) = sum_j sum_i F[j][i] * in(x - (i - ax), y - (j - ay))
 *
 * It runs on one thread, works on whole images and accumulates in double. Each step meets the
 * border of its own input (rule 2). Weights are undivided (rule 3). It judges every other
 * implementation. So it stays short and obvious, and is not changed for speed. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "core/border.h"
#include "core/file_time.h"
#include "core/implementation.h"
#include "cpu/cost.h"

#include <stdlib.h>

/* Sample of channel `c` at any (x, y): inside, mirrored, wrapped, ... or the border constant. */
static double sample(const gc_problem *problem, const gc_step *step, const float *image, int64_t x,
                     int64_t y, int c)
{
    x = gc_border_index(problem->chain.border, x, problem->chain.width);
    y = gc_border_index(problem->chain.border, y, problem->chain.height);
    if (x < 0 || y < 0)
        return step->border[c];
    return image[(y * problem->chain.width + x) * problem->chain.channels + c];
}

static float convolve_at(const gc_problem *problem, const gc_step *step, const float *image,
                         int64_t x, int64_t y, int c)
{
    const gconv_filter *filter = step->filter;
    int direction = problem->job.correlate ? 1 : -1;
    double sum = 0;
    for (int j = 0; j < filter->height; j++)
        for (int i = 0; i < filter->width; i++)
            sum += (double)filter->weights[j * filter->width + i] *
                   sample(problem, step, image, x + direction * (i - filter->anchor_x),
                          y + direction * (j - filter->anchor_y), c);
    return (float)sum;
}

/* ---- Filters of two vectors ------------------------------------------------------------------ */

/* F[j][i] = column[j] * row[i]: first sum_i row[i] * in(...) at each pixel, in double. */
static double row_sum_at(const gc_problem *problem, const gc_step *step, const float *image,
                         int64_t x, int64_t y, int c)
{
    const gconv_filter *filter = step->filter;
    int direction = problem->job.correlate ? 1 : -1;
    double sum = 0;
    for (int i = 0; i < filter->width; i++)
        sum += filter->row[i] *
               sample(problem, step, image, x + direction * (i - filter->anchor_x), y, c);
    return sum;
}

/* Then sum_j column[j] * these. `sums` has a row for each of the image's, and one more for rows of
 * border constants. */
static float column_sum_at(const gc_problem *problem, const gc_step *step, const double *sums,
                           int64_t x, int64_t y, int c)
{
    const gconv_filter *filter = step->filter;
    const gc_chain *chain = &problem->chain;
    int direction = problem->job.correlate ? 1 : -1;
    double sum = 0;
    for (int j = 0; j < filter->height; j++) {
        int64_t row = y + direction * (j - filter->anchor_y);
        row = gc_border_index(chain->border, row, chain->height);
        row = row < 0 ? chain->height : row;
        sum += filter->column[j] * sums[(row * chain->width + x) * chain->channels + c];
    }
    return (float)sum;
}

static double *sum_rows(const gc_problem *problem, const gc_step *step, const float *image)
{
    const gc_chain *chain = &problem->chain;
    size_t rows = (size_t)chain->height + 1;
    double *sums = gc_allocate_array(rows, gc_chain_row_values(chain) * sizeof *sums);
    double *to = sums;
    for (int64_t y = 0; sums != NULL && y <= chain->height; y++)
        for (int64_t x = 0; x < chain->width; x++)
            for (int c = 0; c < chain->channels; c++)
                *to++ = row_sum_at(problem, step, image, x, y, c);
    return sums;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Step `s` of the chain. */
static gconv_status convolve(gc_stream *stream, int s, const float *in, float *out,
                             gconv_error *error)
{
    const gc_problem *problem = stream->problem;
    const gc_step *step = &problem->chain.steps[s];
    bool is_matrix = step->filter->weights != NULL;
    double *sums = is_matrix ? NULL : sum_rows(problem, step, in);
    if (!is_matrix && sums == NULL)
        return gc_fail_memory(error, ((size_t)problem->chain.height + 1) *
                                         gc_chain_row_values(&problem->chain) * sizeof *sums);
    gconv_status status = GCONV_OK;
    for (int64_t y = 0; status == GCONV_OK && y < problem->chain.height; y++) {
        for (int64_t x = 0; x < problem->chain.width; x++)
            for (int c = 0; c < problem->chain.channels; c++)
                *out++ = is_matrix ? convolve_at(problem, step, in, x, y, c)
                                   : column_sum_at(problem, step, sums, x, y, c);
        double done = (s + (double)(y + 1) / problem->chain.height) / problem->chain.step_count;
        status = gc_stream_tell(stream, done, error);
    }
    free(sums);
    return status;
}

static gconv_status supports(const gc_problem *problem, const gconv_device_info *device,
                             gconv_error *error)
{
    (void)problem;
    (void)device;
    (void)error;
    return GCONV_OK;
}

/* Never the fastest. */
static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    double seconds =
        values * (GC_REFERENCE_SECONDS + GC_REFERENCE_TAP_SECONDS * gc_chain_taps(&problem->chain));
    if (gc_counts_throughput(problem))
        return gc_cpu_throughput(problem, seconds, gc_file_threads(problem));
    return seconds;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            void **state, gconv_error *error)
{
    (void)device;
    (void)error;
    *state = (void *)problem;
    return GCONV_OK;
}

static gconv_status read_image(gc_stream *stream, void *samples, float *image, gconv_error *error)
{
    const gc_problem *problem = stream->problem;
    for (size_t y = 0; y < problem->chain.height; y++) {
        gconv_status status = gc_stream_read(stream, 1, samples, stream->input_bytes, error);
        if (status != GCONV_OK)
            return status;
        gc_stream_load_row(stream, samples, image + y * gc_chain_row_values(&problem->chain));
    }
    return GCONV_OK;
}

static gconv_status write_image(gc_stream *stream, const float *image, void *output,
                                gconv_error *error)
{
    const gc_problem *problem = stream->problem;
    for (uint32_t y = stream->first; y < stream->end; y++) {
        gc_stream_store_row(stream, y, image + (size_t)y * gc_chain_row_values(&problem->chain),
                            output);
        gconv_status status = gc_stream_write(stream, 1, output, stream->output_bytes, error);
        if (status != GCONV_OK)
            return status;
    }
    return GCONV_OK;
}

static gconv_status run(void *state, gc_stream *stream, gconv_error *error)
{
    const gc_problem *problem = state;
    size_t row_floats = gc_chain_row_values(&problem->chain);
    size_t row_bytes =
        stream->input_bytes > stream->output_bytes ? stream->input_bytes : stream->output_bytes;
    float *in = gc_allocate_array(problem->chain.height, row_floats * sizeof *in);
    float *out = gc_allocate_array(problem->chain.height, row_floats * sizeof *out);
    void *row = gc_allocate_array(1, row_bytes);
    gconv_status status = GCONV_OK;
    if (in == NULL || out == NULL || row == NULL)
        status = gc_fail_memory(error, 2 * problem->chain.height * row_floats * sizeof *in);
    if (status == GCONV_OK)
        status = read_image(stream, row, in, error);
    double start = gc_seconds();
    for (int s = 0; status == GCONV_OK && s < problem->chain.step_count; s++) {
        status = convolve(stream, s, in, out, error);
        float *swap = in;
        in = out;
        out = swap;
    }
    stream->timings.compute += gc_seconds() - start;
    if (status == GCONV_OK)
        status = write_image(stream, in, row, error);
    free(row);
    free(out);
    free(in);
    return status;
}

static void release(void *state)
{
    (void)state;
}

const gc_operations gc_reference_operations = {
    .supports = supports,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .release = release,
};
