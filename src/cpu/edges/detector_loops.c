/* Plain loops: compilers fill the vectors. */
#include "cpu/edges/loops.h"

#include <math.h>
#include <stdlib.h>

/* ---- Values ---------------------------------------------------------------------------------- */

static void values_of(const double *restrict sums, size_t count, int shift,
                      int32_t *restrict values)
{
    const double unit = ldexp(1, -shift), half = shift > 0 ? 0.5 : 0;
    for (size_t x = 0; x < count; x++)
        values[x] = (int32_t)floor(sums[x] * unit + half);
}

static void whole(const float *restrict sums, size_t count, int32_t *restrict values)
{
    for (size_t x = 0; x < count; x++)
        values[x] = (int32_t)sums[x];
}

/* ---- Gradients ------------------------------------------------------------------------------- */

/* Operators of 3x3: smooth is (outer, middle, outer), slope (-1, 0, 1). */
static inline void gradient3(const int32_t *const *rows, size_t count, int32_t outer,
                             int32_t middle, int32_t *restrict sums, int32_t *restrict differences,
                             int32_t *restrict across, int32_t *restrict down)
{
    const int32_t *above = rows[0] - 1, *own = rows[1] - 1, *below = rows[2] - 1;
    for (size_t x = 0; x < count + 2; x++) {
        sums[x] = outer * (above[x] + below[x]) + middle * own[x];
        differences[x] = below[x] - above[x];
    }
    for (size_t x = 0; x < count; x++) {
        across[x] = sums[x + 2] - sums[x];
        down[x] = outer * (differences[x] + differences[x + 2]) + middle * differences[x + 1];
    }
}

/* The nearest multiple of 16 over 16, ties to even. */
static inline int32_t sixteenth(int32_t sum)
{
    return (sum + 7 + (sum >> 4 & 1)) >> 4;
}

static void gradient_of_side(const gc_detector *d, const int32_t *const *rows, size_t count,
                             int32_t *restrict sums, int32_t *restrict differences,
                             int32_t *restrict across, int32_t *restrict down)
{
    size_t side = (size_t)d->side;
    for (size_t x = 0; x < count + side - 1; x++) {
        sums[x] = differences[x] = 0;
        for (size_t j = 0; j < side; j++) {
            int32_t value = (rows[j] - side / 2)[x];
            sums[x] += d->smooth[j] * value;
            differences[x] += d->slope[j] * value;
        }
    }
    for (size_t x = 0; x < count; x++) {
        int32_t a = 0, b = 0;
        for (size_t i = 0; i < side; i++) {
            a += d->slope[i] * sums[x + i];
            b += d->smooth[i] * differences[x + i];
        }
        across[x] = d->by_16 ? sixteenth(a) : a;
        down[x] = d->by_16 ? sixteenth(b) : b;
    }
}

static void gradient(const gc_detector *d, const int32_t *const *rows, size_t count, int32_t *sums,
                     int32_t *differences, int32_t *across, int32_t *down)
{
    if (d->side != 3)
        gradient_of_side(d, rows, count, sums, differences, across, down);
    else if (d->asked.derivative == GCONV_OPERATOR_SOBEL)
        gradient3(rows, count, 1, 2, sums, differences, across, down);
    else
        gradient3(rows, count, d->smooth[0], d->smooth[1], sums, differences, across, down);
}

/* ---- Magnitudes and peaks -------------------------------------------------------------------- */

#define MAGNITUDE_LOOPS(whole, largest)                                                            \
    static inline void measure_by_norm_##whole(                                                    \
        const gc_detector *d, bool squared, const int32_t *restrict across,                        \
        const int32_t *restrict down, size_t count, whole *restrict magnitudes,                    \
        uint8_t *restrict sectors)                                                                 \
    {                                                                                              \
        const whole lies = d->across, low = d->tangent, high = d->tangent + 2 * d->across;         \
        for (size_t x = 0; x < count; x++) {                                                       \
            whole a = abs(across[x]), b = abs(down[x]);                                            \
            magnitudes[x] = squared ? a * a + b * b : a + b;                                       \
            uint8_t sector = (across[x] ^ down[x]) < 0 ? 3 : 2;                                    \
            sector = b * lies > a * high ? 1 : sector;                                             \
            sectors[x] = b * lies < a * low ? 0 : sector;                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void measure_##whole(const gc_detector *d, const int32_t *across, const int32_t *down,  \
                                size_t count, void *magnitudes, uint8_t *sectors)                  \
    {                                                                                              \
        if (d->asked.norm == GCONV_NORM_L2)                                                        \
            measure_by_norm_##whole(d, true, across, down, count, magnitudes, sectors);            \
        else                                                                                       \
            measure_by_norm_##whole(d, false, across, down, count, magnitudes, sectors);           \
    }                                                                                              \
                                                                                                   \
    static void pass_##whole(const gc_detector *d, const void *magnitudes, size_t count,           \
                             uint8_t *restrict flags)                                              \
    {                                                                                              \
        const whole *restrict own = magnitudes;                                                    \
        const whole low = (whole)(d->low < largest ? d->low : largest);                            \
        for (size_t x = 0; x < count; x++)                                                         \
            flags[x] = own[x] > low;                                                               \
    }                                                                                              \
                                                                                                   \
    static void peaks_##whole(const gc_detector *d, const void *const *magnitudes,                 \
                              const uint8_t *restrict sectors, size_t count,                       \
                              uint8_t *restrict weak, uint8_t *restrict strong)                    \
    {                                                                                              \
        const whole *restrict above = magnitudes[0], *restrict own = magnitudes[1];                \
        const whole *restrict below = magnitudes[2];                                               \
        const whole low = (whole)(d->low < largest ? d->low : largest);                            \
        const whole high = (whole)(d->high < largest ? d->high : largest);                         \
        const uint8_t strict = d->asked.like == GCONV_LIKE_OPENCV ? 2 : 4;                         \
        for (size_t x = 0; x < count; x++) {                                                       \
            const uint8_t s = sectors[x];                                                          \
            whole left_above = (above - 1)[x], right_above = (above + 1)[x];                       \
            whole left_below = (below - 1)[x], right_below = (below + 1)[x];                       \
            whole left = (own - 1)[x], right = (own + 1)[x], over = above[x], under = below[x];    \
            whole before = s == 2 ? left_above : right_above;                                      \
            whole after = s == 2 ? right_below : left_below;                                       \
            before = s == 1 ? over : s == 0 ? left : before;                                       \
            after = s == 1 ? under : s == 0 ? right : after;                                       \
            uint8_t peak = (own[x] > low) & (own[x] > before) & (own[x] >= after + (s >= strict)); \
            weak[x] = peak;                                                                        \
            strong[x] = peak & (own[x] > high);                                                    \
        }                                                                                          \
    }

MAGNITUDE_LOOPS(int32_t, INT32_MAX)
MAGNITUDE_LOOPS(int64_t, INT64_MAX)

/* ---- Zero crossings -------------------------------------------------------------------------- */

static inline uint8_t are_opposite(int32_t a, int32_t b)
{
    return (uint8_t)((a < 0) & (b > 0)) | (uint8_t)((a > 0) & (b < 0));
}

/* See cpu/edges/reference.c. */
static inline uint8_t crosses(int32_t before, int32_t own, int32_t after, int32_t low, int32_t high)
{
    uint8_t at = (own == 0) & are_opposite(before, after) & (abs(before - after) > high);
    uint8_t behind =
        are_opposite(before, own) & (abs(own - before) > low) & (abs(own) < abs(before));
    uint8_t ahead = are_opposite(own, after) & (abs(own - after) > low) & (abs(own) <= abs(after));
    return at | behind | ahead;
}

static void crossings(const gc_detector *d, const int32_t *const *rows, size_t count,
                      uint8_t *restrict flags)
{
    const int32_t *restrict above = rows[0], *restrict own = rows[1], *restrict below = rows[2];
    int32_t low = d->low < INT32_MAX ? (int32_t)d->low : INT32_MAX;
    int32_t high = d->high < INT32_MAX ? (int32_t)d->high : INT32_MAX;
    for (size_t x = 0; x < count; x++)
        flags[x] = crosses((own - 1)[x], own[x], (own + 1)[x], low, high) |
                   crosses(above[x], own[x], below[x], low, high);
}

const gc_detector_loops GC_DETECTOR_LOOPS = {
    .values = values_of,
    .whole = whole,
    .gradient = gradient,
    .magnitudes = {{measure_int32_t, pass_int32_t, peaks_int32_t},
                   {measure_int64_t, pass_int64_t, peaks_int64_t}},
    .crossings = crossings,
};
