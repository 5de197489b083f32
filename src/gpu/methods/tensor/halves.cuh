/* A pass for any weights on the tensor cores.
 *
 * Idea: a row of samples times a banded matrix of a row of weights gives 8 neighbouring outputs,
 *   and the rows of the filter add up, as in bytes.cuh (Chen et al., PPoPP 2024). Tensor cores
 *   multiply halves, numbers of 11 bits, and add in float32. A sample is split into two halves, the
 *   nearest one (high) and the rest (low), and so is a weight (Ootomo and Yokota 2022). Three
 *   products, high * high, low * high and high * low, hold 22 bits of each number; low * low is
 *   below 2^-22 of the whole and is left out. Low products are added up apart, so that the high sum
 *   is rounded once a product. 8-bit samples have no low part, and weights of 11 bits have none.
 * Needs: compute capability 8.0; shared memory for a tile, its surroundings and the weights.
 * Limits: the tile has to fit in shared memory.
 *
 * mma.sync m16n8k16 multiplies 16 rows of 16 samples by 16 x 8 weights (fragments.cuh shows which
 * lane holds what). The rows of the matrices are units, 8 neighbouring outputs each, of one line of
 * the image:
 *
 *     a line of 128 outputs   | unit 0 | unit 1 | ... | unit 15 |            16 rows of A and C
 *     row u of A              samples of unit u and of its surroundings: 8 at a time are 16 bytes
 *     column n of B           weights of output n of a unit: those of output 0, n rows lower
 *     row u of C              the 8 outputs of unit u
 *
 * B for a filter row of weights w0 w1 w2 is banded:      w0  0  0 ...
 * (rows of B: samples, columns: outputs)                 w1 w0  0
 *                                                        w2 w1 w0
 *                                                         0 w2 w1
 *
 * A warp has `rows` lines of output. It keeps the fragments of as many lines of samples. For each
 * row of the filter it loads one more line in place of the first. So each line is read once for
 * `rows` lines of output. If a unit and its surroundings have more than 16 columns, the warp walks
 * down the filter again for the next 16 columns, or for 8 at the end.
 *
 * The config of such a kernel has
 *     columns                of the banded matrix, or -1: see gc_halves
 *     weight_parts           1 or 2: whether weights have low parts
 *     sample                 float, which is split, or unsigned char, which has no low part; with
 *                            several channels unsigned char
 *     rows, warps, input, output, border, finish   as in other passes */
#pragma once

#include "gpu/pass/block.cuh"
#include "gpu/pass/fragments.cuh"

/* What these kernels are given beside gc_pass. */
struct gc_halves {
    /* An entry for each row of the filter and each diagonal of its banded matrix, from the one in
     * the top right corner (column 7 of the first row) to the one in the bottom left corner. x:
     * high parts of the weights on this diagonal and on the next, as halves. y: the same for the
     * diagonals 8 further. z, w: low parts likewise. One more row follows, which kernels may
     * read. */
    const uint4 *weights;
    int columns; /* of the banded matrix: a multiple of 8 */
    int height;  /* of the filter */
    /* Of a tile, as in gc_block. */
    int before, right, top, lines;
    unsigned rest_inverse, units_inverse; /* 2^32 over a divisor, rounded up: replaces a division */
    int buffers; /* for samples of a tile: 2, or 1 if every block has one tile */
    int buffer_bytes;
    int buffers_at; /* of bytes: the halves made from them come first, of one channel at a time */
    int plane;      /* bytes from channel to channel in a buffer */
    float scale;    /* of samples that are split, a power of 2: 1 if the config has columns */
    float unscale;  /* what sums are multiplied by, to undo scaling */
    unsigned based; /* two halves: 1024 plus what is subtracted from bytes */
};

/* Columns of the banded matrix, samples of a line of a tile, diagonals. Constants if the config has
 * them. */
template <class config> static __device__ inline int gc_halves_columns(const gc_halves &halves)
{
    return config::columns > 0 ? config::columns : halves.columns;
}

template <class config> static __device__ inline int gc_halves_pitch(const gc_halves &halves)
{
    return GC_BLOCK_COLUMNS - GC_HALVES_UNIT + gc_halves_columns<config>(halves);
}

template <class config> static __device__ inline int gc_halves_diagonals(const gc_halves &halves)
{
    return gc_halves_columns<config>(halves) + GC_HALVES_UNIT - 1;
}

/* Bytes of a row of weights. */
template <class config>
static __device__ inline unsigned gc_halves_row_bytes(const gc_halves &halves)
{
    return (unsigned)gc_halves_diagonals<config>(halves) * (unsigned)sizeof(uint4);
}

/* Whether samples have low parts. */
template <class config> static __device__ constexpr bool gc_halves_splits()
{
    return sizeof(typename config::sample) == sizeof(float);
}

/* The shape of a tile, for gc_block_fill. */
template <class config> struct gc_halves_shape {
    typedef typename config::sample sample;
    static constexpr int warps = config::warps;
    int before, right, top, pitch, lines;
    unsigned rest_inverse;
    int plane;

    __device__ unsigned thread() const
    {
        return threadIdx.x;
    }

    __device__ int rest_line(int i) const
    {
        return config::columns > 0 ? i / ((pitch - GC_BLOCK_COLUMNS) / 4)
                                   : (int)__umulhi((unsigned)i, rest_inverse);
    }
};

/* ---- Making halves --------------------------------------------------------------------------- */

/* Two halves, `first` in the low bits. */
static __device__ inline unsigned gc_halves_pack(float first, float second)
{
    unsigned halves = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(second), "f"(first));
#endif
    return halves;
}

static __device__ inline float2 gc_halves_unpack(unsigned halves)
{
    float2 values;
    asm("{\n.reg .b16 first, second;\nmov.b32 {first, second}, %2;\ncvt.f32.f16 %0, first;\n"
        "cvt.f32.f16 %1, second;\n}"
        : "=f"(values.x), "=f"(values.y)
        : "r"(halves));
    return values;
}

/* The high parts of two values, and their low parts. */
static __device__ inline void gc_halves_split2(float first, float second, unsigned &high,
                                               unsigned &low)
{
    high = gc_halves_pack(first, second);
    float2 taken = gc_halves_unpack(high);
    low = gc_halves_pack(first - taken.x, second - taken.y);
}

/* The offset of the high parts in the 32 bytes of unit `unit` of a line. It alternates every 4
 * units, so that 8 neighbouring units lie in different banks. */
static __device__ inline unsigned gc_halves_swap(unsigned unit)
{
    return (unit & 4) << 2;
}

/* Splits a tile of floats in place: high and low parts of a unit take as many bytes as its
 * floats. */
template <class config>
static __device__ inline void gc_halves_make(const gc_halves &halves, char *, float *tile)
{
    unsigned units = (unsigned)gc_halves_pitch<config>(halves) / GC_HALVES_UNIT;
    float s = config::columns > 0 ? 1 : halves.scale;
#pragma unroll 2
    for (unsigned i = threadIdx.x; i < units * (unsigned)halves.lines; i += 32 * config::warps) {
        float *unit = tile + GC_HALVES_UNIT * i;
        unsigned swap = gc_halves_swap(
            config::columns > 0 ? i % units : i - __umulhi(i, halves.units_inverse) * units);
        float4 v = *(const float4 *)unit, w = *(const float4 *)(unit + 4);
        uint4 high, low;
        gc_halves_split2(v.x * s, v.y * s, high.x, low.x);
        gc_halves_split2(v.z * s, v.w * s, high.y, low.y);
        gc_halves_split2(w.x * s, w.y * s, high.z, low.z);
        gc_halves_split2(w.z * s, w.w * s, high.w, low.w);
        *(uint4 *)((char *)unit + swap) = high;
        *(uint4 *)((char *)unit + (swap ^ 16)) = low;
    }
}

/* Two of four bytes as halves. 0x6400 is the half 1024: a byte in its low bits adds the byte's
 * value. */
static __device__ inline unsigned gc_halves_widen(unsigned bytes, unsigned which, unsigned based)
{
    unsigned halves = __byte_perm(bytes, 0x64646464, which);
    asm("sub.rn.f16x2 %0, %0, %1;" : "+r"(halves) : "r"(based));
    return halves;
}

/* Widens a tile of bytes to halves. */
template <class config>
static __device__ inline void gc_halves_make(const gc_halves &halves, char *made,
                                             unsigned char *tile)
{
    int samples = halves.lines * gc_halves_pitch<config>(halves);
    const uint2 *from = (const uint2 *)tile;
    uint4 *to = (uint4 *)made;
#pragma unroll 4
    for (int i = (int)threadIdx.x; i < samples / GC_HALVES_UNIT; i += 32 * config::warps) {
        uint2 v = from[i];
        to[i] = make_uint4(
            gc_halves_widen(v.x, 0x4140, halves.based), gc_halves_widen(v.x, 0x4342, halves.based),
            gc_halves_widen(v.y, 0x4140, halves.based), gc_halves_widen(v.y, 0x4342, halves.based));
    }
}

/* ---- Multiplying ----------------------------------------------------------------------------- */

/* sums += samples * weights (fragments.cuh): m16n8k16 for 16 columns of samples, m16n8k8 for 8.
 * Volatile, so that products stay in an order in which none waits for the one before. */
template <int columns>
static __device__ inline void gc_halves_multiply(float (&sums)[4], const unsigned (&samples)[4],
                                                 unsigned first, unsigned second)
{
#if __CUDA_ARCH__ >= 800
    if (columns == 16)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(samples[0]), "r"(samples[1]), "r"(samples[2]), "r"(samples[3]), "r"(first),
              "r"(second));
    else
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
            "{%0,%1,%2,%3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(samples[0]), "r"(samples[1]), "r"(first));
#endif
}

/* The sums of each line of output: of products of high parts, and of the other products. */
template <class config> struct gc_halves_sums {
    float high[config::rows][4], low[config::rows][4];
};

/* Fragments of a line of samples. */
struct gc_halves_line {
    unsigned high[4], low[4];
};

/* The addresses from which a lane reads the samples of a line: of the parts of its unit. */
struct gc_halves_address {
    unsigned high, low;
};

/* Loads the line that is `line` lines after `address`. */
template <class config, int columns>
static __device__ inline void gc_halves_load(gc_halves_line &to, const gc_halves_address &address,
                                             int line, const gc_halves &halves)
{
    constexpr bool splits = gc_halves_splits<config>();
    unsigned offset = (unsigned)((splits ? 4 : 2) * line * gc_halves_pitch<config>(halves));
    if (columns == 16)
        gc_fragments_load4(to.high, address.high + offset);
    else
        gc_fragments_load2(to.high, address.high + offset);
    if (splits && columns == 16)
        gc_fragments_load4(to.low, address.low + offset);
    else if (splits)
        gc_fragments_load2(to.low, address.low + offset);
}

/* Loads the lane's words of a row of weights. Volatile, so that the load begins here and not at the
 * first use of the words. */
static __device__ inline uint4 gc_halves_look_up(unsigned weights)
{
    uint4 words;
    asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "r"(weights));
    return words;
}

/* The sums of `rows` lines of output while a warp walks down the filter for 16 or 8 columns of the
 * banded matrix. */
template <class config, int columns> struct gc_halves_walk {
    gc_halves_line
        window[config::rows];  /* of lines, used as a ring: window[p] is the first in row `p` */
    gc_halves_address address; /* of the line after those of the window */
    unsigned weights;          /* of the row after `next` */
    uint4 next;

    __device__ void start(const gc_halves_address &first, unsigned from, const gc_halves &halves)
    {
        address = first;
        weights = from;
        next = gc_halves_look_up(weights);
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            gc_halves_load<config, columns>(window[r], address, r, halves);
        advance(config::rows, 1, halves);
    }

    /* Moves on by `lines` lines of samples and `rows` rows of weights. */
    __device__ void advance(int lines, int rows, const gc_halves &halves)
    {
        unsigned bytes = (unsigned)(lines * gc_halves_pitch<config>(halves)) *
                         (gc_halves_splits<config>() ? 4 : 2);
        address.high += bytes;
        address.low += bytes;
        weights += (unsigned)rows * gc_halves_row_bytes<config>(halves);
    }

    /* Multiplies parts of the window with two words of weights, in row `p`. `last`: these are the
     * last products of the row, and the next line is loaded as soon as the first one of the window
     * is used. */
    __device__ void multiply(float (&sums)[config::rows][4], int p,
                             unsigned (gc_halves_line::*part)[4], unsigned first, unsigned second,
                             bool last, const gc_halves &halves)
    {
#pragma unroll
        for (int r = 0; r < config::rows; r++) {
            gc_halves_multiply<columns>(sums[r], window[(p + r) % config::rows].*part, first,
                                        second);
            if (last && r == 0)
                gc_halves_load<config, columns>(window[p], address, p, halves);
        }
    }

    /* Takes the row of the filter that is `p` rows, 0 to rows - 1, after the position of the walk.
     * It loads the weights and the line that come after it, whether they are needed or not. */
    __device__ void step(gc_halves_sums<config> &sums, int p, const gc_halves &halves)
    {
        constexpr bool splits = gc_halves_splits<config>(), both = config::weight_parts == 2;
        uint4 now = next;
        next = gc_halves_look_up(weights + (unsigned)p * gc_halves_row_bytes<config>(halves));
        multiply(sums.high, p, &gc_halves_line::high, now.x, now.y, !splits && !both, halves);
        if (splits)
            multiply(sums.low, p, &gc_halves_line::low, now.x, now.y, !both, halves);
        if (both)
            multiply(sums.low, p, &gc_halves_line::high, now.z, now.w, true, halves);
    }

    /* Takes all rows. The test before each row also keeps the compiler from mixing rows, which
     * would make products wait for each other. */
    __device__ void run(gc_halves_sums<config> &sums, const gc_halves &halves)
    {
#pragma unroll 1
        for (int left = halves.height;; left -= config::rows) {
#pragma unroll
            for (int p = 0; p < config::rows; p++) {
                if (p >= left)
                    return;
                step(sums, p, halves);
            }
            advance(config::rows, config::rows, halves);
        }
    }
};

/* The address that lane l reads, for ldmatrix: unit l % 16 of its warp's first line. Lanes 0 to 15
 * read 8 columns of the matrix from `column` on, the other lanes the next 8. */
template <class config>
static __device__ inline gc_halves_address gc_halves_address_of(const gc_halves &halves,
                                                                const char *made, int column)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    unsigned unit = (unsigned)(lane % 16 + lane / 16 + column / GC_HALVES_UNIT);
    unsigned samples = (unsigned)(warp * config::rows * gc_halves_pitch<config>(halves));
    unsigned base = (unsigned)__cvta_generic_to_shared(made);
    if (!gc_halves_splits<config>())
        return {base + 2 * samples + 16 * unit, 0};
    unsigned swap = gc_halves_swap(unit);
    unsigned high = base + 4 * samples + 32 * unit;
    return {high + swap, high + (swap ^ 16)};
}

/* One walk down the filter, for 16 or 8 columns of the banded matrix from `column` on. */
template <class config, int columns>
static __device__ inline void gc_halves_sum_columns(gc_halves_sums<config> &sums,
                                                    const gc_halves &halves, const char *made,
                                                    unsigned weights, int column)
{
    int lane = (int)threadIdx.x % 32;
    /* The lane's part of B: rows lane % 4 * 2 and the next one, column lane / 4 (fragments.cuh). */
    int diagonal = GC_HALVES_UNIT - 1 + lane % 4 * 2 - lane / 4 + column;
    gc_halves_walk<config, columns> walk;
    walk.start(gc_halves_address_of<config>(halves, made, column),
               weights + (unsigned)diagonal * (unsigned)sizeof(uint4), halves);
    walk.run(sums, halves);
}

/* Does all walks over the halves of a tile. `weights` is their address in shared memory. */
template <class config>
static __device__ inline void gc_halves_sum(gc_halves_sums<config> &sums, const gc_halves &halves,
                                            const char *made, unsigned weights)
{
    int columns = gc_halves_columns<config>(halves);
#pragma unroll 1
    for (int column = 0; column + 16 <= columns; column += 16)
        gc_halves_sum_columns<config, 16>(sums, halves, made, weights, column);
    if (columns % 16 > 0)
        gc_halves_sum_columns<config, 8>(sums, halves, made, weights, columns - 8);
}

/* The chain value of sum `k` in line `r`. */
template <class config>
static __device__ inline float gc_halves_value(const gc_halves &halves,
                                               const gc_halves_sums<config> &sums, int r, int k)
{
    constexpr bool has_low = gc_halves_splits<config>() || config::weight_parts == 2;
    return (has_low ? sums.high[r][k] + sums.low[r][k] : sums.high[r][k]) * halves.unscale;
}

/* Stores chain values. Lane l has columns 2 l and 2 l + 1 of each line, and the two columns 64
 * further. */
template <class config>
static __device__ inline void gc_halves_store_values(const gc_pass &pass, const gc_halves &halves,
                                                     int x, int y,
                                                     const gc_halves_sums<config> &sums)
{
    x += (int)threadIdx.x % 32 * 2;
    y += (int)threadIdx.x / 32 * config::rows;
    float *to = (float *)pass.output + blockIdx.y * pass.output_plane +
                (y - pass.output_first) * pass.output_pitch + x;
#pragma unroll
    for (int r = 0; r < config::rows; r++, to += pass.output_pitch) {
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = gc_halves_value(halves, sums, r, k);
        bool inside = y + r < pass.output_first + pass.rows;
        if (inside && x < pass.width)
            *(float2 *)to = make_float2(v[0], v[1]);
        if (inside && x + GC_BLOCK_COLUMNS / 2 < pass.width)
            *(float2 *)(to + GC_BLOCK_COLUMNS / 2) = make_float2(v[2], v[3]);
    }
}

/* The first of a lane's four neighbouring columns, in a tile. Of two lanes the even one takes the
 * left columns of both, the odd one the right columns. */
static __device__ inline int gc_halves_column()
{
    int lane = (int)threadIdx.x % 32;
    return lane / 2 * 4 + (lane % 2 == 1 ? GC_BLOCK_COLUMNS / 2 : 0);
}

/* The chain values of these columns. */
template <class config>
static __device__ inline void gc_halves_outputs(const gc_halves &halves,
                                                const gc_halves_sums<config> &sums,
                                                float (&outputs)[config::rows][4])
{
    bool odd = threadIdx.x % 2 == 1;
#pragma unroll
    for (int r = 0; r < config::rows; r++) {
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = gc_halves_value(halves, sums, r, k);
        float one = __shfl_xor_sync(~0u, odd ? v[0] : v[2], 1);
        float other = __shfl_xor_sync(~0u, odd ? v[1] : v[3], 1);
        outputs[r][0] = odd ? one : v[0];
        outputs[r][1] = odd ? other : v[1];
        outputs[r][2] = odd ? v[2] : one;
        outputs[r][3] = odd ? v[3] : other;
    }
}

/* ---- The pass -------------------------------------------------------------------------------- */

/* A tile of the plane: its number, and its column and row among the tiles. */
struct gc_halves_tile {
    int number, column, row;

    __device__ gc_halves_tile(unsigned n, unsigned columns)
        : number((int)n), column((int)(n % columns)), row((int)(n / columns))
    {
    }

    __device__ int x() const
    {
        return column * GC_BLOCK_COLUMNS;
    }

    template <class config> __device__ int y(const gc_pass &pass) const
    {
        return row * config::rows * config::warps + pass.output_first;
    }
};

/* Loads a tile, if the plane has it. */
template <class config>
static __device__ inline void gc_halves_fetch(const gc_pass &pass, const gc_halves &h, char *buffer,
                                              const gc_halves_tile &tile)
{
    gc_halves_shape<config> shape = {h.before, h.right,        h.top,  gc_halves_pitch<config>(h),
                                     h.lines,  h.rest_inverse, h.plane};
    if (tile.number < pass.tiles)
        gc_block_fill<config>(pass, shape, (typename config::sample *)buffer, tile.x(),
                              tile.y<config>(pass));
}

/* The sums of a tile of one channel in `samples`. All threads come here together. `memory` is the
 * block's. */
template <class config>
static __device__ inline void
gc_halves_tile_sums(gc_halves_sums<config> &sums, const gc_halves &halves, char *memory,
                    typename config::sample *samples, unsigned weights)
{
    gc_halves_make<config>(halves, memory, samples);
    __syncthreads();
    gc_halves_sum<config>(sums, halves, gc_halves_splits<config>() ? (char *)samples : memory,
                          weights);
}

/* Computes and stores a tile of one channel. */
template <class config>
static __device__ inline void gc_halves_compute(const gc_pass &pass, const gc_halves &halves,
                                                char *memory, char *buffer, unsigned weights, int x,
                                                int y)
{
    gc_halves_sums<config> sums = {};
    gc_halves_tile_sums<config>(sums, halves, memory, (typename config::sample *)buffer, weights);
    if (config::output == GC_FLOAT) {
        gc_halves_store_values<config>(pass, halves, x, y, sums);
        return;
    }
    x += gc_halves_column();
    float outputs[config::rows][4];
    gc_halves_outputs<config>(halves, sums, outputs);
    gc_pass_store<config, config::rows, 2>(pass, x, y + (int)threadIdx.x / 32 * config::rows,
                                           outputs, x < pass.width);
}

/* A config for one row. */
template <class config> struct gc_halves_row : config {
    static constexpr int rows = 1;
};

/* Stores the pixels of a warp from row `y` and column x of the image on. Its bytes of each channel
 * lie in `staged`, a plane a channel. */
template <class config>
static __device__ inline void gc_halves_store_pixels(const gc_pass &pass, const gc_halves &halves,
                                                     const char *staged, int x, int y)
{
    int first = (int)threadIdx.x % 32 * 4;
    gc_pass_pixels<gc_halves_row<config>> pixels;
    __syncwarp();
#pragma unroll 2
    for (int r = 0; r < config::rows; r++) {
#pragma unroll
        for (int c = 0; c < gc_pass_channels<config>(); c++)
            pixels.samples[c][0].word[0] =
                *(const unsigned *)(staged + c * halves.plane + r * GC_BLOCK_COLUMNS + first);
        pixels.store(pass, x + first, y + r);
    }
}

/* Computes and stores a tile of several channels. Each takes the place of its samples in the
 * buffer, as bytes of output, until all are there. */
template <class config>
static __device__ inline void gc_halves_compute_all(const gc_pass &pass, const gc_halves &halves,
                                                    char *memory, char *buffer, unsigned weights,
                                                    int x, int y)
{
    int column = gc_halves_column(), line = (int)threadIdx.x / 32 * config::rows;
    char *staged = buffer + line * GC_BLOCK_COLUMNS;
#pragma unroll 1
    for (int c = 0; c < gc_pass_channels<config>(); c++) {
        gc_halves_sums<config> sums = {};
        gc_halves_tile_sums<config>(sums, halves, memory,
                                    (unsigned char *)buffer + c * halves.plane, weights);
        float outputs[config::rows][4];
        gc_halves_outputs<config>(halves, sums, outputs);
        if (pass.output_type == GC_FLOAT) {
            gc_pass_store_values<config>(pass, c, x + column, y + line, outputs);
        } else {
            unsigned words[config::rows];
            gc_finish_words<config>(pass, x + column, y + line, c, outputs, x + column < pass.width,
                                    words);
#pragma unroll
            for (int r = 0; r < config::rows; r++)
                *(unsigned *)(staged + c * halves.plane + r * GC_BLOCK_COLUMNS + column) = words[r];
        }
        if (c + 1 < gc_pass_channels<config>())
            __syncthreads(); /* all threads have read the halves */
    }
    if (pass.output_type != GC_FLOAT)
        gc_halves_store_pixels<config>(pass, halves, staged, x, y + line);
}

/* The number of a tile that no block has taken yet; the first gridDim.x are taken. */
static __device__ inline unsigned gc_halves_draw(const gc_pass &pass)
{
    return gridDim.x + atomicInc(&pass.queue[blockIdx.y], (unsigned)pass.tiles - 1);
}

/* The kernel. If a block has two buffers, it loads the next tile while it multiplies one. */
template <class config>
static __device__ inline void gc_halves_pass(const gc_pass &pass, const gc_halves &halves)
{
    extern __shared__ float4 gc_block_memory[];
    char *memory = (char *)gc_block_memory, *buffers = memory + halves.buffers_at;
    char *weights = buffers + halves.buffers * halves.buffer_bytes;
    /* Where samples are settled, some tiles take longer than others. */
    bool draws = halves.buffers == 2 && gc_finish_is_once(gc_pass_finish<config>(pass));
    unsigned *drawn = /* the next tiles, if the block draws them */
        (unsigned *)(weights + (halves.height + 1) * (int)gc_halves_row_bytes<config>(halves));
    int columns = gc_block_columns(pass);
    gc_halves_tile tile(blockIdx.x, (unsigned)columns);
    int words = (halves.height + 1) * gc_halves_diagonals<config>(halves);
    for (int i = (int)threadIdx.x; i < words; i += 32 * config::warps)
        gc_pass_copy<16>(weights + i * (int)sizeof(uint4), halves.weights + i);
    gc_halves_fetch<config>(pass, halves, buffers, tile);
    unsigned odd = 0;
    if (draws && threadIdx.x == 0)
        drawn[0] = gc_halves_draw(pass);
#pragma unroll 1
    for (char *buffer = buffers; tile.number < pass.tiles; odd ^= 1) {
        gc_pass_arrive();
        __syncthreads(); /* the tile is there, and all threads have read the tile before */
        gc_halves_tile next(draws ? drawn[odd] : tile.number + gridDim.x, (unsigned)columns);
        char *other = buffer == buffers ? buffers + halves.buffer_bytes : buffers;
        if (draws && next.number < pass.tiles && threadIdx.x == 0)
            drawn[odd ^ 1] = gc_halves_draw(pass);
        if (halves.buffers == 2)
            gc_halves_fetch<config>(pass, halves, other, next);
        unsigned address = (unsigned)__cvta_generic_to_shared(weights);
        if constexpr (config::channels == 1)
            gc_halves_compute<config>(pass, halves, memory, buffer, address, tile.x(),
                                      tile.y<config>(pass));
        else
            gc_halves_compute_all<config>(pass, halves, memory, buffer, address, tile.x(),
                                          tile.y<config>(pass));
        tile = next;
        buffer = other;
    }
}
