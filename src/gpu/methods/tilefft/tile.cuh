/* A pass by Fourier transforms of tiles: forward, product with the filter's spectrum, and back, in
 * one kernel. */
#pragma once

#include "gpu/methods/tilefft/points.cuh"
#include "gpu/methods/tilefft/samples.cuh"
#include "gpu/methods/tilefft/types.cuh"
#include "gpu/pass/pass.cuh"

enum { GC_TILEFFT_GROUP = 128 /* threads of a block that take the same rows in steps 2 and 3 */ };

/* A transform of columns x lines points takes three steps of 16 or 32 points in the registers of a
 * thread:
 *   1. lines / 4 points of a column, 4 apart;
 *   2. 4 neighbours of a column, by 4 points of a row that are columns / 4 apart;
 *   3. columns / 4 neighbours of a row.
 * The second one has the rotations between the steps. Going back the last one comes first. Each
 * step stores to the places that it has read, so that one barrier between two steps is enough. */
template <class config> struct gc_tilefft_shape {
    static constexpr int columns = config::columns, lines = config::lines; /* of a transform */
    static constexpr int pitch = columns + 1; /* complex numbers from line to line */
    static constexpr int across = columns / 4, down = lines / 4; /* points of steps 3 and 1 */
    static constexpr int held = across > down ? across : down;   /* points of a thread */
    static constexpr int threads = columns * lines / held;
    static constexpr int points = lines * pitch; /* of shared memory; roots lie behind them */
    static constexpr int bytes = (points + columns + lines) * 8;
    static constexpr int apart = columns / (held / down);      /* a thread's columns */
    static constexpr int rows_of_group = 32 * (held / across); /* 4 warps, a row a lane */
};

template <class config> using gc_tilefft_points = gc_fft_held<gc_tilefft_shape<config>::held>;

/* Transforms a thread's lines of `count` points. */
template <int count, class points>
static __device__ __forceinline__ void gc_tilefft_lines(points &v)
{
#pragma unroll
    for (int first = 0; first < points::held; first += count)
        gc_fft_transform<count>(v, first, 1);
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* A pair of tiles: the first output of the first tile. Those of the second one begin t.width
 * columns to the right. */
struct gc_tilefft_pair {
    int left, top;

    __device__ __forceinline__ gc_tilefft_pair(const gc_pass &pass, const gc_tilefft &t, int number)
    {
        int line = number / t.pairs, first = (pass.output_first - t.first_row) / t.height;
        left = (number - line * t.pairs) * 2 * t.width;
        top = t.first_row + (first + line) * t.height;
    }

    /* Moves on by `columns` pairs and `lines` rows of pairs. */
    __device__ __forceinline__ void advance(const gc_tilefft &t, int columns, int lines)
    {
        left += (columns - t.pairs) * 2 * t.width;
        if (left < 0)
            left += t.pairs * 2 * t.width;
        else
            lines++;
        top += lines * t.height;
    }

    /* The index of the first sample around the tiles, in row `row` of those. */
    __device__ __forceinline__ long long start(const gc_pass &pass, const gc_tilefft &t,
                                               int row) const
    {
        return gc_pass_input_start(pass) + left - t.left +
               (top - t.top - pass.input_first + row) * pass.input_pitch;
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

/* The row of the input for row `y` of the image, and the column for column x. Most rows are in the
 * image, also at its other borders. */
template <class config>
static __device__ __forceinline__ int gc_tilefft_row(const gc_pass &pass, const gc_tilefft &t,
                                                     int y)
{
    int row = y - pass.input_first;
    if (y > t.last_row)
        return -2;
    return (unsigned)row < (unsigned)pass.input_rows ? row : gc_pass_row<config>(pass, y);
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
#pragma unroll 1
    for (int first = 0; first < shape::held; first += 8) {
        int across = first / shape::down * shape::apart, down = first % shape::down;
        int left = pair.left - t.left + x + across, top = pair.top - t.top + part + 4 * down;
        int one = gc_tilefft_column<config>(pass, t, left);
        int other = gc_tilefft_column<config>(pass, t, left + t.width);
        float2 points[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int row = gc_tilefft_row<config>(pass, t, top + 4 * i);
            points[i] = make_float2(gc_tilefft_sample<config>(pass, row, one),
                                    gc_tilefft_sample<config>(pass, row, other));
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            line[4 * (down + i) * shape::pitch + across] = points[i];
    }
}

/* Loads the thread's points of a pair inside the image. */
template <class config>
static __device__ __forceinline__ void
gc_tilefft_load_inside(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair, int x,
                       int part, gc_tilefft_points<config> &v)
{
    typedef gc_tilefft_shape<config> shape;
    typedef typename gc_fft_type<config::input>::sample sample;
    const sample *one = (const sample *)pass.input + pair.start(pass, t, part) + x;
    const sample *other = one + t.width;
#pragma unroll
    for (int i = 0; i < shape::down; i++) {
#pragma unroll
        for (int k = i; k < shape::held; k += shape::down) {
            int across = k / shape::down * shape::apart;
            v.re[k] = (float)__ldg(one + across);
            v.im[k] = (float)__ldg(other + across);
        }
        one = gc_fft_hidden(one + 4 * pass.input_pitch);
        other = gc_fft_hidden(other + 4 * pass.input_pitch);
    }
}

/* Stores a pair's outputs in column x, those in rows part + 4 i: `count` points of the thread from
 * point `from` on. */
template <class config, int count>
static __device__ __forceinline__ void
gc_tilefft_store_column(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair,
                        int x, int part, int from, const gc_tilefft_points<config> &v)
{
    int left = pair.left + x, row = pair.top - pass.output_first + part;
    int end = min(t.height - part, pass.rows - row);
    unsigned stored = x < t.width ? gc_fft_bits((3 - row) >> 2, (end + 3) >> 2) : 0;
    long long start = blockIdx.y * pass.output_plane + row * pass.output_pitch + left;
    float one[count], other[count];
#pragma unroll
    for (int i = 0; i < count; i++) {
        one[i] = v.im[from + i];
        other[i] = v.re[from + i];
    }
    gc_fft_store<config, 0, 4>(pass, one, left < pass.width ? stored : 0, start);
    gc_fft_store<config, 0, 4>(pass, other, left + t.width < pass.width ? stored : 0,
                               start + t.width);
}

/* ---- The tile -------------------------------------------------------------------------------- */

/* Reads or writes a thread's lines of `count` points: `step` from point to point, `apart` from line
 * to line. */
template <int count, class points>
static __device__ __forceinline__ void gc_tilefft_get(const float2 *from, int step, int apart,
                                                      points &v)
{
#pragma unroll
    for (int i = 0; i < points::held; i++) {
        float2 point = from[i % count * step + i / count * apart];
        v.re[i] = point.x;
        v.im[i] = point.y;
    }
}

template <int count, class points>
static __device__ __forceinline__ void gc_tilefft_put(float2 *to, int step, int apart,
                                                      const points &v)
{
#pragma unroll
    for (int i = 0; i < points::held; i++)
        to[i % count * step + i / count * apart] = make_float2(v.re[i], v.im[i]);
}

/* Multiplies by the filter's spectrum and exchanges real and imaginary part, so that the next
 * transforms go back. `step` is from one factor of a line to the next one, `apart` from line to
 * line. */
template <int count, class points>
static __device__ __forceinline__ void gc_tilefft_multiply(const float2 *spectrum, int step,
                                                           int apart, points &v)
{
#pragma unroll
    for (int i = 0; i < points::held; i++) {
        float2 s = __ldg(spectrum + i % count * step + i / count * apart);
        float re = v.re[i], im = v.im[i];
        v.im[i] = fmaf(re, s.x, -(im * s.y));
        v.re[i] = fmaf(re, s.y, im * s.x);
    }
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

/* A thread's place in step 1: column `at`, and rows part + 4 a. `part` is the same in all lanes of
 * a warp. */
struct gc_tilefft_place {
    int at, part;

    __device__ __forceinline__ gc_tilefft_place(int size)
    {
        int thread = gc_fft_hidden((int)threadIdx.x);
        at = thread % size;
        part = gc_tilefft_uniform(thread / size);
    }
};

/* The threads of a group meet. Barriers have constant numbers: a block then takes no more of them
 * than it needs. */
template <class config> static __device__ __forceinline__ void gc_tilefft_meet()
{
#ifdef __CUDA_ARCH__
    int group = (int)threadIdx.x / GC_TILEFFT_GROUP;
#pragma unroll
    for (int k = 0; k < gc_tilefft_shape<config>::threads / GC_TILEFFT_GROUP; k++)
        if (group == k)
            asm volatile("bar.sync %0, %1;" ::"r"(k + 1), "n"((int)GC_TILEFFT_GROUP) : "memory");
#else
    __syncthreads();
#endif
}

/* Step 1 with its load, at the border by way of the thread's places in shared memory. */
template <class config>
static __device__ __forceinline__ void gc_tilefft_first(const gc_pass &pass, const gc_tilefft &t,
                                                        const gc_tilefft_pair &pair, float2 *memory,
                                                        gc_tilefft_points<config> &v)
{
    typedef gc_tilefft_shape<config> shape;
    gc_tilefft_place place(shape::apart);
    float2 *line = memory + place.part * shape::pitch + place.at;
    if (pair.is_inside<config>(pass, t)) {
        gc_tilefft_load_inside<config>(pass, t, pair, place.at, place.part, v);
    } else {
        gc_tilefft_load_border<config>(pass, t, pair, line, place.at, place.part);
        gc_tilefft_get<shape::down>(line, 4 * shape::pitch, shape::apart, v);
    }
    gc_tilefft_lines<shape::down>(v);
    gc_tilefft_put<shape::down>(line, 4 * shape::pitch, shape::apart, v);
}

/* Transforms 4 x 4 points from `first` on. Lines with points one_step apart come first: their
 * points are rotated before, by powers of one[0]. Those of the others are rotated after, by powers
 * of other[0]. */
template <class points>
static __device__ __forceinline__ void
gc_tilefft_four_by_four(points &v, int first, int one_step, const float2 (&one)[3], int other_step,
                        const float2 (&other)[3])
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        gc_fft_four(v, first + i * other_step, one_step, one[0], one[1]);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        gc_fft_transform<4>(v, first + i * one_step, other_step);
#pragma unroll
        for (int k = 1; k < 4; k++)
            gc_fft_turn(v, first + i * one_step + k * other_step, other[k - 1].x, other[k - 1].y);
    }
}

/* Step 2, forward or back. */
template <class config, bool forward>
static __device__ __forceinline__ void gc_tilefft_second(float2 *memory,
                                                         gc_tilefft_points<config> &v)
{
    typedef gc_tilefft_shape<config> shape;
    const int count = shape::held / 16; /* of 4 x 4 points of a thread, one below the other */
    int thread = gc_fft_hidden((int)threadIdx.x);
    int column = thread % shape::across, row = thread / shape::across * count;
    float2 *line = memory + row * 4 * shape::pitch + column;
    const float2 *roots = memory + shape::points, *roots_down = roots + shape::columns;
#pragma unroll
    for (int first = 0; first < shape::held; first += 16) {
        float2 across[3], down[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            across[k] = roots[(k + 1) * column];
            down[k] = roots_down[(k + 1) * (row + first / 16)];
        }
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float2 point = line[(first / 4 + i % 4) * shape::pitch + i / 4 * shape::across];
            v.re[first + i] = point.x;
            v.im[first + i] = point.y;
        }
        if (forward)
            gc_tilefft_four_by_four(v, first, 1, down, 4, across);
        else
            gc_tilefft_four_by_four(v, first, 4, across, 1, down);
#pragma unroll
        for (int i = 0; i < 16; i++)
            line[(first / 4 + i % 4) * shape::pitch + i / 4 * shape::across] =
                make_float2(v.re[first + i], v.im[first + i]);
    }
}

/* Step 3 forward, the product with the spectrum, and step 3 back. */
template <class config>
static __device__ __forceinline__ void gc_tilefft_third(const gc_tilefft &t, float2 *memory,
                                                        gc_tilefft_points<config> &v)
{
    typedef gc_tilefft_shape<config> shape;
    int thread = gc_fft_hidden((int)threadIdx.x);
    int row = thread / GC_TILEFFT_GROUP * shape::rows_of_group + thread % 32;
    int column = thread / 32 % 4 * shape::across;
    float2 *line = memory + row * shape::pitch + column;
    const float2 *spectrum = t.spectrum + column * shape::lines + row;
    gc_tilefft_get<shape::across>(line, 1, 32 * shape::pitch, v);
    gc_tilefft_lines<shape::across>(v);
    gc_tilefft_multiply<shape::across>(spectrum, shape::lines, 32, v);
    gc_tilefft_lines<shape::across>(v);
    gc_tilefft_put<shape::across>(line, 1, 32 * shape::pitch, v);
}

/* Step 1 back, and the outputs. Threads whose columns have no outputs have nothing to do. */
template <class config>
static __device__ __forceinline__ void
gc_tilefft_store(const gc_pass &pass, const gc_tilefft &t, const gc_tilefft_pair &pair,
                 const float2 *memory, gc_tilefft_points<config> &v)
{
    typedef gc_tilefft_shape<config> shape;
    const int count = shape::down;
    gc_tilefft_place place(shape::apart);
    if (place.at / 32 * 32 >= t.width) /* a column of the warp */
        return;
    gc_tilefft_get<count>(memory + place.part * shape::pitch + place.at, 4 * shape::pitch,
                          shape::apart, v);
    gc_tilefft_lines<count>(v);
#pragma unroll
    for (int from = 0; from < shape::held; from += count) {
        int x = place.at + from / count * shape::apart;
        gc_tilefft_store_column<config, count>(pass, t, pair, x, place.part, from, v);
    }
}

/* Fills `size` roots: root k is exp(-2 pi i k / size). */
template <int size> static __device__ __forceinline__ void gc_tilefft_fill_roots(float2 *roots)
{
    if ((int)threadIdx.x < size)
        sincospif(-2.0f / size * (float)threadIdx.x, &roots[threadIdx.x].y, &roots[threadIdx.x].x);
}

/* The kernel. A block takes every gridDim.x-th pair of tiles. */
template <class config>
static __device__ __forceinline__ void gc_tilefft_pass(const gc_pass &pass, const gc_tilefft &t)
{
    extern __shared__ float4 gc_block_memory[];
    float2 *memory = (float2 *)gc_block_memory;
    gc_tilefft_fill_roots<config::columns>(memory + gc_tilefft_shape<config>::points);
    gc_tilefft_fill_roots<config::lines>(memory + gc_tilefft_shape<config>::points +
                                         config::columns);
    gc_tilefft_pair pair(pass, t, (int)blockIdx.x);
    int lines = (int)gridDim.x / t.pairs, columns = (int)gridDim.x - lines * t.pairs;
#pragma unroll 1
    for (; pair.top < pass.output_first + pass.rows; pair.advance(t, columns, lines)) {
        gc_tilefft_points<config> v;
        gc_tilefft_first<config>(pass, t, pair, memory, v);
        __syncthreads();
        gc_tilefft_second<config, true>(memory, v);
        gc_tilefft_meet<config>();
        gc_tilefft_third<config>(t, memory, v);
        gc_tilefft_meet<config>();
        gc_tilefft_second<config, false>(memory, v);
        __syncthreads();
        gc_tilefft_store<config>(pass, t, pair, memory, v);
    }
}
