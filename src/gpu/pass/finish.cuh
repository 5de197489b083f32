/* The final conversion of one chain value (finish.h). */
#pragma once

#include "gpu/pass/samples.cuh"

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
