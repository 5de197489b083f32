/* twopass:tiled: filters of rank 1 with tilings of their own for rows and columns.
 *
 * Idea: filters of one row or one column take little shared memory, so that factors up to 20 fit.
 *   Rows are convolved with 1xT tiling, columns with Tx1 tiling, both with all loops unrolled (van
 *   Werkhoven et al. 2014, section 5 and figure 13). Without --block and --tile, blocks and factors
 *   are those of table 1 there, which a search on a GTX 680 found. --block and --tile are of both
 *   passes.
 * Improves on: twopass, whose loops run at run time.
 * Needs: NVRTC; (F_w - 1 + T * B_w) * B_h and B_w * (F_h - 1 + T * B_h) floats of shared memory; a
 *   plane of the device's memory for the values between the passes.
 * Limits: those of twopass.
 * Loses: to separable, which crosses memory once. */
#include "gpu/methods/ladder/compiled_tile.cuh"
#include "gpu/methods/ladder/twopass.cuh"

#include <algorithm>
#include <cstdio>

enum { FACTOR_MAX = 20 };

/* Table 1: one line for each odd number of weights from 3 to 43. */
struct entry {
    int factor, block_width, block_height;
};
static const entry across[] = {
    {4, 32, 4}, {4, 32, 4}, {5, 32, 4}, {4, 32, 4}, {4, 32, 4}, {8, 32, 4}, {8, 32, 4},
    {8, 32, 4}, {8, 32, 4}, {8, 32, 4}, {7, 16, 8}, {7, 16, 8}, {7, 16, 8}, {7, 16, 8},
    {7, 16, 8}, {7, 16, 8}, {6, 16, 8}, {6, 16, 8}, {6, 16, 8}, {8, 16, 8}, {8, 16, 8},
};
static const entry down[] = {
    {5, 64, 4}, {4, 32, 4}, {4, 32, 4}, {3, 32, 4}, {4, 32, 4}, {3, 32, 4}, {6, 32, 8},
    {6, 32, 8}, {7, 32, 8}, {7, 32, 8}, {6, 32, 8}, {5, 32, 8}, {6, 32, 8}, {6, 32, 8},
    {8, 32, 8}, {4, 32, 8}, {5, 32, 8}, {5, 32, 8}, {7, 32, 8}, {8, 16, 8}, {6, 16, 8},
};
enum { ENTRIES = sizeof across / sizeof across[0] };
static_assert(ENTRIES == sizeof down / sizeof down[0], "both for the same lengths");

/* The line for so many weights; even numbers take the next line, numbers beyond the table its
 * ends. */
static const entry &line_for(const entry (&table)[ENTRIES], int weights)
{
    return table[std::clamp((weights - 2) / 2, 0, (int)ENTRIES - 1)];
}

static gc_tiling choose(const gc_problem *problem, const entry &line)
{
    gc_tiling tiling = {line.block_width, line.block_height, line.factor, 0, 0};
    if (problem->tiling.tile > 0)
        tiling.factor = problem->tiling.tile;
    gc_tiling_take_block(problem, &tiling);
    return tiling;
}

static gc_tiling tiling_of_rows(const gc_problem *problem, const gc_step *step)
{
    gc_tiling tiling = choose(problem, line_for(across, step->width));
    gc_tiling_measure(step->width, 1, &tiling);
    return tiling;
}

static gc_tiling tiling_of_columns(const gc_problem *problem, const gc_step *step)
{
    gc_tiling tiling = choose(problem, line_for(down, step->height));
    gc_tiling_measure_down(1, step->height, &tiling);
    return tiling;
}

static gconv_status check(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device, gconv_error *error)
{
    if (problem->tiling.tile > FACTOR_MAX)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "tiling factor %d is more than %d",
                       problem->tiling.tile, (int)FACTOR_MAX);
    gc_tiling rows = tiling_of_rows(problem, step), columns = tiling_of_columns(problem, step);
    GC_TRY(gc_jit_check(step->width, step->height, error));
    GC_TRY(gc_tiling_check(&rows, device, error));
    return gc_tiling_check(&columns, device, error);
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, void **state, gconv_error *error)
{
    gc_compiled_pair *made; /* of rows, then of columns */
    GC_TRY(gc_make(&made, state, error));
    made->first = {tiling_of_rows(problem, step), step->width, 1};
    made->second = {tiling_of_columns(problem, step), 1, step->height, GC_TILE_DOWN};
    GC_TRY(gc_compiled_create(device, GC_JIT_COMPILE, &made->first, error));
    return gc_compiled_create(device, GC_JIT_COMPILE, &made->second, error);
}

static gconv_status run(void *state, const gc_gpu_step &rows, const gc_gpu_step &columns,
                        const float *weights, cudaStream_t stream, gconv_error *error)
{
    const gc_compiled_pair *made = (const gc_compiled_pair *)state;
    gc_gpu_step first = rows, second = columns;
    first.taps = weights;
    first.filter_height = 1;
    second.taps = weights + rows.filter_width;
    second.filter_width = 1;
    GC_TRY(gc_compiled_launch(made->first, first, stream, error));
    return gc_compiled_launch(made->second, second, stream, error);
}

static void describe(const void *state, char *text, size_t size)
{
    const gc_compiled_pair *made = (const gc_compiled_pair *)state;
    const gc_tiling &rows = made->first.tiling, &columns = made->second.tiling;
    snprintf(text, size, "rows: block %dx%d, factor %d; columns: block %dx%d, factor %d",
             rows.block_width, rows.block_height, rows.factor, columns.block_width,
             columns.block_height, columns.factor);
}

static void spans(const void *state, double *row, double *column)
{
    const gc_compiled_pair *made = (const gc_compiled_pair *)state;
    *row = made->first.tiling.block_width * made->first.tiling.factor;
    *column = made->second.tiling.block_height * made->second.tiling.factor;
}

static const gc_two_passes passes = {check, prepare, gc_compiled_free_pair, run, describe, spans};
static const gc_step_method method = gc_twopass_method<passes>();

GC_OPERATIONS(gc_twopass_tiled_operations, gc_step_operations<method>());
