/* The Laplacian is a second difference across plus one down, and each commutes with the Gaussian:
 *
 *     response = (2 0 -1 -2 -1 0 2) across of (2 4 5 4 2) down
 *              + (2 4 5 4 2) across of (2 0 -1 -2 -1 0 2) down
 *
 * On 8-bit samples each of the four terms is at most 17340 in magnitude, so the response is within
 * 34680. So 16-bit integers tell |response| > t for t below 65536 - 34680.
 *
 * Exchanging the filters is allowed where filters and border commute. Under mirror, mirror101 and
 * wrap they do: extending an image that was filtered symmetrically gives the filtered extension.
 * Under replicate and constant they do not. */
#include "cpu/fast/edges.h"
#include "cpu/solver/solver.h"

#include "base/bits.h"
#include "base/memory.h"
#include "base/status.h"
#include "core/border.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 3, THRESHOLD_MAX = 65536 - 34680 - 1 };

/* Values before column 0, so that it is aligned. */
enum { LEAD = GC_ALIGNMENT / sizeof(uint16_t) };

static bool has_taps(const gc_step *step, int side, const float *taps)
{
    return step->taps != NULL && step->width == side && step->height == side &&
           step->left == side / 2 && step->top == side / 2 &&
           memcmp(step->taps, taps, (size_t)(side * side) * sizeof *taps) == 0;
}

bool gc_edges_applies(const gc_problem *problem)
{
    if (gc_solver_wanted(problem) != NULL)
        return false;
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

gconv_status gc_edges_create(gc_edges *edges, const gc_problem *problem, gconv_error *error)
{
    size_t row = ((size_t)problem->chain.width + REACH + LEAD - 1) / LEAD * LEAD + LEAD;
    size_t bytes = 2 * row * sizeof(uint16_t) + row + LEAD;
    *edges = (gc_edges){.memory = gc_allocate_aligned(bytes, 1)};
    if (edges->memory == NULL)
        return gc_fail_memory(error, bytes);
    edges->smooth = (uint16_t *)edges->memory + LEAD;
    edges->curve = edges->smooth + row;
    edges->flags = (uint8_t *)((uint16_t *)edges->memory + 2 * row);
    return GCONV_OK;
}

void gc_edges_release(gc_edges *edges)
{
    free(edges->memory);
    *edges = (gc_edges){.memory = NULL};
}

static void extend(const gc_problem *problem, uint16_t *row)
{
    int64_t width = problem->chain.width;
    for (int64_t i = 0; i < REACH; i++) {
        row[-1 - i] = row[gc_border_index(problem->chain.border, -1 - i, width)];
        row[width + i] = row[gc_border_index(problem->chain.border, width + i, width)];
    }
}

void gc_edges_run(const gc_edges *edges, const gc_edges_loops *loops, const gc_problem *problem,
                  const uint8_t *const rows[7], char *output)
{
    size_t width = problem->chain.width;
    loops->columns(rows, width, edges->smooth, edges->curve);
    extend(problem, edges->smooth);
    extend(problem, edges->curve);
    loops->find(edges->smooth, edges->curve, width, (uint16_t)floor(problem->conversion.threshold),
                problem->conversion.invert, edges->flags);
    if (problem->conversion.output.depth == 1)
        gc_pack_bits(edges->flags, width, (uint8_t *)output);
    else
        for (size_t x = 0; x < width; x++)
            output[x] = (char)-edges->flags[x];
}

const char *gc_edges_describe(void)
{
    return "edges in one pass of 16-bit integers";
}
