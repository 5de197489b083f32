/* twopass: filters of rank 1 in two passes over memory.
 *
 * Idea: a filter that is a column times a row takes F_w + F_h multiply-adds a pixel. All weights
 *   take F_w * F_h (KTH 2018, sections 3.4 and 3.5.2; van Werkhoven et al. 2014, section 5). The
 *   first pass convolves rows with 1xT tiling, the second columns with Tx1 tiling: each tiles in
 *   the direction in which its aprons overlap. Rank 1 is found automatically: exactly for integer
 *   filters, within the bound of rule 4 for others.
 * Variants: twopass:kth and twopass:transposed (twopass_kth.cu), twopass:lecture and
 *   twopass:lecture1d (lecture.cpp), twopass:tiled (twopass_tiled.cpp).
 * Improves on: adaptive, from 9x9 on (H200).
 * Needs: (F_w - 1 + T * B_w) * B_h floats of shared memory for the rows, and B_w * (F_h - 1 + T *
 *   B_h) for the columns; a plane of the device's memory for the values between the passes.
 * Limits: some filter of the chain must have rank 1. The others are convolved as adaptive does, and
 *   have its limits.
 * Loses: to adaptive at 3x3 and 5x5, where a second pass over memory costs more than it saves; to
 *   separable, which crosses memory once, if that fits. */
#include "gpu/methods/ladder/adaptive.cuh"
#include "gpu/methods/ladder/twopass.cuh"

extern "C" {
#include "core/separate.h"
}

#include <cstdio>

enum { COLUMN_FACTOR = 8, COLUMN_BLOCK_WIDTH = 32, COLUMN_BLOCK_HEIGHT = 8 };

/* ---- The second pass ------------------------------------------------------------------------- */

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

static int column_floats(int, int filter_height)
{
    return (COLUMN_BLOCK_HEIGHT * COLUMN_FACTOR + filter_height - 1) * COLUMN_BLOCK_WIDTH;
}

static const gc_line_kernels lines = {
    gc_row_kernel,
    {convolve_columns, COLUMN_BLOCK_WIDTH, COLUMN_BLOCK_HEIGHT, COLUMN_BLOCK_WIDTH,
     COLUMN_BLOCK_HEIGHT *COLUMN_FACTOR, column_floats},
    "rows with factor 4, columns with factor 8",
};

/* ---- What all variants share ----------------------------------------------------------------- */

/* A step's state: of two passes, or of adaptive. */
struct twopass_step {
    const gc_two_passes *passes;
    bool separates;
    void *adaptive;                 /* state of adaptive, if the filter is not of rank 1 */
    void *kernels;                  /* of `passes` */
    gc_owned_memory<float> weights; /* the row, then the column */
    gc_owned_memory<float> between; /* the result of the first pass */
    int64_t between_pitch;
    int64_t between_plane;
    ~twopass_step()
    {
        if (adaptive != nullptr)
            gc_adaptive_method.release(adaptive);
        if (passes->release != nullptr && kernels != nullptr)
            passes->release(kernels);
    }
};

gconv_status gc_twopass_convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                                 gconv_error *error)
{
    const twopass_step *s = (const twopass_step *)state;
    if (!s->separates)
        return gc_adaptive_method.convolve(s->adaptive, step, stream, error);
    gc_gpu_step rows = step, columns = step;
    rows.output = s->between;
    rows.output_pitch = s->between_pitch;
    rows.output_plane = s->between_plane;
    rows.height = step.height + step.filter_height - 1;
    columns.input = s->between;
    columns.input_pitch = s->between_pitch;
    columns.input_plane = s->between_plane;
    return s->passes->run(s->kernels, rows, columns, s->weights, stream, error);
}

static bool separates(const gc_step *step)
{
    float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
    return gc_step_separate(step, row, column);
}

gconv_status gc_twopass_supports(const gc_two_passes &passes, const gc_problem *problem,
                                 const gc_step *step, const gconv_device_info *device,
                                 gconv_error *error)
{
    bool any = false;
    for (int s = 0; s < problem->chain.step_count; s++)
        any = any || separates(&problem->chain.steps[s]);
    if (!any)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "no filter of the chain is of rank 1 (a column times a row), with sums that "
                       "float32 has room for");
    return separates(step) ? passes.check(problem, step, device, error)
                           : gc_adaptive_method.supports(problem, step, device, error);
}

void gc_twopass_release(void *state)
{
    gc_free<twopass_step>(state);
}

static gconv_status prepare_plane(const gc_problem *problem, const gc_step *step, int rows,
                                  twopass_step *s, gconv_error *error)
{
    float weights[2 * GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
    gc_step_separate(step, weights, column);
    for (int j = 0; j < step->height; j++)
        weights[step->width + j] = column[j];
    GC_TRY(gc_gpu_upload(weights, (size_t)(step->width + step->height) * sizeof(float), &s->weights,
                         error));
    s->between_pitch = gc_device_pitch(problem->chain.width);
    s->between_plane = s->between_pitch * (rows + step->height - 1);
    GC_CUDA_TRY(error,
                cudaMalloc(&s->between,
                           (size_t)(s->between_plane * problem->chain.channels) * sizeof(float)));
    return GCONV_OK;
}

gconv_status gc_twopass_prepare(const gc_two_passes &passes, const gc_problem *problem,
                                const gc_step *step, const gconv_device_info *device, int rows,
                                void **state, gconv_error *error)
{
    twopass_step *s;
    GC_TRY(gc_make(&s, state, error));
    s->passes = &passes;
    s->separates = separates(step);
    if (!s->separates)
        return gc_adaptive_method.prepare(problem, step, device, rows, &s->adaptive, error);
    GC_TRY(passes.prepare(problem, step, device, &s->kernels, error));
    return prepare_plane(problem, step, rows, s, error);
}

void gc_twopass_describe(const void *state, char *text, size_t size)
{
    const twopass_step *s = (const twopass_step *)state;
    int used = snprintf(text, size, s->separates ? "rank 1: " : "not of rank 1, as adaptive: ");
    if (s->separates)
        s->passes->describe(s->kernels, text + used, size - (size_t)used);
    else
        gc_adaptive_method.describe(s->adaptive, text + used, size - (size_t)used);
}

/* A plane between the passes for every step. A band grows by 2 (height - 1) rows with each
 * step (gc_band_input_rows). The plane has height - 1 rows more. */
double gc_twopass_extra_bytes(const gc_problem *problem, int64_t rows)
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

double gc_twopass_seconds(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device)
{
    if (!separates(step))
        return gc_adaptive_method.seconds(problem, step, device);
    gc_step passes = *step;
    passes.width = step->width + step->height;
    passes.height = 1;
    return gc_costs_of(device)->twopass_factor *
           gc_cost_of_step(problem, &passes, device, gc_costs_of(device)->adaptive_share);
}

/* Operations of the whole filter, as equation 14 of KTH 2018 counts them, over the bytes that both
 * passes load. Each pass loads what equation 2 says. */
double gc_twopass_intensity(const void *state, const gc_step *step)
{
    const twopass_step *s = (const twopass_step *)state;
    if (!s->separates)
        return gc_adaptive_method.intensity(s->adaptive, step);
    double row_span, column_span;
    s->passes->spans(s->kernels, &row_span, &column_span);
    double row_loads = (row_span + step->width - 1) / row_span;
    double column_loads = (column_span + step->height - 1) / column_span;
    return 2.0 * step->width * step->height / ((row_loads + column_loads) * sizeof(float));
}

static const gc_two_passes passes = gc_two_kernels<lines>();
static const gc_step_method method = gc_twopass_method<passes>();

GC_OPERATIONS(gc_twopass_operations, gc_step_operations<method>());
