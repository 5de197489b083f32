/* The parts of the kernels of bytes.cuh: loading a tile, multiplying, thresholds, storing. */
#pragma once

#include "gpu/methods/fused/bytes_units.h"
#include "gpu/pass/fragments.cuh"
#include "gpu/pass/pass.cuh"

/* What these kernels are given beside gc_pass. In their gc_pass, width and pitches of samples count
 * bytes. */
struct gc_bytes {
    /* Of the image: its width, and the bytes of a pixel. A pixel's bytes are columns of their own:
     * their neighbours lie `step` columns further. */
    int pixels, step;
    int channels;                              /* that are convolved */
    unsigned char constant[GC_BYTES_STEP_MAX]; /* the bytes of a pixel of a constant border */
    /* Four neighbouring columns, as bytes of a word: those of alpha that is kept have all bits.
     * Their sums are the samples. The second word is for the second lane of two. */
    unsigned kept[2];
    /* Tables of filters, one for each zone and class. `weights` has two matrices of two words for
     * each row of the filter and lane. `sums` has what a constant border adds to each column of a
     * unit. Zones are rows of the image: those fewer than `ring` from the top, one zone for all
     * rows in between, those fewer than `ring` from the bottom. Class 0 is any unit, the next ones
     * are the ring units. */
    const uint4 *weights;
    const int *sums;
    int height, top; /* of the filter; further rows of the config have weights of 0 */
    int ring;        /* outputs fewer than this from the border have filters of their own */
    int ring_unit_count, ring_units[GC_BYTES_RING_UNITS]; /* units of the image */
};

/* The tile of a block and its surroundings in shared memory. */
template <class config> struct gc_bytes_block {
    typedef config made_for;
    static constexpr int threads = 32 * config::warps;
    static constexpr int warp_width = GC_BYTES_UNITS * GC_BYTES_UNIT;
    static constexpr int tile_width = config::warps * warp_width;
    static constexpr int tile_height = 16 * config::rows;
    static constexpr int pitch = tile_width + 2 * GC_BYTES_MARGIN;
    static constexpr int lines = tile_height + config::height - 1;
    static constexpr int tile_bytes = lines * pitch;
    /* A warp stages bytes of output to put them in order. */
    static constexpr int staged_pitch = warp_width + 16;
    static constexpr bool stages = config::output == GC_BYTE || config::output == GC_SHORT;
    static constexpr int staged = stages ? tile_height * staged_pitch : 0;
    static constexpr int units = GC_BYTES_UNITS; /* of a warp */
    /* Shared memory: the tile, what the warps stage, the rows of gc_bytes_fill_border. */
    static constexpr int rows_at = tile_bytes + config::warps * staged;
    static constexpr int shared_bytes = rows_at + lines * (int)sizeof(int);

    /* Loads a fragment whose row i lies `stride` * (i % count) bytes after `address`. */
    static __device__ void load(unsigned (&samples)[4], unsigned address, int stride, int count)
    {
        gc_fragments_load4(samples, address + (int)threadIdx.x % 16 % count * stride +
                                        (int)threadIdx.x % 32 / 16 * 16);
    }
};

/* sums += samples * weights: C, A, and b0 and b1 of B (fragments.cuh, m16n8k32) */
static __device__ inline void gc_bytes_multiply(int (&sums)[4], const unsigned (&samples)[4],
                                                unsigned low, unsigned high)
{
#if __CUDA_ARCH__ >= 800
    int result[4]; /* apart from `sums`, so that several sums can share their start */
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%10,%11,%12,%13};"
                 : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
                 : "r"(samples[0]), "r"(samples[1]), "r"(samples[2]), "r"(samples[3]), "r"(low),
                   "r"(high), "r"(sums[0]), "r"(sums[1]), "r"(sums[2]), "r"(sums[3]));
#pragma unroll
    for (int k = 0; k < 4; k++)
        sums[k] = result[k];
#endif
}

/* The row of a fragment for which a lane gives the address (gc_fragments_load4). */
static __device__ inline int gc_bytes_fragment_row()
{
    return (int)threadIdx.x % 16;
}

static __device__ inline int gc_bytes_fragment_column()
{
    return (int)threadIdx.x % 32 / 16 * 16;
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* A config for gc_pass_row and gc_pass_border_of: with the border that the pass says. */
struct gc_bytes_input {
    static constexpr int input = GC_BYTE, border = -1, channels = 1, alpha = GC_PASS_NO_ALPHA;
};

/* Inside the image: whole words of 8 samples. */
template <class config>
static __device__ inline void gc_bytes_fill_inside(const gc_pass &pass, unsigned char *tile, int x,
                                                   int y)
{
    typedef gc_bytes_block<config> block;
    /* Each thread loads a word of 8 bytes. This many threads load a line without its last two
     * words, which are loaded afterwards. */
    constexpr int words = block::tile_width / 8;
    constexpr int lines_at_once = block::threads / words, rest = block::pitch / 8 - words;
    const unsigned char *start =
        (const unsigned char *)pass.input + (y - pass.input_first) * pass.input_pitch + x;
    int line = (int)threadIdx.x / words, column = (int)threadIdx.x % words * 8;
    const unsigned char *from = start + line * pass.input_pitch + column;
    unsigned char *to = tile + line * block::pitch + column;
#pragma unroll
    for (int first = 0; first < block::lines; first += lines_at_once) {
        if (first + lines_at_once <= block::lines || line + first < block::lines)
            gc_pass_copy<8>(to + first * block::pitch, from);
        from += lines_at_once * pass.input_pitch;
    }
#pragma unroll
    for (int first = 0; first < rest * block::lines; first += block::threads) {
        int i = first + (int)threadIdx.x;
        if (i < rest * block::lines)
            gc_pass_copy<8>(tile + i / rest * block::pitch + (words + i % rest) * 8,
                            start + i / rest * pass.input_pitch + (words + i % rest) * 8);
    }
}

/* The byte in column x, up to GC_BYTES_MARGIN outside the image or inside, of row `row` of the
 * input. -1 is a row of a constant border. */
static __device__ inline unsigned gc_bytes_value(const gc_pass &pass, const gc_bytes &bytes,
                                                 int row, int x)
{
    int before = GC_BYTES_MARGIN * bytes.step; /* keeps the division from rounding up */
    int pixel = (x + before) / bytes.step - GC_BYTES_MARGIN, part = x - pixel * bytes.step;
    pixel = gc_pass_index(gc_pass_border_of<gc_bytes_input>(pass), pixel, bytes.pixels);
    if (row < 0 || pixel < 0)
        return bytes.constant[part];
    return __ldg((const unsigned char *)pass.input + row * pass.input_pitch +
                 (long long)pixel * bytes.step + part);
}

static __device__ inline unsigned gc_bytes_word(const gc_pass &pass, const gc_bytes &bytes, int row,
                                                int x)
{
    unsigned word = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        word |= gc_bytes_value(pass, bytes, row, x + k) << (8 * k);
    return word;
}

/* Loads a word of 8 bytes inside the image's columns from row `row`. */
static __device__ inline void gc_bytes_fill_word(const gc_pass &pass, const gc_bytes &bytes,
                                                 unsigned char *to, int row, int column)
{
    if (row >= 0)
        gc_pass_copy<8>(to, (const unsigned char *)pass.input + row * pass.input_pitch + column);
    else
        *(uint2 *)to = make_uint2(gc_bytes_word(pass, bytes, row, column),
                                  gc_bytes_word(pass, bytes, row, column + 4));
}

/* At the image's border: first whole words of 8 inside the image, a warp a line; then the rest,
 * value by value. `rows` has room for a row of the input for each line. */
template <class config>
static __device__ inline void gc_bytes_fill_border(const gc_pass &pass, const gc_bytes &bytes,
                                                   unsigned char *tile, int *rows, int x, int y)
{
    typedef gc_bytes_block<config> block;
    for (int line = (int)threadIdx.x; line < block::lines; line += block::threads)
        rows[line] = gc_pass_row<gc_bytes_input>(pass, y + line);
    __syncthreads();
    int whole = pass.width & ~7;
    for (int column = (int)threadIdx.x % 32 * 8; column < block::pitch; column += 256)
        if (x + column >= 0 && x + column < whole)
#pragma unroll 4
            for (int line = (int)threadIdx.x / 32; line < block::lines; line += config::warps)
                gc_bytes_fill_word(pass, bytes, tile + line * block::pitch + column, rows[line],
                                   x + column);
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
        *(unsigned *)(tile + line * block::pitch + column) =
            gc_bytes_word(pass, bytes, rows[line], x + column);
    }
}

/* Loads the surroundings of the tile whose first output is (x, y). */
template <class config>
static __device__ inline void gc_bytes_fill(const gc_pass &pass, const gc_bytes &bytes,
                                            unsigned char *tile, int *rows, int x, int y)
{
    typedef gc_bytes_block<config> block;
    x -= GC_BYTES_MARGIN;
    y -= bytes.top;
    if (x >= 0 && x + block::pitch <= pass.width && gc_pass_rows_inside(pass, y, block::lines))
        gc_bytes_fill_inside<config>(pass, tile, x, y);
    else
        gc_bytes_fill_border<config>(pass, bytes, tile, rows, x, y);
}

/* ---- Multiplying ----------------------------------------------------------------------------- */

/* Sums of a unit: [row][matrix][element], with the elements c0 to c3 of C (fragments.cuh).
 * `address` is the lane's address for the first fragment. Sums begin with `starts`. `weights` has
 * an entry for each row of the filter. */
template <class config>
static __device__ inline void gc_bytes_sum(unsigned address, const uint4 (&weights)[config::height],
                                           const int (&starts)[4], int (&sums)[config::rows][2][4])
{
    typedef gc_bytes_block<config> block;
#pragma unroll
    for (int r = 0; r < config::rows; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            sums[r][k / 4][k % 4] = starts[k % 4];
#pragma unroll
    for (int q = 0; q < config::rows + config::height - 1; q++) {
        unsigned samples[4];
        gc_fragments_load4(samples, address + q * block::pitch);
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            if (q - r >= 0 && q - r < config::height) {
                gc_bytes_multiply(sums[r][0], samples, weights[q - r].x, weights[q - r].y);
                gc_bytes_multiply(sums[r][1], samples, weights[q - r].z, weights[q - r].w);
            }
    }
}

static __device__ inline int gc_bytes_table(const gc_bytes &bytes, int zone, int unit_class)
{
    return zone * (1 + bytes.ring_unit_count) + unit_class;
}

template <class config>
static __device__ inline uint4 gc_bytes_look_up(const gc_bytes &bytes, int table, int row)
{
    return __ldg(bytes.weights + (table * config::height + row) * 32 + (int)threadIdx.x % 32);
}

/* ---- The threshold --------------------------------------------------------------------------- */

/* The threshold of `edges` as an overflow. Sums begin at `start`. Then `addend` is added to a sum
 * as an unsigned number. Whether this overflows tells on which side of the threshold the value
 * lies. The bit of output is the overflow, inverted if `inverted` is all ones. */
struct gc_bytes_threshold {
    int start;
    unsigned addend, inverted;
};

static __device__ inline gc_bytes_threshold gc_bytes_threshold_of(const gc_finish &finish)
{
    int level = (int)floorf(fmaxf(fminf(finish.threshold, 1e9f), -1e9f));
    unsigned inverted = finish.invert ? ~0u : 0;
    unsigned half = 0x7fffffffu;
    if (finish.side > 0) /* value - level - 1 is not negative */
        return {-level - 1, ~half, ~inverted};
    if (finish.side < 0) /* value + level is negative */
        return {level, ~half, inverted};
    if (level < 0) /* every value */
        return {0, 0, ~inverted};
    return {level, ~(2u * (unsigned)level), inverted}; /* beyond -level to level */
}

static __device__ inline void gc_bytes_shift_in(unsigned &word, int sum, unsigned addend)
{
    asm("{\n\t.reg .u32 unused;\n\tadd.cc.u32 unused, %1, %2;\n\taddc.u32 %0, %0, %0;\n\t}"
        : "+r"(word)
        : "r"(sum), "r"(addend));
}

/* ---- Storing --------------------------------------------------------------------------------- */

struct gc_bytes_outputs {
    int x, y;              /* of its first output */
    int end;               /* the row after its last one */
    unsigned char *staged; /* of GC_BYTE, or null if none are staged */
};

/* The first sample of row `row` of the output. */
template <typename sample>
static __device__ inline sample *gc_bytes_row(const gc_pass &pass, int row)
{
    return (sample *)pass.output + (row - pass.output_first) * pass.output_pitch;
}

/* A mask of 16 columns from x on: ones for the columns that the image has, the first column in the
 * high bit. */
static __device__ inline unsigned gc_bytes_mask(const gc_pass &pass, int x)
{
    int count = pass.width - x;
    return count >= 16 ? 0xffffu : count <= 0 ? 0u : 0xffffu << (16 - count) & 0xffffu;
}

/* Gives lane l of four neighbouring lanes all bits of unit l. Before, each lane has four bits of
 * every unit of the warp. The first unit's are the highest bits. `upper` and `lower` belong to the
 * two rows of the lane's sums. Each of two exchanges moves half of the bits to another lane. The
 * upper row is the high half of the result. */
static __device__ inline unsigned gc_bytes_exchange(unsigned upper, unsigned lower)
{
    int part = (int)threadIdx.x % 4;
    unsigned word = __byte_perm(lower, upper, 0x5410);
    unsigned other = __shfl_xor_sync(~0u, word, 2);
    word = __byte_perm(word, other, part < 2 ? 0x3715 : 0x6240);
    other = __shfl_xor_sync(~0u, word, 1);
    unsigned own = part % 2 == 0 ? 0xf0f0f0f0u : 0x0f0f0f0fu;
    other = part % 2 == 0 ? other >> 4 : other << 4;
    return (word & own) | (other & ~own);
}

/* Stores the bits of a warp. `inside`: all of them lie inside the image. */
template <class config, bool inside>
static __device__ inline void
gc_bytes_store_bits(const gc_pass &pass, const gc_bytes_outputs &outputs,
                    const unsigned (&upper)[config::rows], const unsigned (&lower)[config::rows],
                    unsigned inverted)
{
    int lane = (int)threadIdx.x % 32;
    int x = outputs.x + lane % 4 * GC_BYTES_UNIT, row = outputs.y + lane / 4 * config::rows;
    int rows = pass.output_first + pass.rows - row; /* from the first on */
    unsigned mask = inside ? ~0u : gc_bytes_mask(pass, x) * 0x10001u;
    bool stores = inside || x / 8 < pass.output_pitch;
    unsigned char *to = gc_bytes_row<unsigned char>(pass, row) + x / 8;
    unsigned char *further = to + 8 * config::rows * pass.output_pitch;
#pragma unroll
    for (int r = 0; r < config::rows; r++) {
        unsigned word = (gc_bytes_exchange(upper[r], lower[r]) ^ inverted) & mask;
        word = __byte_perm(word, 0, 0x0123); /* the first pixels in the first byte */
        if (inside || (stores && r < rows))
            *(unsigned short *)to = (unsigned short)word;
        if (inside || (stores && r + 8 * config::rows < rows))
            *(unsigned short *)further = (unsigned short)(word >> 16);
        to += pass.output_pitch;
        further += pass.output_pitch;
    }
}

/* Whether samples have 16 bits: the sums of their low bytes lie in even columns, those of their
 * high bytes in the next ones. */
template <class config> static __device__ constexpr bool gc_bytes_in_pairs()
{
    return config::input == GC_SHORT;
}

/* Four neighbouring sums as bytes of output, or two samples of 16 bits. */
template <class config>
static __device__ inline unsigned gc_bytes_finish(const gc_pass &pass, const gc_bytes &bytes,
                                                  int first, int second, int third, int fourth)
{
    int left = first + 256 * second, right = third + 256 * fourth; /* of 16 bits */
    unsigned word;
    if (gc_bytes_in_pairs<config>()) {
        const float values[2] = {(float)left, (float)right};
        unsigned samples[2];
        gc_finish_integers<config>(pass, values, samples);
        word = __byte_perm(samples[0], samples[1], 0x5410);
    } else {
        const float values[4] = {(float)first, (float)second, (float)third, (float)fourth};
        word = gc_finish_word<config>(pass, values);
    }
    if (bytes.kept[1] == 0)
        return word;
    const unsigned four[4] = {(unsigned)first, (unsigned)second, (unsigned)third, (unsigned)fourth};
    unsigned sums = gc_bytes_in_pairs<config>()
                        ? __byte_perm((unsigned)left, (unsigned)right, 0x5410)
                        : gc_finish_pack(four);
    unsigned kept = bytes.kept[threadIdx.x % 2];
    return (word & ~kept) | (sums & kept);
}

/* Stores chain values of four neighbouring sums, from column x of row `row` on, in planes. */
template <class config>
static __device__ inline void gc_bytes_store_four(const gc_pass &pass, const gc_bytes &bytes, int x,
                                                  int row, const int (&four)[4])
{
    float *to = gc_bytes_row<float>(pass, row);
    if (!gc_bytes_in_pairs<config>() && bytes.step == 1) {
        *(float4 *)(to + x) =
            make_float4((float)four[0], (float)four[1], (float)four[2], (float)four[3]);
        return;
    }
    constexpr int size = gc_bytes_in_pairs<config>() ? 2 : 1;
#pragma unroll
    for (int k = 0; k < 4; k += size) {
        int pixel = (x + k) / bytes.step, channel = (x + k) % bytes.step / size;
        int sum = size == 2 ? four[k] + 256 * four[k + size - 1] : four[k];
        if (pixel < bytes.pixels && channel < bytes.channels)
            to[channel * pass.output_plane + pixel] = (float)sum;
    }
}

template <class config>
static __device__ inline void gc_bytes_stage(const gc_pass &pass, const gc_bytes &bytes,
                                             const gc_bytes_outputs &outputs, int unit, int r,
                                             const int (&sums)[2][4])
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32;
    unsigned char *to = outputs.staged + (lane / 4 * config::rows + r) * block::staged_pitch +
                        unit * GC_BYTES_UNIT + lane % 4 * 4;
    *(unsigned *)to =
        gc_bytes_finish<config>(pass, bytes, sums[0][0], sums[0][1], sums[1][0], sums[1][1]);
    *(unsigned *)(to + 8 * config::rows * block::staged_pitch) =
        gc_bytes_finish<config>(pass, bytes, sums[0][2], sums[0][3], sums[1][2], sums[1][3]);
}

/* Stores what the warp staged, in words of 16 bytes. Rows of the output have whole words. */
template <class config>
static __device__ inline void gc_bytes_store_staged(const gc_pass &pass,
                                                    const gc_bytes_outputs &outputs)
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32, x = outputs.x + lane % 4 * 16;
    __syncwarp();
#pragma unroll
    for (int first = 0; first < block::tile_height; first += 8) {
        int line = first + lane / 4;
        if (outputs.y + line < pass.output_first + pass.rows && x < pass.output_pitch)
            *(uint4 *)(gc_bytes_row<unsigned char>(pass, outputs.y + line) + x) =
                *(const uint4 *)(outputs.staged + line * block::staged_pitch + lane % 4 * 16);
    }
    __syncwarp();
}

template <class config>
static __device__ inline void gc_bytes_store_values(const gc_pass &pass, const gc_bytes &bytes,
                                                    const gc_bytes_outputs &outputs, int unit,
                                                    int r, const int (&sums)[2][4])
{
    int lane = (int)threadIdx.x % 32;
    int x = outputs.x + unit * GC_BYTES_UNIT + lane % 4 * 4;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int row = outputs.y + (lane / 4 + 8 * half) * config::rows + r;
        const int four[4] = {sums[0][2 * half], sums[0][2 * half + 1], sums[1][2 * half],
                             sums[1][2 * half + 1]};
        if (row < pass.output_first + pass.rows && x < pass.width)
            gc_bytes_store_four<config>(pass, bytes, x, row, four);
    }
}
