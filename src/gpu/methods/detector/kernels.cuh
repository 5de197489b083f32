/* The kernel that goes from samples to edges, or of Canny to pixels that may be edges.
 *
 * A block of threads takes a tile of 128 by 32 pixels. Samples come to shared memory with what lies
 * around the tile. There the chain makes values of them, the operator gradients of the values, and
 * comparisons flags of the gradients, a warp 32 at a time. All maps have the same places. Values
 * outside the image come from values inside, gradients there are 0.
 *
 * `number` is float if it holds all gradients and magnitudes without an error, else int. */
#ifndef GC_GPU_METHODS_DETECTOR_KERNELS_CUH
#define GC_GPU_METHODS_DETECTOR_KERNELS_CUH

#include "gpu/methods/detector/lines.cuh"

#include <type_traits>

enum {
    GC_TILE_COLUMNS = 128,
    GC_TILE_ROWS = 32,
    GC_TILE_MARGIN = 4, /* rows above and below: blur, operator, and magnitudes beside a peak */
    GC_TILE_BESIDE = 8, /* columns on either side */
    GC_TILE_LINES = GC_TILE_ROWS + 2 * GC_TILE_MARGIN,
    GC_TILE_PITCH = GC_TILE_COLUMNS + 2 * GC_TILE_BESIDE,
    GC_TILE_PLACES = GC_TILE_LINES * GC_TILE_PITCH,
    GC_TILE_GROUPS = GC_TILE_PITCH / 4, /* of four columns */
    GC_TILE_INNER = GC_TILE_GROUPS - 2, /* of these, those that are computed */
    GC_TILE_NEEDED = (GC_TILE_COLUMNS + 2) * (GC_TILE_ROWS + 2), /* see gc_tile_needed */
    GC_TILE_MAPS = 3
};

/* The number that holds magnitudes, and that of products with gc_detector.across. */
template <class number> struct gc_detect_types {
    typedef float magnitude;
    typedef int product;
};
template <> struct gc_detect_types<int> {
    typedef long long magnitude, product;
};

template <class number> struct alignas(16) gc_four {
    number at[4];
};

template <class number> static __device__ inline gc_four<number> &gc_four_at(number *place)
{
    return *(gc_four<number> *)place;
}

/* The tile of a block, with what lies around it. */
struct gc_tile {
    int left, top; /* the column and the row of the image in its first place */
    bool inside;   /* all of it lies in the image */
};

static __device__ inline bool gc_tile_has(const gc_finding &f, int x, int y)
{
    return x >= 0 && x < f.width && y >= 0 && y < f.height;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static __device__ inline unsigned gc_detect_sample(const gc_finding &f, int x, int y)
{
    x = gc_pass_index(f.border, x, f.width);
    y = gc_pass_index(f.border, y, f.height);
    return x < 0 || y < 0 ? (unsigned)f.outside : f.samples[(y - f.first) * f.pitch + x];
}

/* Brings samples to shared memory as they are, four in a word. */
static __device__ inline void gc_detect_load(const gc_finding &f, const gc_tile &tile, unsigned *to)
{
    for (int i = (int)threadIdx.x; i < GC_TILE_PLACES / 4; i += GC_DETECT_THREADS) {
        int x = tile.left + i % GC_TILE_GROUPS * 4, y = tile.top + i / GC_TILE_GROUPS;
        unsigned word = 0;
        if (tile.inside)
            word = __ldg((const unsigned *)(f.samples + (y - f.first) * f.pitch + x));
        else
            for (int k = 0; k < 4; k++)
                word |= gc_detect_sample(f, x + k, y) << 8 * k;
        to[i] = word;
    }
    __syncthreads();
}

/* Sets values outside the image to those that the border says. Places that nothing depends on get
 * any. */
template <class number>
static __device__ inline void gc_detect_extend(const gc_finding &f, const gc_tile &tile, int border,
                                               int outside, number *values)
{
    if (tile.inside || border == GC_PASS_WRAP) /* then samples were those beyond the image */
        return;
    for (int i = (int)threadIdx.x; i < GC_TILE_PLACES; i += GC_DETECT_THREADS) {
        int x = tile.left + i % GC_TILE_PITCH, y = tile.top + i / GC_TILE_PITCH;
        if (gc_tile_has(f, x, y))
            continue;
        x = gc_pass_index(border, x, f.width);
        y = gc_pass_index(border, y, f.height);
        unsigned column = (unsigned)(x - tile.left), row = (unsigned)(y - tile.top);
        bool is_here = x >= 0 && y >= 0 && column < GC_TILE_PITCH && row < GC_TILE_LINES;
        values[i] = is_here ? values[row * GC_TILE_PITCH + column] : (number)outside;
    }
    __syncthreads();
}

/* Convolves samples with a row. */
template <class number>
static __device__ inline void gc_detect_rows(const gc_finding &f, const unsigned *words, number *to)
{
    for (int i = (int)threadIdx.x; i < GC_TILE_LINES * GC_TILE_INNER; i += GC_DETECT_THREADS) {
        int at = i / GC_TILE_INNER * GC_TILE_GROUPS + 1 + i % GC_TILE_INNER;
        unsigned line[] = {words[at - 1], words[at], words[at + 1]};
        gc_four<number> sums;
#pragma unroll
        for (int k = 0; k < 4; k++)
            sums.at[k] = (number)(int)__dp4a(line[k / 2], f.row[k][0],
                                             __dp4a(line[k / 2 + 1], f.row[k][1], 0u));
        gc_four_at(to + 4 * at) = sums;
    }
    __syncthreads();
}

/* Convolves with a column. */
template <class number>
static __device__ inline void gc_detect_columns(const gc_finding &f, number *between,
                                                number *values)
{
    enum { STRIP = 6, REACH = GC_DETECT_BLUR / 2 }; /* rows of a thread */
    static_assert((GC_TILE_LINES - 2 * REACH) % STRIP == 0, "strips are full");
    int first = REACH + (int)threadIdx.x / GC_TILE_INNER * STRIP;
    int at = first * GC_TILE_PITCH + 4 + (int)threadIdx.x % GC_TILE_INNER * 4;
    if (first + STRIP + REACH <= GC_TILE_LINES) {
        gc_four<number> sums[STRIP] = {};
#pragma unroll
        for (int n = 0; n < (STRIP + 2 * REACH) * STRIP; n++) { /* each row adds to several sums */
            int o = n % STRIP, j = n / STRIP - o;
            if (j >= 0 && j < GC_DETECT_BLUR)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    sums[o].at[k] +=
                        (number)f.column[j] *
                        gc_four_at(between + at + (o + j - REACH) * GC_TILE_PITCH).at[k];
        }
#pragma unroll
        for (int o = 0; o < STRIP; o++)
            gc_four_at(values + at + o * GC_TILE_PITCH) = sums[o];
    }
    __syncthreads();
}

/* The place of pixel i of those that decide about pixels of the tile: one more on all sides. */
static __device__ inline int gc_tile_needed(int i)
{
    int row = i / (GC_TILE_COLUMNS + 2), column = i % (GC_TILE_COLUMNS + 2);
    return (GC_TILE_MARGIN - 1 + row) * GC_TILE_PITCH + GC_TILE_BESIDE - 1 + column;
}

/* Convolves with 3x3 weights. */
template <class number>
static __device__ inline void gc_detect_respond(const gc_finding &f, const number *values,
                                                number *responses)
{
    for (int i = (int)threadIdx.x; i < GC_TILE_NEEDED; i += GC_DETECT_THREADS) {
        int at = gc_tile_needed(i);
        number sum = 0;
#pragma unroll
        for (int k = 0; k < 9; k++)
            sum += (number)f.second[k] * values[at + (k / 3 - 1) * GC_TILE_PITCH + k % 3 - 1];
        responses[at] = sum;
    }
    __syncthreads();
}

/* ---- Gradients ------------------------------------------------------------------------------- */

/* By an operator of 3x3. A thread takes four columns, and rows from top to bottom. */
template <class number>
static __device__ inline void gc_detect_slopes(const gc_finding &f, number *values, number *across,
                                               number *down)
{
    enum { STRIP = 5 };
    const number outer = (number)f.detector.smooth[0], middle = (number)f.detector.smooth[1];
    int first = GC_TILE_MARGIN - 1 + (int)threadIdx.x / GC_TILE_INNER * STRIP;
    int column = 4 + (int)threadIdx.x % GC_TILE_INNER * 4;
    number differences[3][4], sums[3][4];
    if (first + STRIP >= GC_TILE_LINES)
        return;
#pragma unroll
    for (int j = 0; j < STRIP + 2; j++) {
        int at = (first - 1 + j) * GC_TILE_PITCH + column;
        gc_four<number> own = gc_four_at(values + at), right = {}, below = {};
        number line[] = {values[at - 1], own.at[0], own.at[1],
                         own.at[2],      own.at[3], values[at + 4]};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            differences[j % 3][k] = line[k + 2] - line[k];
            sums[j % 3][k] = outer * (line[k] + line[k + 2]) + middle * line[k + 1];
            if (j < 2)
                continue;
            right.at[k] = outer * (differences[(j + 1) % 3][k] + differences[j % 3][k]) +
                          middle * differences[(j + 2) % 3][k];
            below.at[k] = sums[j % 3][k] - sums[(j + 1) % 3][k];
        }
        if (j >= 2) {
            gc_four_at(across + at - GC_TILE_PITCH) = right;
            gc_four_at(down + at - GC_TILE_PITCH) = below;
        }
    }
}

/* The nearest multiple of 16 over 16, ties to even. */
static __device__ inline int gc_detect_sixteenth(int sum)
{
    return (sum + 7 + (sum >> 4 & 1)) >> 4;
}

/* By any operator. */
static __device__ inline void gc_detect_operate(const gc_finding &f, const int *values, int *across,
                                                int *down)
{
    const gc_detector &d = f.detector;
    for (int i = (int)threadIdx.x; i < GC_TILE_NEEDED; i += GC_DETECT_THREADS) {
        int at = gc_tile_needed(i), a = 0, b = 0;
        for (int k = 0; k < d.side * d.side; k++) {
            int j = k / d.side, n = k % d.side;
            int value = values[at + (j - d.side / 2) * GC_TILE_PITCH + n - d.side / 2];
            a += value * d.smooth[j] * d.slope[n];
            b += value * d.slope[j] * d.smooth[n];
        }
        across[at] = d.by_16 ? gc_detect_sixteenth(a) : a;
        down[at] = d.by_16 ? gc_detect_sixteenth(b) : b;
    }
}

/* ---- Flags ----------------------------------------------------------------------------------- */

static __device__ inline float gc_detect_magnitude(const gc_finding &, float across, float down)
{
    return fabsf(across) + fabsf(down);
}

static __device__ inline long long gc_detect_magnitude(const gc_finding &f, int across, int down)
{
    long long a = abs(across), b = abs(down);
    return f.detector.asked.norm == GCONV_NORM_L2 ? a * a + b * b : a + b;
}

/* As cpu/edges/reference.c has it. */
template <class number>
static __device__ inline bool gc_detect_is_peak(const gc_finding &f, const number *across,
                                                const number *down)
{
    typedef typename gc_detect_types<number>::product product;
    const gc_detector &d = f.detector;
    product right = (product)*across, below = (product)*down, a = right < 0 ? -right : right;
    product b = (below < 0 ? -below : below) * d.across;
    int diagonal = GC_TILE_PITCH + ((right < 0) == (below < 0) ? 1 : -1);
    int step = b < a * d.tangent                    ? 1
               : b > a * (d.tangent + 2 * d.across) ? (int)GC_TILE_PITCH
                                                    : diagonal;
    auto own = gc_detect_magnitude(f, *across, *down);
    auto after = gc_detect_magnitude(f, across[step], down[step]);
    bool strict = d.asked.like == GCONV_LIKE_OPENCV && step == diagonal;
    return own > gc_detect_magnitude(f, across[-step], down[-step]) &&
           (strict ? own > after : own >= after);
}

/* As cpu/edges/reference.c has it, of values that lie `step` places apart. */
template <class number>
static __device__ inline bool gc_detect_crosses(const gc_detector &d, const number *values,
                                                int step)
{
    long long before = (long long)values[-step], own = (long long)values[0];
    long long after = (long long)values[step], least = own * before, last = own * after;
    if (own == 0)
        return before * after < 0 && llabs(before - after) > d.high;
    return (least < 0 && llabs(own - before) > d.low && llabs(own) < llabs(before)) ||
           (last < 0 && llabs(own - after) > d.low && llabs(own) <= llabs(after));
}

/* Flags of the 32 pixels of a warp: edges, or of Canny peaks. *sure becomes the flags of those
 * above the high threshold. */
template <class number>
static __device__ inline unsigned gc_detect_flags(const gc_finding &f, const number *across,
                                                  const number *down, unsigned *sure)
{
    typedef typename gc_detect_types<number>::magnitude magnitude;
    magnitude own = gc_detect_magnitude(f, *across, *down);
    bool passes = own > (magnitude)f.detector.low;
    unsigned flags = __ballot_sync(~0u, passes);
    if (flags == 0 || f.words == nullptr)
        return flags;
    bool peak = passes && gc_detect_is_peak(f, across, down);
    *sure = __ballot_sync(~0u, peak && own > (magnitude)f.detector.high);
    return __ballot_sync(~0u, peak);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Stores the values of the chain. */
template <class number>
static __device__ inline void gc_detect_store_values(const gc_finding &f, const gc_tile &tile,
                                                     const number *values)
{
    for (int i = (int)threadIdx.x; i < GC_TILE_ROWS * GC_TILE_COLUMNS; i += GC_DETECT_THREADS) {
        int row = GC_TILE_MARGIN + i / GC_TILE_COLUMNS;
        int column = GC_TILE_BESIDE + i % GC_TILE_COLUMNS;
        int x = tile.left + column, y = tile.top + row;
        if (gc_tile_has(f, x, y))
            ((float *)f.output)[y * f.output_pitch + x] =
                (float)values[row * GC_TILE_PITCH + column];
    }
}

template <class number>
static __device__ inline void gc_detect_gradients(const gc_finding &f, const gc_tile &tile,
                                                  number *values, number *across, number *down)
{
    if (std::is_same<number, float>::value || f.detector.side == 3)
        gc_detect_slopes(f, values, across, down);
    else
        gc_detect_operate(f, (int *)values, (int *)across, (int *)down);
    __syncthreads();
    gc_detect_extend(f, tile, GC_PASS_CONSTANT, 0, across);
    gc_detect_extend(f, tile, GC_PASS_CONSTANT, 0, down);
}

/* Marks edges from gradients in `across` and `down`, or from the signs of `values`. */
template <class number>
static __device__ inline void gc_detect_mark(const gc_finding &f, const number *values,
                                             const number *across, const number *down, int column,
                                             int row)
{
    enum { WORDS = GC_TILE_COLUMNS / 32, OF_WARP = GC_TILE_ROWS * WORDS * 32 / GC_DETECT_THREADS };
    int lane = gc_pass_lane(), y = gc_pass_warp() * OF_WARP / WORDS;
    unsigned own = 0, own_sure = 0;
    for (int k = 0; k < OF_WARP; k += WORDS)
#pragma unroll
        for (int word = 0; word < WORDS; word++) {
            int at = (GC_TILE_MARGIN + y + k / WORDS) * GC_TILE_PITCH + GC_TILE_BESIDE + lane +
                     32 * word;
            unsigned sure = 0, flags;
            if (std::is_same<number, float>::value || f.detector.side > 1)
                flags = gc_detect_flags(f, across + at, down + at, &sure);
            else
                flags = __ballot_sync(
                    ~0u, gc_detect_crosses(f.detector, values + at, 1) ||
                             gc_detect_crosses(f.detector, values + at, GC_TILE_PITCH));
            own = lane == k + word ? flags : own;
            own_sure = lane == k + word ? sure : own_sure;
        }
    row += y + lane / WORDS;
    if (lane < OF_WARP && row < f.height)
        gc_lines_keep(f, row, column + lane % WORDS, own, own_sure);
}

template <class number>
static __global__ void __launch_bounds__(GC_DETECT_THREADS, 3)
    gc_detect_edges(const __grid_constant__ gc_finding f)
{
    constexpr int WORDS = GC_TILE_COLUMNS / 32;
    extern __shared__ float4 gc_block_memory[];
    int column = (int)(blockIdx.x % (f.row_words / WORDS)) * WORDS;
    int row = (int)(blockIdx.x / (f.row_words / WORDS)) * GC_TILE_ROWS;
    gc_tile tile = {column * 32 - GC_TILE_BESIDE, row - GC_TILE_MARGIN, false};
    tile.inside = gc_tile_has(f, tile.left, tile.top) &&
                  gc_tile_has(f, tile.left + GC_TILE_PITCH - 1, tile.top + GC_TILE_LINES - 1);
    number *values = (number *)gc_block_memory, *across = values + GC_TILE_PLACES;
    number *down = across + GC_TILE_PLACES;
    unsigned stamp = threadIdx.x == 0 ? blockIdx.x : gc_lines_regions(f);
    if (f.words != nullptr && threadIdx.x < 2 && stamp <= gc_lines_regions(f))
        f.stamps[stamp] = 0;
    if (f.words != nullptr && blockIdx.x == 0 && threadIdx.x == 0)
        f.parents[0] = 0;
    gc_detect_load(f, tile, (unsigned *)down);
    gc_detect_rows(f, (unsigned *)down, f.blurs ? across : values);
    if (f.blurs) {
        gc_detect_columns(f, across, values);
        gc_detect_extend(f, tile, f.border, f.between, values);
    }
    if (std::is_same<number, int>::value && f.detector.side == 1) {
        gc_detect_respond(f, values, across);
        gc_detect_extend(f, tile, GC_PASS_CONSTANT, 0, across);
        values = across;
    }
    if (f.output_type == GC_FLOAT)
        return gc_detect_store_values(f, tile, values);
    if (f.detector.side > 1)
        gc_detect_gradients(f, tile, values, across, down);
    gc_detect_mark(f, values, across, down, column, row);
}

#endif
