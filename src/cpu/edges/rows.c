#include "cpu/edges/rows.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "cpu/edges/loops.h"

#include <stdlib.h>

/* Values before column 0, which is aligned; rows that are computed together. */
enum { LEAD = GC_ALIGNMENT / sizeof(int32_t), ROWS = GC_AREA_ROWS };

static int32_t *place_of(const gc_value_rows *rows, int64_t index)
{
    return rows->memory + (size_t)index * rows->pitch + LEAD;
}

gconv_status gc_value_rows_create(gc_value_rows *rows, const gc_problem *problem,
                                  gconv_error *error)
{
    const gc_detector *detector = &problem->detector;
    *rows = (gc_value_rows){.problem = problem, .capacity = ROWS + detector->stencil.height};
    rows->pitch = (problem->chain.width + 2 * LEAD + GC_DETECTOR_SLACK + LEAD - 1) / LEAD * LEAD;
    size_t bytes = rows->pitch * sizeof *rows->memory, count = (size_t)rows->capacity + 1;
    rows->memory = gc_allocate_aligned(count, bytes);
    if (problem->chain.exact)
        rows->whole = gc_allocate_aligned(ROWS, bytes);
    if (rows->memory == NULL || (problem->chain.exact && rows->whole == NULL))
        return gc_fail_memory(error, (count + ROWS) * bytes);
    for (size_t i = 0; i < count * rows->pitch; i++)
        rows->memory[i] = detector->border;
    return problem->chain.exact ? GCONV_OK
                                : gc_settler_create(&rows->sums, problem,
                                                    gc_instructions_chosen()->taps, NULL, error);
}

void gc_value_rows_destroy(gc_value_rows *rows)
{
    gc_settler_destroy(&rows->sums);
    free(rows->whole);
    free(rows->memory);
}

void gc_value_rows_begin(gc_value_rows *rows, const gc_pass_job *job)
{
    rows->job = job;
    rows->sums.input = &job->input;
    rows->ready = job->area.top;
    rows->last = job->area.bottom - 1;
    gc_detector_range(&rows->problem->chain, &rows->problem->detector, &rows->ready, &rows->last);
}

static int32_t *row_at(const gc_value_rows *rows, int64_t y)
{
    int64_t index = y % rows->capacity;
    return place_of(rows, index < 0 ? index + rows->capacity : index);
}

/* Sets the columns beside the image. Beside a zero crossing values are those of the border, 0. */
static void extend(const gc_value_rows *rows, int32_t *row)
{
    const gc_detector *detector = &rows->problem->detector;
    gconv_border border = detector->side == 1 ? GCONV_BORDER_CONSTANT : rows->problem->chain.border;
    int64_t width = rows->problem->chain.width, around = detector->stencil.left;
    for (int64_t i = 0; i < 2 * around; i++) {
        int64_t to = i < around ? i - around : width + i - around;
        int64_t from = gc_border_index(border, to, width);
        row[to] = from < 0 ? detector->border : row[from];
    }
}

/* Values of rows [top, bottom), which double holds. */
static void sum_rows(gc_value_rows *rows, int64_t top, int64_t bottom)
{
    gc_settler *sums = &rows->sums;
    int64_t width = rows->problem->chain.width;
    gc_area area = {top, bottom, 0, 0};
    for (; area.first < width; area.first = area.end) {
        area.end = gc_smaller(area.first + sums->columns_at_once, width);
        gc_settler_sum(sums, area);
        for (int64_t y = top; y < bottom; y++)
            gc_instructions_chosen()->detector->values(
                sums->plane + (size_t)(y - top) * sums->stride, (size_t)(area.end - area.first),
                rows->problem->detector.shift, row_at(rows, y) + area.first);
    }
}

/* Computes the rows that come next. */
static void compute(gc_value_rows *rows)
{
    const gc_chain *chain = &rows->problem->chain;
    int64_t top = rows->ready, bottom = gc_smaller(top + ROWS, rows->last + 1);
    const gc_area area = {top, bottom, 0, chain->width};
    if (chain->exact)
        rows->job->chain(rows->job->workspace, &rows->job->input, area, rows->whole,
                         rows->pitch * sizeof *rows->whole);
    else
        sum_rows(rows, top, bottom);
    for (int64_t y = top; y < bottom; y++) {
        if (chain->exact)
            gc_instructions_chosen()->detector->whole(rows->whole + (size_t)(y - top) * rows->pitch,
                                                      chain->width, row_at(rows, y));
        extend(rows, row_at(rows, y));
    }
    rows->ready = bottom;
}

/* Under wrap rows keep their numbers: those of both ends of the image lie side by side then. */
const int32_t *gc_value_row(gc_value_rows *rows, int64_t y)
{
    const gc_chain *chain = &rows->problem->chain;
    if (chain->border != GCONV_BORDER_WRAP)
        y = gc_border_index(chain->border, y, chain->height);
    if (chain->border != GCONV_BORDER_WRAP && y < 0)
        return place_of(rows, rows->capacity);
    while (rows->ready <= y)
        compute(rows);
    return row_at(rows, y);
}
