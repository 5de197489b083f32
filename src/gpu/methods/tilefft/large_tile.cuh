/* A pass by Fourier transforms of large tiles. A pair of tiles does not fit in shared memory, so
 * that three kernels take it, through scratch memory: rows forward, each once for all the tiles
 * above each other that it belongs to; columns forward, the product with the filter's spectrum,
 * columns back; rows back. Shared memory serves the exchange within a line, and holds what a block
 * takes next. */
#pragma once

#include "gpu/methods/tilefft/points.cuh"
#include "gpu/methods/tilefft/samples.cuh"
#include "gpu/methods/tilefft/types.cuh"
#include "gpu/pass/pass.cuh"

enum {
    GC_LARGE_HELD = 32,         /* points of a thread */
    GC_LARGE_ROW_THREADS = 128, /* of a block that transforms rows */
    GC_LARGE_COLUMNS = 8        /* columns of a block that transforms columns */
};

/* A line of `size` points, 512 or 1024: `parts` threads hold it. The first transforms are of 32
 * points that are `parts` apart, the second ones of `parts` neighbours. Between them a line has
 * `pitch` complex numbers for each of the 32 frequencies. Lines begin `stride` apart: neighbouring
 * points of a line lie in different banks, and so do the same points of neighbouring lines. */
template <int size> struct gc_large_axis {
    static constexpr int points = size, parts = size / GC_LARGE_HELD;
    static constexpr int groups = GC_LARGE_HELD / parts, pitch = parts + 1;
    static constexpr int stride = (GC_LARGE_HELD * pitch + 15) / 16 * 16 + 2;
};

template <class config> struct gc_large_shape {
    typedef gc_large_axis<config::columns> across;
    typedef gc_large_axis<config::lines> down;
    static constexpr int rows = GC_LARGE_ROW_THREADS / across::parts; /* of a block */
    /* Tiles of a pair for which a loop is unrolled. Code for samples is long. */
    static constexpr int tiles_together = config::input == GC_FLOAT ? 2 : 1;
    static constexpr int column_threads = GC_LARGE_COLUMNS * down::parts;
    static constexpr int column_items = config::columns / GC_LARGE_COLUMNS;
    /* Complex numbers of a buffer; of shared memory, two buffers and the roots. */
    static constexpr int row_buffer = rows * across::stride;
    static constexpr int column_buffer = GC_LARGE_COLUMNS * down::stride;
    static constexpr int row_bytes = (2 * row_buffer + config::columns) * 8;
    static constexpr int column_bytes = (2 * column_buffer + config::lines) * 8;
};

typedef gc_fft_held<GC_LARGE_HELD> gc_large_points;

/* ---- Tiles ----------------------------------------------------------------------------------- */

struct gc_large_tile {
    int left, top;
    bool exists;
};

/* The uppermost tile of the first or of the second column of a launch's strip. */
static __device__ __forceinline__ gc_large_tile gc_large_column_of(const gc_tilefft_large &t,
                                                                   int strip, int second)
{
    int column = 2 * (t.first_strip + strip);
    if (strip < t.full_strips)
        return {(column + second) * t.width, t.first_row, true};
    return {column * t.width, t.first_row + second * ((t.rows + 1) / 2) * t.height,
            second == 0 || t.rows > 1};
}

/* A pair: its strip, and its row of tiles in the strip. */
struct gc_large_pair {
    int strip, row;

    __device__ __forceinline__ gc_large_pair(const gc_tilefft_large &t, int number)
        : strip(min(number / t.rows, t.full_strips)), row(number - strip * t.rows)
    {
    }
};

/* ---- A line ---------------------------------------------------------------------------------- */

/* Threads that share a line meet: those of a warp, or those of a block. */
template <bool in_warp> static __device__ __forceinline__ void gc_large_meet()
{
    if (in_warp)
        __syncwarp();
    else
        __syncthreads();
}

/* Reads the thread's points of a line, whose points lie `pitch` apart. */
template <class axis>
static __device__ __forceinline__ void gc_large_get(const float2 *line, int pitch, int part,
                                                    gc_large_points &v)
{
#pragma unroll
    for (int a = 0; a < GC_LARGE_HELD; a++) {
        float2 point = line[(part + a * axis::parts) * pitch];
        v.re[a] = point.x;
        v.im[a] = point.y;
    }
}

/* The first step of a line and the exchange through shared memory. The thread holds points
 * part + parts a. */
template <class axis, bool in_warp>
static __device__ __forceinline__ void gc_large_exchange(gc_large_points &v, int part,
                                                         const float2 *roots, float2 *line)
{
    gc_fft_transform<GC_LARGE_HELD>(v, 0, 1);
#pragma unroll
    for (int k = 1; k < GC_LARGE_HELD; k++) {
        float2 root = roots[k * axis::parts + part];
        gc_fft_turn(v, k, root.x, root.y);
    }
    gc_large_meet<in_warp>();
#pragma unroll
    for (int k = 0; k < GC_LARGE_HELD; k++)
        line[k * axis::pitch + part] = make_float2(v.re[k], v.im[k]);
    gc_large_meet<in_warp>();
#pragma unroll
    for (int k = 0; k < GC_LARGE_HELD; k++) {
        int frequency = part + axis::parts * (k / axis::parts);
        float2 point = line[frequency * axis::pitch + k % axis::parts];
        v.re[k] = point.x;
        v.im[k] = point.y;
    }
}

/* The second step of a line. The thread then holds frequencies part + parts a. */
template <class axis> static __device__ __forceinline__ void gc_large_finish(gc_large_points &v)
{
#pragma unroll
    for (int group = 0; group < axis::groups; group++)
        gc_fft_transform<axis::parts>(v, group * axis::parts, 1);
    gc_large_points places = v;
#pragma unroll
    for (int a = 0; a < GC_LARGE_HELD; a++) {
        int place = a % axis::groups * axis::parts + a / axis::groups;
        v.re[a] = places.re[place];
        v.im[a] = places.im[place];
    }
}

static __device__ __forceinline__ void gc_large_copy_roots(const float2 *from, int count,
                                                           float2 *roots)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        roots[i] = __ldg(from + i);
}

/* ---- Rows of samples ------------------------------------------------------------------------- */

/* Copies a sample into shared memory. It is there after gc_pass_arrive. */
template <class config>
static __device__ __forceinline__ void gc_large_copy_sample(const gc_pass &pass, float *to,
                                                            long long index)
{
    if (gc_pass_input<config>(pass) == GC_FLOAT)
        gc_pass_copy<4>(to, (const float *)pass.input + index);
    else
        *to = gc_pass_load<config>(pass, index);
}

/* Copies the thread's points `first` to `last` - 1 of a row, at the border: x is the column of
 * point 0, and `start` the index of the row. */
template <class config>
static __device__ __forceinline__ void
gc_large_copy_border(const gc_pass &pass, const gc_tilefft_large &t, int first, int last, int x,
                     long long start, float *to)
{
    typedef typename gc_large_shape<config>::across axis;
#pragma unroll 2
    for (int a = first; a < last; a++) {
        int column = min(x + a * axis::parts, t.last_column); /* no output needs more */
        if ((unsigned)column >= (unsigned)pass.width)
            column = gc_pass_index(gc_pass_border_of<config>(pass), column, pass.width);
        if (column >= 0)
            gc_large_copy_sample<config>(pass, to + 2 * a * axis::parts, start + column);
        else
            to[2 * a * axis::parts] = pass.constant[0];
    }
}

/* Copies the thread's points of row `y` of the image for a tile: those part + parts a, into every
 * second float from `to` on. */
template <class config>
static __device__ __forceinline__ void
gc_large_copy_row(const gc_pass &pass, const gc_tilefft_large &t, const gc_large_tile &tile, int y,
                  int part, float *to)
{
    typedef typename gc_large_shape<config>::across axis;
    bool is_needed = tile.exists && y <= t.last_row;
    int row = is_needed ? gc_pass_row<config>(pass, y) : -1, x = tile.left - t.left;
    if (row < 0) {
        float value = is_needed ? pass.constant[0] : 0;
#pragma unroll 4
        for (int a = 0; a < GC_LARGE_HELD; a++)
            to[2 * a * axis::parts] = value;
        return;
    }
    long long start = row * pass.input_pitch;
    if (x >= 0 && x + config::columns <= pass.width) {
#pragma unroll
        for (int a = 0; a < GC_LARGE_HELD; a++)
            gc_large_copy_sample<config>(pass, to + 2 * a * axis::parts,
                                         start + x + part + a * axis::parts);
        return;
    }
    /* Points first to last - 1 of all threads of the line are in the image. */
    int first = min((max(-x, 0) + axis::parts - 1) / axis::parts, (int)GC_LARGE_HELD);
    int last = max(min((pass.width - x) / axis::parts, (int)GC_LARGE_HELD), first);
    gc_large_copy_border<config>(pass, t, 0, first, x + part, start, to);
#pragma unroll 4
    for (int a = first; a < last; a++)
        gc_large_copy_sample<config>(pass, to + 2 * a * axis::parts,
                                     start + x + part + a * axis::parts);
    gc_large_copy_border<config>(pass, t, last, GC_LARGE_HELD, x + part, start, to);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The place of a thread of the kernels for rows. */
struct gc_large_place {
    int of, y; /* the strip or the pair, and its row */
    int line, part;
};

/* `items` are those of a strip or a pair. */
template <class config>
static __device__ __forceinline__ gc_large_place gc_large_place_of(int item, int items)
{
    typedef gc_large_shape<config> shape;
    int line = (int)threadIdx.x / shape::across::parts, of = item / items;
    return {of, (item - of * items) * shape::rows + line, line,
            (int)threadIdx.x % shape::across::parts};
}

/* Takes items blockIdx.x, blockIdx.x + gridDim.x, ... of `count`: `copy` copies an item into a
 * buffer, while `take` takes the one before from another buffer. */
template <class copier, class taker>
static __device__ __forceinline__ void gc_large_each(int count, float2 *memory, int buffer,
                                                     const copier &copy, const taker &take)
{
    int item = (int)blockIdx.x;
    if (item < count)
        copy(item, memory);
#pragma unroll 1
    for (int turn = 0; item < count; item += (int)gridDim.x, turn ^= 1) {
        gc_pass_arrive();
        __syncthreads();
        if (item + (int)gridDim.x < count)
            copy(item + (int)gridDim.x, memory + (turn ^ 1) * buffer);
        take(item, memory + turn * buffer);
    }
}

/* The first kernel: rows of strips forward. */
template <class config>
static __device__ __forceinline__ void gc_large_rows(const gc_pass &pass, const gc_tilefft_large &t)
{
    typedef gc_large_shape<config> shape;
    typedef typename shape::across axis;
    extern __shared__ float4 gc_block_memory[];
    float2 *memory = (float2 *)gc_block_memory, *roots = memory + 2 * shape::row_buffer;
    int items = (t.lines + shape::rows - 1) / shape::rows;
    gc_large_copy_roots(t.roots_across, config::columns, roots);
    auto copy = [&](int item, float2 *buffer) {
        gc_large_place at = gc_large_place_of<config>(item, items);
        float *to = (float *)(buffer + at.line * axis::stride + at.part);
#pragma unroll shape::tiles_together
        for (int k = 0; k < 2; k++) {
            gc_large_tile tile = gc_large_column_of(t, at.of, k);
            gc_large_copy_row<config>(pass, t, tile, tile.top - t.top + at.y, at.part, to + k);
        }
    };
    auto take = [&](int item, float2 *buffer) {
        gc_large_place at = gc_large_place_of<config>(item, items);
        float2 *line = buffer + at.line * axis::stride;
        gc_large_points v;
        gc_large_get<axis>(line, 1, at.part, v);
        gc_large_exchange<axis, true>(v, at.part, roots, line);
        gc_large_finish<axis>(v);
        float2 *to =
            t.of_strips + ((long long)at.of * t.strip_lines + at.y) * config::columns + at.part;
#pragma unroll
        for (int a = 0; a < GC_LARGE_HELD; a++)
            to[a * axis::parts] = make_float2(v.re[a], v.im[a]);
    };
    gc_large_each(t.row_items, memory, shape::row_buffer, copy, take);
}

/* Stores a row of a tile as chain values, or as samples one by one. */
template <class config>
static __device__ __forceinline__ void
gc_large_store_row(const gc_pass &pass, const gc_tilefft_large &t, const gc_large_tile &tile,
                   const gc_large_place &at, float (&values)[GC_LARGE_HELD])
{
    typedef typename gc_large_shape<config>::across axis;
    int row = tile.top + at.y - pass.output_first;
    int end = min(t.width, pass.width - tile.left) - at.part;
    if (!tile.exists || at.y >= t.height || (unsigned)row >= (unsigned)pass.rows)
        return;
    gc_fft_store<config, axis::parts, 0>(pass, values,
                                         gc_fft_bits(0, (end + axis::parts - 1) / axis::parts),
                                         row * pass.output_pitch + tile.left + at.part);
}

/* The third kernel: rows back. The transform has exchanged real and imaginary part. */
template <class config>
static __device__ __forceinline__ void gc_large_back(const gc_pass &pass, const gc_tilefft_large &t)
{
    typedef gc_large_shape<config> shape;
    typedef typename shape::across axis;
    extern __shared__ float4 gc_block_memory[];
    float2 *memory = (float2 *)gc_block_memory, *roots = memory + 2 * shape::row_buffer;
    int items = (t.height + shape::rows - 1) / shape::rows;
    gc_large_copy_roots(t.roots_across, config::columns, roots);
    auto copy = [&](int item, float2 *buffer) {
        gc_large_place at = gc_large_place_of<config>(item, items);
        int y = min(at.y, t.height - 1); /* beyond are no outputs, and perhaps no memory */
        const float2 *from =
            t.of_pairs + ((long long)at.of * t.height + y) * config::columns + 2 * at.part;
        float2 *to = buffer + at.line * axis::stride + 2 * at.part;
#pragma unroll
        for (int i = 0; i < GC_LARGE_HELD / 2; i++)
            gc_pass_copy<16>(to + 2 * i * axis::parts, from + 2 * i * axis::parts);
    };
    auto take = [&](int item, float2 *buffer) {
        gc_large_place at = gc_large_place_of<config>(item, items);
        gc_large_pair pair(t, at.of);
        float2 *line = buffer + at.line * axis::stride;
        gc_large_points v;
        gc_large_get<axis>(line, 1, at.part, v);
        gc_large_exchange<axis, true>(v, at.part, roots, line);
        gc_large_finish<axis>(v);
#pragma unroll shape::tiles_together
        for (int k = 0; k < 2; k++) {
            gc_large_tile tile = gc_large_column_of(t, pair.strip, k);
            tile.top += pair.row * t.height;
            tile.exists = tile.top < t.first_row + t.rows * t.height;
            gc_large_store_row<config>(pass, t, tile, at, v.im);
#pragma unroll
            for (int a = 0; a < GC_LARGE_HELD; a++)
                v.im[a] = v.re[a];
        }
    };
    gc_large_each(t.pairs * items, memory, shape::row_buffer, copy, take);
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* Multiplies by the filter's spectrum and exchanges real and imaginary part, so that the next
 * transforms go back. */
static __device__ __forceinline__ void gc_large_multiply(const gc_large_points &spectrum,
                                                         gc_large_points &v)
{
#pragma unroll
    for (int a = 0; a < GC_LARGE_HELD; a++) {
        float re = v.re[a], im = v.im[a];
        v.im[a] = fmaf(re, spectrum.re[a], -(im * spectrum.im[a]));
        v.re[a] = fmaf(re, spectrum.im[a], im * spectrum.re[a]);
    }
}

/* Copies a block's columns of a pair from column `first` on, row by row. */
template <class config>
static __device__ __forceinline__ void gc_large_copy_columns(const gc_tilefft_large &t, int number,
                                                             int first, float2 *buffer)
{
    gc_large_pair pair(t, number);
    const float2 *from =
        t.of_strips +
        ((long long)pair.strip * t.strip_lines + pair.row * t.height) * config::columns + first;
    int end = t.lines - pair.row * t.height; /* of the rows that the strip has */
    const int words = GC_LARGE_COLUMNS / 2;  /* of a row, each of two complex numbers */
    const int rows = gc_large_shape<config>::column_threads / words;
    int word = (int)threadIdx.x % words, row = (int)threadIdx.x / words;
    from += row * config::columns + 2 * word;
    buffer += row * GC_LARGE_COLUMNS + 2 * word;
#pragma unroll
    for (int y = 0; y < config::lines; y += rows)
        if (y + row < end)
            gc_pass_copy<16>(buffer + y * GC_LARGE_COLUMNS, from + y * config::columns);
        else
            *(float4 *)(buffer + y * GC_LARGE_COLUMNS) = make_float4(0, 0, 0, 0);
}

/* The columns of a pair forward, the product, and back. Rows without outputs are not stored. */
template <class config>
static __device__ __forceinline__ void
gc_large_take_columns(const gc_tilefft_large &t, const gc_large_points &spectrum,
                      const float2 *roots, float2 *buffer, float2 *to)
{
    typedef typename gc_large_shape<config>::down axis;
    int column = (int)threadIdx.x % GC_LARGE_COLUMNS, part = (int)threadIdx.x / GC_LARGE_COLUMNS;
    float2 *line = buffer + column * axis::stride;
    gc_large_points v;
    gc_large_get<axis>(buffer + column, GC_LARGE_COLUMNS, part, v);
    gc_large_exchange<axis, false>(v, part, roots, line);
    gc_large_finish<axis>(v);
    gc_large_multiply(spectrum, v);
    gc_large_exchange<axis, false>(v, part, roots, line);
    gc_large_finish<axis>(v);
    to += part * config::columns + column;
#pragma unroll
    for (int a = 0; a < GC_LARGE_HELD; a++)
        if (part + a * axis::parts < t.height)
            to[a * axis::parts * config::columns] = make_float2(v.re[a], v.im[a]);
}

/* The second kernel. A block takes the same columns of every t.chunks-th pair, so that the factors
 * of its threads stay in registers. It begins with the last pair, which the kernel before has
 * stored last: the second-level cache may still hold it. */
template <class config>
static __device__ __forceinline__ void gc_large_columns(const gc_tilefft_large &t)
{
    typedef gc_large_shape<config> shape;
    typedef typename shape::down axis;
    extern __shared__ float4 gc_block_memory[];
    float2 *memory = (float2 *)gc_block_memory, *roots = memory + 2 * shape::column_buffer;
    int chunk = (int)blockIdx.x % t.chunks;
    int first = (int)blockIdx.x / t.chunks * GC_LARGE_COLUMNS; /* column */
    int pair = chunk + (t.pairs - 1 - chunk) / t.chunks * t.chunks;
    gc_large_copy_roots(t.roots_down, config::lines, roots);
    gc_large_copy_columns<config>(t, pair, first, memory);
    gc_large_points spectrum;
    const float2 *factors = t.spectrum + (int)threadIdx.x / GC_LARGE_COLUMNS * config::columns +
                            first + (int)threadIdx.x % GC_LARGE_COLUMNS;
#pragma unroll
    for (int a = 0; a < GC_LARGE_HELD; a++) {
        float2 factor = __ldg(factors + a * axis::parts * config::columns);
        spectrum.re[a] = factor.x;
        spectrum.im[a] = factor.y;
    }
#pragma unroll 1
    for (int turn = 0; pair >= 0; pair -= t.chunks, turn ^= 1) {
        gc_pass_arrive();
        __syncthreads();
        if (pair >= t.chunks)
            gc_large_copy_columns<config>(t, pair - t.chunks, first,
                                          memory + (turn ^ 1) * shape::column_buffer);
        gc_large_take_columns<config>(t, spectrum, roots, memory + turn * shape::column_buffer,
                                      t.of_pairs + (long long)pair * t.height * config::columns +
                                          first);
    }
}
