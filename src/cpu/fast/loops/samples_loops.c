/* Conversion of samples, compiled once for every instruction set under the name that
 * GC_SAMPLES_LOOPS gives it. Samples are those of core/conversion.c. Levels of 8 bits are computed
 * in float32 if the error cannot change them, all else by the same operations in doubles. */
#include "base/number.h"
#include "cpu/instructions/instructions.h"
#include "cpu/unroll.h"

#include <math.h>
#include <string.h>

/* Values converted at a time. If one of them is near a tie, store8 may convert all in doubles. */
enum { CHUNK = 64 };

/* ---- Loading --------------------------------------------------------------------------------- */

static void load8(const uint8_t *samples, size_t count, float *row)
{
    for (size_t i = 0; i < count; i++)
        row[i] = (float)samples[i];
}

static void load16(const uint16_t *samples, size_t count, float *row)
{
    for (size_t i = 0; i < count; i++)
        row[i] = (float)samples[i];
}

/* ---- Levels in float32 ----------------------------------------------------------------------- */

static inline int32_t bits_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(int32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Clamps to 0..255, and not-a-number to 0, as core/conversion.c does, but on the bits. Floats that
 * are not negative are ordered like their bits. Integers have vector instructions for maximum and
 * minimum that need no care for not-a-number, of which there is none if it is `simple`. (A mask in
 * place of the first condition keeps gcc from a branch, and loops with branches do not become
 * vectors.) */
INLINE float clamp(int32_t bits, const bool simple)
{
    const int32_t infinity = 0x7f800000, largest = 0x437f0000; /* 255 */
    if (!simple)
        bits &= -(bits <= infinity);
    bits = bits > 0 ? bits : 0;
    return float_of(bits < largest ? bits : largest);
}

/* Rule 5 in float32: level = value * factor + offset. If a magnitude is taken, the product is
 * replaced by its magnitude with the sign of the scale.
 *
 * If the level is below 256 in magnitude it is less than 2^-13 away from that of doubles. The
 * offset is at most 255, so the product is below 512. Rounding `factor` and rounding the product
 * change the product by at most 2^-24 of itself each, together by 2^-14. The offset rounds by
 * 2^-17, the sum by 2^-17. A level of 256 or more, or below 0, is clamped either way. In doubles
 * the quotient by the divisor is finite (rule 9). */
typedef struct near_levels {
    float factor, offset;
    int32_t kept, sign; /* of the product's bits: those that are kept, and those that are set */
    int32_t near;       /* bits of the distance from an integer at which a tie may be */
} near_levels;

static near_levels levels_of(const gc_conversion *conversion, float error)
{
    bool negative = conversion->absolute && conversion->scale < 0;
    return (near_levels){
        .factor = (float)(conversion->scale / conversion->divisor),
        .offset = (float)conversion->offset,
        .kept = conversion->absolute ? INT32_MAX : -1,
        .sign = negative ? INT32_MIN : 0,
        .near = bits_of(0.5f - error),
    };
}

/* The multiple of 1/2 that is less than 2^-13 away, else the value. */
static inline float snap(float value)
{
    float half = (value + 0x1.8p22f) - 0x1.8p22f;
    int32_t distance = bits_of(value - half) & INT32_MAX, near = bits_of(0x1p-13f);
    int32_t mask = -(distance < near);
    return float_of((bits_of(half) & mask) | (bits_of(value) & ~mask));
}

/* The level of a chain value, clamped. It is `simple` if the value is a number, and no magnitude is
 * taken. */
INLINE float level_of(const near_levels *levels, float value, const bool simple)
{
    float product = value * levels->factor;
    if (!simple)
        product = float_of((bits_of(product) & levels->kept) | levels->sign);
    return clamp(bits_of(product + levels->offset), simple);
}

/* The bits of the distance from a level to the nearest integer, which is `rounded`. */
static inline int32_t distance_of(float level, float rounded)
{
    return bits_of(level - (rounded - 0x1.8p23f)) & INT32_MAX;
}

/* Adding 1.5 * 2^23 rounds as 1.5 * 2^52 rounds a double, and leaves the whole number in the lowest
 * bits. True if every level is so far from the middle of two integers that the error cannot change
 * what it is rounded to. `snaps`: levels that are so near to a multiple of 1/2 are equal to it. */
INLINE bool store_near(const near_levels *levels, const float *row, size_t count,
                       uint8_t *restrict samples, const bool snaps, const bool simple)
{
    const near_levels l = *levels;
    int32_t farthest = 0;
    for (size_t i = 0; i < count; i++) {
        float value = level_of(&l, row[i], simple);
        if (snaps)
            value = snap(value);
        float rounded = value + 0x1.8p23f;
        int32_t distance = distance_of(value, rounded);
        farthest = distance > farthest ? distance : farthest;
        samples[i] = (uint8_t)bits_of(rounded);
    }
    return snaps || farthest <= l.near;
}

/* Bit i: level i may be rounded to another integer. At most CHUNK levels. */
static uint64_t find_near(const near_levels *levels, const float *row, size_t count)
{
    const near_levels l = *levels;
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        float value = level_of(&l, row[i], false);
        bits |= (uint64_t)(distance_of(value, value + 0x1.8p23f) > l.near) << i;
    }
    return bits;
}

/* Whether levels are multiples of 1/q with a whole q up to 2048. Those that are no multiple of 1/2
 * are at least 1/(2q), 2^-12, away from one, and 2^-13 as store_near computes them. */
static bool may_snap(const gc_conversion *conversion)
{
    double q = fabs(conversion->divisor / conversion->scale);
    return conversion->whole && gc_is_power(conversion->scale) && q == trunc(q) && q >= 1 &&
           q <= 2048 && conversion->offset == trunc(conversion->offset);
}

/* ---- The operations of core/conversion.c on doubles ------------------------------------------ */

static void scale_values(const gc_conversion *conversion, size_t count, double *v)
{
    if (conversion->absolute)
        for (size_t i = 0; i < count; i++)
            v[i] = fabs(v[i]);
    if (conversion->scale != 1 || conversion->offset != 0)
        for (size_t i = 0; i < count; i++)
            v[i] = conversion->scale * v[i] + conversion->offset;
}

/* Rule 5 up to rounding. `multiplies`: the divisor is a power of 2, and so is its reciprocal. */
static void final_values(const gc_conversion *conversion, const float *row, size_t count,
                         const bool multiplies, double *restrict v)
{
    const double divisor = conversion->divisor, factor = 1 / divisor;
    for (size_t i = 0; i < count && multiplies; i++)
        v[i] = (double)row[i] * factor;
    for (size_t i = 0; i < count && !multiplies; i++)
        v[i] = (double)row[i] / divisor;
    scale_values(conversion, count, v);
}

static void round_values(double *v, size_t count, uint8_t *restrict samples)
{
    for (size_t i = 0; i < count; i++)
        v[i] = gc_clamp_and_round(v[i], UINT8_MAX);
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint8_t)(int32_t)v[i];
}

/* ---- Storing --------------------------------------------------------------------------------- */

static void store_chunk(const gc_conversion *conversion, const float *row, size_t count,
                        uint8_t *samples)
{
    double v[CHUNK];
    final_values(conversion, row, count, false, v);
    round_values(v, count, samples);
}

static void store8(const gc_conversion *conversion, const float *row, size_t count,
                   uint8_t *samples)
{
    double factor = conversion->scale / conversion->divisor;
    near_levels levels = levels_of(conversion, 0x1p-13f);
    /* Powers of two multiply and divide without an error. */
    bool exact = gc_is_power(conversion->scale) && gc_is_power(conversion->divisor) &&
                 conversion->offset == 0;
    bool snaps = !exact && may_snap(conversion);
    bool may_be_near =
        fabs(conversion->offset) <= UINT8_MAX && fabs(factor) < 0x1p100 && fabs(factor) > 0x1p-100;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t part = count - first < CHUNK ? count - first : CHUNK;
        if (may_be_near && snaps) {
            store_near(&levels, row + first, part, samples + first, true, false);
            continue;
        }
        if (may_be_near &&
            (store_near(&levels, row + first, part, samples + first, false, false) || exact))
            continue;
        store_chunk(conversion, row + first, part, samples + first);
    }
}

static void store8_near(const gc_conversion *conversion, float error, const float *row,
                        size_t count, uint8_t *samples, uint64_t *near)
{
    near_levels levels = levels_of(conversion, error);
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t part = count - first < CHUNK ? count - first : CHUNK;
        bool sure = conversion->absolute
                        ? store_near(&levels, row + first, part, samples + first, false, false)
                        : store_near(&levels, row + first, part, samples + first, false, true);
        near[first / CHUNK] = sure ? 0 : find_near(&levels, row + first, part);
    }
}

static void store(const gc_conversion *conversion, const float *row, size_t count, void *output)
{
    const double divisor = conversion->divisor, largest = conversion->sample_max;
    const bool multiplies = gc_is_power(divisor) && gc_is_power(1 / divisor);
    const int depth = conversion->output.depth;
    if (depth == 8 && largest == UINT8_MAX) {
        store8(conversion, row, count, output);
        return;
    }
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t part = count - first < CHUNK ? count - first : CHUNK;
        double v[CHUNK];
        final_values(conversion, row + first, part, multiplies, v);
        if (depth == 32) {
            for (size_t i = 0; i < part; i++)
                ((float *)output)[first + i] = (float)v[i];
        } else if (depth == 16) {
            for (size_t i = 0; i < part; i++)
                v[i] = gc_clamp_and_round(v[i] * (UINT16_MAX / largest), UINT16_MAX);
            for (size_t i = 0; i < part; i++)
                ((uint16_t *)output)[first + i] = (uint16_t)(int32_t)v[i];
        } else {
            for (size_t i = 0; i < part; i++)
                v[i] /= 257; /* from 16 bits */
            round_values(v, part, (uint8_t *)output + first);
        }
    }
}

/* ---- Alpha ----------------------------------------------------------------------------------- */

/* Pixels have 2 or 4 channels. Callers pass the number as a constant, so that each has its own
 * code. */

INLINE void load_kept(const uint8_t *samples, size_t count, const size_t channels, float *row)
{
    const size_t colours = channels - 1;
    uint8_t packed[CHUNK * GC_CHANNELS_MAX];
    for (size_t i = 0; i < count; i++)
        memcpy(packed + i * colours, samples + i * channels, channels); /* alpha is overwritten */
    load8(packed, count * colours, row);
}

INLINE void load_premultiplied(const uint8_t *samples, size_t count, const size_t channels,
                               float *restrict row)
{
    const size_t colours = channels - 1;
    for (size_t i = 0; i < count; i++) {
        float alpha = (float)samples[i * channels + colours];
        for (size_t c = 0; c < colours; c++)
            row[i * channels + c] = (float)samples[i * channels + c] * alpha;
        row[i * channels + colours] = alpha;
    }
}

INLINE void load_alpha(const gc_conversion *conversion, const uint8_t *samples, size_t pixels,
                       const size_t channels, float *row)
{
    for (size_t first = 0; first < pixels; first += CHUNK) {
        size_t part = pixels - first < CHUNK ? pixels - first : CHUNK;
        if (conversion->premultiplies)
            load_premultiplied(samples + first * channels, part, channels, row + first * channels);
        else
            load_kept(samples + first * channels, part, channels, row + first * (channels - 1));
    }
}

static void load8_alpha(const gc_conversion *conversion, const uint8_t *samples, size_t pixels,
                        float *row)
{
    if (conversion->input.channels == 2)
        load_alpha(conversion, samples, pixels, 2, row);
    else
        load_alpha(conversion, samples, pixels, 4, row);
}

INLINE void store_kept(const gc_conversion *conversion, const float *row, size_t count,
                       const size_t channels, const gc_kept_samples *kept, uint8_t *samples)
{
    const size_t colours = channels - 1;
    const uint8_t *alpha = kept->alpha;
    uint8_t packed[CHUNK * GC_CHANNELS_MAX];
    if (kept->near != NULL)
        store8_near(conversion, kept->error, row, count * colours, packed, kept->near);
    else
        store8(conversion, row, count * colours, packed);
    for (size_t i = 0; i < count; i++) {
        memcpy(samples + i * channels, packed + i * colours, channels);
        samples[i * channels + colours] = alpha[i];
    }
}

/* The operations of core/conversion.c on doubles, channel by channel. */
INLINE void store_premultiplied(const gc_conversion *conversion, const float *row, size_t count,
                                const size_t channels, uint8_t *restrict samples)
{
    const size_t colours = channels - 1;
    double v[GC_CHANNELS_MAX][CHUNK], alpha[CHUNK], weight[CHUNK];
    uint8_t levels[GC_CHANNELS_MAX][CHUNK];
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < channels; c++)
            v[c][i] = (double)row[i * channels + c];
    for (size_t i = 0; i < count; i++) {
        alpha[i] = v[colours][i] / conversion->divisor;
        weight[i] = alpha[i] > 0 ? v[colours][i] : 1;
    }
    for (size_t c = 0; c < colours; c++) {
        for (size_t i = 0; i < count; i++) {
            double colour = v[c][i] / weight[i];
            v[c][i] = alpha[i] > 0 ? colour : 0;
        }
        scale_values(conversion, count, v[c]);
        round_values(v[c], count, levels[c]);
    }
    round_values(alpha, count, levels[colours]);
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < channels; c++)
            samples[i * channels + c] = levels[c][i];
}

INLINE void store_alpha(const gc_conversion *conversion, const float *row, size_t pixels,
                        const size_t channels, const gc_kept_samples *kept, uint8_t *samples)
{
    gc_kept_samples of_part = *kept;
    for (size_t first = 0; first < pixels; first += CHUNK) {
        size_t part = pixels - first < CHUNK ? pixels - first : CHUNK;
        uint8_t *to = samples + first * channels;
        if (conversion->premultiplies) {
            store_premultiplied(conversion, row + first * channels, part, channels, to);
            continue;
        }
        store_kept(conversion, row + first * (channels - 1), part, channels, &of_part, to);
        of_part.alpha += part;
        of_part.near += of_part.near != NULL ? channels - 1 : 0;
    }
}

static void store8_alpha(const gc_conversion *conversion, const float *row, size_t pixels,
                         const gc_kept_samples *kept, uint8_t *samples)
{
    if (conversion->input.channels == 2)
        store_alpha(conversion, row, pixels, 2, kept, samples);
    else
        store_alpha(conversion, row, pixels, 4, kept, samples);
}

const gc_samples_loops GC_SAMPLES_LOOPS = {
    load8, load16, store, store8_near, load8_alpha, store8_alpha,
};
