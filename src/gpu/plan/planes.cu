#include "gpu/plan/planes.cuh"

#include "gpu/device/check.cuh"
#include "gpu/pass/pass.cuh"

extern "C" {
#include "core/border.h"
}

#include <algorithm>

enum { THREADS = 256, ROWS_A_THREAD = 8, GRID_ROWS_MAX = 65535 };

/* A grid with a thread for each column and ROWS_A_THREAD rows. A thread takes more rows if the grid
 * would be too high. */
static dim3 grid_over(int64_t width, int64_t rows)
{
    int64_t high = (rows + ROWS_A_THREAD - 1) / ROWS_A_THREAD;
    return dim3((unsigned)((width + THREADS - 1) / THREADS),
                (unsigned)std::min<int64_t>(high, GRID_ROWS_MAX));
}

static __device__ inline int column_index()
{
    return (int)(blockIdx.x * THREADS + threadIdx.x);
}

template <typename sample>
static __global__ void load_samples(const sample *samples, int input_channels, bool premultiply,
                                    float centre, gc_gpu_planes planes)
{
    int x = column_index();
    if (x >= planes.width)
        return;
    for (int64_t y = blockIdx.y; y < planes.rows; y += gridDim.y) {
        const sample *pixel = samples + (y * planes.width + x) * input_channels;
        float alpha = (float)pixel[input_channels - 1];
        for (int c = 0; c < planes.channels; c++) {
            float value = (float)pixel[c] - centre;
            if (premultiply && c + 1 < input_channels)
                value *= alpha;
            planes.values[c * planes.plane + y * planes.pitch + x] = value;
        }
    }
}

gconv_status gc_gpu_load(const gc_problem *problem, const void *samples, float centre,
                         const gc_gpu_planes &planes, cudaStream_t stream, gconv_error *error)
{
    dim3 grid = grid_over(planes.width, planes.rows);
    int channels = problem->job.input.channels;
    if (problem->job.input.depth == 8)
        load_samples<<<grid, THREADS, 0, stream>>>(
            (const uint8_t *)samples, channels, problem->conversion.premultiplies, centre, planes);
    else if (problem->job.input.depth == 16)
        load_samples<<<grid, THREADS, 0, stream>>>(
            (const uint16_t *)samples, channels, problem->conversion.premultiplies, centre, planes);
    else
        load_samples<<<grid, THREADS, 0, stream>>>(
            (const float *)samples, channels, problem->conversion.premultiplies, centre, planes);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

/* A border mode, and the value of a constant border. */
struct border_rule {
    gconv_border mode;
    float constant[GC_CHANNELS_MAX];
    int64_t width, height;  /* of the image */
    int64_t left;           /* columns of the extended image before column 0 */
    int64_t first_row;      /* row of the image in row 0 of the planes */
    int64_t first_extended; /* row of the extended image in row 0 of `extended` */
};

static __global__ void extend_planes(gc_gpu_planes planes, gc_gpu_planes extended, border_rule rule)
{
    int x = column_index();
    if (x >= extended.width)
        return;
    int64_t column = gc_border_index(rule.mode, x - rule.left, rule.width);
    for (int64_t y = blockIdx.y; y < extended.rows; y += gridDim.y) {
        int64_t row = y + rule.first_extended;
        if (rule.mode != GCONV_BORDER_WRAP)
            row = gc_border_index(rule.mode, row, rule.height);
        bool outside = column < 0 || (rule.mode == GCONV_BORDER_CONSTANT && row < 0);
        const float *from = planes.values + (row - rule.first_row) * planes.pitch + column;
        float *to = extended.values + y * extended.pitch + x;
#pragma unroll /* without it the constants would be indexed at run time */
        for (int c = 0; c < GC_CHANNELS_MAX; c++)
            if (c < planes.channels)
                to[c * extended.plane] = outside ? rule.constant[c] : from[c * planes.plane];
    }
}

gconv_status gc_gpu_extend(const gc_problem *problem, const gc_step *step,
                           const gc_gpu_extension &extension, cudaStream_t stream,
                           gconv_error *error)
{
    const gc_gpu_planes &planes = extension.planes, &extended = extension.extended;
    border_rule rule = {};
    rule.mode = problem->job.border;
    for (int c = 0; c < problem->chain.channels; c++)
        rule.constant[c] = step->border[c];
    rule.width = problem->chain.width;
    rule.height = problem->chain.height;
    rule.left = step->left;
    rule.first_row = extension.first_row;
    rule.first_extended = extension.first_output - step->top;
    extend_planes<<<grid_over(extended.width, extended.rows), THREADS, 0, stream>>>(planes,
                                                                                    extended, rule);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

/* A config for gc_finish_integer that leaves everything to the pass. */
struct any_finish {
    static constexpr int output = -1, finish = -1;
};

/* A chain value of column x and row `y` of the image as an integer sample or a bit. */
static __device__ inline unsigned integer_of_value(const gc_pass &pass, float value, int x,
                                                   int64_t y, int c)
{
    const gc_finish &f = pass.finish;
    if (!gc_finish_is_once(f.kind))
        return gc_finish_integer<any_finish>(pass, value);
    unsigned one = gc_finish_fix(f, f.kind, value);
    const unsigned fixed[4] = {one, one, one, one};
    unsigned made = gc_finish_fixed(f, f.kind, fixed) & 255;
    return gc_finish_doubts(f, f.kind, one)
               ? gc_once_output(&f, f.kind, (double)gc_exact_part(pass, x, (int)y, c, 0, 1), made)
               : made;
}

static __device__ inline float kept_alpha(const gc_pass &pass, int channels, int x, int64_t y)
{
    int64_t index =
        (y - pass.image_first) * pass.image_pitch + (int64_t)x * channels + channels - 1;
    return pass.image_type == GC_BYTE    ? (float)((const uint8_t *)pass.image)[index]
           : pass.image_type == GC_SHORT ? (float)((const uint16_t *)pass.image)[index]
                                         : ((const float *)pass.image)[index];
}

static __device__ inline unsigned integer_of_kept(const gc_pass &pass, float alpha)
{
    return pass.image_type == GC_FLOAT ? (unsigned)gc_finish_quantize(pass.finish, (double)alpha)
                                       : gc_finish_kept(pass.finish, (unsigned)alpha);
}

/* Channel `c` of the output of a pixel, as an integer sample. `from` is the pixel's first value. */
static __device__ inline unsigned integer_of(const gc_gpu_planes &planes, const gc_pass &pass,
                                             const float *from, int x, int64_t y, int c)
{
    const float *alpha = from + (planes.channels - 1) * planes.plane;
    if (pass.finish.alpha != GC_PASS_MULTIPLIES)
        return integer_of_value(pass, from[c * planes.plane], x, y, c);
    return c + 1 < planes.channels
               ? gc_finish_divided<any_finish>(pass, from[c * planes.plane], *alpha)
               : gc_finish_alpha(pass.finish, *alpha);
}

/* A value of channel c as float32 output; without a conversion the value itself. */
static __device__ inline float float_of(const gc_gpu_planes &planes, const gc_pass &pass,
                                        const float *from, int c)
{
    const gc_finish &f = pass.finish;
    const float *alpha = from + (planes.channels - 1) * planes.plane;
    if (f.kind == GC_FINISH_NONE)
        return from[c * planes.plane];
    if (f.alpha != GC_PASS_MULTIPLIES)
        return gc_finish_float<any_finish>(pass, from[c * planes.plane]);
    if (c + 1 == planes.channels)
        return (float)gc_finish_ratio(*alpha, f.divisor, f.inverse);
    bool visible = gc_finish_is_visible(f, *alpha);
    return (float)gc_finish_scaled(
        f, visible ? gc_finish_colour(from[c * planes.plane], *alpha) : 0.0, false);
}

/* A thread a sample and ROWS_A_THREAD rows. The output has alpha beside the planes, if it is
 * kept. */
template <typename sample>
static __global__ void store_samples(gc_gpu_planes planes, gc_pass pass, sample *rows)
{
    int channels = planes.channels + (pass.finish.alpha == GC_PASS_KEEPS ? 1 : 0);
    int i = column_index(), x = i / channels, c = i % channels, width = planes.width * channels;
    if (i >= width)
        return;
    for (int64_t y = blockIdx.y; y < planes.rows; y += gridDim.y) {
        const float *from = planes.values + y * planes.pitch + x;
        float kept =
            c == planes.channels ? kept_alpha(pass, channels, x, y + pass.output_first) : 0;
        sample *to = rows + y * width + i;
        if (pass.output_type == GC_FLOAT)
            *to = c == planes.channels ? (sample)kept : (sample)float_of(planes, pass, from, c);
        else
            *to = (sample)(c == planes.channels
                               ? integer_of_kept(pass, kept)
                               : integer_of(planes, pass, from, x, y + pass.output_first, c));
    }
}

/* A thread a byte of 8 pixels and ROWS_A_THREAD rows. */
static __global__ void store_bits(gc_gpu_planes planes, gc_pass pass, uint8_t *rows)
{
    int i = column_index(), width = (planes.width + 7) / 8;
    if (i >= width)
        return;
    for (int64_t y = blockIdx.y; y < planes.rows; y += gridDim.y) {
        unsigned bits = 0;
        for (int x = 8 * i; x < 8 * i + 8; x++)
            bits = bits << 1 |
                   (x < planes.width ? integer_of_value(pass, planes.values[y * planes.pitch + x],
                                                        x, y + pass.output_first, 0) &
                                           1
                                     : 0);
        rows[y * width + i] = (uint8_t)bits;
    }
}

gconv_status gc_gpu_store(const gc_pass &pass, const gc_gpu_planes &planes, void *rows,
                          cudaStream_t stream, gconv_error *error)
{
    int type = pass.output_type;
    int channels = planes.channels + (pass.finish.alpha == GC_PASS_KEEPS ? 1 : 0);
    dim3 grid = grid_over(
        type == GC_BIT ? (planes.width + 7) / 8 : (int64_t)planes.width * channels, planes.rows);
    if (type == GC_BIT)
        store_bits<<<grid, THREADS, 0, stream>>>(planes, pass, (uint8_t *)rows);
    else if (type == GC_BYTE)
        store_samples<<<grid, THREADS, 0, stream>>>(planes, pass, (uint8_t *)rows);
    else if (type == GC_SHORT)
        store_samples<<<grid, THREADS, 0, stream>>>(planes, pass, (uint16_t *)rows);
    else
        store_samples<<<grid, THREADS, 0, stream>>>(planes, pass, (float *)rows);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}
