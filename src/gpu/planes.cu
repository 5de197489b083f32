#include "gpu/planes.cuh"

#include "gpu/check.cuh"

extern "C" {
#include "core/border.h"
}

enum { THREADS = 256 };

/* Blocks for `count` items, one a thread. A grid has up to 2^31 - 1 blocks: 2^39 items. */
static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

static __device__ inline int64_t item_index()
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

template <typename sample>
static __global__ void load_samples(const sample *samples, int input_channels, bool premultiply,
                                    gc_gpu_planes planes)
{
    int64_t item = item_index();
    if (item >= planes.rows * planes.width)
        return;
    int64_t y = item / planes.width;
    int64_t x = item % planes.width;
    const sample *pixel = samples + item * input_channels;
    float alpha = (float)pixel[input_channels - 1];
    for (int c = 0; c < planes.channels; c++) {
        float value = (float)pixel[c];
        if (premultiply && c + 1 < input_channels)
            value *= alpha;
        planes.values[c * planes.plane + y * planes.pitch + x] = value;
    }
}

gconv_status gc_gpu_load(const gc_problem *problem, const void *samples,
                         const gc_gpu_planes &planes, cudaStream_t stream, gconv_error *error)
{
    unsigned blocks = blocks_for(planes.rows * planes.width);
    int channels = problem->job.input.channels;
    if (problem->job.input.depth == 8)
        load_samples<<<blocks, THREADS, 0, stream>>>((const uint8_t *)samples, channels,
                                                     problem->premultiplies, planes);
    else
        load_samples<<<blocks, THREADS, 0, stream>>>((const uint16_t *)samples, channels,
                                                     problem->premultiplies, planes);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

/* A border's rule, and what stands beyond a constant one. */
struct border_rule {
    gconv_border mode;
    float constant[GC_CHANNELS_MAX];
    int64_t width, height; /* of the image */
    int64_t left;          /* columns of the scratch before column 0 */
    int64_t first_row;     /* row of the image in row 0 of the planes */
    int64_t first_scratch; /* row of the extended image in row 0 of the scratch */
};

static __global__ void extend_planes(gc_gpu_planes planes, gc_gpu_planes scratch, border_rule rule)
{
    int64_t item = item_index();
    if (item >= scratch.rows * scratch.width)
        return;
    int64_t y = item / scratch.width;
    int64_t x = item % scratch.width;
    int64_t column = gc_border_index(rule.mode, x - rule.left, rule.width);
    int64_t row = y + rule.first_scratch;
    if (rule.mode != GCONV_BORDER_WRAP)
        row = gc_border_index(rule.mode, row, rule.height);
    bool outside = column < 0 || (rule.mode == GCONV_BORDER_CONSTANT && row < 0);
    const float *from = planes.values + (row - rule.first_row) * planes.pitch + column;
    float *to = scratch.values + y * scratch.pitch + x;
    for (int c = 0; c < planes.channels; c++)
        to[c * scratch.plane] = outside ? rule.constant[c] : from[c * planes.plane];
}

gconv_status gc_gpu_extend(const gc_problem *problem, const gc_step *step,
                           const gc_gpu_planes &planes, int64_t first_row, int64_t first_output,
                           const gc_gpu_planes &scratch, cudaStream_t stream, gconv_error *error)
{
    border_rule rule = {};
    rule.mode = problem->job.border;
    for (int c = 0; c < problem->channels; c++)
        rule.constant[c] = step->border[c];
    rule.width = problem->width;
    rule.height = problem->height;
    rule.left = step->left;
    rule.first_row = first_row;
    rule.first_scratch = first_output - step->top;
    unsigned blocks = blocks_for(scratch.rows * scratch.width);
    extend_planes<<<blocks, THREADS, 0, stream>>>(planes, scratch, rule);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static __global__ void interleave_planes(gc_gpu_planes planes, float *rows)
{
    int64_t item = item_index();
    if (item >= planes.rows * planes.width)
        return;
    int64_t y = item / planes.width;
    int64_t x = item % planes.width;
    for (int c = 0; c < planes.channels; c++)
        rows[item * planes.channels + c] = planes.values[c * planes.plane + y * planes.pitch + x];
}

gconv_status gc_gpu_interleave(const gc_gpu_planes &planes, float *rows, cudaStream_t stream,
                               gconv_error *error)
{
    interleave_planes<<<blocks_for(planes.rows * planes.width), THREADS, 0, stream>>>(planes, rows);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}
