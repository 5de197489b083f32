/* A filter of two vectors as solver/vectors.c computes it, but columns, rows or both go through
 * transforms of lines, if that is faster than every tap. So does a matrix that is a column times a
 * row. */
#include "base/status.h"
#include "core/range.h"
#include "cpu/budget.h"
#include "cpu/cost.h"
#include "cpu/fast/lines.h"
#include "cpu/fast/tiles.h"
#include "cpu/solver/vectors.h"

#include <math.h>

typedef struct own_lines {
    gc_vectors vectors;
    gc_lines column, row; /* if their `length` is not 0 */
} own_lines;

/* The least sum of sides of a matrix for which transforms of lines pay: on a Zen 5 from 61x61 on
 * with AVX2, and from 105x105 on with AVX-512. */
enum { SIDES_MIN = 210 };

/* ---- Choosing -------------------------------------------------------------------------------- */

static bool applies(const gc_question *question)
{
    const gc_step *step = question->step;
    return gc_vectors_apply(question) ||
           (step->width + step->height >= SIDES_MIN && gc_solver_wanted(question->problem) == NULL);
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
    int lines = 2 * gc_transforms_for(question)->loops->lanes;
    return row_side == 0 ? GC_ROWS_TOGETHER
                         : (lines + GC_ROWS_TOGETHER - 1) / GC_ROWS_TOGETHER * GC_ROWS_TOGETHER;
}

/* Seconds that a value of an output of `count` takes through transforms of `side`. Two lines go
 * through each. */
static double line_seconds(const gc_question *question, int side, int length, double count)
{
    double rounds = log2(side) * gc_round_seconds(question) / 2;
    return gc_lines_overhead(side, length, count) * (rounds + GC_LINE_SECONDS);
}

static double column_seconds(const gc_question *question, int side)
{
    const gc_step *step = question->step;
    return gc_vectors_extension(question) *
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
 * once: if the rings have room, or if no smaller side computes a fourth of the column's length. */
static bool has_room(const gc_question *question, int side)
{
    int height = question->step->height;
    return gc_budget_holds(question->problem, rows_at_once(question, side, 0)) ||
           side / 2 - height + 1 < height / 4;
}

/* The fastest side of transforms for the column, 0 if taps are faster. */
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

/* If columns are transformed, windows of bytes are a fourth as large. */
static bool takes_bytes(const gc_question *question, int column_side)
{
    return column_side > 0 && gc_question_of_bytes(question);
}

static double seconds(const gc_question *question, gc_estimate *estimate)
{
    gc_factors of;
    if (!gc_factors_of(question->step, &of))
        return HUGE_VAL;
    int column = estimate->column_side = choose_column_side(question);
    int row = estimate->row_side = choose_row_side(question);
    if ((column == 0 && row == 0) ||
        (!question->problem->chain.exact &&
         !gc_range_holds_lines(question->step, of.down, of.across, column, row)))
        return HUGE_VAL;
    double saved = takes_bytes(question, column) ? GC_LINE_SECONDS / 2 : 0;
    return column_seconds(question, column) + row_seconds(question, row) - saved;
}

static double extra_terms(const gc_estimate *estimate)
{
    return (estimate->column_side > 0 ? 32 * log2(estimate->column_side) : 0) +
           (estimate->row_side > 0 ? 32 * log2(estimate->row_side) : 0);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void release(void *lines)
{
    own_lines *own = lines;
    gc_lines_destroy(&own->column);
    gc_lines_destroy(&own->row);
    gc_vectors_destroy(&own->vectors);
}

/* Makes the transforms of a column or a row, if `side` is not 0, and notes their scratch. */
static gconv_status make_lines(gc_stage *stage, const gc_question *question, int side,
                               const float *taps, int length, gc_lines *lines, gconv_error *error)
{
    const gc_transform_loops *loops = gc_transforms_for(question)->loops;
    if (side == 0)
        return GCONV_OK;
    size_t scratch = gc_lines_scratch(loops, side);
    stage->scratch = stage->scratch > scratch ? stage->scratch : scratch;
    return gc_lines_create(lines, loops, side, taps, length, error);
}

static gconv_status create(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error)
{
    own_lines *own = stage->own;
    stage->rows_at_once = rows_at_once(question, estimate->column_side, estimate->row_side);
    stage->tile_columns = 2 * GC_LANES_MAX;
    stage->takes_bytes = takes_bytes(question, estimate->column_side);
    const gc_step *column = &own->vectors.column, *row = &own->vectors.row;
    GC_TRY(gc_vectors_create(&own->vectors, stage->step, error));
    GC_TRY(make_lines(stage, question, estimate->column_side, column->taps, column->height,
                      &own->column, error));
    GC_TRY(
        make_lines(stage, question, estimate->row_side, row->taps, row->width, &own->row, error));
    gc_between_reserve(stage, false);
    return GCONV_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    const own_lines *own = stage->own;
    size_t channels = (size_t)stage->channels;
    size_t all = values + (size_t)(stage->step->width - 1) * channels;
    float *work, **between = gc_between_rows(stage, input, values, row_count, &work);
    gc_line_input from = {.rows = stage->takes_bytes ? NULL : input->rows,
                          .bytes = stage->takes_bytes ? input->bytes : NULL};
    if (own->column.length > 0)
        gc_lines_convolve_columns(&own->column, work, from, all, row_count, between);
    else
        gc_vectors_sum(stage, &own->vectors.column, input->rows, all, row_count, between);
    if (own->row.length > 0)
        gc_lines_convolve_rows(&own->row, work, (const float *const *)between, channels,
                               values / channels, row_count, out);
    else
        gc_vectors_sum(stage, &own->vectors.row, (const float *const *)between, values, row_count,
                       out);
}

static const char *describe(const gc_stage *stage)
{
    const own_lines *own = stage->own;
    if (own->column.length == 0)
        return "a column, and transforms of rows";
    return own->row.length == 0 ? "transforms of columns, and a row"
                                : "transforms of columns and of rows";
}

const gc_solver gc_solver_lines = {
    .name = "vectors",
    .applies = applies,
    .seconds = seconds,
    .own_bytes = sizeof(own_lines),
    .create = create,
    .run = run,
    .describe = describe,
    .release = release,
    .extra_terms = extra_terms,
    .tiled = true,
};
