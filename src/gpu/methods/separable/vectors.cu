#include "gpu/methods/separable/vectors.cuh"

#include "gpu/device/kernel.cuh"
#include "gpu/methods/separable/vectors_kernels.cuh"

extern "C" {
#include "core/separate.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>

/* Column and row in float32. */
struct factors {
    float column[GCONV_FILTER_VECTOR_MAX], row[GCONV_FILTER_VECTOR_MAX];
};

gconv_status gc_vectors_supports(const gc_step *step, const gconv_device_info *device,
                                 gconv_error *error)
{
    factors of;
    int longer = std::max(step->width, step->height);
    size_t shared = (size_t)gc_vectors_shared_bytes(longer);
    if (shared > device->shared_per_block_optin)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a vector of %d numbers takes %zu bytes of shared memory (limit %zu)",
                       longer, shared, (size_t)device->shared_per_block_optin);
    if (!gc_step_separate(step, of.row, of.column))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "float32 has no room for the sums of column and row");
    return GCONV_OK;
}

/* ---- What it takes --------------------------------------------------------------------------- */

static gc_pass_scope planes_of(const gc_pass_scope &scope)
{
    return {scope.first, scope.count, GC_FLOAT, GC_FLOAT, GC_FINISH_NONE, 1, GC_PASS_NO_ALPHA};
}

double gc_vectors_seconds(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    gc_pass_scope scope =
        planes_of(gc_pass_scope_of(problem, (int)(step - problem->chain.steps), 1));
    const double crossings = 4 * sizeof(float); /* in, between, and back */
    return costs->launch_seconds + gc_pass_scope_planes(problem, scope, device) +
           gc_cost_of_pass(problem, crossings, gc_step_terms(step), device, costs->vectors_share);
}

/* A step's band grows by 2 (height - 1) rows with each later step, as gc_band_input_rows counts. */
double gc_vectors_bytes(const gc_problem *problem, int64_t rows)
{
    double bytes = 0, band = (double)rows;
    for (int s = problem->chain.step_count - 1; s >= 0; s--) {
        const gc_step *step = &problem->chain.steps[s];
        if (step->column != nullptr)
            bytes += (double)problem->chain.width * (band + 32) * sizeof(float);
        band += 3.0 * (step->height - 1);
    }
    return bytes;
}

/* ---- A step on the device -------------------------------------------------------------------- */

static float sum_of(const float *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)values[i];
    return (float)sum;
}

/* Both vectors with their zeros, one behind the other. */
static gconv_status copy_weights(const gc_step *step, const factors &of, float **weights,
                                 gconv_error *error)
{
    size_t column = (size_t)gc_vectors_weights(step->height);
    size_t bytes = (column + (size_t)gc_vectors_weights(step->width)) * sizeof(float);
    gc_owned_array<float> padded((float *)calloc(1, bytes));
    GC_TRY_MEMORY(padded != nullptr, error, bytes);
    std::copy(of.column, of.column + step->height, padded + GC_VECTORS_PADDING);
    std::copy(of.row, of.row + step->width, padded + column + GC_VECTORS_PADDING);
    return gc_gpu_upload(padded, bytes, weights, error);
}

/* As much as the longest vectors need, or all that there is: launches of all plans share this
 * limit. */
static gconv_status allow_shared_memory(const gconv_device_info *device, gconv_error *error)
{
    int most = std::min(gc_vectors_shared_bytes(GCONV_FILTER_VECTOR_MAX),
                        (int)device->shared_per_block_optin);
    GC_CUDA_TRY(error, cudaFuncSetAttribute(gc_vectors_convolve,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    return GCONV_OK;
}

gconv_status gc_vectors_prepare(const gc_step *step, const gconv_device_info *device,
                                gc_pass_scope *scope, gc_vectors *vectors, gconv_error *error)
{
    factors of;
    gc_step_separate(step, of.row, of.column);
    *scope = planes_of(*scope);
    vectors->width = step->width;
    vectors->height = step->height;
    vectors->left = step->left;
    vectors->top = step->top;
    vectors->column_sum = sum_of(of.column, step->height);
    GC_TRY(allow_shared_memory(device, error));
    return copy_weights(step, of, &vectors->weights, error);
}

void gc_vectors_describe(const gc_vectors *vectors, char *text, size_t size)
{
    snprintf(text, size,
             "a column of %d and a row of %d, each in a pass that transposes: %d outputs a thread",
             vectors->height, vectors->width, 4 * (int)GC_VECTORS_OUTPUTS);
}

/* ---- Running --------------------------------------------------------------------------------- */

static gconv_status make_room(gc_vectors *vectors, size_t bytes, gconv_error *error)
{
    if (bytes <= vectors->between_bytes)
        return GCONV_OK;
    cudaFree(vectors->between);
    vectors->between.held = nullptr;
    vectors->between_bytes = 0;
    GC_CUDA_TRY(error, cudaMalloc(&vectors->between, bytes));
    vectors->between_bytes = bytes;
    return GCONV_OK;
}

static gconv_status launch(const gc_vectors_pass &pass, cudaStream_t stream, gconv_error *error)
{
    const int outputs = GC_VECTORS_WARPS * GC_VECTORS_OUTPUTS;
    dim3 blocks((unsigned)((pass.columns + GC_VECTORS_COLUMNS - 1) / GC_VECTORS_COLUMNS),
                (unsigned)((pass.outputs + outputs - 1) / outputs));
    gc_vectors_convolve<<<blocks, 32 * GC_VECTORS_WARPS,
                          (size_t)gc_vectors_shared_bytes(pass.length), stream>>>(pass);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

/* The column on one channel, from the pass's input to the plane between. Under wrap the input holds
 * rows beyond the image, so that no index needs the border. */
static gc_vectors_pass column_pass(const gc_vectors *vectors, const gc_pass &pass, int channel)
{
    gc_vectors_pass column = {};
    column.input = (const float *)pass.input + channel * pass.input_plane;
    column.input_pitch = pass.input_pitch;
    column.output = vectors->between;
    column.output_pitch = gc_device_pitch(pass.rows);
    column.columns = pass.width;
    column.outputs = pass.rows;
    column.first = pass.output_first - vectors->top;
    column.size = pass.height;
    column.held = pass.input_rows;
    column.held_first = pass.input_first;
    column.border = pass.border;
    if (pass.border == GC_PASS_WRAP) {
        column.first -= pass.input_first;
        column.held_first = 0;
        column.size = pass.input_rows;
        column.border = GC_PASS_REPLICATE;
    }
    column.constant = pass.constant[channel];
    column.weights = vectors->weights;
    column.length = vectors->height;
    return column;
}

/* The row, from there to the pass's output. */
static gc_vectors_pass row_pass(const gc_vectors *vectors, const gc_pass &pass, int channel)
{
    gc_vectors_pass row = {};
    row.input = vectors->between;
    row.input_pitch = gc_device_pitch(pass.rows);
    row.output = (float *)pass.output + channel * pass.output_plane;
    row.output_pitch = pass.output_pitch;
    row.columns = pass.rows;
    row.outputs = pass.width;
    row.first = -vectors->left;
    row.size = row.held = pass.width;
    row.border = pass.border;
    row.constant = pass.constant[channel] * vectors->column_sum;
    row.weights = vectors->weights + gc_vectors_weights(vectors->height);
    row.length = vectors->width;
    return row;
}

gconv_status gc_vectors_run(gc_vectors *vectors, const gc_pass &pass, int channels,
                            cudaStream_t stream, gconv_error *error)
{
    size_t bytes = (size_t)pass.width * (size_t)gc_device_pitch(pass.rows) * sizeof(float);
    GC_TRY(make_room(vectors, bytes, error));
    for (int c = 0; c < channels; c++) {
        GC_TRY(launch(column_pass(vectors, pass, c), stream, error));
        GC_TRY(launch(row_pass(vectors, pass, c), stream, error));
    }
    return GCONV_OK;
}
