/* Conversion of samples, compiled once for every instruction set under the name that
 * GC_SAMPLES_LOOPS gives it. The operations are those of core/conversion.c in the same order, so
 * the bits are the same. Only more values are converted at once. */
#include "cpu/instructions/instructions.h"

#include <math.h>
#include <string.h>

/* Values converted at a time: doubles in between stay in the first-level cache. */
enum { CHUNK = 256 };

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
 * minimum that need no care for not-a-number. */
static inline float clamp(int32_t bits)
{
    const int32_t infinity = 0x7f800000, largest = 0x437f0000; /* 255 */
    bits = bits > infinity ? 0 : bits;
    bits = bits > 0 ? bits : 0;
    return float_of(bits < largest ? bits : largest);
}

/* Multiplies by the reciprocal in float32. The product is at most 2^-14 away from the quotient in
 * double, where that is within 256. Adding 1.5 * 2^23 rounds as 1.5 * 2^52 rounds a double, and
 * leaves the whole number in the lowest bits. True where every value is so far from the middle of
 * two levels that the error cannot change its level. */
static bool store_near(const float *row, size_t count, float reciprocal, bool absolute,
                       uint8_t *restrict samples)
{
    const int32_t kept = absolute ? INT32_MAX : -1;
    const int32_t near = bits_of(0.5f - 0x1p-13f);
    int32_t unsure = 0;
    for (size_t i = 0; i < count; i++) {
        float value = clamp(bits_of(row[i] * reciprocal) & kept);
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

static void store8(const gc_conversion *conversion, const float *row, size_t count,
                   uint8_t *samples)
{
    int exponent;
    double divisor = conversion->divisor;
    /* A power of two divides without an error. */
    bool exact = fabs(frexp(divisor, &exponent)) == 0.5;
    bool may_be_near = conversion->scale == 1 && conversion->offset == 0 &&
                       fabs(divisor) < 0x1p100 && fabs(divisor) > 0x1p-100;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t part = count - first < CHUNK ? count - first : CHUNK;
        if (may_be_near && (store_near(row + first, part, (float)(1 / divisor),
                                       conversion->absolute, samples + first) ||
                            exact))
            continue;
        store_chunk(conversion, row + first, part, samples + first);
    }
}

extern const gc_samples_loops GC_SAMPLES_LOOPS;
const gc_samples_loops GC_SAMPLES_LOOPS = {load8, load16, store8};
