/* Conversion of samples, compiled once for every instruction set under the name that
 * GC_SAMPLES_KERNEL gives it. The operations are those of core/convert.c, one for one and in their
 * order, so that the bits are the same; only more of them are done at once. */
#include "cpu/rows.h"

#include <math.h>

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

/* Where v is the chain value itself, float32 holds it, and 1.5 * 2^23 rounds it as 1.5 * 2^52 rounds
 * a double: no fraction is left, ties went to even. */
static void store_unscaled(const float *row, size_t count, uint8_t *samples)
{
    for (size_t i = 0; i < count; i++) {
        float value = row[i] > 0 ? row[i] : 0;
        value = value < 255 ? value : 255;
        samples[i] = (uint8_t)(int32_t)((value + 0x1.8p23f) - 0x1.8p23f);
    }
}

static void store_chunk(const gc_problem *problem, const float *row, size_t count, uint8_t *samples)
{
    double v[CHUNK];
    for (size_t i = 0; i < count; i++)
        v[i] = (double)row[i] / problem->divisor;
    if (problem->job.absolute)
        for (size_t i = 0; i < count; i++)
            v[i] = fabs(v[i]);
    if (problem->job.scale != 1 || problem->offset != 0)
        for (size_t i = 0; i < count; i++)
            v[i] = problem->job.scale * v[i] + problem->offset;
    for (size_t i = 0; i < count; i++) {
        double value = v[i] > 0 ? v[i] : 0;
        value = value < 255 ? value : 255;
        samples[i] = (uint8_t)(int32_t)((value + 0x1.8p52) - 0x1.8p52);
    }
}

static void store8(const gc_problem *problem, const float *row, size_t count, uint8_t *samples)
{
    if (problem->divisor == 1 && !problem->job.absolute && problem->job.scale == 1 &&
        problem->offset == 0) {
        store_unscaled(row, count, samples);
        return;
    }
    for (size_t first = 0; first < count; first += CHUNK)
        store_chunk(problem, row + first, count - first < CHUNK ? count - first : CHUNK,
                    samples + first);
}

extern const gc_samples_kernel GC_SAMPLES_KERNEL;
const gc_samples_kernel GC_SAMPLES_KERNEL = {load8, load16, store8};
