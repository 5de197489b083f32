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
#ifndef GC_GPU_PASS_PASS_CUH
#define GC_GPU_PASS_PASS_CUH

#include "gpu/pass/once.cuh"

/* ---- Threads --------------------------------------------------------------------------------- */

static __device__ inline int gc_pass_lane()
{
    return (int)(threadIdx.x % 32);
}

static __device__ inline int gc_pass_warp()
{
    return (int)(threadIdx.x / 32);
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
        float shift = 0x1p23f + pass.centre;
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
        return (float)__ldg((const unsigned char *)pass.input + index) - pass.centre;
    return (float)__ldg((const unsigned short *)pass.input + index);
}

/* The value of the block's channel `channel` at any column x, inside the image or not, of row `row`
 * of the input. -1 is a row of a constant border. */
template <class config>
static __device__ inline float gc_pass_value(const gc_pass &pass, int row, int x, int channel = 0)
{
    int column = gc_pass_index(gc_pass_border_of<config>(pass), x, pass.width);
    if (row < 0 || column < 0)
        return pass.constant[blockIdx.y + (unsigned)channel] - pass.centre;
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

/* ---- The final conversion -------------------------------------------------------------------- */

/* 3 * 2^22: added to a number of smaller magnitude it leaves the nearest integer, ties to even, in
 * the low bits of the sum. */
#define GC_FINISH_SHIFT 12582912.0f

/* The integer in the low bits of a shifted number, clamped to samples. */
static __device__ inline unsigned gc_finish_clamp(const gc_finish &f, float shifted)
{
    return __float_as_uint(
        fminf(fmaxf(shifted, GC_FINISH_SHIFT), GC_FINISH_SHIFT + (float)f.largest));
}

/* Four bytes as a word, the first in the low byte. */
static __device__ inline unsigned gc_finish_pack(const unsigned (&bytes)[4])
{
    return __byte_perm(__byte_perm(bytes[0], bytes[1], 0x0040),
                       __byte_perm(bytes[2], bytes[3], 0x0040), 0x5410);
}

/* Four shifted numbers below 2^15 as bytes. They are clamped two at a time, as halves of words. */
static __device__ inline unsigned gc_finish_clamp4(const gc_finish &f, const float (&shifted)[4])
{
#if __CUDA_ARCH__ >= 900
    (void)f;
    unsigned low = __byte_perm(__float_as_uint(shifted[0]), __float_as_uint(shifted[1]), 0x5410);
    unsigned high = __byte_perm(__float_as_uint(shifted[2]), __float_as_uint(shifted[3]), 0x5410);
    asm("min.relu.s16x2 %0, %0, %1;" : "+r"(low) : "r"(0x00ff00ff));
    asm("min.relu.s16x2 %0, %0, %1;" : "+r"(high) : "r"(0x00ff00ff));
    return __byte_perm(low, high, 0x6420);
#else
    const unsigned bytes[4] = {gc_finish_clamp(f, shifted[0]), gc_finish_clamp(f, shifted[1]),
                               gc_finish_clamp(f, shifted[2]), gc_finish_clamp(f, shifted[3])};
    return gc_finish_pack(bytes);
#endif
}

/* The quotient, rounded to the nearest integer and shifted, if there are no ties or the reciprocal
 * is exact. The multiply-add rounds once. */
static __device__ inline float gc_finish_round(const gc_finish &f, float value)
{
    return fmaf(value, f.reciprocal, GC_FINISH_SHIFT);
}

/* The quotient, rounded to the nearest integer and shifted, if there may be ties. `above` and
 * `below` are the neighbours of the reciprocal. With `above` a tie rounds up, with `below` it
 * rounds down. Every other value rounds to the same integer both times (gc_finish_rounds). The
 * result is the even one of the two integers: the upper one, which keeps its last bit only if the
 * lower one has that bit, too. */
static __device__ inline float gc_finish_quotient(const gc_finish &f, float value)
{
    unsigned upper = __float_as_uint(fmaf(value, f.above, GC_FINISH_SHIFT));
    unsigned lower = __float_as_uint(fmaf(value, f.below, GC_FINISH_SHIFT));
    return __uint_as_float(upper & (lower | ~1u));
}

/* gc_finish_quotient by the remainder, which is exact: the quotient is off by one at most. */
static __device__ inline float gc_finish_remainder(const gc_finish &f, float value)
{
    float shifted = fmaf(value, f.reciprocal, GC_FINISH_SHIFT);
    float twice = 2 * fmaf(GC_FINISH_SHIFT - shifted, f.whole, value);
    unsigned bits = __float_as_uint(shifted), odd = bits & 1;
    bits += (unsigned)(odd != 0 ? twice >= f.whole : twice > f.whole);
    bits -= (unsigned)(odd != 0 ? twice <= -f.whole : twice < -f.whole);
    return __uint_as_float(bits);
}

/* The quotient of finite numbers in double, rounded as a division rounds it, from the divisor's
 * rounded reciprocal. Before the second correction the quotient is off by less than its last bit
 * (Markstein, IBM Journal of Research and Development 34, 1990). A division would be a call and
 * take twice the registers. */
static __device__ inline double gc_finish_ratio(double value, double divisor, double reciprocal)
{
    double quotient = __dmul_rn(value, reciprocal);
    if (quotient == 0) /* its sign is right already */
        return quotient;
    quotient = fma(fma(-quotient, divisor, value), reciprocal, quotient);
    return fma(fma(-quotient, divisor, value), reciprocal, quotient);
}

/* A number in samples of the input's depth, clamped and rounded to a sample of the output. */
static __device__ inline double gc_finish_quantize(const gc_finish &f, double v)
{
    v = fmin(fmax(v, 0.0), f.sample_max); /* infinity becomes white */
    return rint(f.narrows ? gc_finish_ratio(v, 257, 1.0 / 257) : __dmul_rn(v, f.factor));
}

/* Rule 5 from step 2 on. What these functions compute is what gc_store_pixels does, in the same
 * order, with the same roundings. */
static __device__ inline double gc_finish_scaled(const gc_finish &f, double v, bool rounds)
{
    v = f.absolute ? fabs(v) : v;
    if (f.scale != 1 || f.offset != 0)
        v = __dadd_rn(__dmul_rn(f.scale, v), f.offset);
    if (f.bilevel)
        v = v >= f.middle ? f.sample_max : 0;
    return rounds ? gc_finish_quantize(f, v) : v;
}

static __device__ inline double gc_finish_sample(const gc_finish &f, float value, bool rounds)
{
    return gc_finish_scaled(f, gc_finish_ratio(value, f.divisor, f.inverse), rounds);
}

/* A colour that alpha multiplies, before step 2. Alpha is above 0 over the divisor. */
static __device__ inline double gc_finish_colour(float value, float alpha)
{
    return gc_finish_ratio(value, alpha, 1.0 / (double)alpha);
}

static __device__ inline bool gc_finish_is_visible(const gc_finish &f, float alpha)
{
    return f.divisor > 0 ? alpha > 0 : alpha < 0;
}

/* The nearest integer, shifted. `part` is the value minus that integer. If the sample is not
 * clamped, its error is below 2^-12 for bytes, below 2^-20 for 16 bits (gc_finish_of). */
template <bool is_short>
static __device__ inline float gc_finish_nearest(const gc_finish &f, float value, float &part)
{
    value = __uint_as_float(__float_as_uint(value) & f.value_bits);
    if (!is_short) {
        float sum = fmaf(value, f.gain, f.base), shifted = sum + GC_FINISH_SHIFT;
        part = sum - (shifted - GC_FINISH_SHIFT);
        return shifted;
    }
    /* The base is an integer here. A multiply-add, which rounds once, gives what the first one has
     * taken by rounding. Together with what gain and base lack it may reach the next integer. */
    float shift = f.base + GC_FINISH_SHIFT, shifted = fmaf(value, f.gain, shift);
    part = fmaf(value, f.gain, shift - shifted) + fmaf(value, f.gain_rest, f.base_rest);
    float more = (part + GC_FINISH_SHIFT) - GC_FINISH_SHIFT;
    part -= more;
    return shifted + more;
}

/* Whether the value is so far from a tie that its integer is the nearest one. */
static __device__ inline bool gc_finish_is_sure(bool is_short, float part)
{
    return fabsf(part) < 0.5f - (is_short ? 0x1p-20f : 0x1p-12f);
}

static __device__ inline unsigned gc_finish_edge(const gc_finish &f, float value)
{
    float response = f.side == 0 ? fabsf(value) : f.side > 0 ? value : -value;
    return (unsigned)(response > f.threshold) ^ (unsigned)f.invert;
}

/* ---- Rounding once --------------------------------------------------------------------------- */

static __device__ constexpr bool gc_finish_is_once(int kind)
{
    return kind >= GC_FINISH_ONCE;
}

/* A value as bits of a float that tell its output, and how far it is from another (finish.c): of
 * GC_FINISH_SIDE the response less the threshold; of bytes 256 and the sample, with the distance in
 * the 15 bits behind the point. */
static __device__ inline unsigned gc_finish_fix(const gc_finish &f, int kind, float value)
{
    float magnitude = fabsf(value);
    if (kind == GC_FINISH_SIDE)
        return __float_as_uint((f.side == 0  ? magnitude
                                : f.side > 0 ? value
                                             : -value) -
                               f.threshold);
    if (kind == GC_FINISH_ONCE_INSIDE)
        return __float_as_uint(fmaf(value, f.fixed_gain, f.fixed_base));
    value = kind == GC_FINISH_ONCE_ABSOLUTE ? magnitude : value;
    return __float_as_uint(
        fmaf(__saturatef(fmaf(value, f.gain, f.base)), 255.5f, 256.25f)); /* of the share */
}

/* Four of these as bytes of a word, or as bits, the lowest of its bytes. */
static __device__ inline unsigned gc_finish_fixed(const gc_finish &f, int kind,
                                                  const unsigned (&fixed)[4])
{
    unsigned edges[4];
    if (kind != GC_FINISH_SIDE)
        return __byte_perm(__byte_perm(fixed[0], fixed[1], 0x6521) << 1,
                           __byte_perm(fixed[2], fixed[3], 0x6521) << 1, 0x7531);
#pragma unroll
    for (int k = 0; k < 4; k++)
        edges[k] =
            ((unsigned)(__uint_as_float(fixed[k]) > 0) ^ (unsigned)f.invert) * (unsigned)f.largest;
    return gc_finish_pack(edges);
}

/* The distance from which on an output is sure. */
static __device__ inline unsigned gc_finish_sure_from(const gc_finish &f, int kind)
{
    return kind == GC_FINISH_ONCE_INSIDE ? f.fixed_doubtful : f.doubtful;
}

static __device__ inline bool gc_finish_doubts(const gc_finish &f, int kind, unsigned fixed)
{
    return (fixed & (kind == GC_FINISH_SIDE ? 0x7fffffff : 0x7fff)) < gc_finish_sure_from(f, kind);
}

/* Whether any of these outputs is doubtful. */
template <int rows>
static __device__ inline bool gc_finish_doubts_any(const gc_finish &f, int kind,
                                                   const unsigned (&fixed)[rows][4])
{
    bool any = false;
#if __CUDA_ARCH__ >= 900
    if (kind != GC_FINISH_SIDE) { /* twice the distances, two at a time, as halves of words */
        unsigned least = ~0u;
#pragma unroll
        for (int k = 0; k < 4 * rows; k += 2) {
            unsigned two = __byte_perm(fixed[k / 4][k % 4], fixed[k / 4][k % 4 + 1], 0x5410);
            asm("{\n.reg .b32 twice;\nadd.u16x2 twice, %1, %1;\nmin.u16x2 %0, %0, twice;\n}"
                : "+r"(least)
                : "r"(two));
        }
        return min(least & 0xffff, least >> 16) < 2 * gc_finish_sure_from(f, kind);
    }
#endif
#pragma unroll
    for (int k = 0; k < 4 * rows; k++)
        any |= gc_finish_doubts(f, kind, fixed[k / 4][k % 4]);
    return any;
}

/* What the byte in column x of row `y` of the image counts, anywhere. Under wrap there are rows
 * beyond the image. */
static __device__ inline long long gc_exact_byte(const gc_pass &pass, int x, int y, int channel)
{
    x = gc_pass_index(pass.border, x, pass.width);
    y = pass.border == GC_PASS_WRAP ? y : gc_pass_index(pass.border, y, pass.height);
    if (pass.border == GC_PASS_CONSTANT && (x < 0 || y < 0))
        return pass.exact.constant[channel];
    long long at = (y - pass.image_first) * pass.image_pitch + (long long)x * pass.exact.channels;
    return (long long)((const unsigned char *)pass.image)[at + channel] << pass.exact.shift;
}

/* Products `first`, `first` + `step` and so on of the exact sum of column x and row `y`. */
static __device__ inline long long gc_exact_part(const gc_pass &pass, int x, int y, int channel,
                                                 int first, int step)
{
    long long sum = 0;
#pragma unroll 1
    for (int n = first; n < pass.exact.count; n += step) {
        int j = n / pass.exact.width, i = n - j * pass.exact.width;
        sum += pass.exact.terms[n] *
               gc_exact_byte(pass, x - pass.exact.left + i, y - pass.exact.top + j, channel);
    }
    return sum;
}

/* The lane's share of the sum, if its samples lie in the image from address `from` on. */
template <class config>
static __device__ inline long long gc_exact_share(const gc_exact &e, const unsigned char *from)
{
    constexpr int known = config::width * config::height; /* or 0 */
    constexpr int together = known == 0 ? 2 : known > 96 ? 4 : (known + 31) / 32;
    const int width = known > 0 ? config::width : e.width, count = known > 0 ? known : e.count;
    long long sum = 0;
#pragma unroll 1
    for (int n = gc_pass_lane(); n < count; n += together * 32) {
        long long terms[together];
        unsigned samples[together];
#pragma unroll
        for (int k = 0; k < together; k++) {
            int m = n + k * 32;
            int j = known > 0 ? m / width : (int)__umulhi(2 * (unsigned)m, e.width_inverse);
            terms[k] = m < count ? __ldg(e.terms + m) : 0;
            samples[k] =
                m < count ? from[(unsigned)(j * e.pitch + (m - j * width) * e.channels)] : 0;
        }
#pragma unroll
        for (int k = 0; k < together; k++)
            sum += terms[k] * samples[k];
    }
    return sum << e.shift;
}

/* The sum of the numbers of all lanes, whose magnitudes add up to less than 2^53. No condition of a
 * warp may decide whether it is computed: where one does, ptxas of CUDA 12.9 to 13.1 may give the
 * reductions a wrong guard. */
static __device__ inline long long gc_exact_total(long long part)
{
#if __CUDA_ARCH__ >= 800 /* 26 bits of 32 lanes, and the rest */
    long long high = __reduce_add_sync(~0u, (int)(part >> 26));
    return (high << 26) + __reduce_add_sync(~0u, (unsigned)part & 0x3ffffff);
#else
#pragma unroll
    for (int other = 16; other > 0; other /= 2)
        part += __shfl_xor_sync(~0u, part, other);
    return part;
#endif
}

/* Whether all that the outputs of a warp see counts the same. They are `rows` rows from column x
 * and row `y` on. */
static __device__ inline bool gc_exact_is_flat(const gc_pass &pass, int x, int y, int channel,
                                               int rows)
{
    const gc_exact &e = pass.exact;
    long long one = gc_exact_byte(pass, x, y, channel);
    x -= e.left;
    y -= e.top;
    bool inside =
             x >= 0 && y >= 0 && x + GC_BLOCK_COLUMNS <= (int)e.columns && y + rows <= (int)e.lines,
         same = true;
    const unsigned char *from = (const unsigned char *)pass.image +
                                (y - pass.image_first) * pass.image_pitch +
                                (long long)x * e.channels + channel;
    for (int i = gc_pass_lane(); i < GC_BLOCK_COLUMNS + e.width - 1; i += 32) {
#pragma unroll 8
        for (int j = 0; j < rows + e.height - 1 && inside; j++)
            same &= (long long)__ldg(from + j * e.pitch + i * e.channels) << e.shift == one;
#pragma unroll 1
        for (int j = 0; j < rows + e.height - 1 && !inside; j++)
            same &= gc_exact_byte(pass, x + i, y + j, channel) == one;
    }
    return __all_sync(~0u, same);
}

/* The outputs of a thread that may be doubtful: bit 8 k + 7 - r is output k of row r. Of bytes
 * these are outputs whose distance is below 256: more than a bound leaves in doubt (finish.c). The
 * permutation is volatile, so that it is computed here alone, where it is seldom needed. */
template <int rows>
static __device__ inline unsigned gc_settle_mask(const gc_finish &f, int kind,
                                                 const unsigned (&fixed)[rows][4])
{
    unsigned mask = 0;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        unsigned far = 0; /* bit 7 of a byte: the output is sure */
        if (kind != GC_FINISH_SIDE) {
            unsigned left = __byte_perm(fixed[r][0], fixed[r][1], 0x6521);
            unsigned right = __byte_perm(fixed[r][2], fixed[r][3], 0x6521);
#ifdef __CUDA_ARCH__
            asm volatile("prmt.b32 %0, %1, %2, 0x6420;" : "=r"(far) : "r"(left), "r"(right));
#else
            far = __byte_perm(left, right, 0x6420);
#endif
            far = (far & 0x7f7f7f7f) + 0x7f7f7f7f;
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++)
                far |= gc_finish_doubts(f, kind, fixed[r][k]) ? 0 : 128u << 8 * k;
        }
        mask |= (~far & 0x80808080) >> r;
    }
    return mask;
}

/* Makes the outputs of a thread that its mask has anew in `words`, from column x and row `y` on.
 * Where few threads of a warp have any, all lanes make one sum together; else each makes one of its
 * own, unless one sum is that of all outputs. Stores the words as bytes if the lane `stores`. All
 * lanes of a warp call this. It is no part of its caller, which is short of registers. */
static __device__ __noinline__ void gc_settle_any(const gc_pass &pass, int kind, int x, int y,
                                                  int channel, unsigned mask, unsigned *words,
                                                  int rows, bool stores)
{
    int lane = gc_pass_lane(), end = pass.output_first + pass.rows;
    bool many = __popc(__ballot_sync(~0u, mask != 0)) > 8;
    bool flat =
        many && gc_exact_is_flat(pass, __shfl_sync(~0u, x, 0), y, channel, min(rows, end - y));
    while (unsigned waiting = __ballot_sync(~0u, mask != 0)) {
        bool alone = many && !flat;
        int owner = alone ? lane : __ffs((int)waiting) - 1, bit = (__ffs((int)mask) - 1) & 31;
        int k = bit / 8, r = min(7 - bit % 8, rows - 1);
        int column = __shfl_sync(~0u, x + k, owner);
        int row = __shfl_sync(~0u, min(y + r, end - 1), owner); /* of those that are stored */
        long long part =
            gc_exact_part(pass, column, row, channel, alone ? 0 : lane, alone ? 1 : 32);
        long long total = gc_exact_total(part); /* whether or not it is used: see there */
        unsigned made = words[r] >> 8 * k & 255;
        unsigned output = gc_once_output(&pass.finish, kind, (double)(alone ? part : total), made);
        unsigned all = __shfl_sync(~0u, output, owner) * 0x01010101;
        for (int i = 0; i < rows && flat; i++)
            words[i] = all;
        mask = flat ? 0 : mask;
        if (owner == lane && mask != 0) {
            words[r] += (output - made) << 8 * k;
            mask &= mask - 1;
        }
    }
    for (int r = 0; r < rows && stores && y + r < end; r++)
        *(unsigned *)((unsigned char *)pass.output + blockIdx.y * pass.output_plane +
                      (y + r - pass.output_first) * pass.output_pitch + x) = words[r];
}

/* Makes outputs anew, as gc_settle_any does, if few threads have any. Returns what is left to that:
 * what is not inside the image, or very near to a boundary. */
template <class config, int rows>
static __device__ inline unsigned gc_settle_few(const gc_pass &pass, int kind, int x, int y,
                                                int channel, unsigned mask, unsigned (&words)[rows])
{
    static_assert(rows <= 8, "a bit of a mask for each output");
    const gc_exact &e = pass.exact;
    unsigned waiting = __ballot_sync(~0u, mask != 0);
    bool few = __popc(waiting) <= 8;
    while (few && waiting != 0) {
        int owner = __ffs((int)waiting) - 1;
        bool mine = owner == gc_pass_lane();
        unsigned bit = (unsigned)__ffs((int)mask) - 1, shift = bit & 24, r = ~bit & 7;
        unsigned made = words[0];
        int column = x + (int)(shift / 8) - e.left;
        int row = min(y + (int)r, pass.output_first + pass.rows - 1) - e.top;
        bool inside = (unsigned)column < e.columns && (unsigned)row < e.lines;
        long long at =
            (long long)(row - pass.image_first) * e.pitch + column * e.channels + channel;
        at = __shfl_sync(~0u, inside ? at : -1, owner);
        if (at < 0)
            break;
#pragma unroll
        for (unsigned i = 1; i < rows; i++)
            made = r == i ? words[i] : made;
        made = made >> shift & 255;
        double sum = (double)gc_exact_total(
            gc_exact_share<config>(e, (const unsigned char *)pass.image + at));
        int side = gc_once_estimate(&pass.finish, sum, gc_once_boundary(&pass.finish, kind, made));
        if (__any_sync(~0u, mine && side == 0))
            break;
        unsigned change = (gc_once_beside(&pass.finish, kind, side < 0 ? -1 : 1, made) - made)
                          << shift;
#pragma unroll
        for (unsigned i = 0; i < rows; i++)
            words[i] += mine && r == i ? change : 0;
        mask = mine ? mask & (mask - 1) : mask;
        waiting = __ballot_sync(~0u, mask != 0);
    }
    return mask;
}

/* Outputs of a thread that are rounded once, from column x and row `y` of the image on. What
 * `stores` is false for has no meaning. Returns what is left to gc_settle_any. All lanes of a warp
 * call this. */
template <class config, int rows>
static __device__ inline unsigned gc_finish_once(const gc_pass &pass, int x, int y, int channel,
                                                 const float (&values)[rows][4], bool stores,
                                                 unsigned (&words)[rows])
{
    const gc_finish &f = pass.finish;
    int kind = gc_pass_finish<config>(pass);
    unsigned fixed[rows][4];
#pragma unroll
    for (int k = 0; k < 4 * rows; k++)
        fixed[k / 4][k % 4] = gc_finish_fix(f, kind, values[k / 4][k % 4]);
    bool doubts = gc_finish_doubts_any(f, kind, fixed) && stores;
#pragma unroll
    for (int r = 0; r < rows; r++)
        words[r] = gc_finish_fixed(f, kind, fixed[r]);
    if (!__any_sync(~0u, doubts))
        return 0;
    return gc_settle_few<config>(pass, kind, x, y, channel,
                                 doubts ? gc_settle_mask(f, kind, fixed) : 0, words);
}

/* Settles what is left, by gc_settle_any. */
template <int rows>
static __device__ inline void gc_settle_left(const gc_pass &pass, int kind, int x, int y,
                                             int channel, unsigned left, unsigned (&words)[rows],
                                             bool stores)
{
    if (!__any_sync(~0u, left != 0))
        return;
    unsigned copy[rows]; /* the words stay in registers */
#pragma unroll
    for (int r = 0; r < rows; r++)
        copy[r] = words[r];
    gc_settle_any(pass, kind, x, y, channel, left, copy, rows, stores);
#pragma unroll
    for (int r = 0; r < rows; r++)
        words[r] = copy[r];
}

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

#endif
