#include "cpu/edges/rows.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "core/separate.h"

#include <stdlib.h>
#include <string.h>

#define NO_ROW INT64_MIN

/* ---- Weights --------------------------------------------------------------------------------- */

static bool in_double(const gc_value_rows *rows)
{
    return !rows->problem->chain.exact;
}

static void set_weight(const gc_value_rows *rows, void *weights, int64_t index, double weight)
{
    if (in_double(rows))
        ((double *)weights)[index] = weight;
    else
        ((float *)weights)[index] = (float)weight;
}

/* Finds a column and a row whose product is the step. */
static bool separate(const gc_value_rows *rows, const gc_step *step, gc_row_ring *ring)
{
    float column[GCONV_FILTER_SIDE_MAX], row[GCONV_FILTER_SIDE_MAX];
    bool has_vectors = step->column != NULL;
    if (!has_vectors && !gc_step_separate(step, row, column))
        return false;
    for (int j = 0; j < step->height; j++)
        set_weight(rows, ring->column, j, has_vectors ? step->column[j] : (double)column[j]);
    for (int i = 0; i < step->width; i++)
        set_weight(rows, ring->row, i, has_vectors ? step->row[i] : (double)row[i]);
    return true;
}

static gconv_status set_weights(const gc_value_rows *rows, gc_row_ring *ring, gconv_error *error)
{
    const gc_step *step = ring->step;
    size_t count = (size_t)step->width * (size_t)step->height;
    if (step->column != NULL)
        count = (size_t)gc_larger(step->width, step->height);
    ring->terms = gc_allocate_array(count, sizeof *ring->terms);
    ring->row = gc_allocate_array(count, sizeof(double));
    ring->column = gc_allocate_array((size_t)step->height, sizeof(double));
    if (ring->terms == NULL || ring->row == NULL || ring->column == NULL)
        return gc_fail_memory(error, count * sizeof(double));
    if (separate(rows, step, ring))
        return GCONV_OK;
    free(ring->column);
    ring->column = NULL;
    int64_t used = 0;
    for (int i = 0; i < step->width * step->height; i++)
        if (step->taps[i] != 0)
            set_weight(rows, ring->row, used++, (double)step->taps[i]);
    return GCONV_OK;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* Fills a row with the border constant. */
static void fill_constant(const gc_value_rows *rows, const gc_row_ring *ring, char *to)
{
    size_t count = ring->pitch / ring->size;
    bool are_values = ring == &rows->rings[rows->count - 1];
    for (size_t i = 0; i < count; i++)
        if (are_values)
            ((int32_t *)(void *)to)[i] = (int32_t)ring->constant;
        else
            set_weight(rows, to, (int64_t)i, ring->constant);
}

static size_t lead_of(const gc_row_ring *ring)
{
    size_t bytes = (size_t)ring->left * ring->size;
    return (bytes + GC_ALIGNMENT - 1) / GC_ALIGNMENT * GC_ALIGNMENT;
}

static char *place_of(const gc_row_ring *ring, int64_t index)
{
    return ring->memory + (size_t)index * ring->pitch + lead_of(ring);
}

/* What reads the rows of ring `r`: the next step, the conversion to values, or the detector. */
static const gc_step *consumer_of(const gc_value_rows *rows, int r)
{
    static const gc_step alone = {.width = 1, .height = 1};
    const gc_chain *chain = &rows->problem->chain;
    return r < chain->step_count    ? &chain->steps[r]
           : r == chain->step_count ? &alone
                                    : &rows->problem->detector.stencil;
}

static gconv_status create_ring(gc_value_rows *rows, int r, gconv_error *error)
{
    const gc_chain *chain = &rows->problem->chain;
    const gc_step *consumer = consumer_of(rows, r);
    gc_row_ring *ring = &rows->rings[r];
    bool are_values = r > chain->step_count;
    ring->size = are_values ? sizeof(int32_t) : in_double(rows) ? sizeof(double) : sizeof(float);
    ring->step = r > 0 && !are_values ? &chain->steps[r - 1] : NULL;
    ring->constant = are_values ? rows->problem->detector.border : consumer->terms_border[0];
    ring->capacity = consumer->height;
    ring->left = consumer->left;
    ring->right = consumer->width - 1 - consumer->left;
    size_t beyond = (size_t)chain->width + (size_t)ring->right + GC_DETECTOR_SLACK;
    size_t bytes = lead_of(ring) + beyond * ring->size;
    ring->pitch = (bytes + GC_ALIGNMENT - 1) / GC_ALIGNMENT * GC_ALIGNMENT;
    ring->memory = gc_allocate_aligned((size_t)ring->capacity + 1, ring->pitch);
    ring->held = gc_allocate_array((size_t)ring->capacity, sizeof *ring->held);
    if (ring->memory == NULL || ring->held == NULL)
        return gc_fail_memory(error, (size_t)(ring->capacity + 1) * ring->pitch);
    memset(ring->memory, 0, (size_t)ring->capacity * ring->pitch);
    fill_constant(rows, ring, ring->memory + (size_t)ring->capacity * ring->pitch);
    return ring->step != NULL ? set_weights(rows, ring, error) : GCONV_OK;
}

gconv_status gc_value_rows_create(gc_value_rows *rows, const gc_problem *problem,
                                  const gc_detector_loops *loops, gconv_error *error)
{
    *rows =
        (gc_value_rows){.problem = problem, .loops = loops, .count = problem->chain.step_count + 2};
    rows->blur = in_double(rows) ? &loops->in_double : &loops->in_float;
    rows->rings = calloc((size_t)rows->count, sizeof *rows->rings);
    if (rows->rings == NULL)
        return gc_fail_memory(error, sizeof *rows->rings);
    size_t widest = 0;
    gconv_status status = GCONV_OK;
    for (int r = 0; status == GCONV_OK && r < rows->count; r++) {
        status = create_ring(rows, r, error);
        widest = rows->rings[r].pitch > widest ? rows->rings[r].pitch : widest;
    }
    rows->between = gc_allocate_aligned(2, widest);
    return status == GCONV_OK && rows->between == NULL ? gc_fail_memory(error, widest) : status;
}

void gc_value_rows_destroy(gc_value_rows *rows)
{
    for (int r = 0; rows->rings != NULL && r < rows->count; r++) {
        free(rows->rings[r].terms);
        free(rows->rings[r].column);
        free(rows->rings[r].row);
        free(rows->rings[r].memory);
        free(rows->rings[r].held);
    }
    free(rows->rings);
    free(rows->between);
}

void gc_value_rows_begin(gc_value_rows *rows, const gc_sample_rows *input)
{
    rows->input = *input;
    for (int r = 0; r < rows->count; r++)
        for (int64_t i = 0; i < rows->rings[r].capacity; i++)
            rows->rings[r].held[i] = NO_ROW;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int64_t remainder_of(int64_t index, int64_t size)
{
    int64_t rest = index % size;
    return rest < 0 ? rest + size : rest;
}

/* Sets the columns beside the image. Values beside a zero crossing are 0 there. */
static void extend(const gc_value_rows *rows, const gc_row_ring *ring, char *row)
{
    int64_t width = rows->problem->chain.width;
    bool crossing = rows->problem->detector.side == 1 && ring == &rows->rings[rows->count - 1];
    const char *constant = place_of(ring, ring->capacity);
    for (int64_t i = 0; i < ring->left + ring->right; i++) {
        int64_t to = i < ring->left ? i - ring->left : width + i - ring->left;
        int64_t from = crossing ? -1 : gc_border_index(rows->problem->chain.border, to, width);
        memcpy(row + to * (int64_t)ring->size,
               from < 0 ? constant : row + from * (int64_t)ring->size, ring->size);
    }
}

static const char *get_row(gc_value_rows *rows, int number, int64_t y);

/* Convolves rows of the ring before. */
static void compute_step(gc_value_rows *rows, int number, int64_t y, char *out)
{
    const gc_row_ring *ring = &rows->rings[number], *before = ring - 1;
    const gc_step *step = ring->step;
    int64_t size = (int64_t)ring->size, reach = ring[-1].left + ring[-1].right;
    size_t width = rows->problem->chain.width, used = 0;
    if (ring->column == NULL) {
        for (int j = 0; j < step->height; j++) {
            const char *row = get_row(rows, number - 1, y + j - step->top);
            for (int i = 0; i < step->width; i++)
                if (step->taps[j * step->width + i] != 0)
                    ring->terms[used++] = row + (i - step->left) * size;
        }
        rows->blur->sum(ring->terms, ring->row, used, width, out);
        return;
    }
    for (int j = 0; j < step->height; j++)
        ring->terms[j] = get_row(rows, number - 1, y + j - step->top) - before->left * size;
    rows->blur->sum(ring->terms, ring->column, (size_t)step->height, width + (size_t)reach,
                    rows->between);
    for (int i = 0; i < step->width; i++)
        ring->terms[i] = (char *)rows->between + i * size;
    rows->blur->sum(ring->terms, ring->row, (size_t)step->width, width, out);
}

static void compute_row(gc_value_rows *rows, int number, int64_t y, char *out)
{
    const gc_chain *chain = &rows->problem->chain;
    if (number == 0) {
        int64_t row = remainder_of(y, chain->height) % rows->input.capacity;
        rows->blur->load(rows->input.samples + (size_t)row * rows->input.stride,
                         rows->problem->conversion.input.depth, chain->width, out);
    } else if (number <= chain->step_count) {
        compute_step(rows, number, y, out);
    } else {
        rows->blur->values(get_row(rows, number - 1, y), chain->width,
                           rows->problem->detector.shift, (int32_t *)(void *)out);
    }
}

/* Column 0 of row y of a ring. Under wrap rows keep their numbers: a step may read rows from both
 * ends of the image, which lie side by side then. */
static const char *get_row(gc_value_rows *rows, int number, int64_t y)
{
    const gc_chain *chain = &rows->problem->chain;
    const gc_row_ring *ring = &rows->rings[number];
    if (chain->border != GCONV_BORDER_WRAP)
        y = gc_border_index(chain->border, y, chain->height);
    if (chain->border != GCONV_BORDER_WRAP && y < 0)
        return place_of(ring, ring->capacity);
    int64_t index = remainder_of(y, ring->capacity);
    char *row = place_of(ring, index);
    if (ring->held[index] != y) {
        compute_row(rows, number, y, row);
        extend(rows, ring, row);
        ring->held[index] = y;
    }
    return row;
}

const int32_t *gc_value_row(gc_value_rows *rows, int64_t y)
{
    return (const int32_t *)(const void *)get_row(rows, rows->count - 1, y);
}
