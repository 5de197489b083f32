/* Conversion of samples, compiled once for every instruction set under the name that
 * GC_SAMPLES_LOOPS gives it. The operations are those of core/conversion.c in the same order, so
 * the bits are the same. Only more values are converted at once. */
#include "cpu/instructions/instructions.h"

#include <math.h>
#include <string.h>

/* Values converted at a time. Where one of them is near a tie, all are converted in doubles. */
enum { CHUNK = 64 };

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
 * minimum that need no care for not-a-number. (A mask in place of the first condition keeps gcc
 * from a branch, and loops with branches do not become vectors.) */
static inline float clamp(int32_t bits)
{
    const int32_t infinity = 0x7f800000, largest = 0x437f0000; /* 255 */
    bits &= -(bits <= infinity);
    bits = bits > 0 ? bits : 0;
    return float_of(bits < largest ? bits : largest);
}

/* Rule 5 in float32: level = value * factor + offset, with the sign of `factor` where a magnitude is
 * taken.
 *
 * Where the level is below 256 in magnitude it is less than 2^-13 away from that of doubles. The
 * offset is at most 255, so the product is below 512. `factor` and the product round by 2^-24 of
 * it each, together by 2^-14. The offset rounds by 2^-17, the sum by 2^-17. */
typedef struct near_levels {
    float factor, offset;
    int32_t kept, sign; /* of the product's bits: those that are kept, and those that are set */
} near_levels;

/* Adding 1.5 * 2^23 rounds as 1.5 * 2^52 rounds a double, and leaves the whole number in the lowest
 * bits. True where every level is so far from the middle of two integers that the error cannot
 * change what it is rounded to. */
static bool store_near(const near_levels *levels, const float *row, size_t count,
                       uint8_t *restrict samples)
{
    const near_levels l = *levels;
    const int32_t near = bits_of(0.5f - 0x1p-13f);
    int32_t unsure = 0;
    for (size_t i = 0; i < count; i++) {
        float product = float_of((bits_of(row[i] * l.factor) & l.kept) | l.sign);
        float value = clamp(bits_of(product + l.offset));
        float rounded = value + 0x1.8p23f;
        int32_t distance = bits_of(value - (rounded - 0x1.8p23f)) & INT32_MAX;
        unsure |= distance > near ? 1 : 0;
        samples[i] = (uint8_t)bits_of(rounded);
    }
    return unsure == 0;
}

static void store_chunk(const gc_conversion *conversion, const float *row, size_t count,
                        uint8_t *samples)
{
    double v[CHUNK];
    for (size_t i = 0; i < count; i++)
        v[i] = (double)row[i] / conversion->divisor;
    if (conversion->absolute)
        for (size_t i = 0; i < count; i++)
            v[i] = fabs(v[i]);
    if (conversion->scale != 1 || conversion->offset != 0)
        for (size_t i = 0; i < count; i++)
            v[i] = conversion->scale * v[i] + conversion->offset;
    for (size_t i = 0; i < count; i++) {
        double value = v[i] > 0 ? v[i] : 0;
        value = value < 255 ? value : 255;
        samples[i] = (uint8_t)(int32_t)((value + 0x1.8p52) - 0x1.8p52);
    }
}

static bool is_power(double value)
{
    int exponent;
    return fabs(frexp(value, &exponent)) == 0.5;
}

static void store8(const gc_conversion *conversion, const float *row, size_t count,
                   uint8_t *samples)
{
    double factor = conversion->scale / conversion->divisor;
    bool negative = conversion->absolute && conversion->scale < 0;
    near_levels levels = {
        .factor = (float)factor,
        .offset = (float)conversion->offset,
        .kept = conversion->absolute ? INT32_MAX : -1,
        .sign = negative ? INT32_MIN : 0,
    };
    /* Powers of two multiply and divide without an error. */
    bool exact =
        is_power(conversion->scale) && is_power(conversion->divisor) && conversion->offset == 0;
    bool may_be_near =
        fabs(conversion->offset) <= UINT8_MAX && fabs(factor) < 0x1p100 && fabs(factor) > 0x1p-100;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t part = count - first < CHUNK ? count - first : CHUNK;
        if (may_be_near && (store_near(&levels, row + first, part, samples + first) || exact))
            continue;
        store_chunk(conversion, row + first, part, samples + first);
    }
}

extern const gc_samples_loops GC_SAMPLES_LOOPS;
const gc_samples_loops GC_SAMPLES_LOOPS = {load8, load16, store8};
