#include "cpu/stages.h"

#include "base/memory.h"
#include "base/status.h"
#include "core/range.h"
#include "cpu/pipeline/division.h"
#include "cpu/pipeline/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measured on the machine of docs/performance/cpu.md: samples become chain values and these become
 * output; a pass writes each value and extends rows; a single filter row gives a loaded vector only one
 * multiply-add; so does a sparse filter. */
static const double conversion_seconds = 0.5e-9;
static const double pass_seconds = 0.10e-9;
static const double flat_factor = 1.8;
static const double sparse_factor = 2.5;

/* What is chosen for a step, before anything is made of it. */
typedef struct choice {
    gc_method method;
    int side;       /* of tiles */
    double seconds; /* a value */
    gc_products products;
} choice;

static double sweep_seconds(const gc_instructions *instructions, int width, int height)
{
    double taps = (double)width * height * (height == 1 ? flat_factor : 1);
    return pass_seconds + taps * instructions->tap_seconds;
}

/* A filter of one row or column has nothing to separate. */
static double products_seconds(const gc_instructions *instructions, const gc_step *step, int count)
{
    if (step->width == 1 || step->height == 1)
        return HUGE_VAL;
    return sweep_seconds(instructions, step->width * count, 1) +
           sweep_seconds(instructions, 1, step->height) * count;
}

static double sparse_seconds(const gc_instructions *instructions, const gc_step *step)
{
    int taps = 0;
    for (int i = 0; i < step->width * step->height; i++)
        taps += step->taps[i] != 0;
    return pass_seconds + taps * sparse_factor * instructions->tap_seconds;
}

/* What tile and spectrum cost beyond a second-level cache of 1 MiB, measured. */
static double cache_factor(const gc_transforms *transforms, int side)
{
    size_t bytes = gc_tiles_bytes(transforms->kernel, side);
    return bytes < 1 << 20 ? 1 : bytes < 1 << 21 ? 1.7 : 3.2;
}

/* A transform has log2(side * side) stages, there and back, on two tiles at once. */
static double tiles_seconds(const gc_transforms *transforms, const gc_problem *problem,
                            const gc_step *step, int side)
{
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    double count = gc_tiles_transforms(step, side, problem->chain.width, problem->chain.height,
                                       problem->chain.channels);
    double work = count * side * side * 2 * log2(side);
    return pass_seconds + work / values * transforms->seconds * cache_factor(transforms, side);
}

/* Those that serve a chain. */
static const gc_transforms *transforms_for(const gc_instructions *instructions,
                                           const gc_problem *problem)
{
    return problem->chain.exact ? &instructions->exact_transforms : &instructions->transforms;
}

/* How much longer a filter may take to stay within the memory that a division wants. */
static const double worth_of_memory = 1.6;

static void try_tiles(const gc_instructions *instructions, const gc_problem *problem,
                      const gc_step *step, choice *best)
{
    const gc_transforms *transforms = transforms_for(instructions, problem);
    int larger = step->width > step->height ? step->width : step->height;
    for (int side = GC_TRANSFORM_SIDE_MIN; side <= GC_TRANSFORM_SIDE_MAX; side *= 2) {
        if (side < 2 * GC_SWEEP_ROWS + larger)
            continue;
        if (problem->chain.exact ? gc_transform_error(2 * log2(side)) >= 0.5
                                 : !gc_range_holds_tiles(step, (double)side * side))
            continue;
        double seconds = tiles_seconds(transforms, problem, step, side);
        /* A row of tiles is computed at once: of wide images in small ones, unless that costs more than
         * the memory is worth. */
        bool is_too_much =
            best->method == GC_METHOD_TILES && !gc_division_holds(problem, side - step->height + 1);
        if (seconds * (is_too_much ? worth_of_memory : 1) < best->seconds) {
            best->method = GC_METHOD_TILES;
            best->side = side;
            best->seconds = seconds;
        }
    }
}

static void try_bytes(const gc_instructions *instructions, const gc_problem *problem,
                      const gc_step *step, choice *best)
{
    if (instructions->bytes == NULL || step != problem->chain.steps || !gc_bytes_apply(problem))
        return;
    double groups = (double)gc_bytes_width(step, problem->chain.channels) * step->height;
    double seconds = pass_seconds + groups * instructions->tap_seconds;
    if (seconds < best->seconds) {
        best->method = GC_METHOD_BYTES;
        best->seconds = seconds;
    }
}

static void try_products(const gc_instructions *instructions, const gc_problem *problem,
                         const gc_step *step, choice *best)
{
    int most = 0;
    while (most < GC_PRODUCTS_MAX && products_seconds(instructions, step, most + 1) < best->seconds)
        most++;
    if (most > 0 && gc_step_products(step, problem->chain.exact, most, &best->products)) {
        best->method = GC_METHOD_PRODUCTS;
        best->seconds = products_seconds(instructions, step, best->products.count);
    }
}

static void choose(const gc_instructions *instructions, const gc_problem *problem,
                   const gc_step *step, choice *best)
{
    best->method = GC_METHOD_SWEEP;
    best->seconds = sweep_seconds(instructions, step->width, step->height);
    double seconds = sparse_seconds(instructions, step);
    if (seconds < best->seconds) {
        best->method = GC_METHOD_SPARSE;
        best->seconds = seconds;
    }
    try_bytes(instructions, problem, step, best);
    try_tiles(instructions, problem, step, best);
    try_products(instructions, problem, step, best);
}

double gc_passes_estimate(const gc_problem *problem)
{
    if (gc_edges_apply(problem))
        return GC_EDGES_SECONDS;
    double seconds = conversion_seconds;
    for (int s = 0; s < problem->chain.step_count; s++) {
        choice best;
        choose(gc_instructions_chosen(), problem, &problem->chain.steps[s], &best);
        seconds += best.seconds;
    }
    return seconds;
}

double gc_passes_extra_terms(const gc_problem *problem)
{
    double terms = 0;
    for (int s = 0; s < problem->chain.step_count; s++) {
        choice best;
        choose(gc_instructions_chosen(), problem, &problem->chain.steps[s], &best);
        if (best.method == GC_METHOD_TILES)
            terms = fmax(terms, 32 * 2 * log2(best.side));
    }
    return terms;
}

/* Counts the pass at the end of the list. */
static void finish_pass(gc_passes *passes, int rows_at_once)
{
    passes->list[passes->count].rows_at_once = rows_at_once;
    if (passes->rows_at_once < rows_at_once)
        passes->rows_at_once = rows_at_once;
    passes->count++;
}

static gconv_status add_pass(gc_passes *passes, const gc_step *step, gc_method method,
                             gconv_error *error)
{
    gc_pass *pass = &passes->list[passes->count];
    size_t count = (size_t)step->width * (size_t)step->height;
    *pass = (gc_pass){.step = *step, .method = method};
    pass->step.taps = gc_allocate_aligned(count, sizeof *step->taps);
    if (pass->step.taps == NULL)
        return gc_fail_memory(error, count * sizeof *step->taps);
    memcpy(pass->step.taps, step->taps, count * sizeof *step->taps);
    finish_pass(passes, GC_SWEEP_ROWS);
    return GCONV_OK;
}

static void need_scratch(gc_passes *passes, size_t values)
{
    if (passes->scratch < values)
        passes->scratch = values;
}

size_t gc_pass_between(const gc_pass *pass, int channels)
{
    const size_t align = GC_ALIGNMENT / sizeof(float);
    size_t reach = (size_t)(pass->step.width - 1) * (size_t)channels;
    return (GC_PIECE_VALUES + reach + 2 * GC_WINDOW_SLACK + align - 1) / align * align;
}

/* Columns and rows of the products on the pass's own taps, which hold all of them. */
static void set_products(gc_pass *pass, const gc_products *products)
{
    size_t width = (size_t)pass->step.width, height = (size_t)pass->step.height;
    float *taps = pass->step.taps;
    pass->rows = pass->step;
    pass->rows.height = products->count;
    for (int p = 0; p < products->count; p++, taps += width)
        memcpy(taps, products->row[p], width * sizeof *taps);
    for (int p = 0; p < products->count; p++, taps += height) {
        pass->columns[p] = pass->step;
        pass->columns[p].width = 1;
        pass->columns[p].taps = taps;
        memcpy(taps, products->column[p], height * sizeof *taps);
    }
}

/* The step's own taps give way to those of its factors. */
static gconv_status add_products(gc_passes *passes, const gc_problem *problem, const gc_step *step,
                                 const gc_products *products, gconv_error *error)
{
    gc_pass *pass = &passes->list[passes->count];
    size_t count = (size_t)products->count;
    size_t taps = count * (size_t)(step->width + step->height);
    *pass = (gc_pass){.step = *step, .method = GC_METHOD_PRODUCTS};
    pass->step.taps = gc_allocate_aligned(taps, sizeof *pass->step.taps);
    if (pass->step.taps == NULL)
        return gc_fail_memory(error, taps * sizeof *pass->step.taps);
    set_products(pass, products);
    finish_pass(passes, GC_SWEEP_ROWS);
    need_scratch(passes, count * GC_SWEEP_ROWS * gc_pass_between(pass, problem->chain.channels));
    return GCONV_OK;
}

static gconv_status add_tiles(gc_passes *passes, const gc_problem *problem, const gc_step *step,
                              int side, gconv_error *error)
{
    const gc_transform_kernel *kernel = transforms_for(passes->instructions, problem)->kernel;
    gc_pass *pass = &passes->list[passes->count];
    *pass = (gc_pass){.step = *step, .method = GC_METHOD_TILES};
    pass->step.taps = NULL;
    gconv_status status = gc_tiles_create(&pass->tiles, kernel, side, step, error);
    if (status != GCONV_OK)
        return status;
    finish_pass(passes, side - step->height + 1);
    need_scratch(passes, gc_tiles_scratch(kernel, side));
    return GCONV_OK;
}

static gconv_status add_bytes(gc_passes *passes, const gc_problem *problem, const gc_step *step,
                              gconv_error *error)
{
    gc_pass *pass = &passes->list[passes->count];
    *pass = (gc_pass){.step = *step, .method = GC_METHOD_BYTES};
    pass->step.taps = NULL;
    gconv_status status = gc_byte_step_create(&pass->bytes, step, problem->chain.channels, error);
    if (status == GCONV_OK)
        finish_pass(passes, GC_SWEEP_ROWS);
    return status;
}

gconv_status gc_passes_create(gc_passes *passes, const gc_problem *problem, gconv_error *error)
{
    size_t most = (size_t)problem->chain.step_count;
    *passes =
        (gc_passes){.instructions = gc_instructions_chosen(), .fused = gc_edges_apply(problem)};
    passes->list = calloc(most, sizeof *passes->list);
    if (passes->list == NULL)
        return gc_fail_memory(error, most * sizeof *passes->list);
    gconv_status status = GCONV_OK;
    for (int s = 0; status == GCONV_OK && s < problem->chain.step_count; s++) {
        const gc_step *step = &problem->chain.steps[s];
        choice best;
        choose(passes->instructions, problem, step, &best);
        if (best.method == GC_METHOD_PRODUCTS)
            status = add_products(passes, problem, step, &best.products, error);
        else if (best.method == GC_METHOD_TILES)
            status = add_tiles(passes, problem, step, best.side, error);
        else if (best.method == GC_METHOD_BYTES)
            status = add_bytes(passes, problem, step, error);
        else
            status = add_pass(passes, step, best.method, error);
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
        free(passes->list[p].bytes.taps);
    }
    free(passes->list);
    *passes = (gc_passes){.list = NULL};
}

static const char *method_words(const gc_passes *passes, const gc_pass *pass)
{
    static const char *const words[] = {[GC_METHOD_SWEEP] = "every tap",
                                        [GC_METHOD_SPARSE] = "taps that are not 0",
                                        [GC_METHOD_TILES] = "transforms of tiles",
                                        [GC_METHOD_BYTES] = "every tap in integers"};
    static const char *const sums[] = {"a column and a row", "a sum of 2 separable filters",
                                       "a sum of 3 separable filters"};
    if (pass->method == GC_METHOD_PRODUCTS)
        return sums[pass->rows.height - 1];
    bool rounded = pass->method == GC_METHOD_TILES &&
                   pass->tiles.kernel == passes->instructions->exact_transforms.kernel;
    return rounded ? "transforms of tiles in double, rounded" : words[pass->method];
}

void gc_passes_describe(const gc_passes *passes, char *text, size_t size)
{
    size_t used = 0;
    if (passes->fused)
        used = (size_t)snprintf(text, size, "cpu: edges in one pass of 16-bit integers, %s\n",
                                passes->instructions->name);
    for (int p = 0; p < passes->count && !passes->fused && used < size; p++) {
        const gc_pass *pass = &passes->list[p];
        int length =
            snprintf(text + used, size - used, "cpu: %dx%d by %s, %s\n", pass->step.width,
                     pass->step.height, method_words(passes, pass), passes->instructions->name);
        used += length > 0 ? (size_t)length : 0;
    }
}
