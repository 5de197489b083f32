/* The pass of bytes.cuh by another way, for samples of 8 bits and filters that reach at most
 * GC_LINES_REACH columns to either side and have at most 7 rows. It takes about half as many
 * products.
 *
 * Idea: a product of matrices takes two lines of the image. A row of A is a window of 16 bytes of
 *   one line, and the same window of the next line. It gives the 8 columns in the middle of the
 *   window:
 *
 *     samples    . . . . 0 1 2 3 4 5 6 7 . . . .        16 bytes, half a row of A
 *     outputs            0 1 2 3 4 5 6 7
 *
 *   The 16 rows of A are windows of the same two lines, 16 columns apart. Two products, whose
 *   windows lie 8 columns apart, give a row of 256 columns for two rows of the filter. A warp walks
 *   down its 256 columns, two lines a step. It reads a pair of lines once and keeps it in registers
 *   for all outputs that need it.
 *
 *   Output rows 2 m and 2 m + 1 of a tile need the same pairs of lines, with other weights. Of a
 *   filter of 7 rows:
 *
 *     pair of lines        m       m + 1    m + 2    m + 3
 *     output row 2 m       0 1     2 3      4 5      6 -         rows of the filter
 *     output row 2 m + 1   - 0     1 2      3 4      5 6
 *
 * Lanes 4 q to 4 q + 3 have two units of 16 columns: columns 32 q and following of the warp. The
 * two units are rows q and q + 8 of a fragment. From q = 4 on the right one is row q, so that the
 * 32 lanes read different banks of shared memory.
 *
 * Bits are packed by a product of matrices, too: the numbers 0 and 1 of a row of 16 outputs times
 * powers of two give the two bytes of these outputs.
 *
 * The config has height (3, 5 or 7), warps, and the output and finish of bytes.cuh, GC_FLOAT left
 * out. */
#pragma once

#include "gpu/methods/fused/lines_tile.cuh"

/* Four bytes with all bits the sign of a byte: of bytes 0 and 1 of `left`, and of `right`. */
static __device__ inline unsigned gc_lines_signs(unsigned left, unsigned right)
{
    unsigned signs = 0;
#ifdef __CUDA_ARCH__
    asm("prmt.b32 %0, %1, %2, 0xdc98;" : "=r"(signs) : "r"(left), "r"(right));
#endif
    return signs;
}

/* ---- Storing bits ---------------------------------------------------------------------------- */

/* The threshold of `edges` for two sums at one time. Sums begin at `start`, and as numbers of 16
 * bits without a sign end at 0 and 65535. The output is 1 if such a sum less 1, which turns 0 into
 * 65535, is more than `last`, and the other way round if `inverted` is all ones. `wide` is `last`
 * for sums of 32 bits. */
struct gc_lines_threshold {
    int start;
    unsigned last, minus_last, wide, inverted;
};

/* Of a threshold that the host has found fit (tables.cu). */
static __device__ inline gc_lines_threshold gc_lines_threshold_of(const gc_finish &finish)
{
    gc_bytes_threshold threshold = gc_bytes_threshold_of(finish);
    unsigned wide = ~threshold.addend, last = wide == ~0u ? 0xffffu : min(wide, 0xfffeu);
    return {threshold.start + 1, last * 0x10001u, (0x10000u - last & 0xffffu) * 0x10001u, wide,
            threshold.inverted};
}

/* Bits 0 and 16: of `left` and of `right`. */
static __device__ inline unsigned gc_lines_flags(const gc_lines_threshold &threshold, int left,
                                                 int right)
{
#if __CUDA_ARCH__ >= 900
    unsigned sums;
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(sums) : "r"(right), "r"(left));
    unsigned most = __viaddmax_u16x2(sums, ~0u, threshold.last);
    return __viaddmin_u16x2(most, threshold.minus_last, 0x10001u);
#else
    unsigned second = (unsigned)right - 1 > threshold.wide ? 0x10000u : 0;
    return second | ((unsigned)left - 1 > threshold.wide);
#endif
}

/* ---- Storing bytes --------------------------------------------------------------------------- */

/* The threshold of `edges` as a sign. Sums begin at `start`. The lesser of `limit` - sum and of the
 * sum is negative for an edge. */
struct gc_lines_limit {
    int start, limit;
    unsigned inverted;
};

static __device__ inline gc_lines_limit gc_lines_limit_of(const gc_finish &finish)
{
    int level = (int)floorf(fmaxf(fminf(finish.threshold, 1e9f), -1e9f));
    unsigned inverted = finish.invert ? ~0u : 0;
    const int far = 1 << 28; /* beyond every sum of 81 products */
    if (finish.side > 0)
        return {far, level + far, inverted};
    if (finish.side < 0) /* level + sum is below 4 * far */
        return {level, 4 * (far - 1), inverted};
    if (level < 0) /* every value */
        return {0, -far, inverted};
    return {level, 2 * level, inverted};
}

static __device__ inline unsigned gc_lines_edges(const gc_lines_limit &limit, const int (&four)[4])
{
    unsigned least[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        least[k] = (unsigned)min(limit.limit - four[k], four[k]);
    return gc_lines_signs(__byte_perm(least[0], least[1], 0x0073),
                          __byte_perm(least[2], least[3], 0x0073)) ^
           limit.inverted;
}

/* Stores the bytes of two rows from row `y` on: `words` has four bytes of each unit, two of its
 * left half and two of its right half. `staged` are 512 bytes of the warp. */
static __device__ inline void gc_lines_store_bytes(const gc_pass &pass, const unsigned (&words)[4],
                                                   unsigned char *staged, int x, int y, int end)
{
    int lane = (int)threadIdx.x % 32, p = lane % 4, q = lane / 4;
#pragma unroll
    for (int k = 0; k < 4; k++)
        *(unsigned *)(staged + 128 * k + 4 * lane) = words[k];
    __syncwarp();
    uint4 all = *(const uint4 *)(staged + 128 * p + 16 * q); /* word p of four lanes */
    x += 32 * q + ((p % 2 == 0) == (q < 4) ? 0 : GC_BYTES_UNIT);
    int row = y + p / 2;
    if (row < end && x < pass.output_pitch)
        *(uint4 *)(gc_bytes_row<unsigned char>(pass, row) + x) =
            make_uint4(__byte_perm(all.x, all.y, 0x5410), __byte_perm(all.z, all.w, 0x5410),
                       __byte_perm(all.x, all.y, 0x7632), __byte_perm(all.z, all.w, 0x7632));
}

/* ---- Computing ------------------------------------------------------------------------------- */

/* A pair of lines: fragments for the windows of the units' left and right halves. */
struct gc_lines_pair {
    unsigned words[2][4];
};

/* What a warp keeps while it walks down its columns. */
template <class config> struct gc_lines_walk {
    typedef gc_lines_block<config> block;
    uint4 weights[block::pairs];
    int starts[4];
    gc_lines_threshold threshold;       /* of GC_BIT */
    gc_lines_limit limit;               /* of edges in bytes */
    unsigned kept;                      /* of a word of bytes: those of alpha that is kept */
    const unsigned char *upper, *lower; /* samples of the lane's unit in row q, in row q + 8 */
    unsigned char *staged;
    int x;   /* of the warp's first output */
    int end; /* the row after the last one that it stores */
    gc_lines_pair pairs[block::slots];
    /* Of GC_BIT: the bytes of four rows, those of unit q in bits[0] and bits[1], of unit q + 8 in
     * the others; lane p has row p. Powers of two for the lane's rows of flags. The word of `mask`
     * is stored at `to`. */
    int bits[4];
    unsigned powers;
    unsigned char *to;
    unsigned mask;
};

template <class config> static __device__ constexpr bool gc_lines_makes_edges()
{
    return config::output == GC_BYTE && config::finish == GC_FINISH_EDGES;
}

/* Reads lines `line` and `line` + 1 from the position of the walk. */
template <class config>
static __device__ inline void gc_lines_read(const gc_lines_walk<config> &walk, gc_lines_pair &pair,
                                            int line)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int at = (line + k / 2) * gc_lines_block<config>::pitch;
        const unsigned char *from = k % 2 == 0 ? walk.upper : walk.lower;
        pair.words[0][k] = *(const unsigned *)(from + at);
        pair.words[1][k] = *(const unsigned *)(from + at + 8);
    }
}

template <class config>
static __device__ inline void gc_lines_start(const gc_lines_launch &launch, const gc_pass &pass,
                                             const gc_bytes &bytes, const gc_lines_tile &tile,
                                             gc_lines_walk<config> &walk)
{
    typedef gc_lines_block<config> block;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, p = lane % 4, q = lane / 4;
#pragma unroll
    for (int k = 0; k < block::pairs; k++)
        walk.weights[k] = __ldg(launch.weights + k * 32 + lane);
    walk.threshold = {};
    walk.limit = {};
    if (config::output == GC_BIT)
        walk.threshold = gc_lines_threshold_of(pass.finish);
    if (gc_lines_makes_edges<config>())
        walk.limit = gc_lines_limit_of(pass.finish);
    volatile int *start = (volatile int *)(tile.memory + block::words_at + 16 * warp);
    if (lane == 0)
        *start = gc_lines_makes_edges<config>() ? walk.limit.start : walk.threshold.start;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 4; k++) /* read four times, it stays in four neighbouring registers */
        walk.starts[k] = *start;
    walk.kept = (bytes.kept[p / 2] >> (p % 2 * 16) & 0xffffu) * 0x10001u;
    walk.x = tile.x + warp * block::warp_width;
    walk.end = walk.x < pass.width ? tile.end : tile.y;
    const unsigned char *at =
        tile.memory + block::margin - 4 + warp * block::warp_width + 32 * q + 4 * p;
    walk.upper = at + (q < 4 ? 0 : GC_BYTES_UNIT);
    walk.lower = at + (q < 4 ? GC_BYTES_UNIT : 0);
    if (config::output == GC_BIT) {
        int x = walk.x + 32 * q;
        unsigned mask = gc_bytes_mask(pass, x) << 16 | gc_bytes_mask(pass, x + 16);
        walk.mask = __byte_perm(mask, 0, 0x0123); /* the first pixels in the first byte */
        walk.to = gc_bytes_row<unsigned char>(pass, tile.y + p) + x / 8;
        walk.end = x / 8 < pass.output_pitch ? walk.end : tile.y;
        walk.powers = 0x400080u >> 2 * p;
    }
    walk.staged = tile.memory + block::staged_at + warp * block::staged;
}

/* gc_bytes_multiply with the samples of one line, half a product. */
static __device__ inline void gc_lines_multiply(int (&sums)[4], unsigned upper, unsigned lower,
                                                unsigned weights)
{
#if __CUDA_ARCH__ >= 800
    int result[4];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
                 "{%7,%8,%9,%10};"
                 : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
                 : "r"(upper), "r"(lower), "r"(weights), "r"(sums[0]), "r"(sums[1]), "r"(sums[2]),
                   "r"(sums[3]));
#pragma unroll
    for (int k = 0; k < 4; k++)
        sums[k] = result[k];
#endif
}

/* Sums of two rows: [row][half of the units][element]. `m` is the step of the round. */
template <class config>
static __device__ inline void gc_lines_sum(const gc_lines_walk<config> &walk, int m,
                                           int (&sums)[2][2][4])
{
    typedef gc_lines_block<config> block;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sums[k / 8][k / 4 % 2][k % 4] = walk.starts[k % 4];
#pragma unroll
    for (int k = 0; k < block::pairs; k++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const unsigned(&samples)[4] = walk.pairs[(m + k) % block::slots].words[half];
            const uint4 &weights = walk.weights[k];
            if (k == block::pairs - 1) /* the even row does not need the second line */
                gc_lines_multiply(sums[0][half], samples[0], samples[1], weights.x);
            else
                gc_bytes_multiply(sums[0][half], samples, weights.x, weights.y);
            if (k == 0) /* nor the odd row the first line */
                gc_lines_multiply(sums[1][half], samples[2], samples[3], weights.w);
            else
                gc_bytes_multiply(sums[1][half], samples, weights.z, weights.w);
        }
}

/* Four sums of a unit as bytes. */
template <class config>
static __device__ inline unsigned
gc_lines_finish(const gc_pass &pass, const gc_lines_walk<config> &walk, const int (&four)[4])
{
    if (gc_lines_makes_edges<config>())
        return gc_lines_edges(walk.limit, four);
    const float values[4] = {(float)four[0], (float)four[1], (float)four[2], (float)four[3]};
    unsigned word = gc_finish_word<config>(pass, values);
    if (walk.kept == 0)
        return word;
    const unsigned samples[4] = {(unsigned)four[0], (unsigned)four[1], (unsigned)four[2],
                                 (unsigned)four[3]};
    return (word & ~walk.kept) | (gc_finish_pack(samples) & walk.kept);
}

/* Packs the bits of two rows. Lane p of a fragment's row has 2 of its 8 left and 2 of its 8 right
 * columns, as bytes 0 and 2 of two words. In the products only columns 2 k and 2 k + 1 are not 0,
 * of row k of four: the left byte and the right one, which lane k gets. */
template <class config>
static __device__ inline void gc_lines_pack(gc_lines_walk<config> &walk, int m,
                                            const int (&sums)[2][2][4])
{
    int q = (int)threadIdx.x % 32 / 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        unsigned flags[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int(&four)[4] = sums[r][k / 2];
            flags[k] = gc_lines_flags(walk.threshold, four[k % 2 * 2], four[k % 2 * 2 + 1]);
        }
        int row = m % 2 * 2 + r;
        if (row == 0)
            walk.bits[0] = walk.bits[1] = walk.bits[2] = walk.bits[3] = 0;
        gc_bytes_multiply(walk.bits, flags, q == 2 * row ? walk.powers : 0,
                          q == 2 * row + 1 ? walk.powers : 0);
    }
}

/* Stores the bits of four rows from row `y` on. */
template <class config>
static __device__ inline void gc_lines_store_bits(const gc_pass &pass, gc_lines_walk<config> &walk,
                                                  int y)
{
    unsigned upper = __byte_perm(walk.bits[0], walk.bits[1], 0x0040);
    unsigned lower = __byte_perm(walk.bits[2], walk.bits[3], 0x0040);
    unsigned word = __byte_perm(upper, lower, threadIdx.x % 32 < 16 ? 0x5410 : 0x1054);
    if (y + (int)threadIdx.x % 4 < walk.end)
        *(unsigned *)walk.to = (word ^ walk.threshold.inverted) & walk.mask;
    walk.to += 4 * pass.output_pitch;
}

/* Turns the sums of rows `y` and `y` + 1 into bytes and stores these. */
template <class config>
static __device__ inline void gc_lines_store(const gc_pass &pass, const gc_lines_walk<config> &walk,
                                             const int (&sums)[2][2][4], unsigned char *staged,
                                             int y)
{
    unsigned words[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int(&row)[2][4] = sums[k / 2];
        const int first = k % 2 * 2;
        const int four[4] = {row[0][first], row[0][first + 1], row[1][first], row[1][first + 1]};
        words[k] = gc_lines_finish<config>(pass, walk, four);
    }
    gc_lines_store_bytes(pass, words, staged, walk.x, y, walk.end);
}

/* Computes round `round` of a tile. All warps of the block call this, since they wait for lines
 * together; those whose columns lie right of the image store nothing. */
template <class config>
static __device__ inline void gc_lines_round(const gc_pass &pass, const gc_lines_tile &tile,
                                             gc_lines_walk<config> &walk, int round)
{
    typedef gc_lines_block<config> block;
    int y = tile.y + round * block::round;
#pragma unroll
    for (int m = 0; m < block::round / 2; m++) {
        if (m == block::group / 2) {
            if (y + block::group >= tile.end)
                return;
            gc_lines_await<config>(tile, 2 * round + 1);
        }
        gc_lines_read<config>(walk, walk.pairs[(m + block::pairs - 1) % block::slots], 2 * m);
        int sums[2][2][4];
        gc_lines_sum<config>(walk, m, sums);
        if (config::output == GC_BIT) {
            gc_lines_pack<config>(walk, m, sums);
            if (m % 2 == 1)
                gc_lines_store_bits<config>(pass, walk, y + 2 * (m - 1));
        } else
            gc_lines_store<config>(pass, walk, sums, walk.staged + m % 2 * 512, y + 2 * m);
    }
    walk.upper += block::round * block::pitch;
    walk.lower += block::round * block::pitch;
}

/* At the end of a tile: stores outputs of the ring. */
template <class config>
static __device__ inline void gc_lines_end(const gc_pass &pass, const gc_bytes &bytes,
                                           const gc_lines_tile &tile,
                                           const gc_lines_walk<config> &walk)
{
    typedef gc_lines_block<config> block;
    gc_bytes_outputs outputs = {walk.x, tile.y, tile.end, nullptr};
    if (!gc_bytes_at_border<block>(pass, bytes, outputs))
        return;
    const unsigned char *samples =
        tile.memory + block::margin - GC_BYTES_MARGIN + (walk.x - tile.x);
    gc_bytes_threshold threshold = {}; /* bytes are compared when they are finished */
    if (config::output == GC_BIT)
        threshold = gc_bytes_threshold_of(pass.finish);
    gc_bytes_ring<block>(pass, bytes, threshold, (unsigned)__cvta_generic_to_shared(samples),
                         outputs);
}

/* The kernel: each block takes one tile. */
template <class config>
static __device__ inline void gc_lines_pass(const gc_lines_launch &launch, const gc_pass &pass,
                                            const gc_bytes &bytes)
{
    typedef gc_lines_block<config> block;
    extern __shared__ uint4 gc_bytes_memory[];
    gc_lines_tile tile = gc_lines_tile_of<config>(launch, pass, (unsigned char *)gc_bytes_memory);
    gc_lines_begin<config>(launch, pass, bytes, tile);
    gc_lines_walk<config> walk;
    gc_lines_start<config>(launch, pass, bytes, tile, walk);
    gc_lines_await<config>(tile, 0);
#pragma unroll
    for (int k = 0; k < block::pairs - 1; k++)
        gc_lines_read<config>(walk, walk.pairs[k], 2 * k);
    walk.upper += block::first * block::pitch;
    walk.lower += block::first * block::pitch;
    int rounds = (tile.end - tile.y + block::round - 1) / block::round;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        if (round > 0)
            gc_lines_await<config>(tile, 2 * round);
        gc_lines_round<config>(pass, tile, walk, round);
    }
    if (walk.x < pass.width)
        gc_lines_end<config>(pass, bytes, tile, walk);
}
