#include "cpu/passes.h"

#include "core/memory.h"
#include "core/separate.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measured on the machine of docs/performance-cpu.md: samples become chain values and these become
 * output; a pass writes each value and extends rows; a
 * single filter row gives a loaded vector only one multiply-add; so does a sparse filter. */
static const double conversion_seconds = 0.5e-9;
static const double pass_seconds = 0.10e-9;
static const double flat_factor = 1.8;
static const double sparse_factor = 2.5;

/* What is chosen for a step, before anything is made of it. */
typedef struct choice {
    gc_method method;
    bool separates;
    int side;       /* of tiles */
    double seconds; /* a value */
    float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
} choice;

static double sweep_seconds(const gc_instructions *instructions, int width, int height)
{
    double taps = (double)width * height * (height == 1 ? flat_factor : 1);
    return pass_seconds + taps * instructions->tap_seconds;
}

static double sparse_seconds(const gc_instructions *instructions, const gc_step *step)
{
    int taps = 0;
    for (int i = 0; i < step->width * step->height; i++)
        taps += step->taps[i] != 0;
    return pass_seconds + taps * sparse_factor * instructions->tap_seconds;
}

/* A transform has log2(side * side) stages, there and back, on two tiles at once. From 256 on tile
 * and spectrum leave the second-level cache, by factors that were measured. */
static double tiles_seconds(const gc_instructions *instructions, const gc_problem *problem,
                            const gc_step *step, int side)
{
    double values = (double)problem->width * problem->height * problem->channels;
    double transforms =
        gc_tiles_transforms(step, side, problem->width, problem->height, problem->channels);
    double work = transforms * side * side * 2 * log2(side);
    double cache_factor = side <= 128 ? 1 : side == 256 ? 1.7 : 3.2;
    return pass_seconds + work / values * instructions->transform_seconds * cache_factor;
}

/* Rounding of transforms is never exact. */
static void try_tiles(const gc_instructions *instructions, const gc_problem *problem,
                      const gc_step *step, choice *best)
{
    int larger = step->width > step->height ? step->width : step->height;
    for (int side = GC_TRANSFORM_SIDE_MIN; side <= GC_TRANSFORM_SIDE_MAX; side *= 2) {
        if (problem->exact || side < 2 * GC_SWEEP_ROWS + larger)
            continue;
        double seconds = tiles_seconds(instructions, problem, step, side);
        if (seconds < best->seconds) {
            best->method = GC_METHOD_TILES;
            best->side = side;
            best->seconds = seconds;
        }
    }
}

static void choose(const gc_instructions *instructions, const gc_problem *problem,
                   const gc_step *step, choice *best)
{
    best->method = GC_METHOD_SWEEP;
    best->separates = false;
    best->seconds = sweep_seconds(instructions, step->width, step->height);
    double seconds = sparse_seconds(instructions, step);
    if (seconds < best->seconds) {
        best->method = GC_METHOD_SPARSE;
        best->seconds = seconds;
    }
    try_tiles(instructions, problem, step, best);
    seconds =
        sweep_seconds(instructions, step->width, 1) + sweep_seconds(instructions, 1, step->height);
    if (seconds < best->seconds && gc_step_separate(step, best->row, best->column)) {
        best->method = GC_METHOD_SWEEP;
        best->separates = true;
        best->seconds = seconds;
    }
}

double gc_passes_estimate(const gc_problem *problem)
{
    if (gc_edges_apply(problem))
        return GC_EDGES_SECONDS;
    double seconds = conversion_seconds;
    for (int s = 0; s < problem->step_count; s++) {
        choice best;
        choose(gc_instructions_chosen(), problem, &problem->steps[s], &best);
        seconds += best.seconds;
    }
    return seconds;
}

double gc_passes_extra_terms(const gc_problem *problem)
{
    double terms = 0;
    for (int s = 0; s < problem->step_count; s++) {
        choice best;
        choose(gc_instructions_chosen(), problem, &problem->steps[s], &best);
        if (best.method == GC_METHOD_TILES)
            terms = fmax(terms, 32 * 2 * log2(best.side));
    }
    return terms;
}

/* A pass with the geometry of `step` but other taps, by a method that takes them as they are. */
static gconv_status add_pass(gc_passes *passes, const gc_step *step, const float *taps,
                             gc_method method, gconv_error *error)
{
    gc_pass *pass = &passes->list[passes->count];
    size_t count = (size_t)step->width * (size_t)step->height;
    pass->step = *step;
    pass->step.taps = gc_allocate_aligned(count, sizeof *taps);
    if (pass->step.taps == NULL)
        return gc_fail_memory(error, count * sizeof *taps);
    memcpy(pass->step.taps, taps, count * sizeof *taps);
    pass->method = method;
    pass->rows_at_once = GC_SWEEP_ROWS;
    if (passes->rows_at_once < pass->rows_at_once)
        passes->rows_at_once = pass->rows_at_once;
    passes->count++;
    return GCONV_OK;
}

/* The row pass, then the column pass on its results: above and below the image these are what the
 * row makes of a constant border. */
static gconv_status add_separated(gc_passes *passes, const gc_step *step, const choice *best,
                                  gconv_error *error)
{
    gc_step row = *step, column = *step;
    row.height = 1;
    row.top = 0;
    column.width = 1;
    column.left = 0;
    double sum = 0;
    for (int i = 0; i < step->width; i++)
        sum += (double)best->row[i];
    for (int c = 0; c < GC_CHANNELS_MAX; c++)
        column.border[c] = (float)(sum * (double)step->border[c]);
    gconv_status status = add_pass(passes, &row, best->row, GC_METHOD_SWEEP, error);
    if (status == GCONV_OK)
        status = add_pass(passes, &column, best->column, GC_METHOD_SWEEP, error);
    return status;
}

static gconv_status add_tiles(gc_passes *passes, const gc_step *step, int side, gconv_error *error)
{
    gconv_status status = add_pass(passes, step, step->taps, GC_METHOD_TILES, error);
    if (status != GCONV_OK)
        return status;
    gc_pass *pass = &passes->list[passes->count - 1];
    pass->rows_at_once = side - step->height + 1;
    if (passes->rows_at_once < pass->rows_at_once)
        passes->rows_at_once = pass->rows_at_once;
    if (passes->scratch < gc_tiles_scratch(side))
        passes->scratch = gc_tiles_scratch(side);
    return gc_tiles_create(&pass->tiles, passes->instructions->transform, side, step, error);
}

gconv_status gc_passes_create(gc_passes *passes, const gc_problem *problem, gconv_error *error)
{
    size_t most = 2 * (size_t)problem->step_count;
    *passes =
        (gc_passes){.instructions = gc_instructions_chosen(), .fused = gc_edges_apply(problem)};
    passes->list = calloc(most, sizeof *passes->list);
    if (passes->list == NULL)
        return gc_fail_memory(error, most * sizeof *passes->list);
    gconv_status status = GCONV_OK;
    for (int s = 0; status == GCONV_OK && s < problem->step_count; s++) {
        const gc_step *step = &problem->steps[s];
        choice best;
        choose(passes->instructions, problem, step, &best);
        if (best.separates)
            status = add_separated(passes, step, &best, error);
        else if (best.method == GC_METHOD_TILES)
            status = add_tiles(passes, step, best.side, error);
        else
            status = add_pass(passes, step, step->taps, best.method, error);
    }
    if (status != GCONV_OK)
        gc_passes_destroy(passes);
    return status;
}

void gc_passes_destroy(gc_passes *passes)
{
    for (int p = 0; p < passes->count; p++) {
        gc_tiles_destroy(&passes->list[p].tiles);
        free(passes->list[p].step.taps);
    }
    free(passes->list);
    *passes = (gc_passes){.list = NULL};
}

void gc_passes_describe(const gc_passes *passes, char *text, size_t size)
{
    static const char *const words[] = {"every tap", "taps that are not 0", "transforms of tiles"};
    size_t used = 0;
    if (passes->fused)
        used = (size_t)snprintf(text, size, "cpu: edges in one pass of 16-bit integers, %s\n",
                                passes->instructions->name);
    for (int p = 0; p < passes->count && !passes->fused && used < size; p++) {
        const gc_pass *pass = &passes->list[p];
        int length = snprintf(text + used, size - used, "cpu: %dx%d by %s, %s\n", pass->step.width,
                              pass->step.height, words[pass->method], passes->instructions->name);
        used += length > 0 ? (size_t)length : 0;
    }
}
