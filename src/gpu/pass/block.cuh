/* A pass for filters of any size, from shared memory.
 *
 * Idea: a block has a tile of 128 columns of output. It fills shared memory with the tile's
 *   surroundings by asynchronous copies, which bypass the registers. A thread has 4 columns by
 *   `rows` rows of output. It reads a row of its surroundings in words of 16 bytes and multiplies
 *   it into every output row that the row reaches, so that a word is read once for all outputs of
 *   the thread (van Werkhoven et al. 2014, section 4, with the tile of a thread in two directions).
 *   Blocks that lie inside the image check nothing.
 * Needs: shared memory for the surroundings, twice if the schedule loads one tile while it
 *   computes another.
 * Limits: code beyond some 32 KiB, rows x width x height x 64 bytes, falls out of the instruction
 *   cache (H200) and is slower.
 *
 * A fence between rows keeps the compiler from reading ahead. Without the fence it takes all
 * registers there are, and spills. */
#pragma once

#include "gpu/pass/pass.cuh"

/* The tile of a block and its surroundings in shared memory, in samples. If the block takes several
 * channels, each has a plane of its own. */
template <class config> struct gc_block {
    typedef float sample;
    static constexpr int warps = config::warps;
    static constexpr int tile_width = GC_BLOCK_COLUMNS, tile_height = config::rows * config::warps;
    /* How far the filter reaches to the right and up. */
    static constexpr int right = config::width - 1 - config::left;
    static constexpr int top = config::top;
    /* Columns before and after the tile, in whole words. */
    static constexpr int before = (config::left + 3) / 4 * 4;
    static constexpr int after = (right + 3) / 4 * 4;
    static constexpr int pitch = before + tile_width + after;
    static constexpr int lines = tile_height + config::height - 1;
    static constexpr int planes = gc_pass_channels<config>(), plane = lines * pitch;
    static constexpr int buffer_floats = planes * plane;
    static constexpr int buffers = config::schedule == GC_ONE_TILE ? 1 : 2;

    /* The number of this thread among the `warps` warps that load a tile. */
    __device__ unsigned thread() const
    {
        return threadIdx.x;
    }

    /* Words of a tile beyond GC_BLOCK_COLUMNS are numbered line by line. The line of word i. */
    __device__ int rest_line(int i) const
    {
        return i / ((pitch - GC_BLOCK_COLUMNS) / 4);
    }

    /* A thread reads `words` words of a line; its surroundings start at sample `skip` of them. */
    static constexpr int skip = before - config::left;
    static constexpr int words = (skip + 3 + config::width + 3) / 4;
};

/* Loads one word, four samples, of each plane of a tile of floats, from sample `index` of the input
 * on. */
template <class config>
static __device__ inline void gc_block_fetch(const gc_pass &pass, float *to, int plane,
                                             long long index)
{
    constexpr int planes = gc_pass_channels<config>();
    if (gc_pass_input<config>(pass) == GC_FLOAT) {
#pragma unroll
        for (int c = 0; c < planes; c++)
            gc_pass_copy<16>(to + c * plane,
                             (const float *)pass.input + c * pass.input_plane + index);
        return;
    }
    float4 values[planes];
    gc_pass_load_pixels<config>(pass, index, values);
#pragma unroll
    for (int c = 0; c < planes; c++)
        *(float4 *)(to + c * plane) = values[c];
}

/* The bytes of channel `channel` of four pixels, whose samples are interleaved in `words`. */
template <int channels>
static __device__ inline unsigned gc_block_channel(const unsigned (&words)[channels], int channel)
{
    unsigned pairs[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int one = channel + 2 * k * channels, other = one + channels;
        pairs[k] = __byte_perm(words[one / 4], words[other / 4],
                               (unsigned)(one % 4 | (4 + other % 4) << 4));
    }
    return __byte_perm(pairs[0], pairs[1], 0x5410);
}

/* Loads one word, four samples, of each plane of a tile of bytes, likewise. */
template <class config>
static __device__ inline void gc_block_fetch(const gc_pass &pass, unsigned char *to, int plane,
                                             long long index)
{
    const unsigned char *from = (const unsigned char *)pass.input + index;
    if constexpr (config::channels == 1) {
        (void)plane;
        gc_pass_copy<4>(to, from);
    } else {
        unsigned words[config::channels];
#pragma unroll
        for (int k = 0; k < config::channels; k++)
            words[k] = __ldg((const unsigned *)from + k);
#pragma unroll
        for (int c = 0; c < gc_pass_channels<config>(); c++)
            *(unsigned *)(to + c * plane) = gc_block_channel(words, c);
    }
}

static __device__ inline void gc_block_repeat(float *to, float value)
{
    *(float4 *)to = make_float4(value, value, value, value);
}

static __device__ inline void gc_block_repeat(unsigned char *to, float value)
{
    *(unsigned *)to = (unsigned)value * 0x01010101u;
}

/* Inside the image: a warp loads 32 words of a line at a time. Threads load the other words
 * last. */
template <class config, class shape_type>
static __device__ inline void gc_block_fill_inside(const gc_pass &pass, shape_type shape,
                                                   typename shape_type::sample *tile, int x, int y)
{
    int lane = (int)(shape.thread() % 32), warp = (int)(shape.thread() / 32);
    const int step = gc_pass_step<config>(pass);
    long long start =
        gc_pass_input_start(pass) + (y - pass.input_first) * pass.input_pitch + (long long)x * step;
    long long index = start + warp * pass.input_pitch + 4 * lane * step;
    typename shape_type::sample *to = tile + warp * shape.pitch + 4 * lane;
#pragma unroll
    for (int row = 0; row < shape.lines; row += shape.warps) {
        if (row + shape.warps <= shape.lines || warp + row < shape.lines)
            gc_block_fetch<config>(pass, to, shape.plane, index);
        index += shape.warps * pass.input_pitch;
        to += shape.warps * shape.pitch;
    }
    /* The words of each row beyond the 32 of the lanes. */
    const int rest = (shape.pitch - GC_BLOCK_COLUMNS) / 4;
#pragma unroll
    for (int first = 0; first < rest * shape.lines; first += 32 * shape.warps) {
        int i = first + (int)shape.thread();
        if (i < rest * shape.lines) {
            int row = shape.rest_line(i), column = GC_BLOCK_COLUMNS + (i - row * rest) * 4;
            gc_block_fetch<config>(pass, tile + row * shape.pitch + column, shape.plane,
                                   start + row * pass.input_pitch + column * step);
        }
    }
}

/* At the image's border: whole words if they lie inside, the rest value by value. */
template <class config, class shape_type>
static __device__ inline void gc_block_fill_border(const gc_pass &pass, shape_type shape,
                                                   typename shape_type::sample *tile, int x, int y)
{
    constexpr int planes = gc_pass_channels<config>();
    const int step = gc_pass_step<config>(pass);
    int whole = pass.width & ~3;
#pragma unroll 1
    for (int i = (int)shape.thread(); i < shape.lines * shape.pitch / 4; i += 32 * shape.warps) {
        int line = i / (shape.pitch / 4), column = x + i % (shape.pitch / 4) * 4;
        int row = gc_pass_row<config>(pass, y + line);
        if (column < 0 || column >= whole)
            continue;
        if (row >= 0)
            gc_block_fetch<config>(pass, tile + 4 * i, shape.plane,
                                   gc_pass_input_start(pass) + row * pass.input_pitch +
                                       (long long)column * step);
        else
#pragma unroll
            for (int c = 0; c < planes; c++)
                gc_block_repeat(tile + c * shape.plane + 4 * i,
                                pass.constant[blockIdx.y + (unsigned)c] -
                                    gc_pass_centre<config>(pass));
    }
    int at_left = x < 0 ? -x : 0;
    int right = whole - x < shape.pitch ? whole - x : shape.pitch; /* the first value after */
    int count = at_left + shape.pitch - right;
#pragma unroll 1
    for (int i = (int)shape.thread(); i < shape.lines * count; i += 32 * shape.warps) {
        int line = i / count, column = i % count;
        column = column < at_left ? column : right + column - at_left;
        /* Nothing reads columns beyond `end`. */
        int end = pass.width - 1 + shape.right;
        int row = gc_pass_row<config>(pass, y + line);
#pragma unroll
        for (int c = 0; c < planes; c++)
            tile[c * shape.plane + line * shape.pitch + column] =
                (typename shape_type::sample)gc_pass_value<config>(
                    pass, row, x + column < end ? x + column : end, c);
    }
}

/* Loads the surroundings of the tile whose first output is (x, y). `shape` has these members of
 * gc_block: sample, warps, thread, rest_line, before, right, top, pitch, lines, plane. */
template <class config, class shape_type>
static __device__ inline void gc_block_fill(const gc_pass &pass, shape_type shape,
                                            typename shape_type::sample *tile, int x, int y)
{
    x -= shape.before;
    y -= shape.top;
    bool inside =
        x >= 0 && x + shape.pitch <= pass.width && gc_pass_rows_inside(pass, y, shape.lines);
    if (inside)
        gc_block_fill_inside<config>(pass, shape, tile, x, y);
    else
        gc_block_fill_border<config>(pass, shape, tile, x, y);
}

/* Adds a filter's multiply-adds to `sums`. Rows lie `pitch` apart from word `base` on. In each row
 * the surroundings of the first sum start at sample `skip`. `filter` has width and height; its
 * weights are those from `first` on. */
template <class filter, int rows, int pitch, int skip, int first, class weights_type>
static __device__ inline void gc_block_multiply(const float *base, const weights_type &weights,
                                                float (&sums)[rows][4])
{
    constexpr int words = (skip + 3 + filter::width + 3) / 4;
#pragma unroll
    for (int q = 0; q < rows + filter::height - 1; q++) {
        asm volatile("" ::: "memory");
        alignas(16) float window[4 * words];
#pragma unroll
        for (int k = 0; k < words; k++)
            *(float4 *)&window[4 * k] = *(const float4 *)(base + q * pitch + 4 * k);
#pragma unroll
        for (int r = 0; r < rows; r++)
            if (q - r >= 0 && q - r < filter::height)
#pragma unroll
                for (int i = 0; i < filter::width; i++) {
                    const int k = first + (q - r) * filter::width + i;
#pragma unroll
                    for (int c = 0; c < 4 && !weights.skips(k); c++)
                        sums[r][c] = fmaf(window[skip + i + c], weights.at(k), sums[r][c]);
                }
    }
}

/* The computing of GC_FORM_BLOCK: every weight. */
struct gc_block_direct {
    /* Whether a channel overwrites nothing but its own plane. */
    template <class config> static __device__ constexpr bool keeps_to_plane()
    {
        return true;
    }

    /* Adds up the outputs of a thread in one channel. `tile` is the channel's plane; the tile's
     * first output is (x, y). */
    template <class config, class weights_type>
    static __device__ inline void sum(const gc_pass &, float *tile, int, int, int,
                                      const weights_type &weights, float (&sums)[config::rows][4])
    {
        typedef gc_block<config> block;
        int lane = gc_pass_lane(), warp = gc_pass_warp();
        gc_block_multiply<config, config::rows, block::pitch, block::skip, 0>(
            tile + warp * config::rows * block::pitch + 4 * lane, weights, sums);
    }
};

/* Computes and stores a tile of one channel. */
template <class form, class config, class weights_type>
static __device__ inline void gc_block_compute(const gc_pass &pass, float *tile, int x, int y,
                                               const weights_type &weights)
{
    float sums[config::rows][4] = {};
    form::template sum<config>(pass, tile, x, y, 0, weights, sums);
    x += gc_pass_lane() * 4;
    gc_pass_store<config>(pass, x, y + gc_pass_warp() * config::rows, sums, x < pass.width);
}

/* Computes and stores a tile of several channels, from the last one to the first: alpha comes
 * before the colours that are divided by it. One code serves all channels. */
template <class form, class config, class weights_type>
static __device__ inline void gc_block_compute_all(const gc_pass &pass, float *tile, int x, int y,
                                                   const weights_type &weights)
{
    typedef gc_block<config> block;
    bool stores_values = config::output == GC_FLOAT || pass.output_type == GC_FLOAT;
    int lane_x = x + gc_pass_lane() * 4, warp_y = y + gc_pass_warp() * config::rows;
    gc_pass_pixels<config> pixels;
#pragma unroll 1
    for (int c = block::planes - 1; c >= 0; c--) {
        float sums[config::rows][4] = {};
        form::template sum<config>(pass, tile + c * block::plane, x, y, c, weights, sums);
        if (stores_values)
            gc_pass_store_values<config>(pass, c, lane_x, warp_y, sums);
        else
            pixels.take(pass, c, lane_x, warp_y, sums);
        if (!form::template keeps_to_plane<config>() && c > 0)
            __syncthreads();
    }
    if (!stores_values)
        pixels.store(pass, lane_x, warp_y);
}

static __device__ inline int gc_block_columns(const gc_pass &pass)
{
    return (pass.width + GC_BLOCK_COLUMNS - 1) / GC_BLOCK_COLUMNS;
}

/* A block's walk over tiles. `form` computes a tile in one buffer while the next one is loaded into
 * the other. */
template <class form, class config, class weights_type>
static __device__ inline void gc_block_pass(const gc_pass &pass, const weights_type &weights)
{
    typedef gc_block<config> block;
    extern __shared__ float4 gc_block_memory[];
    static __shared__ int drawn[2];
    float *buffers = (float *)gc_block_memory;
    int columns = gc_block_columns(pass);
    int tile_x = (int)(blockIdx.x % (unsigned)columns) * block::tile_width;
    int tile_y = (int)(blockIdx.x / (unsigned)columns) * block::tile_height + pass.output_first;
    int buffer = 0;
    gc_block_fill<config>(pass, block(), buffers, tile_x, tile_y);
    if (config::schedule == GC_QUEUE && threadIdx.x == 0)
        drawn[0] = (int)(gridDim.x + atomicInc(&pass.queue[blockIdx.y], (unsigned)pass.tiles - 1));
#pragma unroll 1
    for (;;) {
        gc_pass_arrive();
        __syncthreads();
        int next_x = 0, next_y = 0;
        bool more = false;
        if (config::schedule == GC_QUEUE) {
            int next = drawn[buffer];
            more = next < pass.tiles;
            next_x = next % columns * block::tile_width;
            next_y = next / columns * block::tile_height + pass.output_first;
            if (more && threadIdx.x == 0)
                drawn[buffer ^ 1] =
                    (int)(gridDim.x + atomicInc(&pass.queue[blockIdx.y], (unsigned)pass.tiles - 1));
        }
        if (block::buffers == 2 && more)
            gc_block_fill<config>(pass, block(), buffers + (buffer ^ 1) * block::buffer_floats,
                                  next_x, next_y);
        if constexpr (config::channels == 1)
            gc_block_compute<form, config>(pass, buffers + buffer * block::buffer_floats, tile_x,
                                           tile_y, weights);
        else
            gc_block_compute_all<form, config>(pass, buffers + buffer * block::buffer_floats,
                                               tile_x, tile_y, weights);
        if (block::buffers == 1 || !more)
            break;
        tile_x = next_x;
        tile_y = next_y;
        buffer ^= 1;
    }
}
