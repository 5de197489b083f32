/* A pass for two steps of a chain.
 *
 * Idea: the first filter computes in shared memory what the second one needs of its output around
 *   the block's tile. Memory is crossed once. Values that neighbouring tiles share are computed by
 *   each of them (overlapped tiling: Holewinski et al., ICS 2012).
 * Needs: shared memory for the surroundings of both filters, and for the values between them.
 * Limits: two short filters (pairs.cuh); under a mirror border the second filter must reach no
 *   further right and down than left and up.
 *
 * The second filter meets the border of its own input. So values that the first filter computes
 * outside the image are replaced. After all values inside have been computed, those outside are
 * copied from the place that the border says, or set to its constant. Under wrap the first filter
 * gives the right values outside by itself. Under a mirror the values to copy have to lie in the
 * tile's surroundings. The limit above ensures this even for a last tile of one column or row.
 *
 * The config is that of the first filter, with `second`, a class that has width, height, left and
 * top of the second filter. Weights: the first filter's, then the second's. */
#pragma once

#include "gpu/pass/block.cuh"

/* The config of gc_block for the surroundings of both filters together. */
template <class first_config> struct gc_pair : first_config {
    typedef first_config first;
    typedef typename first_config::second second;
    /* Columns of the values between the filters: whole words, from the first that is needed on. */
    static constexpr int columns = (GC_BLOCK_COLUMNS + second::width - 1 + 3) / 4 * 4;
    static constexpr int tile_height = first::rows * first::warps;
    static constexpr int lines = tile_height + second::height - 1;
    /* The surroundings reach as far to the right as those words do. */
    static constexpr int width = columns - GC_BLOCK_COLUMNS + first::width;
    static constexpr int height = first::height + second::height - 1;
    static constexpr int left = first::left + second::left, top = first::top + second::top;
};

/* The values between the filters, in shared memory behind the buffers of the tiles. */
template <class config> static __device__ inline float *gc_pair_middle()
{
    extern __shared__ float4 gc_block_memory[];
    return (float *)gc_block_memory + gc_block<config>::buffers * gc_block<config>::buffer_floats;
}

/* Computes `rows` values between the filters in each column of a word, from line `line` on. */
template <class config, int rows, class weights_type>
static __device__ inline void gc_pair_first(const float *tile, const weights_type &weights,
                                            float *middle, int line, int word)
{
    typedef gc_block<config> block;
    float sums[rows][4] = {};
    gc_block_multiply<typename config::first, rows, block::pitch, block::skip, 0>(
        tile + line * block::pitch + 4 * word, weights, sums);
    float *to = middle + line * config::columns + 4 * word;
#pragma unroll
    for (int r = 0; r < rows; r++)
        *(float4 *)(to + r * config::columns) =
            make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
}

/* Computes all values between the filters: first those at the places of outputs, then the lines
 * below and the words to the right. */
template <class config, class weights_type>
static __device__ inline void gc_pair_fill(const float *tile, const weights_type &weights,
                                           float *middle)
{
    constexpr int words = config::columns / 4, more = words - 32;
    constexpr int below = (config::lines - config::tile_height) * words;
    constexpr int rest = below + config::tile_height * more;
    gc_pair_first<config, config::rows>(tile, weights, middle, gc_pass_warp() * config::rows,
                                        gc_pass_lane());
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < rest; i += 32 * config::warps) {
        int k = i - below;
        int line = k < 0 ? config::tile_height + i / words : k / (more > 0 ? more : 1);
        int word = k < 0 ? i % words : 32 + k % (more > 0 ? more : 1);
        gc_pair_first<config, 1>(tile, weights, middle, line, word);
    }
}

/* Whether the second filter meets the border in the tile that starts at (x, y). */
template <class config>
static __device__ inline bool gc_pair_at_border(const gc_pass &pass, int x, int y)
{
    typedef typename config::second second;
    return gc_pass_border_of<config>(pass) != GC_PASS_WRAP &&
           (x < second::left || y < second::top ||
            x - second::left + GC_BLOCK_COLUMNS + second::width - 1 > pass.width ||
            y - second::top + config::lines > pass.height);
}

/* Sets the values outside the image that outputs inside it need; a warp takes a line. Value (0, 0)
 * of `middle` is the one at (x, y). Only values inside the image are read. */
template <class config>
static __device__ inline void gc_pair_extend(const gc_pass &pass, int channel, float *middle, int x,
                                             int y)
{
    typedef typename config::second second;
    int border = gc_pass_border_of<config>(pass);
    int end = pass.width + second::width - 1 - second::left - x;
    int last = pass.height + second::height - 1 - second::top - y;
    end = end < config::columns ? end : config::columns;
    last = last < config::lines ? last : config::lines;
    int at_left = x < 0 ? -x : 0, right = pass.width - x; /* the first value after the image */
#pragma unroll 1
    for (int line = gc_pass_warp(); line < last; line += config::warps) {
        int row = gc_pass_index(border, y + line, pass.height);
        bool inside = row >= 0 && row == y + line;
        const float *from = middle + (row - y) * config::columns;
        int count = inside ? at_left + (right < end ? end - right : 0) : end;
#pragma unroll 1
        for (int i = gc_pass_lane(); i < count; i += 32) {
            int k = inside && i >= at_left ? right + i - at_left : i;
            int column = gc_pass_index(border, x + k, pass.width);
            middle[line * config::columns + k] = row < 0 || column < 0
                                                     ? pass.between[blockIdx.y + (unsigned)channel]
                                                     : from[column - x];
        }
    }
}

/* The computing of GC_FORM_PAIR. The config of gc_block_pass is a gc_pair. */
struct gc_block_pair {
    /* Channels share the values between the filters. */
    template <class config> static __device__ constexpr bool keeps_to_plane()
    {
        return false;
    }

    template <class config, class weights_type>
    static __device__ inline void sum(const gc_pass &pass, float *tile, int x, int y, int channel,
                                      const weights_type &weights, float (&sums)[config::rows][4])
    {
        typedef typename config::first first;
        typedef typename config::second second;
        float *middle = gc_pair_middle<config>();
        gc_pair_fill<config>(tile, weights, middle);
        __syncthreads();
        if (gc_pair_at_border<config>(pass, x, y)) {
            gc_pair_extend<config>(pass, channel, middle, x - second::left, y - second::top);
            __syncthreads();
        }
        int lane = gc_pass_lane(), warp = gc_pass_warp();
        gc_block_multiply<second, config::rows, config::columns, 0, first::width * first::height>(
            middle + warp * config::rows * config::columns + 4 * lane, weights, sums);
    }
};
