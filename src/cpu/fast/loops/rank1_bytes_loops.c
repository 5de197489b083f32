/* Sums of one filter of rank 1 from samples of 8 bits to levels (see fast/rank1_bytes.c). This file
 * is compiled once for every instruction set, under the name that GC_RANK1_LOOPS gives the loops.
 *
 * Columns are summed in float32. If the weights of a column are the same on both sides of its
 * middle, the sums of both sides are added first. rank1_bytes_rows.h sums rows,
 * rank1_bytes_vectors.h says how a block of samples lies in vectors. */
#include "cpu/fast/loops/loops.h"
#include "cpu/fast/loops/rank1_bytes_alpha.h"
#include "cpu/fast/loops/rank1_bytes_rows.h"
#include "cpu/fast/loops/rank1_bytes_vectors.h"

#include <math.h>
#include <string.h>

enum { ROWS = GC_RANK1_ROWS, ANY = 0, EVEN = -1 };

/* ---- Columns --------------------------------------------------------------------------------- */

/* TOGETHER vectors of ROWS sums of columns. Each row is loaded once. */
INLINE void sum_columns(const gc_rank1_column *column, const float *const *rows, size_t at,
                        floats sums[ROWS][TOGETHER])
{
    const float *weights = column->weights;
    const int height = column->height;
    UNROLL for (int v = 0; v < TOGETHER; v++) sums[0][v] =
        multiply_add(sums[0][v], load(rows[0] + at + v * LANES), all_of(weights[0]));
    for (int j = 1; j < height; j++) {
        floats upper = all_of(weights[j]), lower = all_of(weights[j - 1]);
        UNROLL for (int v = 0; v < TOGETHER; v++)
        {
            floats x = load_once(rows[j] + at + v * LANES);
            sums[0][v] = multiply_add(sums[0][v], x, upper);
            sums[1][v] = multiply_add(sums[1][v], x, lower);
        }
    }
    UNROLL for (int v = 0; v < TOGETHER; v++) sums[1][v] =
        multiply_add(sums[1][v], load(rows[height] + at + v * LANES), all_of(weights[height - 1]));
}

/* Vectors of rows j and height - j of sums. */
typedef struct ends {
    floats upper[TOGETHER], lower[TOGETHER];
} ends;

INLINE void load_ends(const float *upper, const float *lower, ends *to)
{
    UNROLL for (int v = 0; v < TOGETHER; v++)
    {
        to->upper[v] = load_once(upper + v * LANES);
        to->lower[v] = load_once(lower + v * LANES);
    }
}

/* Adds row j of a column whose weights are even, and the other row of the same weight. The upper
 * row of output takes rows j and height - 1 - j of sums, the lower one j + 1 and height - j. */
INLINE void add_ends(floats sums[ROWS][TOGETHER], floats weight, const ends *before,
                     const ends *after)
{
    UNROLL for (int v = 0; v < TOGETHER; v++)
    {
        sums[0][v] = multiply_add(sums[0][v], add(before->upper[v], after->lower[v]), weight);
        sums[1][v] = multiply_add(sums[1][v], add(after->upper[v], before->lower[v]), weight);
    }
}

INLINE void add_middle(floats sums[ROWS][TOGETHER], floats weight, const ends *middle)
{
    UNROLL for (int v = 0; v < TOGETHER; v++)
    {
        sums[0][v] = multiply_add(sums[0][v], middle->upper[v], weight);
        sums[1][v] = multiply_add(sums[1][v], middle->lower[v], weight);
    }
}

/* TOGETHER vectors of ROWS sums of columns, whose weights are even. Each row is loaded once. */
INLINE void sum_even_columns(const gc_rank1_column *column, const float *const *rows, size_t at,
                             floats sums[ROWS][TOGETHER])
{
    const float *weights = column->weights, *const *lower = rows + column->height;
    const int height = column->height, pairs = height / 2;
    ends even, odd;
    load_ends(rows[0] + at, lower[0] + at, &even);
    for (int j = 0; j + 1 < pairs; j += 2) {
        load_ends(rows[j + 1] + at, lower[-1 - j] + at, &odd);
        add_ends(sums, all_of(weights[j]), &even, &odd);
        load_ends(rows[j + 2] + at, lower[-2 - j] + at, &even);
        add_ends(sums, all_of(weights[j + 1]), &odd, &even);
    }
    if (pairs % 2 != 0) {
        load_ends(rows[pairs] + at, lower[-pairs] + at, &odd);
        add_ends(sums, all_of(weights[pairs - 1]), &even, &odd);
        even = odd;
    }
    if (height % 2 != 0)
        add_middle(sums, all_of(weights[pairs]), &even);
}

/* Sums columns of a small constant height, which is odd. */
INLINE void sum_low_columns(const floats weights[SMALL], const int height, const float *const *rows,
                            size_t at, floats sums[ROWS][TOGETHER])
{
    floats upper[TOGETHER], lower[TOGETHER];
    UNROLL for (int v = 0; v < TOGETHER; v++)
    {
        upper[v] = load(rows[0] + at + v * LANES);
        lower[v] = load(rows[height] + at + v * LANES);
    }
    UNROLL for (int j = 0; j < height / 2; j++) UNROLL for (int v = 0; v < TOGETHER; v++)
    {
        floats below = load_once(rows[j + 1] + at + v * LANES);
        floats above = load_once(rows[height - 1 - j] + at + v * LANES);
        sums[0][v] = multiply_add(sums[0][v], add(upper[v], above), weights[j]);
        sums[1][v] = multiply_add(sums[1][v], add(below, lower[v]), weights[j]);
        upper[v] = below;
        lower[v] = above;
    }
    UNROLL for (int v = 0; v < TOGETHER; v++)
    {
        sums[0][v] = multiply_add(sums[0][v], upper[v], weights[height / 2]);
        sums[1][v] = multiply_add(sums[1][v], lower[v], weights[height / 2]);
    }
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* The place of a row of levels. */
typedef struct place {
    uint8_t *out;
    const uint8_t *ahead; /* requested meanwhile */
    const uint8_t *kept;  /* samples of which some stay in the place of levels, or NULL */
    uint64_t kept_bytes;
    bool streams; /* past the caches, to aligned memory */
} place;

#if defined(__AVX2__) || defined(GC_NEON)

/* Added to a quotient, 256 rounds it to a multiple of 2^-15, as all ties are. It is subtracted from
 * the integer. */
INLINE floats value_of(const gc_rank1_column *column, const gc_rank1_kind kind, const bool absolute,
                       floats sum)
{
    if (absolute)
        sum = multiply_add(all_of(column->start), magnitude(sum), all_of(column->sign));
    if (kind != GC_RANK1_DIVIDED)
        return sum;
    return multiply_add(all_of(256), sum, all_of(column->reciprocal));
}

#endif

#if defined(__AVX2__)

/* Stores a block of levels. */
INLINE void store_levels(integers levels, const place *to, size_t at)
{
#if defined(__AVX512BW__)
    if (to->kept != NULL)
        levels = _mm512_mask_loadu_epi8(levels, to->kept_bytes, to->kept + at);
    if (to->streams) {
        stream_samples(levels, to->out + at);
        return;
    }
#endif
    request(to->ahead + at, false);
    store_samples(levels, to->out + at);
}

/* Packs words, clamped to 0..255. Those of `low` have samples 0 4 1 5 2 6 3 7 of a quarter, those
 * of `high` 8 12 9 13 10 14 11 15. */
INLINE integers pack_turns(integers low, integers high)
{
    const integers places =
        repeat_quarter(_mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
    return VECTOR(shuffle_epi8)(VECTOR(packus_epi16)(low, high), places);
}

/* The levels are the upper words. */
INLINE integers levels_of_fixed(const integers fixed[VECTORS])
{
    return pack_turns(take_words(VECTOR(srli_epi32)(fixed[0], 16), fixed[1]),
                      take_words(VECTOR(srli_epi32)(fixed[2], 16), fixed[3]));
}

/* Subtracting words from `end` with saturation leaves nothing unless they are below. */
INLINE integers left_below(integers words, integers end)
{
    return VECTOR(subs_epu16)(end, words);
}

/* Bits of samples whose values in fixed point have lower words below those of `end`. Vectors are
 * arguments, so that they stay in registers elsewhere. */
static __attribute__((noinline)) uint64_t bits_below(integers a, integers b, integers c, integers d,
                                                     integers end)
{
    integers upper = VECTOR(slli_epi32)(left_below(b, end), 16);
    integers last = VECTOR(slli_epi32)(left_below(d, end), 16);
    return bytes_set(
        pack_turns(take_words(left_below(a, end), upper), take_words(left_below(c, end), last)));
}

/* Bits of samples whose values in fixed point are near a tie. */
INLINE uint64_t near_bits(const integers fixed[VECTORS], uint32_t near)
{
    const integers end = VECTOR(set1_epi32)((int32_t)near);
    integers low = VECTOR(min_epu16)(fixed[0], fixed[1]);
    integers high = VECTOR(min_epu16)(fixed[2], fixed[3]);
    if (__builtin_expect(!has_bits(left_below(VECTOR(min_epu16)(low, high), end)), 1))
        return 0;
    return bits_below(fixed[0], fixed[1], fixed[2], fixed[3], end);
}

INLINE uint64_t finish_block(const gc_rank1_column *column, const gc_rank1_kind kind,
                             const bool absolute, const floats sums[VECTORS], const place *to,
                             size_t at)
{
    integers values[VECTORS];
    UNROLL for (int v = 0; v < VECTORS; v++) values[v] =
        VECTOR(cvtps_epi32)(value_of(column, kind, absolute, sums[v]));
    if (kind == GC_RANK1_FIXED) {
        store_levels(levels_of_fixed(values), to, at);
        return near_bits(values, column->near);
    }
    const integers taken = VECTOR(set1_epi16)(kind == GC_RANK1_DIVIDED ? 256 : 0);
    const integers low = VECTOR(subs_epi16)(VECTOR(packs_epi32)(values[0], values[1]), taken);
    const integers high = VECTOR(subs_epi16)(VECTOR(packs_epi32)(values[2], values[3]), taken);
    store_levels(VECTOR(packus_epi16)(low, high), to, at);
    return 0;
}

/* Half a block of ROWS sums of short columns of a small constant height, which is odd. */
INLINE void sum_short_columns(const integers weights[SMALL], const int height,
                              const float *const *rows, size_t at, integers sums[ROWS])
{
    integers x[SMALL + 1];
    UNROLL for (int j = 0; j <= height; j++) x[j] =
        load_samples((const uint8_t *)((const uint16_t *)(const void *)rows[j] + at));
    UNROLL for (int o = 0; o < ROWS; o++)
    {
        sums[o] = VECTOR(mullo_epi16)(x[o + height / 2], weights[height / 2]);
        UNROLL for (int j = 0; j < height / 2; j++) sums[o] = VECTOR(add_epi16)(
            sums[o],
            VECTOR(mullo_epi16)(VECTOR(add_epi16)(x[o + j], x[o + height - 1 - j]), weights[j]));
    }
}

#elif defined(GC_NEON)

/* Bit i: lane i is near a tie. */
INLINE uint64_t near_bits(uint16x8_t parts, uint16_t near)
{
    const uint16x8_t own = {1, 2, 4, 8, 16, 32, 64, 128};
    return vaddvq_u16(vandq_u16(vcltq_u16(parts, vdupq_n_u16(near)), own));
}

/* Values in fixed point have their levels in the upper halves, and their distance from a tie in the
 * lower ones. */
INLINE uint64_t finish_block(const gc_rank1_column *column, const gc_rank1_kind kind,
                             const bool absolute, const floats sums[VECTORS], const place *to,
                             size_t at)
{
    const uint16_t near = (uint16_t)column->near;
    int16x8_t values[VECTORS], wide[2];
    UNROLL for (int v = 0; v < VECTORS; v++) values[v] =
        vreinterpretq_s16_s32(vcvtnq_s32_f32(value_of(column, kind, absolute, sums[v])));
    UNROLL for (int half = 0; half < 2; half++)
    {
        int16x8_t a = values[2 * half], b = values[2 * half + 1];
        wide[half] = kind == GC_RANK1_FIXED ? vuzp2q_s16(a, b)
                                            : vqmovn_high_s32(vqmovn_s32(vreinterpretq_s32_s16(a)),
                                                              vreinterpretq_s32_s16(b));
        if (kind == GC_RANK1_DIVIDED)
            wide[half] = vqsubq_s16(wide[half], vdupq_n_s16(256));
    }
    uint8x16_t levels = vqmovun_high_s16(vqmovun_s16(wide[0]), wide[1]);
    vst1q_u8(to->out + at, levels);
    if (kind != GC_RANK1_FIXED)
        return 0;
    uint16x8_t low = vreinterpretq_u16_s16(vuzp1q_s16(values[0], values[1]));
    uint16x8_t high = vreinterpretq_u16_s16(vuzp1q_s16(values[2], values[3]));
    if (__builtin_expect(vminvq_u16(vminq_u16(low, high)) >= near, 1))
        return 0;
    return near_bits(low, near) | near_bits(high, near) << 8;
}

#else

INLINE int32_t clamped(int32_t level)
{
    return level < 0 ? 0 : level > UINT8_MAX ? UINT8_MAX : level;
}

/* Adding 1.5 * 2^23 leaves the nearest whole number in the lowest bits. */
INLINE int32_t nearest(float value)
{
    value = value > -1 ? value : -1;
    value = (value < 256 ? value : 256) + 0x1.8p23f;
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits - 0x4b400000;
}

INLINE float value_of(const gc_rank1_column *column, const gc_rank1_kind kind, const bool absolute,
                      float sum)
{
    sum = absolute ? column->start + fabsf(sum) * column->sign : sum;
    return kind == GC_RANK1_DIVIDED ? sum / column->divisor : sum;
}

/* Bits of samples whose values in fixed point are near a tie. */
INLINE uint64_t near_bits(const int32_t fixed[BLOCK], uint32_t near)
{
    uint64_t bits = 0;
    uint32_t any = 0;
    for (int i = 0; i < BLOCK; i++)
        any |= ((uint32_t)fixed[i] & UINT16_MAX) < near;
    for (int i = 0; i < BLOCK && any != 0; i++)
        bits |= (uint64_t)(((uint32_t)fixed[i] & UINT16_MAX) < near) << i;
    return bits;
}

INLINE uint64_t finish_block(const gc_rank1_column *column, const gc_rank1_kind kind,
                             const bool absolute, const floats vectors[VECTORS], const place *to,
                             size_t at)
{
    uint8_t *out = to->out + at;
    float sums[BLOCK];
    int32_t values[BLOCK];
    memcpy(sums, vectors, sizeof sums);
    for (int i = 0; i < BLOCK; i++) {
        float value = value_of(column, kind, absolute, sums[i]);
        values[i] = kind == GC_RANK1_FIXED ? (int32_t)value : nearest(value);
    }
    for (int i = 0; i < BLOCK; i++)
        out[i] = (uint8_t)clamped(kind == GC_RANK1_FIXED ? values[i] >> 16 : values[i]);
    return kind == GC_RANK1_FIXED ? near_bits(values, column->near) : 0;
}

#endif

INLINE place place_of(const gc_rank1_output *output, int row)
{
    return (place){
        .out = output->out[row], .ahead = output->ahead[row], .streams = output->streams};
}

/* Sets bits of values from value `first` on. */
INLINE void mark(gc_rank1_near *near, size_t first, uint64_t bits)
{
    uint64_t word = (uint64_t)1 << first / 64;
    uint64_t before = near->words & word ? near->bits[first / 64] : 0;
    near->bits[first / 64] = before | bits << first % 64;
    near->words |= word;
}

/* A block of one row of output, from value `first` on, stored at `at`. */
INLINE void finish_row(const gc_rank1_column *column, const gc_rank1_kind kind, const bool absolute,
                       const floats sums[VECTORS], size_t first, const place *to, size_t at,
                       gc_rank1_near *near)
{
    uint64_t bits = finish_block(column, kind, absolute, sums, to, at);
    if (kind == GC_RANK1_FIXED && __builtin_expect(bits != 0, 0))
        mark(near, first, bits);
}

/* The last block of rows, if output has no room for a whole one. */
typedef struct incomplete {
    uint8_t out[ROWS][BLOCK];
    uint8_t *to[ROWS];
} incomplete;

/* Has the last block, of `count` values from value `first` on, stored at the start of `last`. */
static __attribute__((noinline)) void begin_last(place to[ROWS], size_t first, size_t count,
                                                 incomplete *last)
{
    for (int o = 0; o < ROWS; o++) {
        last->to[o] = to[o].out + first;
        to[o].out = last->out[o];
        to[o].streams = false;
        to[o].kept_bytes &= ((uint64_t)1 << count) - 1;
        if (to[o].kept != NULL)
            to[o].kept += first;
    }
}

static __attribute__((noinline)) void end_last(const incomplete *last, size_t count)
{
    for (int o = 0; o < ROWS; o++)
        memcpy(last->to[o], last->out[o], count);
}

/* A block of sums of columns. */
INLINE void sum_block(const gc_rank1_column *column, const int height, const floats weights[SMALL],
                      const float *const *rows, size_t first, floats start,
                      floats sums[ROWS][VECTORS])
{
    UNROLL for (int part = 0; part < VECTORS; part += TOGETHER)
    {
        floats of_part[ROWS][TOGETHER];
        const size_t at = first + (size_t)(part * LANES);
        UNROLL for (int v = 0; v < TOGETHER; v++) of_part[0][v] = of_part[1][v] = start;
        if (height > 0)
            sum_low_columns(weights, height, rows, at, of_part);
        else if (height == EVEN)
            sum_even_columns(column, rows, at, of_part);
        else
            sum_columns(column, rows, at, of_part);
        UNROLL for (int v = 0; v < TOGETHER; v++)
        {
            sums[0][part + v] = of_part[0][v];
            sums[1][part + v] = of_part[1][v];
        }
    }
}

#if defined(__AVX2__)

/* As finish_rows. */
INLINE void finish_short(const gc_rank1_column *column, const int height, const float *const *all,
                         size_t count, gc_rank1_output *output)
{
    const short_division by = division_of(&column->by);
    const float *rows[SMALL + 1];
    integers weights[SMALL], sums[2][ROWS];
    place to[ROWS];
    incomplete last;
    UNROLL for (int j = 0; j <= height; j++) rows[j] = all[j];
    UNROLL for (int j = 0; j <= height / 2; j++) weights[j] =
        VECTOR(set1_epi16)((int16_t)column->weights[j]);
    UNROLL for (int o = 0; o < ROWS; o++)
    {
        to[o] = place_of(output, o);
        to[o].kept = output->kept[o];
        to[o].kept_bytes = output->kept_bytes;
    }
    for (size_t first = 0; first < count; first += BLOCK) {
        const bool is_last = count - first < BLOCK;
        if (__builtin_expect(is_last, 0))
            begin_last(to, first, count - first, &last);
        UNROLL for (int half = 0; half < 2; half++) sum_short_columns(
            weights, height, rows, first + (size_t)(half * BLOCK / 2), sums[half]);
        UNROLL for (int o = 0; o < ROWS; o++) store_levels(
            VECTOR(packus_epi16)(divide_short(&by, sums[0][o]), divide_short(&by, sums[1][o])),
            &to[o], is_last ? 0 : first);
    }
    if (count % BLOCK != 0)
        end_last(&last, count % BLOCK);
}

#define FINISH_SHORT(height)                                                                       \
    case height:                                                                                   \
        finish_short(column, height, rows, count, output);                                         \
        break;
static void finish_shorts(const gc_rank1_column *column, const float *const *rows, size_t count,
                          gc_rank1_output *output)
{
    switch (column->height) {
        USUAL(FINISH_SHORT)
    default:
        break;
    }
}

enum { SHORT_SIDE_MAX = SMALL, KEEP_SIDE_MAX = sizeof(integers) == 64 ? 5 : 0 };

#else

enum { SHORT_SIDE_MAX = 0, KEEP_SIDE_MAX = 0 };

static void finish_shorts(const gc_rank1_column *column, const float *const *rows, size_t count,
                          gc_rank1_output *output)
{
    (void)column, (void)rows, (void)count, (void)output;
}

#endif

/* Output may alias whatever is in memory: what blocks have in common is copied to variables. Rows
 * of heights that are constants are among that. */
INLINE void finish_rows(const gc_rank1_column *all, const gc_rank1_kind kind, const bool absolute,
                        const int height, const float *const *rows, size_t count,
                        gc_rank1_output *output)
{
    const gc_rank1_column column = *all;
    const float *low_rows[SMALL + 1];
    floats weights[SMALL];
    place to[ROWS];
    incomplete last;
    UNROLL for (int j = 0; j <= height; j++) low_rows[j] = rows[j];
    UNROLL for (int j = 0; j <= height / 2; j++) weights[j] = all_of(column.weights[j]);
    UNROLL for (int o = 0; o < ROWS; o++) to[o] = place_of(output, o);
    floats start = all_of(absolute ? 0 : column.start);
    for (size_t first = 0; first < count; first += BLOCK) {
        floats sums[ROWS][VECTORS];
        const bool is_last = count - first < BLOCK;
        const floats *factors = weights;
        if (height > HELD + (kind == GC_RANK1_FIXED ? 0 : 2))
            __asm__("" : "+r"(factors)); /* so they are loaded where they are used */
        if (__builtin_expect(is_last, 0))
            begin_last(to, first, count - first, &last);
        sum_block(&column, height, factors, height > 0 ? low_rows : rows, first, start, sums);
        UNROLL for (int o = 0; o < ROWS; o++) finish_row(
            &column, kind, absolute, sums[o], first, &to[o], is_last ? 0 : first, &output->near[o]);
    }
    if (count % BLOCK != 0)
        end_last(&last, count % BLOCK);
}

/* Heights that are usual have code of their own. */
#define FINISH(height)                                                                             \
    case height:                                                                                   \
        finish_rows(column, kind, absolute, height, rows, count, output);                          \
        break;
INLINE void finish_kind(const gc_rank1_column *column, const gc_rank1_kind kind,
                        const bool absolute, const float *const *rows, size_t count,
                        gc_rank1_output *output)
{
    switch (column->is_even ? column->height : ANY) {
        FINISH(ANY)
        USUAL(FINISH)
    default:
        finish_rows(column, kind, absolute, EVEN, rows, count, output);
    }
}

#define FINISH_KIND(kind)                                                                          \
    case kind:                                                                                     \
        if (column->absolute)                                                                      \
            finish_kind(column, kind, true, rows, count, output);                                  \
        else                                                                                       \
            finish_kind(column, kind, false, rows, count, output);                                 \
        break;
static void finish(const gc_rank1_column *column, const float *const *rows, size_t count,
                   gc_rank1_output *output)
{
    switch (column->kind) {
        FINISH_KIND(GC_RANK1_PLAIN)
        FINISH_KIND(GC_RANK1_DIVIDED)
        FINISH_KIND(GC_RANK1_FIXED)
    case GC_RANK1_SHORT:
        finish_shorts(column, rows, count, output);
    }
}

extern const gc_rank1_loops GC_RANK1_LOOPS;
const gc_rank1_loops GC_RANK1_LOOPS = {sum,          finish,         sizeof(integers) == 64,
                                       IS_FUSED,     SHORT_SIDE_MAX, KEEP_SIDE_MAX,
                                       take_colours, put_colours};
