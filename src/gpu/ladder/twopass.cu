/* twopass: filters of rank 1 in two passes over memory.
 *
 * Idea: a filter that is a column times a row takes F_w + F_h multiply-adds a pixel. All weights
 *   take F_w * F_h (KTH 2018, sections 3.4 and 3.5.2; van Werkhoven et al. 2014, section 5). The
 *   first pass convolves rows with 1xT tiling, the second columns with Tx1 tiling: each tiles in
 *   the direction in which its aprons overlap. Rank 1 is found automatically: exactly for integer
 *   filters, within the bound of rule 4 for others.
 * Improves on: adaptive, from 9x9 on (H200).
 * Needs: (F_w - 1 + T * B_w) * B_h floats of shared memory for the rows, and B_w * (F_h - 1 + T *
 *   B_h) for the columns; a plane of the device's memory for the values between the passes.
 * Limits: some filter of the chain must have rank 1. The others are convolved as adaptive does, and
 *   have its limits.
 * Loses: to adaptive at 3x3 and 5x5, where a second pass over memory costs more than it saves; to
 *   separable, which crosses memory once, wherever that fits. */
#include "gpu/ladder/adaptive.cuh"
#include "gpu/ladder/tile.cuh"
#include "gpu/runtime/kernel.cuh"

extern "C" {
#include "core/separate.h"
#include "gpu/cost/costs.h"
}

#include <cstdio>
#include <new>

enum { ROW_FACTOR = 4, COLUMN_FACTOR = 8, ROW_BLOCK_WIDTH = 64, ROW_BLOCK_HEIGHT = 4 };
enum { COLUMN_BLOCK_WIDTH = 32, COLUMN_BLOCK_HEIGHT = 8 };

/* The first pass. Weights in constant memory: the row's, then the column's. */
static __global__ void convolve_rows(gc_gpu_step step, unsigned columns, int rows)
{
    extern __shared__ float pixels[];
    const int span = ROW_BLOCK_WIDTH * ROW_FACTOR;
    int left = (int)(blockIdx.x % columns) * span;
    int top = (int)(blockIdx.x / columns) * ROW_BLOCK_HEIGHT;
    int pitch = span + step.filter_width - 1;
    gc_load_block<false>(pixels, pitch, pitch, ROW_BLOCK_HEIGHT,
                         step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left,
                         step.input_pitch, step.width - left + step.filter_width - 1, rows - top);
    const float *row = pixels + (int)threadIdx.y * pitch + (int)threadIdx.x;
    float sums[ROW_FACTOR] = {};
    for (int i = 0; i < step.filter_width; i++)
#pragma unroll
        for (int t = 0; t < ROW_FACTOR; t++)
            sums[t] += row[i + t * ROW_BLOCK_WIDTH] * gc_filter[i];
    int y = top + (int)threadIdx.y;
    if (y >= rows)
        return;
    float *output = step.output + blockIdx.y * step.output_plane + y * step.output_pitch;
#pragma unroll
    for (int t = 0; t < ROW_FACTOR; t++) {
        int x = left + (int)threadIdx.x + t * ROW_BLOCK_WIDTH;
        if (x < step.width)
            output[x] = sums[t];
    }
}

static __global__ void convolve_columns(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    const int span = COLUMN_BLOCK_HEIGHT * COLUMN_FACTOR;
    int left = (int)(blockIdx.x % columns) * COLUMN_BLOCK_WIDTH;
    int top = (int)(blockIdx.x / columns) * span;
    gc_load_block<false>(
        pixels, COLUMN_BLOCK_WIDTH, COLUMN_BLOCK_WIDTH, span + step.filter_height - 1,
        step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left,
        step.input_pitch, step.width - left, step.height - top + step.filter_height - 1);
    const float *weights = gc_filter + step.filter_width;
    const float *column = pixels + (int)threadIdx.y * COLUMN_BLOCK_WIDTH + (int)threadIdx.x;
    float sums[COLUMN_FACTOR] = {};
    for (int j = 0; j < step.filter_height; j++)
#pragma unroll
        for (int t = 0; t < COLUMN_FACTOR; t++)
            sums[t] += column[(j + t * COLUMN_BLOCK_HEIGHT) * COLUMN_BLOCK_WIDTH] * weights[j];
    int x = left + (int)threadIdx.x;
    if (x >= step.width)
        return;
    float *output = step.output + blockIdx.y * step.output_plane + x;
#pragma unroll
    for (int t = 0; t < COLUMN_FACTOR; t++) {
        int y = top + (int)threadIdx.y + t * COLUMN_BLOCK_HEIGHT;
        if (y < step.height)
            output[y * step.output_pitch] = sums[t];
    }
}

/* A step's state: of two passes, or of adaptive. */
struct twopass_step {
    bool separates;
    void *adaptive; /* state of adaptive, where the filter is not of rank 1 */
    float *weights; /* device: the row, then the column */
    float *between; /* device: the result of the first pass */
    int64_t between_pitch;
    int64_t between_plane;
};

static uint64_t row_bytes(int filter_width)
{
    return (uint64_t)(ROW_BLOCK_WIDTH * ROW_FACTOR + filter_width - 1) * ROW_BLOCK_HEIGHT *
           sizeof(float);
}

static uint64_t column_bytes(int filter_height)
{
    return (uint64_t)(COLUMN_BLOCK_HEIGHT * COLUMN_FACTOR + filter_height - 1) *
           COLUMN_BLOCK_WIDTH * sizeof(float);
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const twopass_step *s = (const twopass_step *)state;
    if (!s->separates)
        return gc_adaptive_ours_method.convolve(s->adaptive, step, stream, error);
    int rows = step.height + step.filter_height - 1;
    gc_gpu_step first = step, second = step;
    first.output = s->between;
    first.output_pitch = s->between_pitch;
    first.output_plane = s->between_plane;
    first.height = rows;
    second.input = s->between;
    second.input_pitch = s->between_pitch;
    second.input_plane = s->between_plane;
    gc_gpu_grid row_grid = gc_gpu_grid_of(first, ROW_BLOCK_WIDTH * ROW_FACTOR, ROW_BLOCK_HEIGHT);
    gc_gpu_grid column_grid =
        gc_gpu_grid_of(second, COLUMN_BLOCK_WIDTH, COLUMN_BLOCK_HEIGHT * COLUMN_FACTOR);
    void *symbol;
    GC_CUDA_TRY(error, cudaGetSymbolAddress(&symbol, gc_filter));
    GC_TRY(gc_constant_lock(symbol, s->weights, step.filter_width + step.filter_height, stream,
                            error));
    convolve_rows<<<row_grid.blocks, dim3(ROW_BLOCK_WIDTH, ROW_BLOCK_HEIGHT),
                    row_bytes(step.filter_width), stream>>>(first, row_grid.columns, rows);
    convolve_columns<<<column_grid.blocks, dim3(COLUMN_BLOCK_WIDTH, COLUMN_BLOCK_HEIGHT),
                       column_bytes(step.filter_height), stream>>>(second, column_grid.columns);
    return gc_constant_unlock(stream, error);
}

static bool separates(const gc_step *step)
{
    float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
    return gc_step_separate(step, row, column);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    bool any = false;
    for (int s = 0; s < problem->chain.step_count; s++)
        any = any || separates(&problem->chain.steps[s]);
    if (!any)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "no filter of the chain is of rank 1 (a column times a row), with sums that "
                       "float32 has room for");
    return separates(step) ? GCONV_OK
                           : gc_adaptive_ours_method.supports(problem, step, device, error);
}

static void release(void *state)
{
    twopass_step *s = (twopass_step *)state;
    if (s->adaptive != nullptr)
        gc_adaptive_ours_method.release(s->adaptive);
    cudaFree(s->weights);
    cudaFree(s->between);
    free(s);
}

static gconv_status prepare_passes(const gc_problem *problem, const gc_step *step, int rows,
                                   twopass_step *s, gconv_error *error)
{
    float weights[2 * GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
    gc_step_separate(step, weights, column);
    for (int j = 0; j < step->height; j++)
        weights[step->width + j] = column[j];
    size_t bytes = (size_t)(step->width + step->height) * sizeof(float);
    GC_CUDA_TRY(error, cudaMalloc(&s->weights, bytes));
    GC_CUDA_TRY(error, cudaMemcpy(s->weights, weights, bytes, cudaMemcpyHostToDevice));
    s->between_pitch = gc_device_pitch(problem->chain.width);
    s->between_plane = s->between_pitch * (rows + step->height - 1);
    GC_CUDA_TRY(error,
                cudaMalloc(&s->between,
                           (size_t)(s->between_plane * problem->chain.channels) * sizeof(float)));
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    twopass_step *s = (twopass_step *)calloc(1, sizeof *s);
    if (s == nullptr)
        return gc_fail_memory(error, sizeof *s);
    *state = s;
    s->separates = separates(step);
    if (!s->separates)
        return gc_adaptive_ours_method.prepare(problem, step, device, rows, &s->adaptive, error);
    GC_TRY(gc_gpu_opt_in((const void *)convolve_rows, device, error));
    GC_TRY(gc_gpu_opt_in((const void *)convolve_columns, device, error));
    return prepare_passes(problem, step, rows, s, error);
}

static void describe(const void *state, char *text, size_t size)
{
    const twopass_step *s = (const twopass_step *)state;
    if (s->separates)
        snprintf(text, size, "rank 1: rows with factor %d, columns with factor %d", (int)ROW_FACTOR,
                 (int)COLUMN_FACTOR);
    else {
        int used = snprintf(text, size, "not of rank 1, as adaptive: ");
        gc_adaptive_ours_method.describe(s->adaptive, text + used, size - (size_t)used);
    }
}

/* A plane between the passes for every step. A band grows by 2 (height - 1) rows with each
 * step (gc_band_input_rows). The plane has height - 1 rows more. */
static double extra_bytes(const gc_problem *problem, int64_t rows)
{
    double bytes = 0;
    double reach = 0;
    for (int s = problem->chain.step_count - 1; s >= 0; s--)
        reach += 3.0 * (problem->chain.steps[s].height - 1);
    for (int s = 0; s < problem->chain.step_count; s++)
        bytes += ((double)rows + reach) * (double)gc_device_pitch(problem->chain.width) *
                 problem->chain.channels * sizeof(float);
    return bytes;
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    if (!separates(step))
        return gc_adaptive_ours_method.seconds(problem, step, device);
    gc_step passes = *step;
    passes.width = step->width + step->height;
    passes.height = 1;
    return gc_costs_of(device)->twopass_factor *
           gc_cost_of_step(problem, &passes, device, gc_costs_of(device)->adaptive_share);
}

/* Operations of the whole filter, as equation 14 of KTH 2018 counts them, over the bytes that both
 * passes load. Each pass loads what equation 2 says. */
static double intensity(const void *state, const gc_step *step)
{
    const twopass_step *s = (const twopass_step *)state;
    if (!s->separates)
        return gc_adaptive_ours_method.intensity(s->adaptive, step);
    double row_span = ROW_BLOCK_WIDTH * ROW_FACTOR,
           column_span = COLUMN_BLOCK_HEIGHT * COLUMN_FACTOR;
    double row_loads = (row_span + step->width - 1) / row_span;
    double column_loads = (column_span + step->height - 1) / column_span;
    return 2.0 * step->width * step->height / ((row_loads + column_loads) * sizeof(float));
}

static const gc_step_method method = {
    {supports, seconds, release, describe},
    prepare,
    convolve,
    intensity,
    extra_bytes,
    nullptr,
    nullptr,
};

extern "C" {
extern const gc_operations gc_twopass_operations;
const gc_operations gc_twopass_operations = gc_step_operations<method>();
}
