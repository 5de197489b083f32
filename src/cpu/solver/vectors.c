/* A filter of two vectors: the column on all columns that the row reaches, then the row. Each goes
 * through transforms of lines where that is faster than every tap.
 *
 * `run` computes all columns of an area at once: the values between column and row have rows as
 * long as the area is wide and the filter reaches. */
#include "cpu/solver/solver.h"

#include "base/memory.h"
#include "base/status.h"
#include "core/range.h"
#include "core/separate.h"
#include "cpu/budget.h"
#include "cpu/cost.h"
#include "cpu/fast/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct own_vectors {
    bool in_double;                   /* float32 has no room for column and row */
    gc_step column, row;              /* with taps that `taps` owns */
    float *taps;                      /* of the column, then of the row */
    gc_lines column_lines, row_lines; /* where their `length` is not 0 */
} own_vectors;

static bool applies(const gc_question *question)
{
    return question->step->column != NULL;
}

static bool applies_to_bytes(const gc_question *question)
{
    return applies(question) && gc_question_of_bytes(question);
}

/* Column and row in float32. */
typedef struct factors {
    float column[GCONV_FILTER_VECTOR_MAX], row[GCONV_FILTER_VECTOR_MAX];
    double down, across; /* the sums of their magnitudes */
} factors;

static bool separate(const gc_step *step, factors *of)
{
    bool fits = gc_step_separate(step, of->row, of->column);
    of->down = of->across = 0;
    for (int j = 0; fits && j < step->height; j++)
        of->down += fabs((double)of->column[j]);
    for (int i = 0; fits && i < step->width; i++)
        of->across += fabs((double)of->row[i]);
    return fits;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static const gc_transforms *transforms_for(const gc_question *question)
{
    return question->problem->chain.exact ? &question->instructions->exact_transforms
                                          : &question->instructions->transforms;
}

/* Output rows that are computed together. Tiles of rows are equally high, as far as possible. */
static int rows_at_once(const gc_question *question, int column_side, int row_side)
{
    int64_t height = question->problem->chain.height;
    if (column_side > 0) {
        int64_t most = column_side - question->step->height + 1;
        int64_t tiles = (height + most - 1) / most;
        return (int)((height + tiles - 1) / tiles);
    }
    int lines = 2 * transforms_for(question)->loops->lanes;
    return row_side == 0 ? GC_ROWS_TOGETHER
                         : (lines + GC_ROWS_TOGETHER - 1) / GC_ROWS_TOGETHER * GC_ROWS_TOGETHER;
}

/* Seconds that a value of an output of `count` takes through transforms of `side`. Two lines go
 * through each. */
static double line_seconds(const gc_question *question, int side, int length, double count)
{
    double rounds = log2(side) * transforms_for(question)->seconds / 2;
    return gc_lines_overhead(side, length, count) * (rounds + GC_LINE_SECONDS);
}

static double column_seconds(const gc_question *question, int side)
{
    const gc_step *step = question->step;
    double width = question->problem->chain.width;
    double extended = (width + step->width - 1) / width;
    return extended *
           (side > 0 ? line_seconds(question, side, step->height, question->problem->chain.height)
                     : gc_taps_seconds(question, step->height, step->height));
}

static double row_seconds(const gc_question *question, int side)
{
    const gc_step *step = question->step;
    return side > 0 ? line_seconds(question, side, step->width, question->problem->chain.width)
                    : gc_taps_seconds(question, step->width, 1);
}

static bool is_accurate(const gc_question *question, int side)
{
    return !question->problem->chain.exact || gc_transform_error(log2(side)) < 0.5;
}

/* Whether bands and windows may have as many rows as transforms of columns of this side compute at
 * once: where the rings have room, or where no smaller side computes a fourth of the column's
 * length. */
static bool has_room(const gc_question *question, int side)
{
    int height = question->step->height;
    return gc_budget_holds(question->problem, rows_at_once(question, side, 0)) ||
           side / 2 - height + 1 < height / 4;
}

/* The fastest side of transforms for the column, 0 where taps are faster. */
static int choose_column_side(const gc_question *question)
{
    int best = 0;
    for (int side = GC_LINE_MIN; side <= GC_LINE_MAX; side *= 2)
        if (side >= question->step->height && is_accurate(question, side) &&
            has_room(question, side) &&
            column_seconds(question, side) < column_seconds(question, best))
            best = side;
    return best;
}

/* The fastest side of a transform of the row; 0: its taps are summed. */
static int choose_row_side(const gc_question *question)
{
    int best = 0;
    for (int side = GC_LINE_MIN; side <= GC_LINE_MAX; side *= 2)
        if (side >= question->step->width && is_accurate(question, side) &&
            row_seconds(question, side) < row_seconds(question, best))
            best = side;
    return best;
}

static double seconds(const gc_question *question, double limit, gc_estimate *estimate)
{
    const gc_step *step = question->step;
    factors of;
    (void)limit;
    if (separate(step, &of)) {
        estimate->column_side = choose_column_side(question);
        estimate->row_side = choose_row_side(question);
        if (!question->problem->chain.exact &&
            !gc_range_holds_lines(step, of.down, of.across, estimate->column_side,
                                  estimate->row_side))
            estimate->column_side = estimate->row_side = 0;
    }
    return column_seconds(question, estimate->column_side) +
           row_seconds(question, estimate->row_side);
}

/* From bytes where columns are transformed: windows are a fourth as large. */
static double seconds_of_bytes(const gc_question *question, double limit, gc_estimate *estimate)
{
    double all = seconds(question, limit, estimate);
    return estimate->column_side > 0 ? all - GC_LINE_SECONDS / 2 : HUGE_VAL;
}

static double extra_terms(const gc_estimate *estimate)
{
    return (estimate->column_side > 0 ? 32 * log2(estimate->column_side) : 0) +
           (estimate->row_side > 0 ? 32 * log2(estimate->row_side) : 0);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void release(gc_stage *stage)
{
    own_vectors *own = stage->own;
    gc_lines_destroy(&own->column_lines);
    gc_lines_destroy(&own->row_lines);
    free(own->taps);
    free(own);
}

static gconv_status set_taps(own_vectors *own, const gc_step *step, gconv_error *error)
{
    size_t width = (size_t)step->width, height = (size_t)step->height;
    factors of;
    own->taps = gc_allocate_aligned(width + height, sizeof *own->taps);
    if (own->taps == NULL)
        return gc_fail_memory(error, (width + height) * sizeof *own->taps);
    own->in_double = !separate(step, &of);
    memcpy(own->taps, of.column, height * sizeof *own->taps);
    memcpy(own->taps + height, of.row, width * sizeof *own->taps);
    own->column = own->row = *step;
    own->column.width = own->row.height = 1;
    own->column.taps = own->taps;
    own->row.taps = own->taps + height;
    return GCONV_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static gconv_status make_lines(gc_stage *stage, own_vectors *own, const gc_question *question,
                               const gc_estimate *estimate, gconv_error *error)
{
    const gc_transform_loops *loops = transforms_for(question)->loops;
    gconv_status status = GCONV_OK;
    if (estimate->column_side > 0) {
        status = gc_lines_create(&own->column_lines, loops, estimate->column_side, own->column.taps,
                                 own->column.height, error);
        stage->scratch = gc_lines_scratch(loops, estimate->column_side);
    }
    if (status == GCONV_OK && estimate->row_side > 0) {
        status = gc_lines_create(&own->row_lines, loops, estimate->row_side, own->row.taps,
                                 own->row.width, error);
        stage->scratch = larger(stage->scratch, gc_lines_scratch(loops, estimate->row_side));
    }
    return status;
}

/* Floats of pointers to the rows between column and row. */
static size_t pointer_floats(const gc_stage *stage)
{
    size_t count = (size_t)(stage->rows_at_once + GC_ROWS_TOGETHER);
    const size_t align = GC_ALIGNMENT / sizeof(float);
    return (count * sizeof(float *) / sizeof(float) + align - 1) / align * align;
}

/* Floats of a row between column and row, for `values` values of output. */
static size_t between_stride(const gc_stage *stage, size_t values)
{
    const size_t align = GC_ALIGNMENT / sizeof(float);
    size_t reach = (size_t)(stage->step->width - 1) * (size_t)stage->channels;
    size_t type = ((const own_vectors *)stage->own)->in_double ? 2 : 1;
    return (type * (values + reach) + GC_ROW_SLACK + align - 1) / align * align;
}

static gconv_status create(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error)
{
    own_vectors *own = calloc(1, sizeof *own);
    if (own == NULL)
        return gc_fail_memory(error, sizeof *own);
    stage->own = own;
    stage->rows_at_once = rows_at_once(question, estimate->column_side, estimate->row_side);
    stage->tile_columns = 2 * GC_LANES_MAX;
    gconv_status status = set_taps(own, stage->step, error);
    if (status == GCONV_OK)
        status = make_lines(stage, own, question, estimate, error);
    if (status != GCONV_OK) {
        release(stage);
        return status;
    }
    /* A row of n values more is up to n floats and one alignment longer. */
    size_t rows = (size_t)stage->rows_at_once, align = GC_ALIGNMENT / sizeof(float);
    stage->scratch += pointer_floats(stage) + rows * (between_stride(stage, 0) + align);
    stage->scratch_of_column = rows * (size_t)stage->channels * (own->in_double ? 2 : 1);
    return GCONV_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Every tap of a column or of a row. */
static void sum_taps(const gc_stage *stage, const gc_step *vector, const float *const *rows,
                     size_t values, int row_count, float *const *out)
{
    for (int o = 0; o < row_count; o += GC_ROWS_TOGETHER) {
        int count = row_count - o < GC_ROWS_TOGETHER ? row_count - o : GC_ROWS_TOGETHER;
        stage->instructions->taps->every(vector, rows + o, (size_t)stage->channels, values, count,
                                         out + o);
    }
}

static gc_line_input line_input(const gc_stage *stage, const gc_stage_input *input)
{
    return stage->solver->takes_bytes ? (gc_line_input){.bytes = input->bytes}
                                      : (gc_line_input){.rows = input->rows};
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

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    const own_vectors *own = stage->own;
    size_t channels = (size_t)stage->channels, stride = between_stride(stage, values);
    size_t all = values + (size_t)(stage->step->width - 1) * channels;
    float **between = (float **)(void *)input->scratch;
    float *first = input->scratch + pointer_floats(stage);
    float *work = first + (size_t)stage->rows_at_once * stride;
    if (own->in_double) {
        run_in_double(stage, input, (double *)(void *)first, values, row_count, out);
        return;
    }
    for (int o = 0; o < row_count + GC_ROWS_TOGETHER - 1; o++)
        between[o] = first + (size_t)(o < row_count ? o : row_count - 1) * stride;
    if (own->column_lines.length > 0)
        gc_lines_convolve_columns(&own->column_lines, work, line_input(stage, input), all,
                                  row_count, between);
    else
        sum_taps(stage, &own->column, input->rows, all, row_count, between);
    if (own->row_lines.length > 0)
        gc_lines_convolve_rows(&own->row_lines, work, (const float *const *)between, channels,
                               values / channels, row_count, out);
    else
        sum_taps(stage, &own->row, (const float *const *)between, values, row_count, out);
}

static const char *describe(const gc_stage *stage)
{
    static const char *const words[][2] = {
        {"a column and a row", "a column, and transforms of rows"},
        {"transforms of columns, and a row", "transforms of columns and of rows"}};
    const own_vectors *own = stage->own;
    if (own->in_double)
        return "a column and a row in double";
    return words[own->column_lines.length > 0][own->row_lines.length > 0];
}

const gc_solver gc_solver_vectors_of_bytes = {
    .name = "vectors",
    .applies = applies_to_bytes,
    .seconds = seconds_of_bytes,
    .create = create,
    .run = run,
    .describe = describe,
    .release = release,
    .extra_terms = extra_terms,
    .takes_bytes = true,
    .tiled = true,
};

const gc_solver gc_solver_vectors = {
    .name = "vectors",
    .applies = applies,
    .seconds = seconds,
    .create = create,
    .run = run,
    .describe = describe,
    .release = release,
    .extra_terms = extra_terms,
    .tiled = true,
};
