/* The lines of a tile of bytes_lines.cuh in shared memory.
 *
 * A tile has at most 32 rows. Its lines come in groups of four, each asked for one group before it
 * is needed: when blocks ask for more, the first lines of all blocks arrive late. Each warp asks
 * for one line of a group. A warp waits for the lines of a group alone, not for the other warps. */
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
    /* Shared memory: the tile, a word for each warp, the sources of the tile's lines, a barrier
     * for each group of lines, what the warps stage. */
    static constexpr int words_at = lines * pitch;
    static constexpr int rows_at = words_at + 16 * config::warps;
    static constexpr int groups = GC_LINES_ROWS / group;
    static constexpr int barriers_at = rows_at + lines * (int)sizeof(void *);
    static constexpr int staged_at = barriers_at + groups * (int)sizeof(long long);
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

/* Counts at the barrier of a group for each of its lines. */
#if __CUDA_ARCH__ >= 900
enum { GC_LINES_ARRIVALS = 1 };
#else
enum { GC_LINES_ARRIVALS = 32 };
#endif

/* A block's tile: its first output is in column x of row `y` of the image. */
struct gc_lines_tile {
    unsigned char *memory;
    int x, y, end; /* the row after its last one */
    int column;    /* the image's column in column 0 of the memory */
    int line;      /* the image's row in line 0 */
    int lines;     /* that its outputs need */
    bool inside;   /* they are neighbours in the input */
    /* The source of each line, null for one that is not in the image or not needed. Between columns
     * `left` and `right` lie whole words of 16 bytes. */
    const unsigned char **rows;
    int left, right;
    unsigned barriers; /* one for each group of lines; the lines before the first step are of the
                          first group */
};

template <class config>
static __device__ inline void gc_lines_begin_barriers(const gc_lines_tile &tile)
{
    typedef gc_lines_block<config> block;
#if __CUDA_ARCH__ >= 800
#pragma unroll
    for (int group = 0; group < block::groups; group++) {
        int count = block::group + (group == 0 ? block::first : 0);
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(tile.barriers + 8 * group),
                     "r"(count * GC_LINES_ARRIVALS)
                     : "memory");
    }
#endif
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* The block's tile. The block writes `rows` and begins the barriers. */
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
    tile.inside = gc_pass_rows_inside(pass, tile.line, tile.lines);
    tile.rows = (const unsigned char **)(memory + block::rows_at);
    tile.barriers = (unsigned)__cvta_generic_to_shared(memory + block::barriers_at);
    int k = (int)threadIdx.x;
    if (k < block::lines) {
        int row = tile.line + k - pass.input_first;
        if (!tile.inside && k < tile.lines)
            row = gc_pass_row<gc_bytes_input>(pass, tile.line + k);
        bool there = row >= 0 && k < tile.lines;
        tile.rows[k] =
            there ? (const unsigned char *)pass.input + row * pass.input_pitch + tile.column
                  : nullptr;
    }
    if (k == block::threads - 1)
        gc_lines_begin_barriers<config>(tile);
    __syncthreads();
    return tile;
}

/* Asks for a line. All lanes of a warp call this. */
template <class config>
static __device__ inline void gc_lines_request(const gc_lines_tile &tile, int line)
{
    typedef gc_lines_block<config> block;
    const unsigned char *from = tile.rows[line] + tile.left;
    unsigned char *to = tile.memory + line * block::pitch + tile.left;
    int bytes = min(tile.right, block::pitch) - tile.left, lane = (int)threadIdx.x % 32;
    bytes = tile.rows[line] == nullptr ? 0 : max(bytes, 0);
    unsigned barrier = tile.barriers + max(line - block::first, 0) / block::group * 8;
#if __CUDA_ARCH__ >= 900
    if (lane > 0)
        return;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    if (bytes > 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                     "[%1], %2, [%3];" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                     "l"(from), "r"(bytes), "r"(barrier)
                     : "memory");
#else
    for (int at = 16 * lane; at < bytes; at += 16 * 32)
        gc_pass_copy<16>(to + at, from + at);
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
#endif
#endif
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
    const unsigned *row = (const unsigned *)(tile.rows[threadIdx.x] - tile.column);
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
    if (tile.inside || pass.border != GC_PASS_CONSTANT)
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
    for (int line = (int)threadIdx.x / 32; line < block::first + block::group;
         line += config::warps)
        gc_lines_request<config>(tile, line);
    if (!launch.has_sides && (at_side || !tile.inside))
        gc_lines_fill_values<config>(pass, bytes, tile);
    else if (at_side)
        gc_lines_fill_sides<config>(launch, pass, tile, ends);
    if (at_side || !tile.inside)
        __syncthreads();
}

/* Asks for the group after `group` and waits for this one. All warps of the block call this. */
template <class config>
static __device__ inline void gc_lines_await(const gc_lines_tile &tile, int group)
{
    typedef gc_lines_block<config> block;
    static_assert(config::warps == block::group, "a warp for each line of a group");
    int next = block::first + (group + 1) * block::group + (int)threadIdx.x / 32;
    if (next < block::lines)
        gc_lines_request<config>(tile, next);
#if __CUDA_ARCH__ >= 900
#define WAIT "mbarrier.try_wait.parity"
#else
#define WAIT "mbarrier.test_wait.parity"
#endif
#if __CUDA_ARCH__ >= 800
    unsigned open;
    do
        asm volatile("{\n\t.reg .pred open;\n\t" WAIT ".shared.b64 open, [%1], 0;\n\t"
                     "selp.u32 %0, 1, 0, open;\n\t}"
                     : "=r"(open)
                     : "r"(tile.barriers + 8 * group)
                     : "memory");
    while (!open);
#endif
#undef WAIT
    __syncwarp();
}
