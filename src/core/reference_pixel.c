/* One value of a step needs its input at a grid: the columns that its filter reaches, by the rows.
 * The grid of the first step's input follows from the pixel, step by step backwards. Then each step
 * is computed on its own grid, summed as the reference sums (contract.md, rule 1). */
#include "core/reference_pixel.h"

#include "base/memory.h"
#include "base/status.h"
#include "core/border.h"

#include <stdlib.h>

/* Columns or rows of a grid. */
typedef struct axis {
    int64_t *at; /* in ascending order */
    size_t count;
    int32_t *index; /* of each coordinate of the image in `at`; -1: not there */
} axis;

/* Columns and rows of the input of a step, and of its output one level further. */
typedef struct level {
    axis columns, rows;
} level;

static void destroy_axis(axis *a)
{
    free(a->at);
    free(a->index);
}

static void destroy_levels(level *levels, int count)
{
    for (int i = 0; levels != NULL && i < count; i++) {
        destroy_axis(&levels[i].columns);
        destroy_axis(&levels[i].rows);
    }
    free(levels);
}

/* ---- Grids ----------------------------------------------------------------------------------- */

static gconv_status allocate_axis(axis *a, size_t size, gconv_error *error)
{
    a->at = gc_allocate_array(size, sizeof *a->at);
    a->index = gc_allocate_array(size, sizeof *a->index);
    if (a->at == NULL || a->index == NULL)
        return gc_fail_memory(error, size * (sizeof *a->at + sizeof *a->index));
    for (size_t i = 0; i < size; i++)
        a->index[i] = -1;
    return GCONV_OK;
}

/* Numbers the coordinates whose index is not -1. */
static void number_axis(axis *a, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (a->index[i] >= 0) {
            a->index[i] = (int32_t)a->count;
            a->at[a->count++] = (int64_t)i;
        }
}

static gconv_status make_point(axis *a, int64_t at, size_t size, gconv_error *error)
{
    gconv_status status = allocate_axis(a, size, error);
    if (status != GCONV_OK)
        return status;
    a->index[at] = 0;
    number_axis(a, size);
    return GCONV_OK;
}

/* How far along an axis tap i lies from the output value. */
static int64_t offset_of(const gc_problem *problem, int i, int anchor)
{
    return problem->job.correlate ? i - anchor : anchor - i;
}

/* What `taps` taps read for the coordinates of `out`. */
static gconv_status make_reach(const gc_problem *problem, const axis *out, int taps, int anchor,
                               size_t size, axis *in, gconv_error *error)
{
    gconv_status status = allocate_axis(in, size, error);
    if (status != GCONV_OK)
        return status;
    for (size_t o = 0; o < out->count; o++)
        for (int i = 0; i < taps; i++) {
            int64_t at = gc_border_index(problem->chain.border,
                                         out->at[o] + offset_of(problem, i, anchor), (int64_t)size);
            if (at >= 0)
                in->index[at] = 0;
        }
    number_axis(in, size);
    return GCONV_OK;
}

/* levels[s] is the grid of the input of step s, the last one the pixel. */
static gconv_status make_levels(const gc_problem *problem, uint32_t x, uint32_t y, level *levels,
                                gconv_error *error)
{
    const gc_chain *chain = &problem->chain;
    level *last = &levels[chain->step_count];
    gconv_status status = make_point(&last->columns, x, chain->width, error);
    if (status == GCONV_OK)
        status = make_point(&last->rows, y, chain->height, error);
    for (int s = chain->step_count - 1; status == GCONV_OK && s >= 0; s--) {
        const gconv_filter *filter = chain->steps[s].filter;
        status = make_reach(problem, &levels[s + 1].columns, filter->width, filter->anchor_x,
                            chain->width, &levels[s].columns, error);
        if (status == GCONV_OK)
            status = make_reach(problem, &levels[s + 1].rows, filter->height, filter->anchor_y,
                                chain->height, &levels[s].rows, error);
    }
    return status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* A step on its grids. */
typedef struct work {
    const gc_problem *problem;
    const gc_step *step;
    const level *in;
    const float *values; /* of the step's input */
} work;

/* Channel c of the step's input at any (x, y). */
static double sample(const work *w, int64_t x, int64_t y, int c)
{
    const gc_chain *chain = &w->problem->chain;
    x = gc_border_index(chain->border, x, chain->width);
    y = gc_border_index(chain->border, y, chain->height);
    if (x < 0 || y < 0)
        return w->step->border[c];
    size_t row = (size_t)w->in->rows.index[y], column = (size_t)w->in->columns.index[x];
    return w->values[(row * w->in->columns.count + column) * (size_t)chain->channels + (size_t)c];
}

/* The sum along row j of the filter. */
static double sum_row(const work *w, int j, int64_t x, int64_t y, int c, double sum)
{
    const gconv_filter *filter = w->step->filter;
    int64_t row = y + offset_of(w->problem, j, filter->anchor_y);
    for (int i = 0; i < filter->width; i++) {
        double weight = filter->weights != NULL ? (double)filter->weights[j * filter->width + i]
                                                : filter->row[i];
        sum += weight * sample(w, x + offset_of(w->problem, i, filter->anchor_x), row, c);
    }
    return sum;
}

static float value_at(const work *w, int64_t x, int64_t y, int c)
{
    const gconv_filter *filter = w->step->filter;
    double sum = 0;
    for (int j = 0; j < filter->height; j++)
        sum = filter->weights != NULL ? sum_row(w, j, x, y, c, sum)
                                      : sum + filter->column[j] * sum_row(w, j, x, y, c, 0);
    return (float)sum;
}

static gconv_status allocate_values(const gc_chain *chain, const level *grid, float **values,
                                    gconv_error *error)
{
    size_t row = grid->columns.count * (size_t)chain->channels * sizeof(float);
    *values = gc_allocate_array(grid->rows.count, row);
    return *values != NULL ? GCONV_OK : gc_fail_memory(error, grid->rows.count * row);
}

static void load_values(const gc_problem *problem, const void *input, size_t stride,
                        const level *grid, float *to)
{
    const gconv_shape *shape = &problem->conversion.input;
    size_t pixel = (size_t)shape->channels * (size_t)shape->depth / 8;
    for (size_t j = 0; j < grid->rows.count; j++)
        for (size_t i = 0; i < grid->columns.count; i++) {
            const char *row = (const char *)input + (size_t)grid->rows.at[j] * stride;
            gc_load_pixels(&problem->conversion, row + (size_t)grid->columns.at[i] * pixel, 1, to);
            to += problem->chain.channels;
        }
}

static void convolve(const work *w, const level *out, float *to)
{
    for (size_t j = 0; j < out->rows.count; j++)
        for (size_t i = 0; i < out->columns.count; i++)
            for (int c = 0; c < w->problem->chain.channels; c++)
                *to++ = value_at(w, out->columns.at[i], out->rows.at[j], c);
}

/* The values of the last level. */
static gconv_status run_levels(const gc_problem *problem, const void *input, size_t stride,
                               const level *levels, float *result, gconv_error *error)
{
    const gc_chain *chain = &problem->chain;
    float *values = NULL;
    gconv_status status = allocate_values(chain, &levels[0], &values, error);
    if (status == GCONV_OK)
        load_values(problem, input, stride, &levels[0], values);
    for (int s = 0; status == GCONV_OK && s < chain->step_count; s++) {
        const work w = {problem, &chain->steps[s], &levels[s], values};
        float *next = NULL;
        status = allocate_values(chain, &levels[s + 1], &next, error);
        if (status == GCONV_OK)
            convolve(&w, &levels[s + 1], next);
        free(values);
        values = next;
    }
    for (int c = 0; status == GCONV_OK && c < chain->channels; c++)
        result[c] = values[c];
    free(values);
    return status;
}

gconv_status gc_reference_pixel(const gc_problem *problem, const void *input, size_t input_stride,
                                uint32_t x, uint32_t y, float values[GC_CHANNELS_MAX],
                                gconv_error *error)
{
    int count = problem->chain.step_count + 1;
    level *levels = calloc((size_t)count, sizeof *levels);
    if (levels == NULL)
        return gc_fail_memory(error, (size_t)count * sizeof *levels);
    gconv_status status = make_levels(problem, x, y, levels, error);
    if (status == GCONV_OK)
        status = run_levels(problem, input, input_stride, levels, values, error);
    destroy_levels(levels, count);
    return status;
}
