/* A block's pass for 8-bit samples and whole weights from -128 to 127, on the tensor cores, exactly: a
 * row of samples times a banded matrix of a row of weights gives 8 neighbouring outputs, and the rows
 * of the filter add up (the banded products of stencils on tensor cores: Chen et al., PPoPP 2024;
 * integers make them exact). A filter of several steps is taken as the product of them all; where that
 * is not the same, at the image's border, outputs have filters of their own (gc_bytes.ring).
 *
 * mma.sync m16n8k32 multiplies 16 rows of 32 samples by 32 x 8 weights. A warp takes 16 columns of
 * output at a time: two matrices of weights share the samples, which start GC_BYTES_BEFORE columns to
 * the left. The 16 rows of a fragment lie `rows` apart, so that each fragment serves `rows` outputs: the
 * next row of the filter is another fragment, never a shift between lanes.
 *
 * The config of such a kernel has
 *     height           the most rows of a filter
 *     rows, warps      as in other passes; `rows` is odd, so that its samples lie in different banks
 *     output, finish   as in other passes: GC_BIT or GC_BYTE */
#ifndef GC_GPU_KERNELS_BYTES_CUH
#define GC_GPU_KERNELS_BYTES_CUH

#include "gpu/kernels/pass.cuh"

enum {
    GC_BYTES_COLUMNS = 256, /* of a tile */
    GC_BYTES_MARGIN = 16,   /* loaded on either side of it */
    GC_BYTES_BEFORE = 8,    /* from the first sample of a product to its first output */
    GC_BYTES_REACH = 8      /* how far a filter may reach to either side */
};

/* What these passes are given beside gc_pass. */
struct gc_bytes {
    const uint4 *weights; /* of each row, chunk and lane: two matrices of two words */
    int height, top;      /* of the filter; rows that the config has beyond it weigh 0 */
    int tiles;            /* of the plane */
    /* Outputs fewer than `ring` from the border have filters of their own, each width x height and the
     * sum that a constant border adds: of (2 ring + 1)^2 places, row by row, those fewer than `ring`
     * from the top or left first, then those in between, then the others. */
    int ring, width, left;
    const float *ring_taps, *ring_sums;
};

template <class config> struct gc_bytes_block {
    static constexpr int threads = 32 * config::warps;
    static constexpr int tile_height = 16 * config::rows;
    static constexpr int pitch = GC_BYTES_COLUMNS + 2 * GC_BYTES_MARGIN;
    static constexpr int lines = tile_height + config::height - 1;
    /* Of the last line, lanes read beyond its end what meets weights of 0. */
    static constexpr int slot = lines * pitch + 32;
    static constexpr int staged_pitch =
        config::output == GC_BIT ? GC_BYTES_COLUMNS / 8 : GC_BYTES_COLUMNS + 16;
    static constexpr int shared_bytes = 2 * slot + tile_height * staged_pitch;
};

static __device__ inline void gc_bytes_copy16(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#else
    *(uint4 *)to = __ldg((const uint4 *)from);
#endif
}

static __device__ inline void gc_bytes_multiply(int (&sums)[4], const unsigned (&samples)[4],
                                                unsigned low, unsigned high)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                 : "r"(samples[0]), "r"(samples[1]), "r"(samples[2]), "r"(samples[3]), "r"(low),
                   "r"(high));
#else
    __trap(); /* the host offers these kernels to no such device */
#endif
}

/* ---- Loading --------------------------------------------------------------------------------- */

struct gc_bytes_input {
    static constexpr int input = GC_BYTE, border = -1;
};

template <class config>
static __device__ inline void gc_bytes_fill_inside(const gc_pass &pass, unsigned char *tile, int x,
                                                   int y)
{
    typedef gc_bytes_block<config> block;
    /* Half a warp takes 16 words of a line; the last two of every line come after them. */
    constexpr int lines_at_once = block::threads / 16, rest = block::pitch / 16 - 16;
    const unsigned char *start = (const unsigned char *)pass.input + gc_pass_input_start(pass) +
                                 (y - pass.input_first) * pass.input_pitch + x;
    int line = (int)threadIdx.x / 16, column = (int)threadIdx.x % 16 * 16;
    const unsigned char *from = start + line * pass.input_pitch + column;
    unsigned char *to = tile + line * block::pitch + column;
#pragma unroll
    for (int first = 0; first < block::lines; first += lines_at_once) {
        if (first + lines_at_once <= block::lines || line + first < block::lines)
            gc_bytes_copy16(to + first * block::pitch, from);
        from += lines_at_once * pass.input_pitch;
    }
#pragma unroll
    for (int first = 0; first < rest * block::lines; first += block::threads) {
        int i = first + (int)threadIdx.x;
        if (i < rest * block::lines)
            gc_bytes_copy16(tile + i / rest * block::pitch + 256 + i % rest * 16,
                            start + i / rest * pass.input_pitch + 256 + i % rest * 16);
    }
}

/* Four samples as one word. */
static __device__ inline unsigned gc_bytes_word(const gc_pass &pass, int row, int x)
{
    unsigned word = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        word |= (unsigned)gc_pass_value<gc_bytes_input>(pass, row, x + k) << (8 * k);
    return word;
}

/* At the image's border: words of 16 that lie inside as they are, the others value by value. */
template <class config>
static __device__ inline void gc_bytes_fill_border(const gc_pass &pass, unsigned char *tile, int x,
                                                   int y, int last)
{
    typedef gc_bytes_block<config> block;
    constexpr int words = block::pitch / 16;
    int whole = pass.width & ~15;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < block::lines * words; i += block::threads) {
        int line = i / words, column = x + i % words * 16;
        int row = gc_pass_row<gc_bytes_input>(pass, y + line < last ? y + line : last);
        unsigned char *to = tile + line * block::pitch + column - x;
        if (column < 0 || column >= whole)
            continue;
        if (row >= 0)
            gc_bytes_copy16(to, (const unsigned char *)pass.input + gc_pass_input_start(pass) +
                                    row * pass.input_pitch + column);
        else {
            unsigned word = (unsigned)pass.constant[blockIdx.y] * 0x01010101u;
            *(uint4 *)to = make_uint4(word, word, word, word);
        }
    }
    /* Columns before the image, and from its last whole word on as far as the filter reaches. */
    int left = x < 0 ? -x / 4 : 0;
    int from = whole - x < block::pitch ? whole - x : block::pitch;
    int end = pass.width + GC_BYTES_MARGIN - x;
    int right = from < end ? ((end < block::pitch ? end : block::pitch) - from + 3) / 4 : 0;
    int count = left + right;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < block::lines * count; i += block::threads) {
        int line = i / count, k = i % count;
        int column = k < left ? 4 * k : from + 4 * (k - left);
        int row = gc_pass_row<gc_bytes_input>(pass, y + line < last ? y + line : last);
        *(unsigned *)(tile + line * block::pitch + column) = gc_bytes_word(pass, row, x + column);
    }
}

/* Loads the surroundings of the tile whose first output is (x, y). */
template <class config>
static __device__ inline void gc_bytes_fill(const gc_pass &pass, const gc_bytes &bytes,
                                            unsigned char *tile, int x, int y)
{
    typedef gc_bytes_block<config> block;
    x -= GC_BYTES_MARGIN;
    y -= bytes.top;
    /* Rows that only outputs beyond the last one need may not be there. */
    int last = pass.output_first + pass.rows - 1 + bytes.height - 1 - bytes.top;
    if (x >= 0 && x + block::pitch <= pass.width && y + block::lines - 1 <= last &&
        gc_pass_rows_inside<gc_bytes_input>(pass, y, block::lines))
        gc_bytes_fill_inside<config>(pass, tile, x, y);
    else
        gc_bytes_fill_border<config>(pass, tile, x, y, last);
}

/* ---- Multiplying ----------------------------------------------------------------------------- */

/* Sums of 16 columns from `base` on, the thread's place in the first fragment: [row][matrix][element],
 * the element being the tensor cores' own: row lane / 4, and 8 on for 2 and 3; column lane % 4 * 2, and
 * 1 on for 1 and 3. */
template <class config>
static __device__ inline void gc_bytes_sum(const unsigned char *base,
                                           const uint4 (&weights)[config::height],
                                           int (&sums)[config::rows][2][4])
{
    typedef gc_bytes_block<config> block;
#pragma unroll
    for (int q = 0; q < config::rows + config::height - 1; q++) {
        const unsigned char *from = base + q * block::pitch;
        uint2 upper = *(const uint2 *)from;
        uint2 lower = *(const uint2 *)(from + 8 * config::rows * block::pitch);
        const unsigned samples[4] = {upper.x, lower.x, upper.y, lower.y};
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            if (q - r >= 0 && q - r < config::height) {
                gc_bytes_multiply(sums[r][0], samples, weights[q - r].x, weights[q - r].y);
                gc_bytes_multiply(sums[r][1], samples, weights[q - r].z, weights[q - r].w);
            }
    }
}

/* ---- Storing --------------------------------------------------------------------------------- */

/* 16 pixels of rows lane / 4 and lane / 4 + 8 as bits: each lane has four of either. */
template <class config, bool absolute>
static __device__ inline void gc_bytes_stage_bits(const gc_pass &pass, const int (&sums)[2][4],
                                                  unsigned char *staged, int column, int r)
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32, part = lane % 4;
    /* A sum beyond the threshold leaves a sign bit, which funnel shifts collect. */
    int threshold = (int)floorf(fmaxf(fminf(pass.finish.threshold, 1e9f), -1e9f));
    int negated = pass.finish.side < 0 ? -1 : 1;
    unsigned pairs[4]; /* upper row: left, right; lower row: left, right */
#pragma unroll
    for (int p = 0; p < 4; p++) {
        pairs[p] = 0;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            int sum = sums[p % 2][p / 2 * 2 + k];
            sum = absolute ? abs(sum) : sum * negated;
            pairs[p] = __funnelshift_l((unsigned)(threshold - sum), pairs[p], 1);
        }
    }
    unsigned bits = ((pairs[0] * 256 + pairs[1]) * 256 + pairs[2]) * 256 + pairs[3];
    bits <<= 6 - 2 * part;
    bits |= __shfl_xor_sync(~0u, bits, 1);
    bits |= __shfl_xor_sync(~0u, bits, 2);
    bits ^= pass.finish.invert ? ~0u : 0;
    if (part < 2) {
        int row = (lane / 4 + 8 * part) * config::rows + r;
        unsigned word = part == 0 ? bits >> 16 : bits;
        *(unsigned short *)(staged + row * block::staged_pitch + column / 8) =
            (unsigned short)__byte_perm(word, 0, 0x4401); /* the first pixels in the first byte */
    }
}

template <class config>
static __device__ inline void gc_bytes_stage_bytes(const gc_pass &pass, const int (&sums)[2][4],
                                                   unsigned char *staged, int column, int r)
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        unsigned first = gc_finish_integer<config>(pass, (float)sums[p % 2][p / 2 * 2]);
        unsigned second = gc_finish_integer<config>(pass, (float)sums[p % 2][p / 2 * 2 + 1]);
        int row = (lane / 4 + p / 2 * 8) * config::rows + r;
        *(unsigned short *)(staged + row * block::staged_pitch + column + p % 2 * 8 +
                            lane % 4 * 2) = (unsigned short)__byte_perm(first, second, 0x0040);
    }
}

/* Chain values go straight to memory. */
template <class config>
static __device__ inline void gc_bytes_store_values(const gc_pass &pass, const int (&sums)[2][4],
                                                    int x, int y, int r)
{
    int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        int row = y + (lane / 4 + p / 2 * 8) * config::rows + r;
        int column = x + p % 2 * 8 + lane % 4 * 2;
        if (row < pass.output_first + pass.rows && column < pass.output_pitch)
            *(float2 *)((float *)pass.output + blockIdx.y * pass.output_plane +
                        (row - pass.output_first) * pass.output_pitch + column) =
                make_float2((float)sums[p % 2][p / 2 * 2], (float)sums[p % 2][p / 2 * 2 + 1]);
    }
}

/* Bits beyond the width are 0. */
static __device__ inline uint4 gc_bytes_mask(const uint4 &word, int pixels)
{
    unsigned parts[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int left = pixels - 32 * k;
        unsigned mask = left >= 32 ? ~0u : left <= 0 ? 0 : ~0u << (32 - left);
        parts[k] &= __byte_perm(mask, 0, 0x0123); /* the first pixel in the first byte */
    }
    return make_uint4(parts[0], parts[1], parts[2], parts[3]);
}

/* Writes the staged tile in words of 16 bytes; rows of the output are made of whole ones. */
template <class config>
static __device__ inline void gc_bytes_store_staged(const gc_pass &pass,
                                                    const unsigned char *staged, int x, int y)
{
    typedef gc_bytes_block<config> block;
    constexpr int bits = config::output == GC_BIT ? 1 : 8;
    constexpr int words = GC_BYTES_COLUMNS * bits / 128;
    int first = x * bits / 8;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < block::tile_height * words; i += block::threads) {
        int row = y + i / words, column = first + i % words * 16;
        if (row >= pass.output_first + pass.rows || column >= pass.output_pitch)
            continue;
        uint4 word = *(const uint4 *)(staged + i / words * block::staged_pitch + i % words * 16);
        if (bits == 1 && 8 * (column + 16) > pass.width)
            word = gc_bytes_mask(word, pass.width - 8 * column);
        *(uint4 *)((unsigned char *)pass.output + blockIdx.y * pass.output_plane +
                   (row - pass.output_first) * pass.output_pitch + column) = word;
    }
}

/* ---- Borders between steps ------------------------------------------------------------------- */

/* Which filter of the ring is that of position `at` of `size`. */
static __device__ inline int gc_bytes_place(int at, int size, int ring)
{
    return at < ring ? at : at >= size - ring ? 2 * ring - (size - 1 - at) : ring;
}

/* The chain's value at pixel (x, y) of the image, (column, row) of the tile. */
template <class config>
static __device__ inline float gc_bytes_ring_value(const gc_pass &pass, const gc_bytes &bytes,
                                                   const unsigned char *tile, int column, int row,
                                                   int x, int y)
{
    typedef gc_bytes_block<config> block;
    int place = gc_bytes_place(y, pass.height, bytes.ring) * (2 * bytes.ring + 1) +
                gc_bytes_place(x, pass.width, bytes.ring);
    const float *taps = bytes.ring_taps + place * bytes.width * bytes.height;
    const unsigned char *from = tile + row * block::pitch + column + GC_BYTES_MARGIN - bytes.left;
    float sum = __ldg(bytes.ring_sums + place);
    for (int j = 0; j < bytes.height; j++)
#pragma unroll 8
        for (int i = 0; i < bytes.width; i++)
            sum += __ldg(taps + j * bytes.width + i) * (float)from[j * block::pitch + i];
    return sum;
}

/* Overwrites what was staged, or stored as a chain value, of a pixel. */
template <class config>
static __device__ inline void gc_bytes_ring_pixel(const gc_pass &pass, const gc_bytes &bytes,
                                                  const unsigned char *tile, unsigned char *staged,
                                                  int column, int row, int x, int y)
{
    typedef gc_bytes_block<config> block;
    float value = gc_bytes_ring_value<config>(pass, bytes, tile, column, row, x, y);
    if (pass.output_type == GC_FLOAT)
        ((float *)pass.output)[(y - pass.output_first) * pass.output_pitch + x] = value;
    else if (config::output == GC_BYTE)
        staged[row * block::staged_pitch + column] =
            (unsigned char)gc_finish_integer<config>(pass, value);
    else { /* other threads may change other bits of the word */
        unsigned *word = (unsigned *)(staged + row * block::staged_pitch) + column / 32;
        unsigned bit = 1u << (column % 32 ^ 7); /* first pixels in the high bits of each byte */
        if (gc_finish_integer<config>(pass, value))
            atomicOr(word, bit);
        else
            atomicAnd(word, ~bit);
    }
}

/* The ring as far as it crosses the tile at (x, y): its rows, then its columns. */
template <class config>
static __device__ inline void gc_bytes_ring_tile(const gc_pass &pass, const gc_bytes &bytes,
                                                 const unsigned char *tile, unsigned char *staged,
                                                 int x, int y)
{
    typedef gc_bytes_block<config> block;
    int ring = bytes.ring, across = 2 * ring * GC_BYTES_COLUMNS;
    int end = pass.output_first + pass.rows;
    for (int i = (int)threadIdx.x; i < across + 2 * ring * block::tile_height;
         i += block::threads) {
        int k = i < across ? i / GC_BYTES_COLUMNS : (i - across) / block::tile_height;
        int column = x + i % GC_BYTES_COLUMNS;
        int row = k < ring ? k : pass.height - 2 * ring + k;
        if (i >= across) {
            column = k < ring ? k : pass.width - 2 * ring + k;
            row = y + (i - across) % block::tile_height;
            if (row < ring || row >= pass.height - ring)
                continue; /* done with the rows */
        }
        if (column >= x && column < x + GC_BYTES_COLUMNS && column < pass.width && row >= y &&
            row < y + block::tile_height && row < end)
            gc_bytes_ring_pixel<config>(pass, bytes, tile, staged, column - x, row - y, column,
                                        row);
    }
}

/* ---- The pass -------------------------------------------------------------------------------- */

template <class config>
static __device__ inline void gc_bytes_compute(const gc_pass &pass, const unsigned char *tile,
                                               const uint4 (&weights)[config::height],
                                               unsigned char *staged, int x, int y)
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    constexpr int turns = GC_BYTES_COLUMNS / 16 / config::warps;
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        int column = (warp * turns + turn) * 16;
        const unsigned char *base = tile + lane / 4 * config::rows * block::pitch + column +
                                    GC_BYTES_MARGIN - GC_BYTES_BEFORE + lane % 4 * 8;
        int sums[config::rows][2][4] = {};
        gc_bytes_sum<config>(base, weights, sums);
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            if (pass.output_type == GC_FLOAT)
                gc_bytes_store_values<config>(pass, sums[r], x + column, y, r);
            else if (config::output == GC_BIT && pass.finish.side != 0)
                gc_bytes_stage_bits<config, false>(pass, sums[r], staged, column, r);
            else if (config::output == GC_BIT)
                gc_bytes_stage_bits<config, true>(pass, sums[r], staged, column, r);
            else
                gc_bytes_stage_bytes<config>(pass, sums[r], staged, column, r);
    }
}

/* Blocks walk over the tiles, gridDim.x apart, loading one while they multiply another. */
template <class config>
static __device__ inline void gc_bytes_pass(const gc_pass &pass, const gc_bytes &bytes)
{
    typedef gc_bytes_block<config> block;
    extern __shared__ uint4 gc_bytes_memory[];
    unsigned char *slots = (unsigned char *)gc_bytes_memory;
    unsigned char *staged = slots + 2 * block::slot;
    uint4 weights[config::height];
#pragma unroll
    for (int k = 0; k < config::height; k++)
        weights[k] = __ldg(bytes.weights + k * 32 + (int)threadIdx.x % 32);
    int columns = (pass.width + GC_BYTES_COLUMNS - 1) / GC_BYTES_COLUMNS;
    int tile = (int)blockIdx.x, slot = 0;
    gc_bytes_fill<config>(pass, bytes, slots, tile % columns * GC_BYTES_COLUMNS,
                          tile / columns * block::tile_height + pass.output_first);
#pragma unroll 1
    for (; tile < bytes.tiles; tile += (int)gridDim.x, slot ^= 1) {
        int x = tile % columns * GC_BYTES_COLUMNS;
        int y = tile / columns * block::tile_height + pass.output_first;
        int next = tile + (int)gridDim.x;
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
        __syncthreads();
        if (next < bytes.tiles)
            gc_bytes_fill<config>(pass, bytes, slots + (slot ^ 1) * block::slot,
                                  next % columns * GC_BYTES_COLUMNS,
                                  next / columns * block::tile_height + pass.output_first);
        gc_bytes_compute<config>(pass, slots + slot * block::slot, weights, staged, x, y);
        __syncthreads();
        bool at_border = x < bytes.ring || x + GC_BYTES_COLUMNS > pass.width - bytes.ring ||
                         y < bytes.ring || y + block::tile_height > pass.height - bytes.ring;
        if (bytes.ring > 0 && at_border) {
            gc_bytes_ring_tile<config>(pass, bytes, slots + slot * block::slot, staged, x, y);
            __syncthreads();
        }
        if (pass.output_type != GC_FLOAT)
            gc_bytes_store_staged<config>(pass, staged, x, y);
    }
}

#endif
