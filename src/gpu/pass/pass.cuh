/* What every kernel of a pass has: borders, samples, the final conversion. A pass reads samples or
 * chain values and stores samples or chain values. If samples of several channels are interleaved
 * on either side, a block takes all channels of its tile. Else every block takes one channel.
 *
 * The sources in this folder are compiled twice: ahead by nvcc, and at run time by NVRTC for one
 * filter, with everything about it constant. They include nothing but each other.
 *
 * What a kernel is made for is a class `config` of constants, so that the same source serves both:
 *     width, height, left, top    of the filter (gc_step)
 *     products                    of a column and a row, which make the filter (products.cuh)
 *     rows, warps                 rows of output a thread, warps a block
 *     schedule                    a gc_schedule
 *     input, output               a gc_sample_type, or -1: what the pass says
 *     border                      a gc_pass_border, or -1: what the pass says
 *     finish                      a gc_finish_kind, or -1: what the pass says
 *     channels                    of a pixel whose samples are interleaved, 2 to 4; 1: the pass
 *                                 takes planes, or an image of one channel
 *     alpha                       a gc_pass_alpha
 * `weights` is a class with `__device__ float at(int k)` and `__device__ bool skips(int k)`. The
 * second is true for a weight that is known to be 0. */
#pragma once

#include "gpu/pass/settle.cuh"

/* ---- Integers -------------------------------------------------------------------------------- */

/* Chain values as integer samples, in the low bits of the results, or as bits, 0 or 1. All of them
 * are computed in double if one is close to a tie. */
template <class config, int count>
static __device__ inline void gc_finish_integers(const gc_pass &pass, const float (&values)[count],
                                                 unsigned (&samples)[count])
{
    const gc_finish &f = pass.finish;
    int kind = gc_pass_finish<config>(pass);
    if (kind == GC_FINISH_NEAREST) {
        bool sure = true, is_short = gc_pass_output<config>(pass) == GC_SHORT;
#pragma unroll
        for (int c = 0; c < count; c++) {
            float part;
            samples[c] =
                gc_finish_clamp(f, is_short ? gc_finish_nearest<true>(f, values[c], part)
                                            : gc_finish_nearest<false>(f, values[c], part));
            sure &= gc_finish_is_sure(is_short, part); /* without a branch */
        }
        if (sure)
            return;
    }
#pragma unroll
    for (int c = 0; c < count; c++)
        if (kind == GC_FINISH_EDGES)
            samples[c] = gc_finish_edge(f, values[c]) * (unsigned)f.largest;
        else if (kind == GC_FINISH_ROUND)
            samples[c] = gc_finish_clamp(f, gc_finish_round(f, values[c]));
        else if (kind == GC_FINISH_QUOTIENT)
            samples[c] = gc_finish_clamp(f, gc_finish_quotient(f, values[c]));
        else if (kind == GC_FINISH_REMAINDER)
            samples[c] = gc_finish_clamp(f, gc_finish_remainder(f, values[c]));
        else if (gc_pass_output<config>(pass) == GC_BIT)
            samples[c] = gc_finish_sample(f, values[c], false) > 0;
        else
            samples[c] = (unsigned)gc_finish_sample(f, values[c], true);
}

template <class config>
static __device__ inline unsigned gc_finish_integer(const gc_pass &pass, float value)
{
    const float values[1] = {value};
    unsigned samples[1];
    gc_finish_integers<config>(pass, values, samples);
    return samples[0];
}

/* Four outputs as bytes of a word, the first in the low byte. */
template <class config>
static __device__ inline unsigned gc_finish_word(const gc_pass &pass, const float (&values)[4])
{
    const gc_finish &f = pass.finish;
    int kind = gc_pass_finish<config>(pass);
    if (kind == GC_FINISH_ROUND || kind == GC_FINISH_QUOTIENT) {
        float shifted[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            shifted[c] = kind == GC_FINISH_ROUND ? gc_finish_round(f, values[c])
                                                 : gc_finish_quotient(f, values[c]);
        return gc_finish_clamp4(f, shifted);
    }
    unsigned bytes[4];
    gc_finish_integers<config>(pass, values, bytes);
    return gc_finish_pack(bytes);
}

/* Four outputs of each row, likewise, of channel `channel` from column x and row `y` of the image
 * on. What `stores` is false for has no meaning. */
template <class config, int rows>
static __device__ inline void gc_finish_words(const gc_pass &pass, int x, int y, int channel,
                                              const float (&values)[rows][4], bool stores,
                                              unsigned (&words)[rows])
{
    int kind = gc_pass_finish<config>(pass);
    if (gc_finish_is_once(kind)) {
        unsigned left = gc_finish_once<config>(pass, x, y, channel, values, stores, words);
        return gc_settle_left(pass, kind, x, y, channel, left, words, false);
    }
#pragma unroll
    for (int r = 0; r < rows; r++)
        words[r] = gc_finish_word<config>(pass, values[r]);
}

/* ---- Alpha ----------------------------------------------------------------------------------- */

/* The chain value of alpha as a sample. Steps 2 and 3 of rule 5 are left out. */
static __device__ inline unsigned gc_finish_alpha(const gc_finish &f, float alpha)
{
    return (unsigned)gc_finish_quantize(f, gc_finish_ratio(alpha, f.divisor, f.inverse));
}

/* A sample of alpha, converted to the output's depth. */
static __device__ inline unsigned gc_finish_kept(const gc_finish &f, unsigned alpha)
{
    if (f.narrows)
        return (alpha + 128) / 257; /* there are no ties */
    return f.factor > 1 ? alpha * 257 : alpha;
}

/* The chain value of a colour that alpha multiplies, as a sample. */
template <class config>
static __device__ inline unsigned gc_finish_divided(const gc_pass &pass, float value, float alpha)
{
    const gc_finish &f = pass.finish;
    bool visible = gc_finish_is_visible(f, alpha);
    if (gc_pass_finish<config>(pass) == GC_FINISH_NEAREST &&
        gc_pass_output<config>(pass) == GC_BYTE) {
        float part;
        float shifted =
            gc_finish_nearest<false>(f, visible ? value * __frcp_rn(alpha) : 0.0f, part);
        if (gc_finish_is_sure(false, part))
            return gc_finish_clamp(f, shifted);
    }
    return (unsigned)gc_finish_scaled(f, visible ? gc_finish_colour(value, alpha) : 0.0, true);
}

/* The sample of alpha at column x of row `y` of the image. */
template <class config>
static __device__ inline unsigned gc_pass_alpha_at(const gc_pass &pass, int x, int y)
{
    long long index = (y - pass.image_first) * pass.image_pitch +
                      (long long)(x < pass.width ? x : pass.width - 1) * config::channels +
                      config::channels - 1;
    return pass.image_type == GC_BYTE ? __ldg((const unsigned char *)pass.image + index)
                                      : __ldg((const unsigned short *)pass.image + index);
}

/* A chain value as float32 output, in samples of the input's depth. */
template <class config>
static __device__ inline float gc_finish_float(const gc_pass &pass, float value)
{
    if (gc_pass_finish<config>(pass) == GC_FINISH_EDGES)
        return (float)(gc_finish_edge(pass.finish, value) * pass.finish.sample_max);
    return (float)gc_finish_sample(pass.finish, value, false);
}

/* Stores four values as one word. The compiler alone would store some of them one by one. */
static __device__ inline void gc_pass_store4(float *to, const float (&values)[4])
{
#ifdef __CUDA_ARCH__
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3])
                 : "memory");
#else
    *(float4 *)to = make_float4(values[0], values[1], values[2], values[3]);
#endif
}

/* Stores bits of a row, each the lowest of a byte of `word`. Lanes l and l + step have four bits
 * each of one byte. The first of them stores the byte. */
static __device__ inline void gc_pass_store_bits(const gc_pass &pass, int x, unsigned char *to,
                                                 unsigned word, int step, bool stores)
{
    unsigned bits = 0;
#pragma unroll
    for (int c = 0; c < 4; c++) /* bits beyond the width are 0 */
        bits = bits << 1 | (x + c < pass.width ? word >> 8 * c & 1 : 0);
    unsigned next = __shfl_down_sync(~0u, bits, step);
    if (stores && x % 8 == 0)
        *to = (unsigned char)(bits << 4 | next);
}

/* Stores four outputs of each row from row `y` and column x of the image on, x a multiple of 4:
 * chain values if the pass says GC_FLOAT, else what the config is made for. Rows are as long as
 * their pitch, so that storing beyond the width does no harm. All lanes of a warp call this. The
 * four columns of lane l + step come after those of lane l. A lane stores if `inside`. */
template <class config, int rows, int step = 1>
static __device__ inline void gc_pass_store(const gc_pass &pass, int x, int y,
                                            const float (&values)[rows][4], bool inside)
{
    int count = inside ? pass.output_first + pass.rows - y : 0;
    long long start = blockIdx.y * pass.output_plane + (y - pass.output_first) * pass.output_pitch;
    int type = gc_pass_output<config>(pass);
    if (config::output == GC_FLOAT || pass.output_type == GC_FLOAT) {
        float *to = (float *)pass.output + start + x;
#pragma unroll
        for (int r = 0; r < rows; r++, to += pass.output_pitch)
            if (r < count)
                gc_pass_store4(to, values[r]);
    } else if (type == GC_SHORT) {
        unsigned short *to = (unsigned short *)pass.output + start + x;
#pragma unroll
        for (int r = 0; r < rows; r++, to += pass.output_pitch) {
            unsigned v[4];
            gc_finish_integers<config>(pass, values[r], v);
            if (r < count)
                *(ushort4 *)to = make_ushort4((unsigned short)v[0], (unsigned short)v[1],
                                              (unsigned short)v[2], (unsigned short)v[3]);
        }
    } else {
        unsigned char *to = (unsigned char *)pass.output + start + (type == GC_BYTE ? x : x / 8);
        unsigned words[rows], left = 0;
        int kind = gc_pass_finish<config>(pass);
        bool once = gc_finish_is_once(kind) && type == GC_BYTE;
        if (once)
            left = gc_finish_once<config>(pass, x, y, 0, values, count > 0, words);
        else
            gc_finish_words<config>(pass, x, y, 0, values, count > 0, words);
#pragma unroll
        for (int r = 0; r < rows; r++, to += pass.output_pitch)
            if (type == GC_BIT)
                gc_pass_store_bits(pass, x, to, words[r], step, r < count);
            else if (r < count)
                *(unsigned *)to = words[r];
        if (once)
            gc_settle_left(pass, kind, x, y, 0, left, words, count > 0);
    }
}

/* Stores chain values of channel `channel`, as gc_pass_store does. */
template <class config, int rows>
static __device__ inline void gc_pass_store_values(const gc_pass &pass, int channel, int x, int y,
                                                   const float (&values)[rows][4])
{
    int count = x < pass.width ? pass.output_first + pass.rows - y : 0;
    float *to = (float *)pass.output + channel * pass.output_plane +
                (y - pass.output_first) * pass.output_pitch + x;
#pragma unroll
    for (int r = 0; r < rows; r++, to += pass.output_pitch)
        if (r < count)
            gc_pass_store4(to, values[r]);
}

/* ---- Interleaved output ---------------------------------------------------------------------- */

/* Four samples as words: one of bytes, or two of shorts. */
template <class config> struct gc_pass_samples {
    static constexpr int words = config::output == GC_SHORT ? 2 : 1;
    unsigned word[words];

    __device__ void set(const unsigned (&samples)[4])
    {
        if (words == 1)
            word[0] = gc_finish_pack(samples);
#pragma unroll
        for (int k = 0; k < words && words == 2; k++)
            word[k] = __byte_perm(samples[2 * k], samples[2 * k + 1], 0x5410);
    }

    /* Sample k, in the low bits; the other bits have no meaning. */
    __device__ unsigned get(int k) const
    {
        return words == 1 ? word[0] >> (8 * k) : word[k / 2] >> (16 * (k % 2));
    }
};

/* The outputs of a thread in all channels of a block: four pixels of `rows` rows. Channels are
 * taken from the last to the first, each in the same code, and stored at the end. */
template <class config> struct gc_pass_pixels {
    static constexpr int rows = config::rows, channels = gc_pass_channels<config>();
    static constexpr bool divides = config::alpha == GC_PASS_MULTIPLIES;
    gc_pass_samples<config> samples[channels][rows]; /* in the end of channels 0 and following */
    float alpha[divides ? rows : 1][4];

    /* Samples of one row of a channel. */
    __device__ void finish(const gc_pass &pass, int channel, int r, const float (&values)[4])
    {
        unsigned v[4];
        if (!divides)
            gc_finish_integers<config>(pass, values, v);
#pragma unroll
        for (int k = 0; k < 4 && divides; k++)
            v[k] = channel == channels - 1
                       ? gc_finish_alpha(pass.finish, values[k])
                       : gc_finish_divided<config>(pass, values[k], alpha[divides ? r : 0][k]);
        samples[0][r].set(v);
    }

    /* Takes the chain values of the next channel, from column x of row `y` of the image on. */
    __device__ void take(const gc_pass &pass, int channel, int x, int y,
                         const float (&values)[rows][4])
    {
#pragma unroll
        for (int r = 0; r < rows; r++) {
#pragma unroll
            for (int c = channels - 1; c > 0; c--)
                samples[c][r] = samples[c - 1][r];
            if (divides && channel == channels - 1)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    alpha[divides ? r : 0][k] = values[r][k];
            if (divides || config::output != GC_BYTE)
                finish(pass, channel, r, values[r]);
        }
        if (divides || config::output != GC_BYTE)
            return;
        unsigned words[rows];
        gc_finish_words<config>(pass, x, y, channel, values, x < pass.width, words);
#pragma unroll
        for (int r = 0; r < rows; r++)
            samples[0][r].word[0] = words[r];
    }

    /* Sample `c` of pixel k of row `r`, column x + k of row `y` of the image. */
    __device__ unsigned get(const gc_pass &pass, int c, int k, int r, int x, int y) const
    {
        return c < channels ? samples[c < channels ? c : 0][r].get(k)
                            : gc_finish_kept(pass.finish, gc_pass_alpha_at<config>(pass, x + k, y));
    }

    /* Stores row `r`, row `y` of the image, from column x on. */
    __device__ void store_row(const gc_pass &pass, int r, int x, int y) const
    {
        typedef gc_pass_samples<config> four;
        const int count = config::channels;
        unsigned words[count * four::words];
#pragma unroll
        for (int i = 0; i < count; i++) { /* four samples at a time */
            unsigned v[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                v[k] = get(pass, (4 * i + k) % count, (4 * i + k) / count, r, x, y);
            four made;
            made.set(v);
#pragma unroll
            for (int k = 0; k < four::words; k++)
                words[i * four::words + k] = made.word[k];
        }
        unsigned *to = (unsigned *)((unsigned char *)pass.output +
                                    four::words * ((y - pass.output_first) * pass.output_pitch +
                                                   (long long)x * count));
        const int all = count * four::words;
#pragma unroll
        for (int i = 0; i < all; i += all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1)
            if (all % 4 == 0)
                *(uint4 *)(to + i) = make_uint4(words[i], words[i + (all % 4 == 0 ? 1 : 0)],
                                                words[i + (all % 4 == 0 ? 2 : 0)],
                                                words[i + (all % 4 == 0 ? 3 : 0)]);
            else if (all % 2 == 0)
                *(uint2 *)(to + i) = make_uint2(words[i], words[i + (all % 2 == 0 ? 1 : 0)]);
            else
                to[i] = words[i];
    }

    __device__ void store(const gc_pass &pass, int x, int y) const
    {
#pragma unroll
        for (int r = 0; r < rows; r++)
            if (x < pass.width && y + r < pass.output_first + pass.rows)
                store_row(pass, r, x, y + r);
    }
};
