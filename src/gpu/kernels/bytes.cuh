/* A block's pass for 8-bit samples and whole weights from -128 to 127, on the tensor cores, exactly: a
 * row of samples times a banded matrix of a row of weights gives 8 neighbouring outputs, and the rows
 * of the filter add up (the banded products of stencils on tensor cores: Chen et al., PPoPP 2024;
 * integers make them exact). A filter of several steps is taken as the product of them all; where that
 * is not the same, at the image's border, outputs have filters of their own (gc_bytes.ring).
 *
 * mma.sync m16n8k32 multiplies 16 rows of 32 samples by 32 x 8 weights. A warp takes a unit of 16
 * columns of output at a time: two matrices of weights share the samples, which start GC_BYTES_MARGIN
 * columns to the left, where ldmatrix finds them on a boundary of 16 bytes. The 16 rows of a fragment
 * lie `rows` apart, so that each fragment serves `rows` outputs: the next row of the filter is another
 * fragment, never a shift between lanes. Columns are dealt to the matrices so that the four outputs of
 * a lane in a row are neighbours: column 4 (n / 2) + 2 m + n % 2 of the unit is column n of matrix m.
 *
 * The config of such a kernel has
 *     height           the most rows of a filter
 *     rows, warps      as in other passes; `rows` is odd, so that fragments lie in different banks
 *     output, finish   as in other passes: GC_BIT, GC_BYTE, or GC_FLOAT for chain values */
#ifndef GC_GPU_KERNELS_BYTES_CUH
#define GC_GPU_KERNELS_BYTES_CUH

#include "gpu/kernels/pass.cuh"

enum {
    GC_BYTES_UNIT = 16,   /* columns */
    GC_BYTES_UNITS = 4,   /* of a warp */
    GC_BYTES_MARGIN = 8,  /* columns on either side of outputs: as far as a filter may reach */
    GC_BYTES_SPECIALS = 3 /* units that hold columns of the ring: the first and the last two */
};

/* What these passes are given beside gc_pass. */
struct gc_bytes {
    /* Tables of filters: of each row and lane two matrices of two words, and of each column of a unit
     * what a constant border adds. There is one a place and class. Places are rows of the image: those
     * fewer than `ring` from the top, all in between, those fewer than `ring` from the bottom. Classes
     * are units: any, then the special ones. */
    const uint4 *weights;
    const int *sums;
    int height, top; /* of the filter; rows that the config has beyond it weigh 0 */
    int ring;        /* outputs fewer than this from the border have filters of their own */
    int special_count, specials[GC_BYTES_SPECIALS]; /* units of the image */
};

template <class config> struct gc_bytes_block {
    static constexpr int threads = 32 * config::warps;
    static constexpr int warp_width = GC_BYTES_UNITS * GC_BYTES_UNIT;
    static constexpr int tile_width = config::warps * warp_width;
    static constexpr int tile_height = 16 * config::rows;
    static constexpr int pitch = tile_width + 2 * GC_BYTES_MARGIN;
    static constexpr int lines = tile_height + config::height - 1;
    static constexpr int slot = lines * pitch;
    /* Bytes are put in order by each warp on its own. */
    static constexpr int staged_pitch = warp_width + 16;
    static constexpr int staged = config::output == GC_BYTE ? tile_height * staged_pitch : 0;
    static constexpr int rows_at =
        slot + config::warps * staged; /* what gc_bytes_fill_border needs */
    static constexpr int shared_bytes = rows_at + lines * (int)sizeof(int);
};

/* sums += samples * weights */
static __device__ inline void gc_bytes_multiply(int (&sums)[4], const unsigned (&samples)[4],
                                                unsigned low, unsigned high)
{
#if __CUDA_ARCH__ >= 800
    int result[4]; /* not `sums`, so that what they start with can be shared */
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%10,%11,%12,%13};"
                 : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
                 : "r"(samples[0]), "r"(samples[1]), "r"(samples[2]), "r"(samples[3]), "r"(low),
                   "r"(high), "r"(sums[0]), "r"(sums[1]), "r"(sums[2]), "r"(sums[3]));
#pragma unroll
    for (int k = 0; k < 4; k++)
        sums[k] = result[k];
#else
    __trap(); /* the host offers these kernels to no such device */
#endif
}

/* Eight rows of 16 samples each to four registers, as mma.sync wants them; every lane gives the address
 * of a row, in words of 16 bytes: rows 0 to 7, rows 8 to 15, then those 16 columns further. */
static __device__ inline void gc_bytes_load(unsigned (&samples)[4], unsigned address)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(samples[0]), "=r"(samples[1]), "=r"(samples[2]), "=r"(samples[3])
                 : "r"(address)
                 : "memory");
#endif
}

/* The row of a fragment whose address a lane gives. */
static __device__ inline int gc_bytes_fragment_row()
{
    return (int)threadIdx.x % 16;
}

/* Columns from the fragment's first to those whose address a lane gives. */
static __device__ inline int gc_bytes_fragment_column()
{
    return (int)threadIdx.x % 32 / 16 * 16;
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Copies 8 bytes into shared memory; they are there after gc_pass_arrive. */
static __device__ inline void gc_bytes_copy8(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#endif
}

struct gc_bytes_input {
    static constexpr int input = GC_BYTE, border = -1;
};

template <class config>
static __device__ inline void gc_bytes_fill_inside(const gc_pass &pass, unsigned char *tile, int x,
                                                   int y)
{
    typedef gc_bytes_block<config> block;
    /* So many threads take the words of a line that lie in the tile; the last two of every line come
     * after them. */
    constexpr int words = block::tile_width / 8;
    constexpr int lines_at_once = block::threads / words, rest = block::pitch / 8 - words;
    const unsigned char *start = (const unsigned char *)pass.input + gc_pass_input_start(pass) +
                                 (y - pass.input_first) * pass.input_pitch + x;
    int line = (int)threadIdx.x / words, column = (int)threadIdx.x % words * 8;
    const unsigned char *from = start + line * pass.input_pitch + column;
    unsigned char *to = tile + line * block::pitch + column;
#pragma unroll
    for (int first = 0; first < block::lines; first += lines_at_once) {
        if (first + lines_at_once <= block::lines || line + first < block::lines)
            gc_bytes_copy8(to + first * block::pitch, from);
        from += lines_at_once * pass.input_pitch;
    }
#pragma unroll
    for (int first = 0; first < rest * block::lines; first += block::threads) {
        int i = first + (int)threadIdx.x;
        if (i < rest * block::lines)
            gc_bytes_copy8(tile + i / rest * block::pitch + (words + i % rest) * 8,
                           start + i / rest * pass.input_pitch + (words + i % rest) * 8);
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

/* A word of 8 samples of row `row`, -1 being a constant border's, that lies inside the image's columns. */
static __device__ inline void gc_bytes_fill_word(const gc_pass &pass, unsigned char *to, int row,
                                                 int column)
{
    if (row >= 0) {
        gc_bytes_copy8(to, (const unsigned char *)pass.input + gc_pass_input_start(pass) +
                               row * pass.input_pitch + column);
    } else {
        unsigned word = (unsigned)pass.constant[blockIdx.y] * 0x01010101u;
        *(uint2 *)to = make_uint2(word, word);
    }
}

/* At the image's border: words of 8 that lie inside as they are, a line a warp; then the others, value
 * by value. `rows` has room for the row of the input that each line is. */
template <class config>
static __device__ inline void gc_bytes_fill_border(const gc_pass &pass, unsigned char *tile,
                                                   int *rows, int x, int y, int last)
{
    typedef gc_bytes_block<config> block;
    for (int line = (int)threadIdx.x; line < block::lines; line += block::threads)
        rows[line] = gc_pass_row<gc_bytes_input>(pass, y + line < last ? y + line : last);
    __syncthreads();
    int whole = pass.width & ~7;
    for (int column = (int)threadIdx.x % 32 * 8; column < block::pitch; column += 256)
        if (x + column >= 0 && x + column < whole)
#pragma unroll 4
            for (int line = (int)threadIdx.x / 32; line < block::lines; line += config::warps)
                gc_bytes_fill_word(pass, tile + line * block::pitch + column, rows[line],
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
            gc_bytes_word(pass, rows[line], x + column);
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
    /* Rows that only outputs beyond the last one need may not be there. */
    int last = pass.output_first + pass.rows - 1 + bytes.height - 1 - bytes.top;
    if (x >= 0 && x + block::pitch <= pass.width && y + block::lines - 1 <= last &&
        gc_pass_rows_inside<gc_bytes_input>(pass, y, block::lines))
        gc_bytes_fill_inside<config>(pass, tile, x, y);
    else
        gc_bytes_fill_border<config>(pass, tile, rows, x, y, last);
}

/* ---- Multiplying ----------------------------------------------------------------------------- */

/* Sums of a unit: [row][matrix][element], the element being the tensor cores' own: row lane / 4 of the
 * fragment, and 8 on for 2 and 3; column lane % 4 * 2 of the matrix, and 1 on for 1 and 3. `address` is
 * the lane's of the first fragment, `starts` what sums begin with, `weights` of each row of the filter. */
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
        gc_bytes_load(samples, address + q * block::pitch);
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            if (q - r >= 0 && q - r < config::height) {
                gc_bytes_multiply(sums[r][0], samples, weights[q - r].x, weights[q - r].y);
                gc_bytes_multiply(sums[r][1], samples, weights[q - r].z, weights[q - r].w);
            }
    }
}

static __device__ inline int gc_bytes_table(const gc_bytes &bytes, int place, int special)
{
    return place * (1 + bytes.special_count) + special;
}

/* The lane's weights of row `row` of a table. */
template <class config>
static __device__ inline uint4 gc_bytes_look_up(const gc_bytes &bytes, int table, int row)
{
    return __ldg(bytes.weights + (table * config::height + row) * 32 + (int)threadIdx.x % 32);
}

/* ---- The threshold --------------------------------------------------------------------------- */

/* gc_finish_edge of sums that begin at `start`: those beyond `limit`, as unsigned numbers, overflow
 * with `addend` added; the bit is that overflow, inverted where `inverted` is all ones. */
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

/* Shifts the bit of a sum into a word. */
static __device__ inline void gc_bytes_shift_in(unsigned &word, int sum, unsigned addend)
{
    asm("{\n\t.reg .u32 unused;\n\tadd.cc.u32 unused, %1, %2;\n\taddc.u32 %0, %0, %0;\n\t}"
        : "+r"(word)
        : "r"(sum), "r"(addend));
}

/* ---- Storing --------------------------------------------------------------------------------- */

/* Where a warp's outputs go. */
struct gc_bytes_place {
    int x, y;              /* of its first output */
    unsigned char *staged; /* of GC_BYTE */
};

/* The first sample of row `row` of the output. */
template <typename sample>
static __device__ inline sample *gc_bytes_row(const gc_pass &pass, int row)
{
    return (sample *)pass.output + blockIdx.y * pass.output_plane +
           (row - pass.output_first) * pass.output_pitch;
}

/* Ones for those of 16 columns from x on that the image has, the first in the high bit. */
static __device__ inline unsigned gc_bytes_mask(const gc_pass &pass, int x)
{
    int count = pass.width - x;
    return count >= 16 ? 0xffffu : count <= 0 ? 0u : 0xffffu << (16 - count) & 0xffffu;
}

/* Bits of all units of a warp, the first unit's in the high half byte, upper rows in the high half: two
 * exchanges of half of what there is give each of four neighbouring lanes a unit. */
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

/* Stores the bits of a warp; `inside` where all of them are the image's. */
template <class config, bool inside>
static __device__ inline void gc_bytes_store_bits(const gc_pass &pass, const gc_bytes_place &place,
                                                  const unsigned (&upper)[config::rows],
                                                  const unsigned (&lower)[config::rows],
                                                  unsigned inverted)
{
    int lane = (int)threadIdx.x % 32;
    int x = place.x + lane % 4 * GC_BYTES_UNIT, row = place.y + lane / 4 * config::rows;
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

/* Four neighbouring outputs as bytes. */
template <class config>
static __device__ inline unsigned gc_bytes_finish(const gc_pass &pass, int first, int second,
                                                  int third, int fourth)
{
    unsigned low = __byte_perm(gc_finish_integer<config>(pass, (float)first),
                               gc_finish_integer<config>(pass, (float)second), 0x0040);
    unsigned high = __byte_perm(gc_finish_integer<config>(pass, (float)third),
                                gc_finish_integer<config>(pass, (float)fourth), 0x0040);
    return __byte_perm(low, high, 0x5410);
}

/* Puts rows r of a unit with the others of the warp. */
template <class config>
static __device__ inline void gc_bytes_stage(const gc_pass &pass, const gc_bytes_place &place,
                                             int unit, int r, const int (&sums)[2][4])
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32;
    unsigned char *to = place.staged + (lane / 4 * config::rows + r) * block::staged_pitch +
                        unit * GC_BYTES_UNIT + lane % 4 * 4;
    *(unsigned *)to = gc_bytes_finish<config>(pass, sums[0][0], sums[0][1], sums[1][0], sums[1][1]);
    *(unsigned *)(to + 8 * config::rows * block::staged_pitch) =
        gc_bytes_finish<config>(pass, sums[0][2], sums[0][3], sums[1][2], sums[1][3]);
}

/* Writes what the warp staged in words of 16 bytes; rows of the output are made of whole ones. */
template <class config>
static __device__ inline void gc_bytes_store_staged(const gc_pass &pass,
                                                    const gc_bytes_place &place)
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32, x = place.x + lane % 4 * 16;
    __syncwarp();
#pragma unroll
    for (int first = 0; first < block::tile_height; first += 8) {
        int line = first + lane / 4;
        if (place.y + line < pass.output_first + pass.rows && x < pass.output_pitch)
            *(uint4 *)(gc_bytes_row<unsigned char>(pass, place.y + line) + x) =
                *(const uint4 *)(place.staged + line * block::staged_pitch + lane % 4 * 16);
    }
    __syncwarp();
}

/* Chain values of rows r of a unit go straight to memory. */
template <class config>
static __device__ inline void gc_bytes_store_values(const gc_pass &pass,
                                                    const gc_bytes_place &place, int unit, int r,
                                                    const int (&sums)[2][4])
{
    int lane = (int)threadIdx.x % 32;
    int x = place.x + unit * GC_BYTES_UNIT + lane % 4 * 4;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int row = place.y + (lane / 4 + 8 * half) * config::rows + r;
        if (row < pass.output_first + pass.rows && x < pass.output_pitch)
            *(float4 *)(gc_bytes_row<float>(pass, row) + x) =
                make_float4((float)sums[0][2 * half], (float)sums[0][2 * half + 1],
                            (float)sums[1][2 * half], (float)sums[1][2 * half + 1]);
    }
}

/* ---- The ring -------------------------------------------------------------------------------- */

/* A filter of the ring, as a lane needs it. */
template <class config> struct gc_bytes_filter {
    uint4 weights[config::height];
    int starts[4]; /* of its four columns: what a constant border adds, and the threshold's */
};

template <class config>
static __device__ inline gc_bytes_filter<config>
gc_bytes_filter_of(const gc_bytes &bytes, const gc_bytes_threshold &threshold, int table)
{
    gc_bytes_filter<config> filter;
#pragma unroll
    for (int q = 0; q < config::height; q++)
        filter.weights[q] = gc_bytes_look_up<config>(bytes, table, q);
    int4 sums = __ldg((const int4 *)(bytes.sums + table * GC_BYTES_UNIT) + threadIdx.x % 4);
    filter.starts[0] = sums.x + threshold.start;
    filter.starts[1] = sums.y + threshold.start;
    filter.starts[2] = sums.z + threshold.start;
    filter.starts[3] = sums.w + threshold.start;
    return filter;
}

/* Which of the special units `unit` of the image is, from 1 on; 0: none. */
static __device__ inline int gc_bytes_special(const gc_bytes &bytes, int unit)
{
    int special = 0;
#pragma unroll
    for (int k = 0; k < GC_BYTES_SPECIALS; k++)
        if (k < bytes.special_count && bytes.specials[k] == unit)
            special = k + 1;
    return special;
}

/* Overwrites a lane's four outputs from column x on of row `row`; two neighbouring lanes make a byte of
 * bits. */
template <class config>
static __device__ inline void gc_bytes_overwrite(const gc_pass &pass,
                                                 const gc_bytes_threshold &threshold, int x,
                                                 int row, const int (&four)[4], bool stores)
{
    unsigned bits = 0;
#pragma unroll
    for (int p = 0; p < 4; p++)
        gc_bytes_shift_in(bits, four[p], threshold.addend);
    bits = bits << 4 | __shfl_down_sync(~0u, bits, 1);
    bits = (bits ^ threshold.inverted) & gc_bytes_mask(pass, x) >> 8;
    if (!stores || x >= pass.width)
        return;
    if (config::output == GC_FLOAT)
        *(float4 *)(gc_bytes_row<float>(pass, row) + x) =
            make_float4((float)four[0], (float)four[1], (float)four[2], (float)four[3]);
    else if (config::output == GC_BYTE)
        *(unsigned *)(gc_bytes_row<unsigned char>(pass, row) + x) =
            gc_bytes_finish<config>(pass, four[0], four[1], four[2], four[3]);
    else if (x % 8 == 0)
        gc_bytes_row<unsigned char>(pass, row)[x / 8] = (unsigned char)bits;
}

/* Four outputs in the fragment's row lane / 4 and in the row 8 further. */
struct gc_bytes_targets {
    int x[2], row[2];
    bool stores[2];
};

/* One fragment of a filter of the ring; `address` is the lane's. */
template <class config>
static __device__ inline void
gc_bytes_ring_fragment(const gc_pass &pass, const gc_bytes_threshold &threshold,
                       const gc_bytes_filter<config> &filter, unsigned address,
                       const gc_bytes_targets &targets)
{
    typedef gc_bytes_block<config> block;
    int sums[2][4];
#pragma unroll
    for (int k = 0; k < 8; k++)
        sums[k / 4][k % 4] = filter.starts[k / 4 * 2 + k % 2];
#pragma unroll
    for (int q = 0; q < config::height; q++) {
        unsigned samples[4];
        gc_bytes_load(samples, address + q * block::pitch);
        gc_bytes_multiply(sums[0], samples, filter.weights[q].x, filter.weights[q].y);
        gc_bytes_multiply(sums[1], samples, filter.weights[q].z, filter.weights[q].w);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int four[4] = {sums[0][2 * half], sums[0][2 * half + 1], sums[1][2 * half],
                             sums[1][2 * half + 1]};
        gc_bytes_overwrite<config>(pass, threshold, targets.x[half], targets.row[half], four,
                                   targets.stores[half]);
    }
}

/* A special unit, the warp's `unit`, in fragments of neighbouring rows. */
template <class config>
static __device__ inline void gc_bytes_ring_unit(const gc_pass &pass, const gc_bytes &bytes,
                                                 const gc_bytes_threshold &threshold, unsigned tile,
                                                 const gc_bytes_place &place, int unit, int special)
{
    typedef gc_bytes_block<config> block;
    int lane = (int)threadIdx.x % 32, end = pass.output_first + pass.rows;
    int x = place.x + unit * GC_BYTES_UNIT + lane % 4 * 4;
    gc_bytes_filter<config> filter =
        gc_bytes_filter_of<config>(bytes, threshold, gc_bytes_table(bytes, bytes.ring, special));
#pragma unroll 1
    for (int line = 0; line < block::tile_height; line += 16) {
        int row = place.y + line + lane / 4;
        gc_bytes_ring_fragment<config>(pass, threshold, filter,
                                       tile + (line + gc_bytes_fragment_row()) * block::pitch +
                                           unit * GC_BYTES_UNIT + gc_bytes_fragment_column(),
                                       {{x, x}, {row, row + 8}, {row < end, row + 8 < end}});
    }
}

/* The units of class `special` in row `line` of the tile, which is one of the ring: a fragment whose
 * rows are the units of the warp. */
template <class config>
static __device__ inline void gc_bytes_ring_row(const gc_pass &pass, const gc_bytes &bytes,
                                                const gc_bytes_threshold &threshold, unsigned tile,
                                                const gc_bytes_place &place, int line, int special)
{
    int lane = (int)threadIdx.x % 32, unit = lane / 4 % GC_BYTES_UNITS;
    int row = place.y + line;
    int at = row < bytes.ring ? row : row - pass.height + 2 * bytes.ring + 1;
    int x = place.x + unit * GC_BYTES_UNIT;
    bool stores =
        lane / 4 < GC_BYTES_UNITS && gc_bytes_special(bytes, x / GC_BYTES_UNIT) == special;
    x += lane % 4 * 4;
    gc_bytes_ring_fragment<config>(
        pass, threshold,
        gc_bytes_filter_of<config>(bytes, threshold, gc_bytes_table(bytes, at, special)),
        tile + line * gc_bytes_block<config>::pitch +
            gc_bytes_fragment_row() % GC_BYTES_UNITS * GC_BYTES_UNIT + gc_bytes_fragment_column(),
        {{x, x}, {row, row}, {stores, false}});
}

/* Overwrites the outputs of a warp that belong to the ring, in its columns, then in its rows. */
template <class config>
static __device__ inline void gc_bytes_ring(const gc_pass &pass, const gc_bytes &bytes,
                                            const gc_bytes_threshold &threshold, unsigned tile,
                                            const gc_bytes_place &place)
{
    int end = pass.output_first + pass.rows, first = place.x / GC_BYTES_UNIT;
    __syncwarp(); /* what other lanes stored there comes before */
#pragma unroll 1
    for (int unit = 0; unit < GC_BYTES_UNITS; unit++) {
        int special = gc_bytes_special(bytes, first + unit);
        if (special > 0)
            gc_bytes_ring_unit<config>(pass, bytes, threshold, tile, place, unit, special);
    }
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < 2 * bytes.ring; k++) {
        int row = k < bytes.ring ? k : pass.height - 2 * bytes.ring + k;
        if (row < place.y || row >= place.y + gc_bytes_block<config>::tile_height || row >= end)
            continue;
#pragma unroll 1
        for (int special = 0; special <= bytes.special_count; special++) {
            int unit = special == 0 ? first : bytes.specials[special - 1];
            if (unit >= first && unit < first + GC_BYTES_UNITS)
                gc_bytes_ring_row<config>(pass, bytes, threshold, tile, place, row - place.y,
                                          special);
        }
    }
}

/* ---- The pass -------------------------------------------------------------------------------- */

/* The outputs of a warp, whose surroundings start at `tile`. */
template <class config>
static __device__ inline void
gc_bytes_compute(const gc_pass &pass, const gc_bytes_threshold &threshold, const int (&starts)[4],
                 const uint4 (&weights)[config::height], unsigned tile, const gc_bytes_place &place)
{
    typedef gc_bytes_block<config> block;
    unsigned upper[config::rows] = {}, lower[config::rows] = {};
    unsigned address =
        tile + gc_bytes_fragment_row() * config::rows * block::pitch + gc_bytes_fragment_column();
#pragma unroll 1
    for (int unit = 0; unit < GC_BYTES_UNITS; unit++, address += GC_BYTES_UNIT) {
        int sums[config::rows][2][4];
        gc_bytes_sum<config>(address, weights, starts, sums);
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            if (config::output == GC_BIT) {
#pragma unroll
                for (int p = 0; p < 4; p++) {
                    gc_bytes_shift_in(upper[r], sums[r][p / 2][p % 2], threshold.addend);
                    gc_bytes_shift_in(lower[r], sums[r][p / 2][p % 2 + 2], threshold.addend);
                }
            } else if (config::output == GC_FLOAT) {
                gc_bytes_store_values<config>(pass, place, unit, r, sums[r]);
            } else {
                gc_bytes_stage<config>(pass, place, unit, r, sums[r]);
            }
    }
    bool inside = place.x + block::warp_width <= pass.width &&
                  place.y + block::tile_height <= pass.output_first + pass.rows;
    if (config::output == GC_BIT && inside)
        gc_bytes_store_bits<config, true>(pass, place, upper, lower, threshold.inverted);
    else if (config::output == GC_BIT)
        gc_bytes_store_bits<config, false>(pass, place, upper, lower, threshold.inverted);
    else if (config::output == GC_BYTE)
        gc_bytes_store_staged<config>(pass, place);
}

/* Whether the ring crosses the outputs of a warp. */
template <class config>
static __device__ inline bool gc_bytes_at_border(const gc_pass &pass, const gc_bytes &bytes,
                                                 const gc_bytes_place &place)
{
    typedef gc_bytes_block<config> block;
    return bytes.ring > 0 &&
           (place.x < bytes.ring || place.x + block::warp_width > pass.width - bytes.ring ||
            place.y < bytes.ring || place.y + block::tile_height > pass.height - bytes.ring);
}

/* The tile of a block, as a column and a row of tiles: those at the image's border, which take longer,
 * come first. */
static __device__ inline int2 gc_bytes_tile(int columns, int rows)
{
    int k = (int)blockIdx.x;
    if (columns < 3 || rows < 3)
        return make_int2(k % columns, k / columns);
    if (k < 2 * columns)
        return k < columns ? make_int2(k, 0) : make_int2(k - columns, rows - 1);
    k -= 2 * columns;
    if (k < 2 * (rows - 2))
        return make_int2(k % 2 == 0 ? 0 : columns - 1, 1 + k / 2);
    k -= 2 * (rows - 2);
    return make_int2(1 + k % (columns - 2), 1 + k / (columns - 2));
}

/* A block a tile. */
template <class config>
static __device__ inline void gc_bytes_pass(const gc_pass &pass, const gc_bytes &bytes)
{
    typedef gc_bytes_block<config> block;
    extern __shared__ uint4 gc_bytes_memory[];
    unsigned char *tile = (unsigned char *)gc_bytes_memory;
    int warp = (int)threadIdx.x / 32;
    int2 at = gc_bytes_tile((pass.width + block::tile_width - 1) / block::tile_width,
                            (pass.rows + block::tile_height - 1) / block::tile_height);
    int x = at.x * block::tile_width, y = at.y * block::tile_height + pass.output_first;
    gc_bytes_fill<config>(pass, bytes, tile, (int *)(tile + block::rows_at), x, y);
    uint4 weights[config::height];
#pragma unroll
    for (int k = 0; k < config::height; k++)
        weights[k] = gc_bytes_look_up<config>(bytes, gc_bytes_table(bytes, bytes.ring, 0), k);
    gc_bytes_threshold threshold = {};
    if (config::output == GC_BIT)
        threshold = gc_bytes_threshold_of(pass.finish);
    int starts[4];
#pragma unroll
    for (int k = 0; k < 4; k++) /* by a shuffle it stays in registers, unlike what is uniform */
        starts[k] = __shfl_sync(~0u, threshold.start, k);
    gc_pass_arrive();
    __syncthreads();
    gc_bytes_place place = {x + warp * block::warp_width, y,
                            tile + block::slot + warp * block::staged};
    if (place.x >= pass.width)
        return;
    unsigned surroundings = (unsigned)__cvta_generic_to_shared(tile + warp * block::warp_width);
    gc_bytes_compute<config>(pass, threshold, starts, weights, surroundings, place);
    if (gc_bytes_at_border<config>(pass, bytes, place))
        gc_bytes_ring<config>(pass, bytes, threshold, surroundings, place);
}

#endif
