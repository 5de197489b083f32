/* A filter of two vectors: the column on all columns that the row reaches, then the row, every tap
 * of both. `run` computes all columns of an area at once. */
#include "cpu/solver/vectors.h"

#include "base/memory.h"
#include "base/status.h"
#include "core/separate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Panels begin at multiples of twice as many columns. */
enum { TILE_COLUMNS = 32 };

bool gc_vectors_apply(const gc_question *question)
{
    return question->step->column != NULL;
}

bool gc_factors_of(const gc_step *step, gc_factors *of)
{
    bool fits = gc_step_separate(step, of->row, of->column);
    of->down = of->across = 0;
    for (int j = 0; fits && j < step->height; j++)
        of->down += fabs((double)of->column[j]);
    for (int i = 0; fits && i < step->width; i++)
        of->across += fabs((double)of->row[i]);
    return fits;
}

double gc_vectors_extension(const gc_question *question)
{
    double width = question->problem->chain.width;
    return (width + question->step->width - 1) / width;
}

static double seconds(const gc_question *question, gc_estimate *estimate)
{
    const gc_step *step = question->step;
    (void)estimate;
    return gc_vectors_extension(question) * gc_taps_seconds(question, step->height, step->height) +
           gc_taps_seconds(question, step->width, 1);
}

/* ---- Making ---------------------------------------------------------------------------------- */

gconv_status gc_vectors_create(gc_vectors *vectors, const gc_step *step, gconv_error *error)
{
    size_t width = (size_t)step->width, height = (size_t)step->height;
    gc_factors of;
    vectors->taps = gc_allocate_aligned(width + height, sizeof *vectors->taps);
    GC_TRY_MEMORY(vectors->taps != NULL, error, (width + height) * sizeof *vectors->taps);
    vectors->in_double = !gc_factors_of(step, &of);
    memcpy(vectors->taps, of.column, height * sizeof *vectors->taps);
    memcpy(vectors->taps + height, of.row, width * sizeof *vectors->taps);
    vectors->column = vectors->row = *step;
    vectors->column.width = vectors->row.height = 1;
    vectors->column.taps = vectors->taps;
    vectors->row.taps = vectors->taps + height;
    return GCONV_OK;
}

void gc_vectors_destroy(gc_vectors *vectors)
{
    free(vectors->taps);
}

static size_t aligned(size_t floats)
{
    const size_t align = GC_ALIGNMENT / sizeof(float);
    return (floats + align - 1) / align * align;
}

/* Floats of pointers to the rows between column and row. */
static size_t pointer_floats(const gc_stage *stage)
{
    size_t count = (size_t)(stage->rows_at_once + GC_ROWS_TOGETHER);
    return aligned(count * sizeof(float *) / sizeof(float));
}

/* Floats of a row between column and row, for `values` values of output. */
static size_t between_stride(const gc_stage *stage, size_t values, bool in_double)
{
    size_t reach = (size_t)(stage->step->width - 1) * (size_t)stage->channels;
    return aligned((in_double ? 2 : 1) * (values + reach) + GC_ROW_SLACK);
}

/* A row of n values more is up to n floats and one alignment longer. */
void gc_between_reserve(gc_stage *stage, bool in_double)
{
    size_t rows = (size_t)stage->rows_at_once, align = GC_ALIGNMENT / sizeof(float);
    stage->scratch += pointer_floats(stage) + rows * (between_stride(stage, 0, in_double) + align);
    stage->scratch_of_column = rows * (size_t)stage->channels * (in_double ? 2 : 1);
}

static void release(void *own)
{
    gc_vectors_destroy(own);
}

static gconv_status create(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error)
{
    (void)question;
    (void)estimate;
    gc_vectors *own = stage->own;
    stage->tile_columns = TILE_COLUMNS;
    gconv_status status = gc_vectors_create(own, stage->step, error);
    stage->takes_bare = !own->in_double;
    gc_between_reserve(stage, own->in_double);
    return status;
}

/* ---- Running --------------------------------------------------------------------------------- */

void gc_vectors_sum(const gc_stage *stage, const gc_step *vector, const float *const *rows,
                    size_t values, int row_count, float *const *out)
{
    for (int o = 0; o < row_count; o += GC_ROWS_TOGETHER) {
        int count = row_count - o < GC_ROWS_TOGETHER ? row_count - o : GC_ROWS_TOGETHER;
        stage->instructions->taps->every(vector, rows + o, (size_t)stage->channels, values, count,
                                         out + o);
    }
}

float **gc_between_rows(const gc_stage *stage, const gc_stage_input *input, size_t values,
                        int row_count, float **rest)
{
    size_t stride = between_stride(stage, values, false);
    float **between = (float **)(void *)input->scratch;
    float *first = input->scratch + pointer_floats(stage);
    for (int o = 0; o < row_count + GC_ROWS_TOGETHER - 1; o++)
        between[o] = first + (size_t)(o < row_count ? o : row_count - 1) * stride;
    *rest = first + (size_t)stage->rows_at_once * stride;
    return between;
}

/* All in double, for numbers that float32 has no room for. */
static void run_in_double(const gc_stage *stage, const gc_stage_input *input, double *between,
                          size_t values, int row_count, float *const *out)
{
    const gc_step *step = stage->step;
    size_t channels = (size_t)stage->channels;
    size_t all = values + (size_t)(step->width - 1) * channels;
    for (int o = 0; o < row_count; o++) {
        for (size_t x = 0; x < all; x++) {
            between[x] = 0;
            for (int j = 0; j < step->height; j++)
                between[x] += step->column[j] * (double)input->rows[o + j][x];
        }
        for (size_t x = 0; x < values; x++) {
            double sum = 0;
            for (int i = 0; i < step->width; i++)
                sum += step->row[i] * between[x + (size_t)i * channels];
            out[o][x] = (float)sum;
        }
    }
}

static double error_of(const gc_question *question, const gc_estimate *estimate)
{
    (void)estimate;
    return gc_vectors_error(question->step, question->input);
}

/* Sums columns of the image, and takes them for those that the border puts beside it. */
static void sum_inside(const gc_stage *stage, const gc_stage_input *input, size_t values,
                       int row_count, float *const *between)
{
    const gc_vectors *own = stage->own;
    int64_t channels = stage->channels, left = stage->step->left,
            width = (int64_t)values / channels;
    float *inside[GC_ROWS_TOGETHER];
    for (int o = 0; o < row_count; o++)
        inside[o] = between[o] + left * channels;
    gc_vectors_sum(stage, &own->column, input->rows, values, row_count, inside);
    for (int o = 0; o < row_count; o++)
        for (int64_t i = 0; i < stage->step->width - 1; i++)
            memcpy(between[o] + (i < left ? i : i + width) * channels,
                   inside[o] + input->beside[i] * channels, (size_t)channels * sizeof(float));
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    const gc_vectors *own = stage->own;
    size_t all = values + (size_t)(stage->step->width - 1) * (size_t)stage->channels;
    float *rest, **between;
    if (own->in_double) {
        double *row = (double *)(void *)(input->scratch + pointer_floats(stage));
        run_in_double(stage, input, row, values, row_count, out);
        return;
    }
    between = gc_between_rows(stage, input, values, row_count, &rest);
    if (input->beside != NULL)
        sum_inside(stage, input, values, row_count, between);
    else
        gc_vectors_sum(stage, &own->column, input->rows, all, row_count, between);
    gc_vectors_sum(stage, &own->row, (const float *const *)between, values, row_count, out);
}

static const char *describe(const gc_stage *stage)
{
    const gc_vectors *own = stage->own;
    return own->in_double ? "a column and a row in double" : "a column and a row";
}

const gc_solver gc_solver_vectors = {
    .name = "vectors",
    .applies = gc_vectors_apply,
    .seconds = seconds,
    .own_bytes = sizeof(gc_vectors),
    .create = create,
    .run = run,
    .describe = describe,
    .error = error_of,
    .release = release,
    .tiled = true,
};
