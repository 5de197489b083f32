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
 * A tile has at most 32 rows. Its lines come in groups of four, each asked for one group before it
 * is needed: when blocks ask for more, the first lines of all blocks arrive late.
 *
 * The config has height (3, 5 or 7), warps, and the output and finish of bytes.cuh, GC_FLOAT left
 * out. */
#pragma once

#include "gpu/methods/fused/bytes_ring.cuh"

/* How a launch divides the image: blockIdx.y counts tiles from the left, blockIdx.x from the
 * top. */
struct gc_lines_launch {
    /* For each pair of lines and lane: the words of B of an even row of output, then those of an
     * odd one. */
    const uint4 *weights;
    int height; /* rows of a tile; at most GC_LINES_ROWS */
    int top;    /* of the filter */
    /* Whether the bytes beside each row are among the row's first and last 8 bytes. Then `before`
     * selects the 4 bytes before a row from its first 8 bytes, as __byte_perm does, and `after` the
     * 4 bytes after it from its last 8 bytes. */
    int has_sides;
    unsigned before, after;
};

static __device__ inline unsigned gc_lines_word(unsigned address)
{
    unsigned word = 0;
#ifdef __CUDA_ARCH__
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
#endif
    return word;
}

/* Four bytes with all bits the sign of a byte: of bytes 0 and 1 of `left`, and of `right`. */
static __device__ inline unsigned gc_lines_signs(unsigned left, unsigned right)
{
    unsigned signs = 0;
#ifdef __CUDA_ARCH__
    asm("prmt.b32 %0, %1, %2, 0xdc98;" : "=r"(signs) : "r"(left), "r"(right));
#endif
    return signs;
}

/* The tile of a block and its surroundings in shared memory. */
template <class config> struct gc_lines_block {
    typedef config made_for;
    static constexpr int threads = 32 * config::warps;
    static constexpr int units = GC_LINES_UNITS; /* of a warp */
    static constexpr int warp_width = units * GC_BYTES_UNIT;
    static constexpr int tile_width = config::warps * warp_width;
    static constexpr int margin = 16; /* columns beside the tile: a word of 16 bytes */
    static constexpr int pitch = tile_width + 2 * margin;
    static constexpr int pairs = config::height / 2 + 1; /* of lines, for two rows of output */
    static constexpr int first = 2 * pairs - 2;          /* lines before the first step */
    static constexpr int lines = GC_LINES_ROWS + first;
    static constexpr int group = 4; /* lines that are waited for together */
    static constexpr int round = 8; /* rows of output between two passes through a loop */
    /* Registers for pairs of lines. A round ends with the pairs in the places in which the next
     * round has them. */
    static constexpr int slots = round / 2;
    static_assert(pairs <= slots, "a filter of at most 7 rows");
    /* Shared memory: the tile, a word for each warp, the sources of the tile's lines, what the
     * warps stage. */
    static constexpr int words_at = lines * pitch;
    static constexpr int rows_at = words_at + 16 * config::warps;
    static constexpr int staged_at = rows_at + lines * (int)sizeof(void *);
    static constexpr int staged = config::output == GC_BIT ? 0 : 1024; /* of a warp */
    static constexpr int shared_bytes = staged_at + config::warps * staged;
    static_assert(staged_at % 16 == 0, "words of 16 bytes");

    /* As gc_bytes_block's. */
    static __device__ void load(unsigned (&samples)[4], unsigned address, int stride, int count)
    {
        int row = (int)threadIdx.x % 32 / 4, column = (int)threadIdx.x % 4 * 4;
#pragma unroll
        for (int k = 0; k < 4; k++)
            samples[k] =
                gc_lines_word(address + (row + k % 2 * 8) % count * stride + column + k / 2 * 16);
    }
};

/* ---- Loading --------------------------------------------------------------------------------- */

static __device__ inline void gc_lines_commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for all groups of this thread's copies but the last one. */
static __device__ inline void gc_lines_arrive()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

/* A block's tile: its first output is in column x of row `y` of the image. */
struct gc_lines_tile {
    unsigned char *memory;
    int x, y, end; /* the row after its last one */
    int column;    /* the image's column in column 0 of the memory */
    int line;      /* the image's row in line 0 */
    int lines;     /* that its outputs need */
    /* The source of samples. Lines lie `pitch` bytes apart from `start` on if `rows` is null;
     * else `rows` has a pointer for each line, null for a line that is not in the image or not
     * needed. Between columns `left` and `right` lie whole words of 16 bytes. */
    const unsigned char *start;
    long long pitch;
    const unsigned char **rows;
    int left, right;

    __device__ const unsigned char *at(int index) const
    {
        if (rows != nullptr)
            return rows[index];
        return index < lines ? start + index * pitch : nullptr;
    }
};

/* The block's tile. If lines are not all neighbours in the input, the block writes `rows`. */
template <class config>
static __device__ inline gc_lines_tile gc_lines_tile_of(const gc_lines_launch &launch,
                                                        const gc_pass &pass, unsigned char *memory)
{
    typedef gc_lines_block<config> block;
    gc_lines_tile tile;
    tile.memory = memory;
    tile.x = (int)blockIdx.y * block::tile_width;
    tile.y = pass.output_first + (int)blockIdx.x * launch.height;
    tile.end = min(tile.y + launch.height, pass.output_first + pass.rows);
    tile.column = tile.x - block::margin;
    tile.line = tile.y - launch.top;
    tile.lines = tile.end - tile.y + block::first;
    tile.left = tile.x == 0 ? block::margin : 0;
    tile.right = (pass.width & ~15) - tile.column;
    tile.pitch = pass.input_pitch;
    tile.start = (const unsigned char *)pass.input +
                 (tile.line - pass.input_first) * pass.input_pitch + tile.column;
    tile.rows = nullptr;
    if (gc_pass_rows_inside(pass, tile.line, tile.lines))
        return tile;
    tile.rows = (const unsigned char **)(memory + block::rows_at);
    for (int k = (int)threadIdx.x; k < block::lines; k += block::threads) {
        int row = k < tile.lines ? gc_pass_row<gc_bytes_input>(pass, tile.line + k) : -1;
        tile.rows[k] =
            row < 0 ? nullptr
                    : (const unsigned char *)pass.input + row * pass.input_pitch + tile.column;
    }
    __syncthreads();
    return tile;
}

/* Asks for `count` lines from line `first` on. */
template <class config, int count>
static __device__ inline void gc_lines_request(const gc_lines_tile &tile, int first)
{
    typedef gc_lines_block<config> block;
    constexpr int words = block::tile_width / 16; /* of a line, without the last two */
    int line = first + (int)threadIdx.x / words, column = (int)threadIdx.x % words * 16;
    bool inside = column >= tile.left && column < tile.right;
#pragma unroll
    for (int k = 0; k < count; k += block::threads / words) {
        const unsigned char *from = tile.at(line + k);
        if (inside && from != nullptr)
            gc_pass_copy<16>(tile.memory + (line + k) * block::pitch + column, from + column);
    }
    if ((int)threadIdx.x >= 2 * count)
        return;
    line = first + (int)threadIdx.x / 2;
    column = block::tile_width + (int)threadIdx.x % 2 * 16;
    const unsigned char *from = tile.at(line);
    if (column < tile.right && from != nullptr)
        gc_pass_copy<16>(tile.memory + line * block::pitch + column, from + column);
}

/* The ends of a row, with which its sides are filled. */
struct gc_lines_ends {
    unsigned first[2], last[2];
};

/* The ends of the row in line threadIdx.x, if the tile lies at that side of the image. */
template <class config>
static __device__ inline gc_lines_ends
gc_lines_ends_of(const gc_lines_launch &launch, const gc_pass &pass, const gc_lines_tile &tile)
{
    gc_lines_ends ends = {};
    if (!launch.has_sides || (int)threadIdx.x >= tile.lines)
        return ends;
    const unsigned *row = (const unsigned *)(tile.at((int)threadIdx.x) - tile.column);
    const unsigned *last = row + pass.width / 4 - 2;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        ends.first[k] = tile.x == 0 ? __ldg(row + k) : 0;
        ends.last[k] =
            pass.width - tile.column < gc_lines_block<config>::pitch ? __ldg(last + k) : 0;
    }
    return ends;
}

/* Fills the four columns before the image and those after it. */
template <class config>
static __device__ inline void gc_lines_fill_sides(const gc_lines_launch &launch,
                                                  const gc_pass &pass, const gc_lines_tile &tile,
                                                  const gc_lines_ends &ends)
{
    typedef gc_lines_block<config> block;
    if (!launch.has_sides || (int)threadIdx.x >= tile.lines)
        return;
    unsigned char *line = tile.memory + (int)threadIdx.x * block::pitch;
    int after = pass.width - tile.column;
    if (tile.x == 0)
        *(unsigned *)(line + block::margin - 4) =
            __byte_perm(ends.first[0], ends.first[1], launch.before);
    if (after < block::pitch)
        *(unsigned *)(line + after) = __byte_perm(ends.last[0], ends.last[1], launch.after);
}

/* Fills these columns for every border and width, value by value, together with the rest of rows
 * that do not end with a whole word, and with the lines of a constant border. */
template <class config>
static __device__ inline void gc_lines_fill_values(const gc_pass &pass, const gc_bytes &bytes,
                                                   const gc_lines_tile &tile)
{
    typedef gc_lines_block<config> block;
    int end = min(pass.width + GC_LINES_REACH - tile.column, block::pitch);
    int left = tile.x == 0 ? 1 : 0, count = left + max(end - tile.right + 3, 0) / 4;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < tile.lines * count; i += block::threads) {
        int line = i / count, k = i % count;
        int column = k < left ? block::margin - 4 : tile.right + 4 * (k - left);
        *(unsigned *)(tile.memory + line * block::pitch + column) = gc_bytes_word(
            pass, bytes, gc_pass_row<gc_bytes_input>(pass, tile.line + line), tile.column + column);
    }
    if (tile.rows == nullptr || pass.border != GC_PASS_CONSTANT)
        return;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < tile.lines * (block::pitch / 4); i += block::threads) {
        int line = i / (block::pitch / 4), column = i % (block::pitch / 4) * 4;
        if (tile.rows[line] == nullptr)
            *(unsigned *)(tile.memory + line * block::pitch + column) =
                gc_bytes_word(pass, bytes, -1, tile.column + column);
    }
}

/* Asks for the first lines of a tile, and fills its sides. */
template <class config>
static __device__ inline void gc_lines_begin(const gc_lines_launch &launch, const gc_pass &pass,
                                             const gc_bytes &bytes, const gc_lines_tile &tile)
{
    typedef gc_lines_block<config> block;
    bool at_side = tile.x == 0 || tile.column + block::pitch > pass.width;
    gc_lines_ends ends = {};
    if (at_side)
        ends = gc_lines_ends_of<config>(launch, pass, tile);
    gc_lines_request<config, block::first>(tile, 0);
    gc_lines_request<config, block::group>(tile, block::first);
    gc_lines_commit();
    if (!launch.has_sides && (at_side || tile.rows != nullptr))
        gc_lines_fill_values<config>(pass, bytes, tile);
    else if (at_side)
        gc_lines_fill_sides<config>(launch, pass, tile, ends);
}

/* Waits for group `group` and asks for the next one. All threads of the block call this. */
template <class config>
static __device__ inline void gc_lines_await(const gc_lines_tile &tile, int group)
{
    typedef gc_lines_block<config> block;
    if ((group + 1) * block::group < GC_LINES_ROWS)
        gc_lines_request<config, block::group>(tile, block::first + (group + 1) * block::group);
    gc_lines_commit();
    gc_lines_arrive();
    __syncthreads();
}

/* ---- Storing bits ---------------------------------------------------------------------------- */

/* Gives lane p of four neighbouring lanes word p of each of them: of lanes p, p ^ 2, p ^ 1, p ^
 * 3. */
static __device__ inline void gc_lines_exchange(unsigned (&words)[4])
{
    bool high = threadIdx.x % 4 >= 2, odd = threadIdx.x % 2 != 0;
    unsigned kept0 = high ? words[2] : words[0], kept1 = high ? words[3] : words[1];
    unsigned got0 = __shfl_xor_sync(~0u, high ? words[0] : words[2], 2);
    unsigned got1 = __shfl_xor_sync(~0u, high ? words[1] : words[3], 2);
    words[0] = odd ? kept1 : kept0;
    words[1] = odd ? got1 : got0;
    words[2] = __shfl_xor_sync(~0u, odd ? kept0 : kept1, 1);
    words[3] = __shfl_xor_sync(~0u, odd ? got0 : got1, 1);
}

/* Turns four words of bytes into the words that have byte k, from the high end, of lanes 0 to 3 in
 * this order. The words are those that gc_lines_exchange gave. */
static __device__ inline void gc_lines_transpose(unsigned (&words)[4])
{
    int p = (int)threadIdx.x % 4;
    unsigned high = p % 2 == 0 ? 0x3726u : 0x7362u, low = p % 2 == 0 ? 0x1504u : 0x5140u;
    unsigned own[2] = {__byte_perm(words[0], words[2], high), __byte_perm(words[0], words[2], low)};
    unsigned other[2] = {__byte_perm(words[1], words[3], high),
                         __byte_perm(words[1], words[3], low)};
    high = p < 2 ? 0x3276u : 0x7632u;
    low = p < 2 ? 0x1054u : 0x5410u;
#pragma unroll
    for (int k = 0; k < 4; k++)
        words[k] = __byte_perm(own[k / 2], other[k / 2], k % 2 == 0 ? high : low);
}

/* Swaps the bits of `mask` with those `distance` further up. */
static __device__ inline unsigned gc_lines_swap(unsigned word, int distance, unsigned mask)
{
    unsigned differ = (word >> distance ^ word) & mask;
    return word ^ differ ^ differ << distance;
}

/* Stores the bits of 16 rows from row `y` on. A word has 8 bits of each of four rows: two bits of
 * each half of the lane's two units. Words 0 and 1 have the even rows, words 2 and 3 the odd
 * ones. */
static __device__ inline void gc_lines_store_bits(const gc_pass &pass, unsigned (&words)[4], int x,
                                                  int y, int end, unsigned inverted)
{
    int p = (int)threadIdx.x % 4, q = (int)threadIdx.x % 32 / 4;
    gc_lines_exchange(words);
    gc_lines_transpose(words);
    x += 32 * q;
    int row = y + p % 2 * 8 + p / 2;
    unsigned char *to = gc_bytes_row<unsigned char>(pass, row) + x / 8;
    bool stores = x / 8 < pass.output_pitch;
    unsigned mask = gc_bytes_mask(pass, x) << 16 | gc_bytes_mask(pass, x + 16);
    mask = __byte_perm(mask, 0, 0x0123); /* the first pixels in the first byte */
#pragma unroll
    for (int k = 0; k < 4; k++) {
        /* Of four lanes, two bits for each of four bytes; then of four bytes, all bits. */
        unsigned word = gc_lines_swap(words[k], 6, 0x00cc00ccu);
        word = gc_lines_swap(word, 12, 0x0000f0f0u) ^ inverted;
        word = __byte_perm(word, 0, q < 4 ? 0x0123u : 0x2301u) & mask;
        if (stores && row + 2 * k < end)
            *(unsigned *)to = word;
        to += 2 * pass.output_pitch;
    }
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
    gc_bytes_threshold threshold;       /* of GC_BIT */
    gc_lines_limit limit;               /* of edges in bytes */
    unsigned kept;                      /* of a word of bytes: those of alpha that is kept */
    const unsigned char *upper, *lower; /* samples of the lane's unit in row q, in row q + 8 */
    unsigned char *staged;
    int x;   /* of the warp's first output */
    int end; /* the row after the last one that it stores */
    gc_lines_pair pairs[block::slots];
    unsigned bits[4]; /* as gc_lines_store_bits takes them */
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
        walk.threshold = gc_bytes_threshold_of(pass.finish);
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
    walk.bits[0] = walk.bits[2] = 0;
    walk.staged = tile.memory + block::staged_at + warp * block::staged;
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
            gc_bytes_multiply(sums[0][half], samples, walk.weights[k].x, walk.weights[k].y);
            gc_bytes_multiply(sums[1][half], samples, walk.weights[k].z, walk.weights[k].w);
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

template <class config>
static __device__ inline void gc_lines_shift_in(const gc_lines_walk<config> &walk,
                                                const int (&sums)[2][2][4], unsigned &even,
                                                unsigned &odd)
{
#pragma unroll
    for (int k = 0; k < 8; k++) {
        gc_bytes_shift_in(even, sums[0][k / 2 % 2][k / 4 * 2 + k % 2], walk.threshold.addend);
        gc_bytes_shift_in(odd, sums[1][k / 2 % 2][k / 4 * 2 + k % 2], walk.threshold.addend);
    }
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
    unsigned even = 0, odd = 0;
#pragma unroll
    for (int m = 0; m < block::round / 2; m++) {
        if (m == block::group / 2)
            gc_lines_await<config>(tile, 2 * round + 1);
        gc_lines_read<config>(walk, walk.pairs[(m + block::pairs - 1) % block::slots], 2 * m);
        int sums[2][2][4];
        gc_lines_sum<config>(walk, m, sums);
        if (config::output == GC_BIT)
            gc_lines_shift_in<config>(walk, sums, even, odd);
        else
            gc_lines_store<config>(pass, walk, sums, walk.staged + m % 2 * 512, y + 2 * m);
    }
    walk.upper += block::round * block::pitch;
    walk.lower += block::round * block::pitch;
    walk.bits[0] = round % 2 == 0 ? even : walk.bits[0];
    walk.bits[1] = even;
    walk.bits[2] = round % 2 == 0 ? odd : walk.bits[2];
    walk.bits[3] = odd;
}

/* After two rounds, or at the end of a tile: stores bits, and outputs of the ring. */
template <class config>
static __device__ inline void gc_lines_end_rounds(const gc_pass &pass, const gc_bytes &bytes,
                                                  const gc_lines_tile &tile,
                                                  gc_lines_walk<config> &walk, int round)
{
    typedef gc_lines_block<config> block;
    int first = round / 2 * 16;
    gc_bytes_outputs outputs = {walk.x, tile.y + first, min(tile.y + first + 16, tile.end),
                                nullptr};
    if (config::output == GC_BIT)
        gc_lines_store_bits(pass, walk.bits, outputs.x, outputs.y, outputs.end,
                            walk.threshold.inverted);
    if (!gc_bytes_at_border<block>(pass, bytes, outputs))
        return;
    const unsigned char *samples =
        tile.memory + first * block::pitch + block::margin - GC_BYTES_MARGIN + (walk.x - tile.x);
    gc_bytes_ring<block>(pass, bytes, walk.threshold, (unsigned)__cvta_generic_to_shared(samples),
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
        if (walk.x < pass.width && (round % 2 == 1 || round + 1 == rounds))
            gc_lines_end_rounds<config>(pass, bytes, tile, walk, round);
    }
}
