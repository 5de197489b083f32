/* Sums of taps times samples, compiled once for every instruction set (see cmake/CpuLoops.cmake)
 * under the name that GC_TAPS_LOOPS gives them. If a processor multiplies bytes, they are compiled
 * once more on samples of 8 bits, under the name GC_BYTES_LOOPS.
 *
 * Idea: a block of GC_ROWS_TOGETHER x VECTORS sums stays in registers while the taps go by. Each
 * vector of samples that is loaded is multiplied by one tap for each row of the block, so one load
 * serves six multiply-adds. Each tap that is loaded serves VECTORS of them. Without the block,
 * loads take longer than the arithmetic: they are unaligned and cross cache lines. The compiler's
 * vector types give the same code for every instruction set.
 *
 * With bytes, a lane holds four neighbouring samples, and one instruction multiplies them by four
 * taps. Lane i of vector v is then output 4 i + v of the block. */
#include "cpu/instructions/instructions.h"
#include "cpu/unroll.h"

#include <stddef.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Sums, one row of samples and a tap fill the registers: 24 + 4 + 1 of 32, or 12 + 2 + 1 of 16. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, VECTORS = 4 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, VECTORS = 2 };
#elif defined(__aarch64__)
enum { VECTOR_BYTES = 16, VECTORS = 4 };
#else
enum { VECTOR_BYTES = 16, VECTORS = 2 };
#endif

#if defined(GC_BYTES_LOOPS)
typedef gc_byte_step filter;
typedef uint8_t sample;
typedef int32_t factor;
enum { SPACING = 1 };
#else
typedef gc_step filter;
typedef float sample;
typedef float factor;
enum { SPACING = VECTOR_BYTES / sizeof(float) };
#endif

typedef factor vector __attribute__((vector_size(VECTOR_BYTES)));
/* A vector of factors in memory, whose samples and results are not aligned. */
typedef factor unaligned_vector
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(sample)), may_alias));
typedef float float_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef float unaligned_float_vector
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(float)), may_alias));

enum { LANES = VECTOR_BYTES / sizeof(float), BLOCK = VECTORS * LANES, ROWS = GC_ROWS_TOGETHER };
/* Samples that a block reads at each tap: of bytes, vector v begins v samples after the first. */
enum { BLOCK_SAMPLES = (VECTORS - 1) * SPACING + VECTOR_BYTES / sizeof(sample) };
_Static_assert(BLOCK_SAMPLES <= GC_ROW_SLACK * sizeof(float) / sizeof(sample),
               "a row's last block runs over");

INLINE void load(vector x[VECTORS], const sample *samples)
{
    UNROLL for (int v = 0; v < VECTORS; v++) x[v] =
        *(const unaligned_vector *)(samples + v * SPACING);
}

#if defined(GC_BYTES_LOOPS)
INLINE vector multiply_add(vector sum, vector x, factor tap)
{
    return (vector)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, _mm512_set1_epi32(tap));
}

/* Vector v of a block, in the order of its outputs. Within each quarter of the four vectors, 4 x 4
 * lanes are transposed. Then quarter v of each transposed vector is gathered. */
INLINE float_vector result(const vector sums[VECTORS], int v)
{
    __m512i low01 = _mm512_unpacklo_epi32((__m512i)sums[0], (__m512i)sums[1]);
    __m512i low23 = _mm512_unpacklo_epi32((__m512i)sums[2], (__m512i)sums[3]);
    __m512i high01 = _mm512_unpackhi_epi32((__m512i)sums[0], (__m512i)sums[1]);
    __m512i high23 = _mm512_unpackhi_epi32((__m512i)sums[2], (__m512i)sums[3]);
    __m512i first = _mm512_unpacklo_epi64(low01, low23);
    __m512i second = _mm512_unpackhi_epi64(low01, low23);
    __m512i third = _mm512_unpacklo_epi64(high01, high23);
    __m512i fourth = _mm512_unpackhi_epi64(high01, high23);
    __m512i front = v < 2 ? _mm512_shuffle_i32x4(first, second, 0x44)
                          : _mm512_shuffle_i32x4(first, second, 0xee);
    __m512i back = v < 2 ? _mm512_shuffle_i32x4(third, fourth, 0x44)
                         : _mm512_shuffle_i32x4(third, fourth, 0xee);
    return (float_vector)_mm512_cvtepi32_ps(v % 2 == 0 ? _mm512_shuffle_i32x4(front, back, 0x88)
                                                       : _mm512_shuffle_i32x4(front, back, 0xdd));
}
#else
INLINE vector multiply_add(vector sum, vector x, factor tap)
{
    return sum + tap * x;
}

INLINE float_vector result(const vector sums[VECTORS], int v)
{
    return sums[v];
}
#endif

/* What one input row adds to the sums of output rows `from` to `to`. Output row `o` meets it in the
 * filter row that lies o rows before `taps`. */
INLINE void add_row(vector sums[ROWS][VECTORS], const sample *samples, const factor *taps,
                    ptrdiff_t width, size_t advance, const int from, const int to)
{
    for (ptrdiff_t k = 0; k < width; k++, samples += advance, taps++) {
        vector x[VECTORS];
        load(x, samples);
        UNROLL for (int o = from; o <= to; o++)
        {
            factor tap = taps[-o * width];
            UNROLL for (int v = 0; v < VECTORS; v++) sums[o][v] =
                multiply_add(sums[o][v], x[v], tap);
        }
    }
}

/* Cache lines are requested this many values before they are stored to, so that results do not wait
 * for memory: worth 8 % of the time of a 3x3 filter. */
enum { STORE_AHEAD = 256 };

INLINE void store(const vector sums[VECTORS], float *out)
{
    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        __builtin_prefetch(out + STORE_AHEAD + v * LANES, 1);
        *(unaligned_float_vector *)(out + v * LANES) = result(sums, v);
    }
}

/* Stores the first `count` values, fewer than BLOCK, of the sums of `row_count` rows. */
INLINE void store_part(const vector sums[][VECTORS], int row_count, size_t count, size_t first,
                       float *const *out)
{
    float block[ROWS][BLOCK];
    UNROLL for (int o = 0; o < ROWS; o++)
            UNROLL for (int v = 0; v < VECTORS && o < row_count; v++) *
        (unaligned_float_vector *)(block[o] + v * LANES) = result(sums[o], v);
    for (int o = 0; o < row_count; o++)
        memcpy(out[o] + first, block[o], count * sizeof(float));
}

/* A filter of `height` rows, a constant below ROWS: every input row has its own set of output
 * rows. */
INLINE void add_low(vector sums[ROWS][VECTORS], const factor *taps, ptrdiff_t width,
                    const int height, const sample *const *rows, size_t advance, size_t first)
{
    UNROLL for (int r = 0; r < ROWS + height - 1; r++)
        add_row(sums, rows[r] + first, taps + r * width, width, advance,
                r < height ? 0 : r - height + 1, r < ROWS ? r : ROWS - 1);
}

/* A filter of at least ROWS - 1 rows: every input row but the first and last ones serves all output
 * rows. */
INLINE void add_high(vector sums[ROWS][VECTORS], const factor *taps, ptrdiff_t width, int height,
                     const sample *const *rows, size_t advance, size_t first)
{
    UNROLL for (int r = 0; r < ROWS - 1; r++)
        add_row(sums, rows[r] + first, taps + r * width, width, advance, 0, r);
    for (int r = ROWS - 1; r < height; r++)
        add_row(sums, rows[r] + first, taps + r * width, width, advance, 0, ROWS - 1);
    UNROLL for (int e = 1; e < ROWS; e++)
        add_row(sums, rows[height - 1 + e] + first, taps + (height - 1 + e) * width, width, advance,
                e, ROWS - 1);
}

INLINE void store_rows(const vector sums[ROWS][VECTORS], size_t count, int row_count, size_t first,
                       float *const *out)
{
    if (count - first < BLOCK)
        store_part(sums, row_count, count - first, first, out);
    else
        UNROLL for (int o = 0; o < ROWS; o++) if (o < row_count) store(sums[o], out[o] + first);
}

/* From value `first` on. `height` is the filter's height, as a constant, if that is less than
 * ROWS - 1. Otherwise it is 0, and step->height is used. */
INLINE void every_rows(const filter *step, const int height, const sample *const *rows,
                       size_t advance, size_t first, size_t count, int row_count, float *const *out)
{
    for (; first < count; first += BLOCK) {
        vector sums[ROWS][VECTORS] = {0};
        if (height > 0)
            add_low(sums, step->taps, step->width, height, rows, advance, first);
        else
            add_high(sums, step->taps, step->width, step->height, rows, advance, first);
        store_rows(sums, count, row_count, first, out);
    }
}

#define EVERY(height)                                                                              \
    case height:                                                                                   \
        every_rows(step, height, rows, advance, first, count, row_count, out);                     \
        break;
static void every_from(const filter *step, const sample *const *rows, size_t advance, size_t first,
                       size_t count, int row_count, float *const *out)
{
    switch (step->height) {
        EVERY(1)
        EVERY(2)
        EVERY(3)
        EVERY(4)
    default:
        every_rows(step, 0, rows, advance, first, count, row_count, out);
    }
}

/* The last block may compute values again that the one before it has. */
static void every(const filter *step, const sample *const *rows, size_t advance, size_t count,
                  int row_count, float *const *out)
{
    size_t whole = count < BLOCK ? count : count - count % BLOCK;
    every_from(step, rows, advance, 0, whole, row_count, out);
    if (whole < count)
        every_from(step, rows, advance, count - BLOCK, count, row_count, out);
}

#if defined(GC_BYTES_LOOPS)

const gc_bytes_loops GC_BYTES_LOOPS = {every};

#else

/* Output rows that share no input row: each has `height` of its own. */
INLINE void add_apart(vector sums[ROWS][VECTORS], const float *taps, ptrdiff_t width, int height,
                      const float *const *rows, size_t channels, size_t first)
{
    UNROLL for (int o = 0; o < ROWS; o++) for (int j = 0; j < height; j++)
        add_row(sums, rows[o * height + j] + first, taps + (j + o) * width, width, channels, o, o);
}

static void apart(const gc_step *step, const float *const *rows, size_t channels, size_t count,
                  int row_count, float *const *out)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        vector sums[ROWS][VECTORS] = {0};
        add_apart(sums, step->taps, step->width, step->height, rows, channels, first);
        store_rows(sums, count, row_count, first, out);
    }
}

static void sparse_row(const gc_step *step, const float *const *rows, size_t channels, size_t count,
                       float *out)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        vector sums[VECTORS] = {0};
        const float *tap = step->taps;
        for (int j = 0; j < step->height; j++) {
            const float *samples = rows[j] + first;
            for (int k = 0; k < step->width; k++, tap++, samples += channels) {
                if (*tap == 0)
                    continue;
                vector x[VECTORS];
                load(x, samples);
                UNROLL for (int v = 0; v < VECTORS; v++) sums[v] += *tap * x[v];
            }
        }
        if (count - first < BLOCK)
            store_part(&sums, 1, count - first, first, &out);
        else
            store(sums, out + first);
    }
}

static void sparse(const gc_step *step, const float *const *rows, size_t channels, size_t count,
                   int row_count, float *const *out)
{
    for (int o = 0; o < row_count; o++)
        sparse_row(step, rows + o, channels, count, out[o]);
}

/* As many sums as a block has, in registers alone. */
static float spin(size_t rounds, float tap)
{
    enum { SUMS = ROWS * VECTORS };
    vector sums[SUMS];
    float all = 0;
    for (int i = 0; i < SUMS; i++)
        sums[i] = (vector){0} + (float)i;
    for (size_t r = 0; r < rounds; r++)
        UNROLL for (int i = 0; i < SUMS; i++) sums[i] = sums[i] * tap + tap;
    for (int i = 0; i < SUMS; i++)
        for (int lane = 0; lane < LANES; lane++)
            all += sums[i][lane];
    return all;
}

/* ---- Sums in double -------------------------------------------------------------------------- */

typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef double unaligned_doubles
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(double)), may_alias));
enum { DOUBLE_LANES = VECTOR_BYTES / sizeof(double) };

/* Output rows that are summed together, and vectors of each: together they fill the registers. A
 * single row has as many. */
enum { DOUBLE_ROWS = 4, DOUBLE_VECTORS = VECTOR_BYTES == 64 ? 6 : 3, ALONE_VECTORS = 8 };
_Static_assert(ALONE_VECTORS *DOUBLE_LANES <= (int)GC_DOUBLE_SLACK, "a row's last block runs over");

/* Keeps a vector in a register. Compilers would load it again for each row that takes it, and most
 * of these loads touch two cache lines. */
#if defined(__AVX2__)
#define KEEP(vector) __asm__("" : "+v"(vector))
#else
#define KEEP(vector)
#endif

INLINE doubles doubles_at(const double *x, int v)
{
    return *(const unaligned_doubles *)(x + v * DOUBLE_LANES);
}

/* What one input row adds to output rows `from` to `to`, as in add_row. If taps are `even`, the
 * samples of both sides are added first. */
INLINE void add_doubles(doubles sums[][ALONE_VECTORS], const double *x, const double *tap,
                        ptrdiff_t width, size_t advance, const bool even, const int vectors,
                        const int from, const int to)
{
    for (ptrdiff_t k = 0, other = width - 1; k < (even ? (width + 1) / 2 : width);
         k++, other--, tap++) {
        const double *left = x + (size_t)k * advance, *right = x + (size_t)other * advance;
        doubles samples[ALONE_VECTORS];
        UNROLL for (int v = 0; v < vectors; v++) samples[v] = doubles_at(left, v);
        if (even && k < other)
            UNROLL for (int v = 0; v < vectors; v++) samples[v] += doubles_at(right, v);
        if (to > from)
            UNROLL for (int v = 0; v < vectors; v++) KEEP(samples[v]);
        UNROLL for (int o = from; o <= to; o++)
        {
            double weight = tap[-o * width];
            UNROLL for (int v = 0; v < vectors; v++) sums[o][v] += weight * samples[v];
        }
    }
}

/* `count` rows of output, of a filter of at least count - 1 rows. */
INLINE void sum_doubles(const gc_double_taps *taps, const double *rows, size_t stride,
                        size_t values, const bool even, const int count, const int vectors,
                        double *out, size_t out_stride)
{
    const ptrdiff_t width = taps->width;
    const double *tap = taps->taps;
    for (size_t first = 0; first < values; first += (size_t)(vectors * DOUBLE_LANES)) {
        doubles sums[DOUBLE_ROWS][ALONE_VECTORS] = {0};
        const double *x = rows + first;
        UNROLL for (int r = 0; r < count - 1; r++)
            add_doubles(sums, x + (size_t)r * stride, tap + r * width, width, taps->advance, even,
                        vectors, 0, r);
        for (int r = count - 1; r < taps->height; r++)
            add_doubles(sums, x + (size_t)r * stride, tap + r * width, width, taps->advance, even,
                        vectors, 0, count - 1);
        UNROLL for (int e = 1; e < count; e++) add_doubles(
            sums, x + (size_t)(taps->height - 1 + e) * stride, tap + (taps->height - 1 + e) * width,
            width, taps->advance, even, vectors, e, count - 1);
        UNROLL for (int o = 0; o < count; o++) UNROLL for (int v = 0; v < vectors; v++) *
            (unaligned_doubles *)(out + (size_t)o * out_stride + first +
                                  (size_t)(v * DOUBLE_LANES)) = sums[o][v];
    }
}

static bool are_even(const gc_double_taps *taps)
{
    bool even = taps->width > 1;
    for (int j = 0; j < taps->height; j++)
        for (int k = 0; k < taps->width / 2; k++)
            even = even &&
                   taps->taps[j * taps->width + k] == taps->taps[(j + 1) * taps->width - 1 - k];
    return even;
}

INLINE void sum_rows(const gc_double_taps *taps, const double *rows, size_t stride,
                     size_t row_count, size_t count, const bool even, double *out,
                     size_t out_stride)
{
    size_t y = 0;
    for (; taps->height >= DOUBLE_ROWS - 1 && y + DOUBLE_ROWS <= row_count; y += DOUBLE_ROWS)
        sum_doubles(taps, rows + y * stride, stride, count, even, DOUBLE_ROWS, DOUBLE_VECTORS,
                    out + y * out_stride, out_stride);
    for (; y < row_count; y++)
        sum_doubles(taps, rows + y * stride, stride, count, even, 1, ALONE_VECTORS,
                    out + y * out_stride, out_stride);
}

static void in_double(const gc_double_taps *taps, const double *rows, size_t stride,
                      size_t row_count, size_t count, double *out, size_t out_stride)
{
    if (are_even(taps))
        sum_rows(taps, rows, stride, row_count, count, true, out, out_stride);
    else
        sum_rows(taps, rows, stride, row_count, count, false, out, out_stride);
}

/* As many samples as doubles in a vector. Compilers convert them one by one, if left to it. */
INLINE doubles widened(const uint8_t *samples)
{
#if defined(__AVX512F__)
    return _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)samples)));
#elif defined(__AVX2__)
    return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_loadu_si32(samples)));
#else
    return (doubles){samples[0], samples[1]};
#endif
}

enum { DOT_ROWS = 4 };

INLINE doubles samples_at(const void *row, int i, const bool bytes)
{
    if (bytes)
        return widened((const uint8_t *)row + i);
    return *(const unaligned_doubles *)((const double *)row + i);
}

/* Each row has a sum of its own: they do not wait for each other. */
INLINE void add_rows(doubles sums[DOT_ROWS], const double *taps, int width, const void *const *rows,
                     const bool bytes, const int count)
{
    for (int i = 0; i < width; i += DOUBLE_LANES)
        UNROLL for (int r = 0; r < count; r++) sums[r] +=
            *(const unaligned_doubles *)(taps + r * width + i) * samples_at(rows[r], i, bytes);
}

INLINE double dot_of(const gc_double_taps *taps, const void *const *rows, const bool bytes)
{
    doubles sums[DOT_ROWS] = {0};
    int width = taps->width, j = 0;
    for (; j + DOT_ROWS <= taps->height; j += DOT_ROWS)
        add_rows(sums, taps->taps + j * width, width, rows + j, bytes, DOT_ROWS);
    for (; j < taps->height; j++)
        add_rows(sums, taps->taps + j * width, width, rows + j, bytes, 1);
    double sum = 0;
    sums[0] += sums[1] + sums[2] + sums[3];
    for (int i = 0; i < DOUBLE_LANES; i++)
        sum += sums[0][i];
    return sum;
}

static double dot(const gc_double_taps *taps, const void *const *rows, bool bytes)
{
    return bytes ? dot_of(taps, rows, true) : dot_of(taps, rows, false);
}

static void widen(const void *samples, int depth, size_t count, double *restrict to)
{
    const uint8_t *bytes = samples;
    const uint16_t *words = samples;
    if (depth == 8)
        for (size_t i = 0; i < count; i++)
            to[i] = bytes[i];
    else
        for (size_t i = 0; i < count; i++)
            to[i] = words[i];
}

/* Negative if the level is doubtful: in vectors, signs are found faster than by comparisons. Sample
 * and sign come from the same level, whether or not its product and sum are fused. Adding 1.5 *
 * 2^52 rounds to a whole number. */
INLINE int64_t round_level(const gc_double_levels *levels, double near, double sum,
                           uint16_t *rounded)
{
    double v = levels->factor * (levels->absolute ? __builtin_fabs(sum) : sum) + levels->offset;
    v = v > 0 ? v : 0;
    v = v < levels->largest ? v : levels->largest;
    double nearest = (v + 0x1.8p52) - 0x1.8p52, left = near - __builtin_fabs(v - nearest);
    int64_t bits;
    memcpy(&bits, &left, sizeof bits);
    *rounded = (uint16_t)(int32_t)nearest;
    return bits;
}

static void round_sums(const gc_double_levels *given, const double *sums, size_t count,
                       uint16_t *restrict samples, uint64_t *doubtful)
{
    const gc_double_levels levels = *given;
    const double near = 0.5 - levels.error;
    for (; count > 0; doubtful++) {
        const size_t part = count < 64 ? count : 64;
        int64_t any = 0;
        for (size_t i = 0; i < part; i++)
            any |= round_level(&levels, near, sums[i], &samples[i]);
        *doubtful = 0;
        for (size_t i = 0; i < part && any < 0; i++)
            *doubtful |= (uint64_t)(round_level(&levels, near, sums[i], &samples[i]) < 0) << i;
        sums += part;
        samples += part;
        count -= part;
    }
}

/* ---- Values near a boundary ------------------------------------------------------------------ */

INLINE uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The highest bit of the result says that the value is above `high`, that of *below that it is
 * below `low`: signs of differences, found faster in vectors than by comparisons. */
INLINE uint32_t find_side(const gc_boundary *boundary, float value, uint32_t *below)
{
    value = boundary->absolute ? __builtin_fabsf(value) : value;
    *below = bits_of(value - boundary->low);
    return bits_of(boundary->high - value);
}

INLINE void find_sides_of(const gc_boundary boundary, const float *values, size_t count,
                          uint8_t *restrict flags, uint64_t *doubtful)
{
    for (; count > 0; doubtful++) {
        const size_t part = count < 64 ? count : 64;
        uint32_t sure = UINT32_MAX, below;
        for (size_t i = 0; i < part; i++) {
            uint32_t above = find_side(&boundary, values[i], &below);
            flags[i] = (uint8_t)(above >> 31) ^ boundary.falls;
            sure &= above | below;
        }
        *doubtful = 0;
        for (size_t i = 0; i < part && sure >> 31 == 0; i++)
            *doubtful |= (uint64_t)(~(find_side(&boundary, values[i], &below) | below) >> 31) << i;
        values += part;
        flags += part;
        count -= part;
    }
}

static void find_sides(const float *values, size_t count, const gc_boundary *boundary,
                       uint8_t *flags, uint64_t *doubtful)
{
    gc_boundary known = *boundary;
    known.absolute = true;
    if (boundary->absolute)
        find_sides_of(known, values, count, flags, doubtful);
    else
        find_sides_of(*boundary, values, count, flags, doubtful);
}

const gc_taps_loops GC_TAPS_LOOPS = {
    every, sparse, apart, spin, ROWS *BLOCK, BLOCK, widen, in_double, round_sums, dot, find_sides,
};

#endif
