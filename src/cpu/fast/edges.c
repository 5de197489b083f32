/* The edges of 8-bit images in one pass: the chain gauss5, laplace3 and the threshold, in 16-bit
 * integers. It goes from samples to flags.
 *
 * The Laplacian is a second difference across plus one down, and each commutes with the Gaussian:
 *
 *     response = (2 0 -1 -2 -1 0 2) across of (2 4 5 4 2) down
 *              + (2 4 5 4 2) across of (2 0 -1 -2 -1 0 2) down
 *
 * On 8-bit samples each of the four terms is at most 17340 in magnitude, so the response is within
 * 34680. So 16-bit integers tell |response| > t for t below 65536 - 34680.
 *
 * Exchanging the filters is allowed if filters and border commute. Under mirror, mirror101 and wrap
 * they do: extending an image that was filtered symmetrically gives the filtered extension. Under
 * replicate and constant they do not. */
#include "base/memory.h"
#include "base/status.h"
#include "core/border.h"
#include "cpu/cost.h"
#include "cpu/fast/loops/loops.h"
#include "cpu/instructions/instructions.h"
#include "cpu/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 3, THRESHOLD_MAX = 65536 - 34680 - 1 };

/* Values before column 0, so that it is aligned. */
enum { LEAD = GC_ALIGNMENT / sizeof(uint16_t) };

/* Rows of one thread. */
typedef struct edges {
    const gc_problem *problem;
    const gc_edges_loops *loops;
    uint16_t *smooth, *curve; /* at column 0 */
    uint8_t *flags;
    void *memory; /* that holds them */
} edges;

static bool has_taps(const gc_step *step, int side, const float *taps)
{
    return step->taps != NULL && step->width == side && step->height == side &&
           step->left == side / 2 && step->top == side / 2 &&
           memcmp(step->taps, taps, (size_t)(side * side) * sizeof *taps) == 0;
}

/* Whether the problem is that chain, under a border that allows the filters to be exchanged. */
static bool applies(const gc_problem *problem)
{
    static const float laplace[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    static const float gauss[] = {4,  8,  10, 8,  4,  8,  16, 20, 16, 8,  10, 20, 25,
                                  20, 10, 8,  16, 20, 16, 8,  4,  8,  10, 8,  4};
    const gc_chain *chain = &problem->chain;
    const gc_conversion *conversion = &problem->conversion;
    return conversion->finds_edges && conversion->input.depth == 8 && chain->channels == 1 &&
           (conversion->output.depth == 1 || conversion->output.depth == 8) &&
           conversion->rule == GCONV_RULE_ABS && conversion->threshold >= 0 &&
           conversion->threshold < THRESHOLD_MAX && chain->border != GCONV_BORDER_REPLICATE &&
           chain->border != GCONV_BORDER_CONSTANT && chain->step_count == 2 &&
           has_taps(&chain->steps[0], 5, gauss) && has_taps(&chain->steps[1], 3, laplace);
}

static double seconds(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    return applies(problem) ? (double)chain->width * chain->height * GC_EDGES_SECONDS +
                                  chain->height * GC_EDGES_ROW_SECONDS
                            : HUGE_VAL;
}

static gconv_status open_edges(const void *shared, void **own, gconv_error *error)
{
    const gc_problem *problem = shared;
    size_t row = ((size_t)problem->chain.width + REACH + LEAD - 1) / LEAD * LEAD + LEAD;
    size_t bytes = 2 * row * sizeof(uint16_t) + row + LEAD;
    edges *e = *own = calloc(1, sizeof *e);
    GC_TRY_MEMORY(e != NULL, error, sizeof *e);
    *e = (edges){.problem = problem,
                 .loops = gc_instructions_chosen()->edges,
                 .memory = gc_allocate_aligned(bytes, 1)};
    GC_TRY_MEMORY(e->memory != NULL, error, bytes);
    e->smooth = (uint16_t *)e->memory + LEAD;
    e->curve = e->smooth + row;
    e->flags = (uint8_t *)((uint16_t *)e->memory + 2 * row);
    return GCONV_OK;
}

static void close_edges(void *own)
{
    edges *e = own;
    free(e->memory);
    free(e);
}

static void extend(const gc_problem *problem, uint16_t *row)
{
    int64_t width = problem->chain.width;
    for (int64_t i = 0; i < REACH; i++) {
        row[-1 - i] = row[gc_border_index(problem->chain.border, -1 - i, width)];
        row[width + i] = row[gc_border_index(problem->chain.border, width + i, width)];
    }
}

/* An output row, from the rows of samples REACH above it to REACH below it. */
static void find_row(const edges *e, const uint8_t *const rows[2 * REACH + 1], char *output)
{
    const gc_conversion *conversion = &e->problem->conversion;
    size_t width = e->problem->chain.width;
    e->loops->columns(rows, width, e->smooth, e->curve);
    extend(e->problem, e->smooth);
    extend(e->problem, e->curve);
    e->loops->find(e->smooth, e->curve, width, (uint16_t)floor(conversion->threshold),
                   conversion->invert, e->flags);
    gc_store_flags(conversion, e->flags, 0, width, output);
}

static bool run(void *own, const gc_pass_job *job)
{
    const edges *e = own;
    const gc_chain *chain = &e->problem->chain;
    for (int64_t y = job->area.top; y < job->area.bottom && !job->chain_only; y++) {
        const uint8_t *rows[2 * REACH + 1];
        for (int j = 0; j < 2 * REACH + 1; j++) {
            int64_t from = gc_border_index(chain->border, y + j - REACH, chain->height);
            rows[j] = (const uint8_t *)gc_sample_row(&job->input, from);
        }
        find_row(e, rows, job->output + (size_t)(y - job->area.top) * job->stride);
    }
    return !job->chain_only;
}

const gc_pass gc_pass_edges = {
    .seconds = seconds,
    .open = open_edges,
    .close = close_edges,
    .run = run,
    .words = "edges in one pass of 16-bit integers",
};
