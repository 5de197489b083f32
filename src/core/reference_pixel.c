/* One value of a step needs its input on a grid: the columns and the rows that the filter reaches.
 * The grids follow from the pixel backwards, from the last step to the first. Then each step is
 * computed on its own grid, summed as the reference sums (contract.md, rule 1). */
#include "core/reference_pixel.h"

#include "base/memory.h"
#include "base/status.h"
#include "core/border.h"

#include <stdlib.h>
#include <string.h>

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

/* Fills `in` with the coordinates that `taps` taps read for those of `out`. The first tap lies
 * `before` samples before the output value. */
static gconv_status make_reach(const gc_problem *problem, const axis *out, int taps, int before,
                               size_t size, axis *in, gconv_error *error)
{
    in->at = gc_allocate_array(size, sizeof *in->at);
    in->index = gc_allocate_array(size, sizeof *in->index);
    GC_TRY_MEMORY(in->at != NULL && in->index != NULL, error,
                  size * (sizeof *in->at + sizeof *in->index));
    memset(in->index, -1, size * sizeof *in->index);
    for (size_t o = 0; o < out->count; o++)
        for (int i = 0; i < taps; i++) {
            int64_t at =
                gc_border_index(problem->chain.border, out->at[o] + i - before, (int64_t)size);
            if (at >= 0)
                in->index[at] = 0;
        }
    for (size_t i = 0; i < size; i++)
        if (in->index[i] == 0) {
            in->index[i] = (int32_t)in->count;
            in->at[in->count++] = (int64_t)i;
        }
    return GCONV_OK;
}

/* levels[s] is the grid of the input of step s, the last one the pixel. */
static gconv_status make_levels(const gc_problem *problem, uint32_t x, uint32_t y, level *levels,
                                gconv_error *error)
{
    const gc_chain *chain = &problem->chain;
    level *last = &levels[chain->step_count];
    const axis column = {.at = &(int64_t){x}, .count = 1}, row = {.at = &(int64_t){y}, .count = 1};
    GC_TRY(make_reach(problem, &column, 1, 0, chain->width, &last->columns, error));
    GC_TRY(make_reach(problem, &row, 1, 0, chain->height, &last->rows, error));
    for (int s = chain->step_count - 1; s >= 0; s--) {
        const gc_step *step = &chain->steps[s];
        GC_TRY(make_reach(problem, &levels[s + 1].columns, step->width, step->left, chain->width,
                          &levels[s].columns, error));
        GC_TRY(make_reach(problem, &levels[s + 1].rows, step->height, step->top, chain->height,
                          &levels[s].rows, error));
    }
    return GCONV_OK;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* A step on its grids. */
typedef struct work {
    const gc_chain *chain;
    const gc_step *step;
    const level *in;
    const gc_word *values; /* of the step's input */
    const gc_word *terms, *border;
    size_t words; /* of a number */
} work;

/* Channel c of the step's input at any (x, y). */
static const gc_word *sample(const work *w, int64_t x, int64_t y, int c)
{
    const gc_chain *chain = w->chain;
    x = gc_border_index(chain->border, x, chain->width);
    y = gc_border_index(chain->border, y, chain->height);
    if (x < 0 || y < 0)
        return w->border + (size_t)c * w->words;
    size_t row = (size_t)w->in->rows.index[y], column = (size_t)w->in->columns.index[x];
    size_t pixel = row * w->in->columns.count + column;
    return w->values + (pixel * (size_t)chain->channels + (size_t)c) * w->words;
}

/* Adds the sum along a row, with the terms from `term` on. */
static void add_row(const work *w, const gc_word *term, int64_t x, int64_t y, int c, gc_word *sum)
{
    for (int i = 0; i < w->step->width; i++)
        gc_add_product((size_t)w->chain->limbs, sum, term + (size_t)i * w->words,
                       sample(w, x + i - w->step->left, y, c));
}

static void sum_at(const work *w, int64_t x, int64_t y, int c, gc_word *sum)
{
    const gc_step *step = w->step;
    size_t width = (size_t)step->width;
    for (int j = 0; j < step->height; j++) {
        gc_word row[GC_LIMBS_MAX] = {{.bits = 0}};
        if (step->column == NULL) {
            add_row(w, w->terms + (size_t)j * width * w->words, x, y + j - step->top, c, sum);
            continue;
        }
        add_row(w, w->terms + (size_t)step->height * w->words, x, y + j - step->top, c, row);
        gc_add_product((size_t)w->chain->limbs, sum, w->terms + (size_t)j * w->words, row);
    }
}

/* All zeros. */
static gconv_status allocate_values(const gc_chain *chain, const level *grid, gc_word **values,
                                    gconv_error *error)
{
    size_t row = grid->columns.count * (size_t)chain->channels * gc_words(chain) * sizeof(gc_word);
    *values = gc_allocate_array(grid->rows.count, row);
    GC_TRY_MEMORY(*values != NULL, error, grid->rows.count * row);
    memset(*values, 0, grid->rows.count * row);
    return GCONV_OK;
}

static void load_values(const gc_problem *problem, const void *input, size_t stride,
                        const level *grid, gc_word *to)
{
    const gconv_shape *shape = &problem->conversion.input;
    size_t pixel = (size_t)shape->channels * (size_t)shape->depth / 8;
    size_t channels = (size_t)problem->chain.channels;
    for (size_t j = 0; j < grid->rows.count; j++)
        for (size_t i = 0; i < grid->columns.count; i++) {
            float values[GC_CHANNELS_MAX];
            const char *row = (const char *)input + (size_t)grid->rows.at[j] * stride;
            gc_load_pixels(&problem->conversion, row + (size_t)grid->columns.at[i] * pixel, 1,
                           values);
            gc_words_load(&problem->chain, values, channels, to);
            to += channels * gc_words(&problem->chain);
        }
}

static void convolve(const work *w, const level *out, gc_word *to)
{
    for (size_t j = 0; j < out->rows.count; j++)
        for (size_t i = 0; i < out->columns.count; i++)
            for (int c = 0; c < w->chain->channels; c++, to += w->words)
                sum_at(w, out->columns.at[i], out->rows.at[j], c, to);
}

/* Replaces the values of level s by those of the next. */
static gconv_status run_step(const gc_chain *chain, int s, const level *levels, gc_word **values,
                             gconv_error *error)
{
    const gc_step *step = &chain->steps[s];
    size_t words = gc_words(chain);
    gc_word *next, *terms = gc_words_of_step(chain, s);
    GC_TRY_MEMORY(terms != NULL, error, gc_step_term_count(step) * words * sizeof *terms);
    const work w = {
        chain, step, &levels[s], *values, terms, terms + gc_step_term_count(step) * words, words};
    gconv_status status = allocate_values(chain, &levels[s + 1], &next, error);
    if (status == GCONV_OK) {
        convolve(&w, &levels[s + 1], next);
        free(*values);
        *values = next;
    }
    free(terms);
    return status;
}

/* The values of the last level. */
static gconv_status run_levels(const gc_problem *problem, const void *input, size_t stride,
                               const level *levels, gc_word *sums, gconv_error *error)
{
    const gc_chain *chain = &problem->chain;
    gc_word *values;
    gconv_status status = allocate_values(chain, &levels[0], &values, error);
    GC_TRY(status);
    load_values(problem, input, stride, &levels[0], values);
    for (int s = 0; status == GCONV_OK && s < chain->step_count; s++)
        status = run_step(chain, s, levels, &values, error);
    if (status == GCONV_OK)
        memcpy(sums, values, (size_t)chain->channels * gc_words(chain) * sizeof *sums);
    free(values);
    return status;
}

gconv_status gc_reference_pixel(const gc_problem *problem, const void *input, size_t input_stride,
                                uint32_t x, uint32_t y, gc_word *sums, gconv_error *error)
{
    int count = problem->chain.step_count + 1;
    level *levels = calloc((size_t)count, sizeof *levels);
    GC_TRY_MEMORY(levels != NULL, error, (size_t)count * sizeof *levels);
    gconv_status status = make_levels(problem, x, y, levels, error);
    GC_THEN(status, run_levels(problem, input, input_stride, levels, sums, error));
    destroy_levels(levels, count);
    return status;
}
