/* A pass by Fourier transforms of tiles: forward, product with the filter's spectrum, and back, in
 * one kernel. */
#pragma once

#include "gpu/methods/tilefft/points.cuh"
#include "gpu/methods/tilefft/samples.cuh"
#include "gpu/methods/tilefft/types.cuh"
#include "gpu/pass/pass.cuh"

/* A line of `size` points: `size` / 16 threads hold it. The first transforms are of `far` points
 * that are 8 apart, the second ones of 8 neighbouring points. */
template <int size> struct gc_tilefft_axis {
    static constexpr int points = size, far = size / 8, parts = size / GC_FFT_HELD;
};

template <class config> struct gc_tilefft_shape {
    static constexpr int columns = config::columns, lines = config::lines; /* of a transform */
    static constexpr int pitch = columns + 1; /* complex numbers from line to line */
    static constexpr int threads = columns * lines / GC_FFT_HELD;
    static constexpr int bytes = lines * pitch * 8;
    typedef gc_tilefft_axis<columns> across;
    typedef gc_tilefft_axis<lines> down;
};

/* ---- Two steps of a line --------------------------------------------------------------------- */

/* Transforms points that are 8 apart. The thread holds points 8 a + b: of `far` 16 those of
 * b = part, of `far` 8 those of b = 2 part in front, and those of 2 part + 1 behind. */
template <class axis> static __device__ __forceinline__ void gc_tilefft_far(gc_fft_points &v)
{
    if (axis::far == 16) {
        gc_fft_sixteen(v, 0);
    } else {
        gc_fft_eight(v, 0, 1);
        gc_fft_eight(v, 8, 1);
    }
}

/* The place of point or frequency i of the thread in a line, 8 a + b. */
template <class axis> static __device__ __forceinline__ int gc_tilefft_far_at(int part, int i)
{
    return axis::far == 16 ? 8 * i + part : 8 * (i % 8) + 2 * part + i / 8;
}

template <class axis> static __device__ constexpr int gc_tilefft_far_place(int i)
{
    return axis::far == 16 ? gc_fft_place16(i) : i / 8 * 8 + gc_fft_place8(i % 8);
}

/* Transforms 8 neighbouring points, twice. */
static __device__ __forceinline__ void gc_tilefft_near(gc_fft_points &v)
{
    gc_fft_eight(v, 0, 1);
    gc_fft_eight(v, 8, 1);
}

static __device__ constexpr int gc_tilefft_near_place(int i)
{
    return i / 8 * 8 + gc_fft_place8(i % 8);
}

/* Rotates what the first step left. */
template <class axis>
static __device__ __forceinline__ void gc_tilefft_rotate_far(gc_fft_points &v, int part)
{
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        float2 root = gc_fft_roots_of<axis::points>().far[part][i];
        if (i % axis::far > 0)
            gc_fft_turn(v, gc_tilefft_far_place<axis>(i), root.x, root.y);
    }
}

/* Rotates what comes before the last step. */
template <class axis>
static __device__ __forceinline__ void gc_tilefft_rotate_near(gc_fft_points &v, int part)
{
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        float2 root = gc_fft_roots_of<axis::points>().near[part][i];
        if (i % 8 > 0)
            gc_fft_turn(v, gc_tilefft_near_place(i), root.x, root.y);
    }
}

/* Returns `number`, hidden from the compiler: it computes again what depends on the number, instead
 * of keeping that in registers from tile to tile. */
static __device__ __forceinline__ int gc_tilefft_fresh(int number)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(number));
#endif
    return number;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* A pair of tiles: its place in its row of pairs, and the first output of the first tile.
 * Those of the second one begin t.width columns to the right. */
struct gc_tilefft_pair {
    int column, left, top;

    __device__ __forceinline__ gc_tilefft_pair(const gc_pass &pass, const gc_tilefft &t, int number)
    {
        int line = number / t.pairs, first = (pass.output_first - t.first_row) / t.height;
        column = number - line * t.pairs;
        left = column * 2 * t.width;
        top = t.first_row + (first + line) * t.height;
    }

    /* Moves on by `columns` pairs and `lines` rows of pairs. */
    __device__ __forceinline__ void advance(const gc_tilefft &t, int columns, int lines)
    {
        column += columns;
        if (column >= t.pairs) {
            column -= t.pairs;
            lines++;
        }
        left = column * 2 * t.width;
        top += lines * t.height;
    }

    /* Whether all samples around both tiles are in the image, and needed. */
    template <class config>
    __device__ __forceinline__ bool is_inside(const gc_pass &pass, const gc_tilefft &t) const
    {
        typedef gc_tilefft_shape<config> shape;
        int x = left - t.left, y = top - t.top;
        return x >= 0 && x + t.width + shape::columns <= pass.width &&
               y + shape::lines - 1 <= t.last_row && gc_pass_rows_inside(pass, y, shape::lines);
    }
};

/* The sample in row `y` and column `column` of the input; -1 is outside a constant border, -2 is a
 * column or row that no output needs. */
template <class config>
static __device__ __forceinline__ float gc_tilefft_sample(const gc_pass &pass, int row, int column)
{
    bool is_sample = row >= 0 && column >= 0;
    float other = row == -2 || column == -2 ? 0 : pass.constant[blockIdx.y];
    long long index = row * pass.input_pitch + column;
    float value = gc_pass_load<config>(pass, gc_pass_input_start(pass) + (is_sample ? index : 0));
    return is_sample ? value : other;
}

template <class config>
static __device__ __forceinline__ int gc_tilefft_column(const gc_pass &pass, const gc_tilefft &t,
                                                        int x)
{
    return x > t.last_column ? -2 : gc_pass_index(gc_pass_border_of<config>(pass), x, pass.width);
}

/* Loads the thread's points of a pair at the border to the thread's place in shared memory. */
template <class config>
static __device__ __forceinline__ void
gc_tilefft_load_border(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair,
                       float2 *line, int x, int part)
{
    typedef gc_tilefft_shape<config> shape;
    int left = pair.left - t.left + x;
    int one = gc_tilefft_column<config>(pass, t, left);
    int other = gc_tilefft_column<config>(pass, t, left + t.width);
#pragma unroll 1
    for (int first = 0; first < GC_FFT_HELD; first += 8) {
        float2 points[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int y = pair.top - t.top + gc_tilefft_far_at<typename shape::down>(part, first + i);
            int row = y > t.last_row ? -2 : gc_pass_row<config>(pass, y);
            points[i] = make_float2(gc_tilefft_sample<config>(pass, row, one),
                                    gc_tilefft_sample<config>(pass, row, other));
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            line[gc_tilefft_far_at<typename shape::down>(part, first + i) * shape::pitch] =
                points[i];
    }
}

/* Loads the thread's points of a pair inside the image. */
template <class config>
static __device__ __forceinline__ void
gc_tilefft_load_inside(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair, int x,
                       int part, gc_fft_points &v)
{
    typedef gc_tilefft_shape<config> shape;
    typedef typename shape::down down;
    int left = pair.left - t.left;
    long long index =
        gc_pass_input_start(pass) +
        (long long)(pair.top - t.top - pass.input_first + gc_tilefft_far_at<down>(part, 0)) *
            pass.input_pitch +
        left + x;
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        long long at = index + gc_tilefft_far_at<down>(0, i) * pass.input_pitch;
        v.re[i] = gc_pass_load<config>(pass, at);
        v.im[i] = gc_pass_load<config>(pass, at + t.width);
    }
}

/* The places of a thread's outputs of a pair: point i in row first + far_at(0, i) of those that are
 * stored, `count` rows. */
template <class config> struct gc_tilefft_outputs {
    typedef typename gc_tilefft_shape<config>::down down;
    int first, count;
    bool has_one, has_other; /* whether the first and the second tile have the thread's column */
    long long start;         /* index of the first tile's point 0 */
    long long pitch;

    __device__ __forceinline__ gc_tilefft_outputs(const gc_pass &pass, const gc_tilefft &t,
                                                  const gc_tilefft_pair &pair, int x, int part)
    {
        int one = pair.left + x, row = gc_tilefft_far_at<down>(part, 0);
        int skipped = max(pass.output_first - pair.top, 0);
        count = min(t.height, pass.output_first + pass.rows - pair.top) - skipped;
        first = row - skipped;
        has_one = x < t.width && one < pass.width;
        has_other = x < t.width && one + t.width < pass.width;
        start = blockIdx.y * pass.output_plane +
                (long long)(pair.top - pass.output_first + row) * pass.output_pitch + one;
        pitch = gc_tilefft_fresh((int)pass.output_pitch);
    }

    __device__ __forceinline__ bool has(int i) const
    {
        return (unsigned)(first + gc_tilefft_far_at<down>(0, i)) < (unsigned)count;
    }

    __device__ __forceinline__ long long at(int i) const
    {
        return start + gc_tilefft_far_at<down>(0, i) * pitch;
    }
};

template <class config>
static __device__ __forceinline__ void
gc_tilefft_store_values(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair,
                        int x, int part, const gc_fft_points &v)
{
    typedef typename gc_tilefft_shape<config>::down down;
    gc_tilefft_outputs<config> outputs(pass, t, pair, x, part);
    float *to = (float *)pass.output + outputs.start, *beside = to + t.width;
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        int place = gc_tilefft_far_place<down>(i);
        long long at = gc_tilefft_far_at<down>(0, i) * outputs.pitch;
        if (outputs.has(i) && outputs.has_one)
            to[at] = v.im[place];
        if (outputs.has(i) && outputs.has_other)
            beside[at] = v.re[place];
    }
}

template <class config>
static __device__ __forceinline__ void
gc_tilefft_store_rounded(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair,
                         int x, int part, const gc_fft_points &v)
{
    typedef typename gc_tilefft_shape<config>::down down;
    gc_tilefft_outputs<config> outputs(pass, t, pair, x, part);
    float one[GC_FFT_HELD], other[GC_FFT_HELD];
    unsigned stored = 0;
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        one[i] = v.im[gc_tilefft_far_place<down>(i)];
        other[i] = v.re[gc_tilefft_far_place<down>(i)];
        stored |= outputs.has(i) ? 1u << i : 0;
    }
    auto at = [&](int i) { return outputs.at(i); };
    gc_fft_store_rounded<config>(pass, one, outputs.has_one ? stored : 0, at);
    gc_fft_store_rounded<config>(pass, other, outputs.has_other ? stored : 0,
                                 [&](int i) { return outputs.at(i) + t.width; });
}

/* ---- The tile -------------------------------------------------------------------------------- */

/* Reads or writes the points of a thread. `step` is from point to point of the line. */
template <class axis>
static __device__ __forceinline__ void gc_tilefft_get_far(const float2 *line, int step, int part,
                                                          gc_fft_points &v)
{
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        float2 point = line[gc_tilefft_far_at<axis>(part, i) * step];
        v.re[i] = point.x;
        v.im[i] = point.y;
    }
}

template <class axis>
static __device__ __forceinline__ void gc_tilefft_put_far(float2 *line, int step, int part,
                                                          const gc_fft_points &v)
{
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        int place = gc_tilefft_far_place<axis>(i);
        line[gc_tilefft_far_at<axis>(part, i) * step] = make_float2(v.re[place], v.im[place]);
    }
}

static __device__ __forceinline__ void gc_tilefft_get_near(const float2 *line, int step, int part,
                                                           gc_fft_points &v)
{
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        float2 point = line[(GC_FFT_HELD * part + i) * step];
        v.re[i] = point.x;
        v.im[i] = point.y;
    }
}

static __device__ __forceinline__ void gc_tilefft_put_near(float2 *line, int step, int part,
                                                           const gc_fft_points &v)
{
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        int place = gc_tilefft_near_place(i);
        line[(GC_FFT_HELD * part + i) * step] = make_float2(v.re[place], v.im[place]);
    }
}

/* Multiplies by the filter's spectrum and exchanges real and imaginary part, so that the next
 * transforms go back. `step` is from one of the thread's factors to the next one. */
static __device__ __forceinline__ void gc_tilefft_multiply(const float2 *spectrum, int step,
                                                           gc_fft_points &v)
{
    gc_fft_points p;
#pragma unroll
    for (int i = 0; i < GC_FFT_HELD; i++) {
        float2 s = __ldg(spectrum + i * step);
        float re = v.re[gc_tilefft_near_place(i)], im = v.im[gc_tilefft_near_place(i)];
        p.im[i] = fmaf(re, s.x, -(im * s.y));
        p.re[i] = fmaf(re, s.y, im * s.x);
    }
    v = p;
}

struct gc_tilefft_place {
    int x, column_part, row, row_part; /* parts are the same in all lanes of a warp */
};

/* Loads the thread's points of a pair, at the border by way of its places in shared memory. */
template <class config>
static __device__ __forceinline__ void gc_tilefft_load(const gc_pass &pass, const gc_tilefft &t,
                                                       const gc_tilefft_pair &pair, float2 *line,
                                                       int x, int part, gc_fft_points &v)
{
    typedef gc_tilefft_shape<config> shape;
    if (pair.is_inside<config>(pass, t)) {
        gc_tilefft_load_inside<config>(pass, t, pair, x, part, v);
    } else {
        gc_tilefft_load_border<config>(pass, t, pair, line, x, part);
        gc_tilefft_get_far<typename shape::down>(line, shape::pitch, part, v);
    }
}

/* The columns forward, without the first step's load. */
template <class config>
static __device__ __forceinline__ void gc_tilefft_columns(const gc_tilefft_place &at,
                                                          float2 *memory, gc_fft_points &v)
{
    typedef gc_tilefft_shape<config> shape;
    typedef typename shape::down down;
    float2 *line = memory + at.x;
    gc_tilefft_far<down>(v);
    gc_tilefft_rotate_far<down>(v, at.column_part);
    gc_tilefft_put_far<down>(line, shape::pitch, at.column_part, v);
    __syncthreads();
    gc_tilefft_get_near(line, shape::pitch, at.column_part, v);
    gc_tilefft_near(v);
    gc_tilefft_put_near(line, shape::pitch, at.column_part, v);
    __syncthreads();
}

/* The rows forward and back. */
template <class config>
static __device__ __forceinline__ void
gc_tilefft_rows(const gc_tilefft &t, const gc_tilefft_place &at, float2 *memory, gc_fft_points &v)
{
    typedef gc_tilefft_shape<config> shape;
    typedef typename shape::across across;
    float2 *line = memory + at.row * shape::pitch;
    gc_tilefft_get_far<across>(line, 1, at.row_part, v);
    gc_tilefft_far<across>(v);
    gc_tilefft_rotate_far<across>(v, at.row_part);
    gc_tilefft_put_far<across>(line, 1, at.row_part, v);
    const float2 *spectrum = t.spectrum + at.row_part * GC_FFT_HELD * shape::lines + at.row;
    __syncthreads();
    gc_tilefft_get_near(line, 1, at.row_part, v);
    gc_tilefft_near(v);
    gc_tilefft_multiply(spectrum, shape::lines, v);
    gc_tilefft_near(v);
    gc_tilefft_rotate_near<across>(v, at.row_part);
    gc_tilefft_put_near(line, 1, at.row_part, v);
    __syncthreads();
    gc_tilefft_get_far<across>(line, 1, at.row_part, v);
    gc_tilefft_far<across>(v);
    gc_tilefft_put_far<across>(line, 1, at.row_part, v);
    __syncthreads();
}

/* The columns back. Threads whose columns have no outputs have nothing to do. */
template <class config>
static __device__ __forceinline__ void gc_tilefft_columns_back(const gc_tilefft_place &at,
                                                               bool has_outputs, float2 *memory,
                                                               gc_fft_points &v)
{
    typedef gc_tilefft_shape<config> shape;
    typedef typename shape::down down;
    float2 *line = memory + at.x;
    if (has_outputs) {
        gc_tilefft_get_near(line, shape::pitch, at.column_part, v);
        gc_tilefft_near(v);
        gc_tilefft_rotate_near<down>(v, at.column_part);
        gc_tilefft_put_near(line, shape::pitch, at.column_part, v);
    }
    __syncthreads();
    if (has_outputs) {
        gc_tilefft_get_far<down>(line, shape::pitch, at.column_part, v);
        gc_tilefft_far<down>(v);
    }
}

/* Turns a pair of tiles into its outputs. */
template <class config>
static __device__ __forceinline__ void
gc_tilefft_store(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair,
                 const gc_tilefft_place &at, float2 *memory, gc_fft_points &v)
{
    bool has_outputs = at.x / 32 * 32 < t.width; /* of a column of the warp */
    gc_tilefft_columns_back<config>(at, has_outputs, memory, v);
    if (!has_outputs)
        return;
    if (gc_fft_stores_values<config>(pass))
        gc_tilefft_store_values<config>(pass, t, pair, at.x, at.column_part, v);
    else if constexpr (config::output != GC_FLOAT)
        gc_tilefft_store_rounded<config>(pass, t, pair, at.x, at.column_part, v);
}

/* A number that is the same in all lanes of a warp, and known to be. */
static __device__ __forceinline__ int gc_tilefft_uniform(int number)
{
#ifdef __CUDA_ARCH__
    return __shfl_sync(~0u, number, 0);
#else
    return number;
#endif
}

template <class config> static __device__ __forceinline__ gc_tilefft_place gc_tilefft_place_of()
{
    typedef gc_tilefft_shape<config> shape;
    int thread = gc_tilefft_fresh((int)threadIdx.x);
    return {thread % shape::columns, gc_tilefft_uniform(thread / shape::columns),
            thread % shape::lines, gc_tilefft_uniform(thread / shape::lines)};
}

/* The kernel. A block takes every gridDim.x-th pair of tiles. */
template <class config>
static __device__ __forceinline__ void gc_tilefft_pass(const gc_pass &pass, const gc_tilefft &t)
{
    extern __shared__ float4 gc_block_memory[];
    float2 *memory = (float2 *)gc_block_memory;
    gc_tilefft_pair pair(pass, t, (int)blockIdx.x);
    int lines = (int)gridDim.x / t.pairs, columns = (int)gridDim.x - lines * t.pairs;
#pragma unroll 1
    for (int number = (int)blockIdx.x; number < pass.tiles; number += (int)gridDim.x) {
        gc_fft_points v;
        gc_tilefft_place at = gc_tilefft_place_of<config>();
        gc_tilefft_load<config>(pass, t, pair, memory + at.x, at.x, at.column_part, v);
        gc_tilefft_columns<config>(at, memory, v);
        gc_tilefft_rows<config>(t, gc_tilefft_place_of<config>(), memory, v);
        gc_tilefft_store<config>(pass, t, pair, gc_tilefft_place_of<config>(), memory, v);
        pair.advance(t, columns, lines);
    }
}
