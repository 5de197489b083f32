/* A pass over memory as kernels see it: one plane of samples or values in, one out, borders and the
 * final conversion on the way. The texts in this folder are compiled ahead by nvcc and, for one filter
 * with everything about it constant, at run time by NVRTC: they include nothing but each other.
 *
 * What a kernel is made for is a class `config` of constants, so that the same text serves both:
 *     width, height, left, top    of the filter (gc_step)
 *     rows, warps                 rows of output a thread, warps a block
 *     schedule                    a gc_schedule
 *     input, output               a gc_sample_type, or -1: what the pass says
 *     border                      a gc_pass_border, or -1: what the pass says
 *     finish                      a gc_finish_kind, or -1: what the pass says
 * and `weights` is a class with `__device__ float at(int k)` and `__device__ bool skips(int k)`, which is
 * true for a weight that is known to be 0. */
#ifndef GC_GPU_KERNELS_PASS_CUH
#define GC_GPU_KERNELS_PASS_CUH

#include "gpu/kernels/types.h"

/* ---- Borders --------------------------------------------------------------------------------- */

/* gc_border_index: -1 where a constant border stands. */
static __device__ inline int gc_pass_index(int border, int index, int size)
{
    if (index >= 0 && index < size)
        return index;
    long long period, i = index;
    switch (border) {
    case GC_PASS_REPLICATE:
        return index < 0 ? 0 : size - 1;
    case GC_PASS_WRAP:
        i %= size;
        return (int)(i < 0 ? i + size : i);
    case GC_PASS_MIRROR:
        period = 2ll * size;
        i %= period;
        i = i < 0 ? i + period : i;
        return (int)(i < size ? i : period - 1 - i);
    case GC_PASS_MIRROR101:
        if (size == 1)
            return 0;
        period = 2ll * size - 2;
        i %= period;
        i = i < 0 ? i + period : i;
        return (int)(i < size ? i : period - i);
    default:
        return -1;
    }
}

template <class config> static __device__ inline int gc_pass_border_of(const gc_pass &pass)
{
    return config::border >= 0 ? config::border : pass.border;
}

/* The row of the input that stands at row `y` of the image; -1 for a constant border. Under wrap the
 * input holds rows beyond the image (gc_step_range). */
template <class config> static __device__ inline int gc_pass_row(const gc_pass &pass, int y)
{
    int border = gc_pass_border_of<config>(pass);
    if (border != GC_PASS_WRAP)
        y = gc_pass_index(border, y, pass.height);
    else
        return y - pass.input_first;
    return y < 0 ? -1 : y - pass.input_first;
}

/* Whether rows `first` to `first + count - 1` of the image need no border. */
template <class config>
static __device__ inline bool gc_pass_rows_inside(const gc_pass &pass, int first, int count)
{
    return gc_pass_border_of<config>(pass) == GC_PASS_WRAP ||
           (first >= 0 && first + count <= pass.height);
}

/* ---- Samples --------------------------------------------------------------------------------- */

template <class config> static __device__ inline int gc_pass_input(const gc_pass &pass)
{
    return config::input >= 0 ? config::input : pass.input_type;
}

template <class config> static __device__ inline int gc_pass_output(const gc_pass &pass)
{
    return config::output >= 0 ? config::output : pass.output_type;
}

template <class config> static __device__ inline int gc_pass_finish(const gc_pass &pass)
{
    return config::finish >= 0 ? config::finish : pass.finish.kind;
}

/* Input of this block's channel: blockIdx.y. */
static __device__ inline long long gc_pass_input_start(const gc_pass &pass)
{
    return blockIdx.y * pass.input_plane;
}

/* Four values at sample `index`, a multiple of 4 from the start of a row. */
template <class config>
static __device__ inline float4 gc_pass_load4(const gc_pass &pass, long long index)
{
    if (gc_pass_input<config>(pass) == GC_FLOAT)
        return __ldg((const float4 *)((const float *)pass.input + index));
    if (gc_pass_input<config>(pass) == GC_BYTE) {
        uchar4 v = __ldg((const uchar4 *)((const unsigned char *)pass.input + index));
        return make_float4((float)v.x, (float)v.y, (float)v.z, (float)v.w);
    }
    ushort4 v = __ldg((const ushort4 *)((const unsigned short *)pass.input + index));
    return make_float4((float)v.x, (float)v.y, (float)v.z, (float)v.w);
}

template <class config>
static __device__ inline float gc_pass_load(const gc_pass &pass, long long index)
{
    if (gc_pass_input<config>(pass) == GC_FLOAT)
        return __ldg((const float *)pass.input + index);
    if (gc_pass_input<config>(pass) == GC_BYTE)
        return (float)__ldg((const unsigned char *)pass.input + index);
    return (float)__ldg((const unsigned short *)pass.input + index);
}

/* The value at column x, any, of row `row` of the input, -1 being a constant border's. */
template <class config>
static __device__ inline float gc_pass_value(const gc_pass &pass, int row, int x)
{
    int column = gc_pass_index(gc_pass_border_of<config>(pass), x, pass.width);
    if (row < 0 || column < 0)
        return pass.constant[blockIdx.y];
    return gc_pass_load<config>(pass, gc_pass_input_start(pass) + row * pass.input_pitch + column);
}

/* ---- The final conversion -------------------------------------------------------------------- */

/* value / denominator, clamped, to the nearest integer. The addition rounds to even; a product with the
 * reciprocal comes near enough to the quotient for that (see gc_finish_of) wherever that is no tie. */
static __device__ inline float gc_finish_nearest(const gc_finish &f, float value)
{
    return fminf(fmaxf(value * f.reciprocal, 0.0f), (float)f.largest) + 8388608.0f;
}

/* Where there are no ties, or the reciprocal is exact. */
static __device__ inline unsigned gc_finish_round(const gc_finish &f, float value)
{
    return __float_as_uint(gc_finish_nearest(f, value)) & 0xffffu;
}

/* Where there may be ties, which the rest of the division tells. */
static __device__ inline unsigned gc_finish_quotient(const gc_finish &f, float value)
{
    value = f.absolute ? fabsf(value) : value;
    float nearest = gc_finish_nearest(f, value);
    unsigned quotient = __float_as_uint(nearest) & 0xffffu;
    float rest = fmaf(8388608.0f - nearest, f.denominator, value); /* exact */
    if (2 * fabsf(rest) == f.denominator && (quotient & 1) != 0)
        quotient += rest > 0 ? 1 : ~0u;
    return quotient < (unsigned)f.largest ? quotient : (unsigned)f.largest;
}

/* In the steps of gc_store_row, each rounded alike. */
static __device__ inline double gc_finish_sample(const gc_finish &f, float value, bool rounds)
{
    double v = __ddiv_rn((double)value, f.divisor);
    v = f.absolute ? fabs(v) : v;
    if (f.scale != 1 || f.offset != 0)
        v = __dadd_rn(__dmul_rn(f.scale, v), f.offset);
    if (f.bilevel)
        v = v >= 128 * f.sample_max / 255 ? f.sample_max : 0;
    if (!rounds)
        return v;
    v = f.narrows ? __ddiv_rn(v, 257) : __dmul_rn(v, f.factor);
    return rint(fmin(fmax(v, 0.0), f.largest));
}

static __device__ inline unsigned gc_finish_edge(const gc_finish &f, float value)
{
    float response = f.side == 0 ? fabsf(value) : f.side > 0 ? value : -value;
    return (unsigned)(response > f.threshold) ^ (unsigned)f.invert;
}

/* What is stored as an integer sample, 0 or 1 of a bit. */
template <class config>
static __device__ inline unsigned gc_finish_integer(const gc_pass &pass, float value)
{
    const gc_finish &f = pass.finish;
    if (gc_pass_finish<config>(pass) == GC_FINISH_EDGES)
        return gc_finish_edge(f, value) * (unsigned)f.largest;
    if (gc_pass_finish<config>(pass) == GC_FINISH_ROUND)
        return gc_finish_round(f, value);
    if (gc_pass_finish<config>(pass) == GC_FINISH_QUOTIENT)
        return gc_finish_quotient(f, value);
    if (gc_pass_output<config>(pass) == GC_BIT)
        return gc_finish_sample(f, value, false) > 0;
    return (unsigned)gc_finish_sample(f, value, true);
}

/* What is stored as float32, in samples of the input's depth. */
template <class config>
static __device__ inline float gc_finish_float(const gc_pass &pass, float value)
{
    if (gc_pass_finish<config>(pass) == GC_FINISH_EDGES)
        return (float)(gc_finish_edge(pass.finish, value) * pass.finish.sample_max);
    return (float)gc_finish_sample(pass.finish, value, false);
}

/* Stores four outputs of row `y` of the image from column x on, a multiple of 4: chain values where the
 * pass says GC_FLOAT, else what the config is made for. Rows are as long as their pitch, so that what
 * lies beyond the width does no harm. All lanes of a warp take part, lane after lane four columns
 * further; `inside` lets a lane store. */
template <class config>
static __device__ inline void gc_pass_store4(const gc_pass &pass, int x, int y,
                                             const float (&values)[4], bool inside)
{
    long long start = blockIdx.y * pass.output_plane + (y - pass.output_first) * pass.output_pitch;
    if (config::output == GC_FLOAT || pass.output_type == GC_FLOAT) {
        if (inside)
            *(float4 *)((float *)pass.output + start + x) =
                make_float4(values[0], values[1], values[2], values[3]);
        return;
    }
    int type = gc_pass_output<config>(pass);
    unsigned v[4];
#pragma unroll
    for (int c = 0; c < 4; c++)
        v[c] = gc_finish_integer<config>(pass, values[c]);
    if (type == GC_BYTE) {
        uchar4 bytes = make_uchar4((unsigned char)v[0], (unsigned char)v[1], (unsigned char)v[2],
                                   (unsigned char)v[3]);
        if (inside)
            *(uchar4 *)((unsigned char *)pass.output + start + x) = bytes;
    } else if (type == GC_SHORT) {
        ushort4 shorts = make_ushort4((unsigned short)v[0], (unsigned short)v[1],
                                      (unsigned short)v[2], (unsigned short)v[3]);
        if (inside)
            *(ushort4 *)((unsigned short *)pass.output + start + x) = shorts;
    } else {
        unsigned bits = 0;
#pragma unroll
        for (int c = 0; c < 4; c++) /* bits beyond the width are 0 */
            bits = bits << 1 | (x + c < pass.width ? v[c] : 0);
        unsigned next = __shfl_down_sync(~0u, bits, 1);
        if (inside && x % 8 == 0)
            ((unsigned char *)pass.output)[start + x / 8] = (unsigned char)(bits << 4 | next);
    }
}

#endif
