/* Threads of a pass, borders, and how samples are loaded. `config` is what pass.cuh tells. */
#pragma once

#include "gpu/pass/types.h"

/* ---- Threads --------------------------------------------------------------------------------- */

static __device__ inline int gc_pass_lane()
{
    return (int)(threadIdx.x % 32);
}

static __device__ inline int gc_pass_warp()
{
    return (int)(threadIdx.x / 32);
}

/* The tile of a block, as a column and a row of tiles. Tiles at the image's border take longer and
 * come first. */
static __device__ inline int2 gc_pass_tile(int columns, int rows)
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

/* ---- Borders --------------------------------------------------------------------------------- */

/* What gc_border_index computes: the index from which the border takes index `index`, -1 for a
 * constant border. The loop moves by one period at a time, and hardly ever by more than one. A
 * division of 64 bits would take longer than everything else at the border. */
static __device__ inline int gc_pass_index(int border, int index, int size)
{
    if (border == GC_PASS_CONSTANT)
        return index >= 0 && index < size ? index : -1;
    if (border == GC_PASS_REPLICATE || (border == GC_PASS_MIRROR101 && size == 1))
        return index < 0 ? 0 : index < size ? index : size - 1;
    int edge = border == GC_PASS_MIRROR ? 1 : 0; /* how often the mirror repeats the first sample */
#pragma unroll 1
    while (index < 0 || index >= size) {
        if (border == GC_PASS_WRAP)
            index += index < 0 ? size : -size;
        else
            index = index < 0 ? -edge - index : size - 2 + edge - (index - size);
    }
    return index;
}

template <class config> static __device__ inline int gc_pass_border_of(const gc_pass &pass)
{
    return config::border >= 0 ? config::border : pass.border;
}

/* The row of the input that holds row `y` of the image; -1 for a constant border. Under wrap the
 * input holds rows beyond the image (gc_step_range). Rows that no output needs may be missing:
 * another row is read in their place. */
template <class config> static __device__ inline int gc_pass_row(const gc_pass &pass, int y)
{
    int border = gc_pass_border_of<config>(pass), end = pass.input_rows - 1;
    if (border != GC_PASS_WRAP) {
        y = gc_pass_index(border, y, pass.height);
        if (y < 0)
            return -1;
    }
    int row = y - pass.input_first;
    return max(min(row, end), 0);
}

/* Whether the input holds rows `first` to `first + count - 1` of the image. */
static __device__ inline bool gc_pass_rows_inside(const gc_pass &pass, int first, int count)
{
    return first >= pass.input_first && first + count <= pass.input_first + pass.input_rows;
}

/* ---- Samples --------------------------------------------------------------------------------- */

template <class config> static __device__ inline int gc_pass_input(const gc_pass &pass)
{
    return config::input >= 0 ? config::input : pass.input_type;
}

template <class config> static __device__ inline int gc_pass_output(const gc_pass &pass)
{
    return config::output >= 0 ? config::output : pass.output_type;
}

template <class config> static __device__ inline int gc_pass_finish(const gc_pass &pass)
{
    return config::finish >= 0 ? config::finish : pass.finish.kind;
}

/* What is subtracted from bytes before they are summed. The compiler knows that it is 0 if the
 * config makes samples that are not rounded once. */
template <class config> static __device__ inline float gc_pass_centre(const gc_pass &pass)
{
    return config::finish > GC_FINISH_NONE && config::finish < GC_FINISH_ONCE ? 0 : pass.centre;
}

/* Channels that a block computes: all that are convolved, or one. */
template <class config> static __device__ constexpr int gc_pass_channels()
{
    return config::channels - (config::alpha == GC_PASS_KEEPS ? 1 : 0);
}

/* Samples from pixel to pixel of the input. */
template <class config> static __device__ inline int gc_pass_step(const gc_pass &pass)
{
    return gc_pass_input<config>(pass) == GC_FLOAT ? 1 : config::channels;
}

/* The beginning of this block's channel: blockIdx.y counts channels, if a block takes one. */
static __device__ inline long long gc_pass_input_start(const gc_pass &pass)
{
    return blockIdx.y * pass.input_plane;
}

/* Copies 4, 8 or 16 bytes into shared memory. If the device can, the copy bypasses the registers. A
 * copy of 16 bytes then also bypasses the first-level cache. The bytes are there after
 * gc_pass_arrive. */
template <int bytes> static __device__ inline void gc_pass_copy(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from),
                     "n"(bytes)
                     : "memory");
#else
    if (bytes == 16)
        *(uint4 *)to = __ldg((const uint4 *)from);
    else if (bytes == 8)
        *(uint2 *)to = __ldg((const uint2 *)from);
    else
        *(unsigned *)to = __ldg((const unsigned *)from);
#endif
}

/* Waits for this thread's copies. */
static __device__ inline void gc_pass_arrive()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Byte `k` of a word as a value. It completes the bits of 2^23; `shift` is that and the centre. */
static __device__ inline float gc_pass_byte(unsigned word, unsigned k, float shift)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 + k)) - shift;
}

/* Four values at sample `index`, a multiple of 4 from the start of a row. */
template <class config>
static __device__ inline float4 gc_pass_load4(const gc_pass &pass, long long index)
{
    if (gc_pass_input<config>(pass) == GC_FLOAT)
        return __ldg((const float4 *)((const float *)pass.input + index));
    if (gc_pass_input<config>(pass) == GC_BYTE) {
        unsigned v = __ldg((const unsigned *)((const unsigned char *)pass.input + index));
        float shift = 0x1p23f + gc_pass_centre<config>(pass);
        return make_float4(gc_pass_byte(v, 0, shift), gc_pass_byte(v, 1, shift),
                           gc_pass_byte(v, 2, shift), gc_pass_byte(v, 3, shift));
    }
    ushort4 v = __ldg((const ushort4 *)((const unsigned short *)pass.input + index));
    return make_float4((float)v.x, (float)v.y, (float)v.z, (float)v.w);
}

template <class config>
static __device__ inline float gc_pass_load(const gc_pass &pass, long long index)
{
    if (gc_pass_input<config>(pass) == GC_FLOAT)
        return __ldg((const float *)pass.input + index);
    if (gc_pass_input<config>(pass) == GC_BYTE)
        return (float)__ldg((const unsigned char *)pass.input + index) -
               gc_pass_centre<config>(pass);
    return (float)__ldg((const unsigned short *)pass.input + index);
}

/* The value of the block's channel `channel` at any column x, inside the image or not, of row `row`
 * of the input. -1 is a row of a constant border. */
template <class config>
static __device__ inline float gc_pass_value(const gc_pass &pass, int row, int x, int channel = 0)
{
    int column = gc_pass_index(gc_pass_border_of<config>(pass), x, pass.width);
    if (row < 0 || column < 0)
        return pass.constant[blockIdx.y + (unsigned)channel] - gc_pass_centre<config>(pass);
    long long start = gc_pass_input_start(pass) + row * pass.input_pitch;
    if (gc_pass_input<config>(pass) == GC_FLOAT)
        return gc_pass_load<config>(pass, start + channel * pass.input_plane + column);
    const int alpha = config::channels - 1;
    start += (long long)column * config::channels;
    float value = gc_pass_load<config>(pass, start + channel);
    if (config::alpha == GC_PASS_MULTIPLIES && channel < alpha)
        value *= gc_pass_load<config>(pass, start + alpha);
    return value;
}

/* Four pixels of interleaved samples from sample `index` on: the values of the block's channels. */
template <class config>
static __device__ inline void gc_pass_load_pixels(const gc_pass &pass, long long index,
                                                  float4 (&values)[gc_pass_channels<config>()])
{
    const int channels = config::channels, alpha = channels - 1;
    float samples[4 * channels];
#pragma unroll
    for (int k = 0; k < channels; k++) {
        float4 four = gc_pass_load4<config>(pass, index + 4 * k);
        samples[4 * k] = four.x;
        samples[4 * k + 1] = four.y;
        samples[4 * k + 2] = four.z;
        samples[4 * k + 3] = four.w;
    }
#pragma unroll
    for (int k = 0; k < 4 * channels && config::alpha == GC_PASS_MULTIPLIES; k++)
        if (k % channels < alpha)
            samples[k] *= samples[k / channels * channels + alpha];
#pragma unroll
    for (int c = 0; c < gc_pass_channels<config>(); c++)
        values[c] = make_float4(samples[c], samples[channels + c], samples[2 * channels + c],
                                samples[3 * channels + c]);
}
