/* Sums of one filter of rank 1 from samples of 8 bits to levels (see pass/rank1_bytes.c). This file
 * is compiled once for every instruction set, under the name that GC_RANK1_LOOPS gives the loops.
 *
 * Rows are summed in integers, two products to a lane. If the weights of a row are the same on both
 * sides of its middle, the samples of both sides are added first (`folds`). Half of the products
 * are left. Columns are summed in float32, folded in the same way. rank1_bytes_vectors.h says how a
 * block of samples lies in vectors. */
#include "cpu/instructions/instructions.h"
#include "cpu/instructions/rank1_bytes_vectors.h"

#include <math.h>
#include <string.h>

enum { ROWS = GC_RANK1_ROWS, LOW = 7, NARROW = 7 };

/* ---- Rows ------------------------------------------------------------------------------------ */

#if defined(__AVX2__)

/* Four vectors of sums of a row: by taps, and by what fine taps add to these. */
typedef struct row_sums {
    integers coarse[VECTORS], fine[VECTORS];
} row_sums;

INLINE row_sums no_row_sums(void)
{
    row_sums sums;
    UNROLL for (int v = 0; v < VECTORS; v++) sums.coarse[v] = sums.fine[v] = no_sums();
    return sums;
}

/* Adds one pair of taps: the lower one times `a`, the upper one times `b`. */
INLINE void add_pairs(row_sums *sums, const bool is_fine, const integers a[2], const integers b[2],
                      int32_t taps, int32_t fine_taps)
{
    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        integers pairs = v % 2 == 0 ? VECTOR(unpacklo_epi16)(a[v / 2], b[v / 2])
                                    : VECTOR(unpackhi_epi16)(a[v / 2], b[v / 2]);
        sums->coarse[v] = add_products(sums->coarse[v], pairs, taps);
        if (is_fine)
            sums->fine[v] = add_products(sums->fine[v], pairs, fine_taps);
    }
}

/* Samples of two places, each times its factor. */
INLINE void fold(const uint8_t *samples, const gc_rank1_fold *places, integers folded[2])
{
    integers a = load_samples(samples + places->first), b = load_samples(samples + places->second);
    integers factors = VECTOR(set1_epi16)(places->factors);
    folded[0] = VECTOR(maddubs_epi16)(VECTOR(unpacklo_epi8)(a, b), factors);
    folded[1] = VECTOR(maddubs_epi16)(VECTOR(unpackhi_epi8)(a, b), factors);
}

/* Samples of one place. */
INLINE void widen(const uint8_t *samples, integers wide[2])
{
    integers x = load_samples(samples);
    wide[0] = VECTOR(unpacklo_epi8)(x, no_sums());
    wide[1] = VECTOR(unpackhi_epi8)(x, no_sums());
}

INLINE void store_sums(const row_sums *sums, const bool is_fine, float *to)
{
    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        integers all = sums->coarse[v];
        if (is_fine)
            all = VECTOR(add_epi32)(VECTOR(slli_epi32)(all, GC_RANK1_FINE_BITS), sums->fine[v]);
        store(VECTOR(cvtepi32_ps)(all), to + v * LANES);
    }
}

/* Term t of a row of `width` that is folded: two samples, the one in the middle, or nothing. */
INLINE void load_term(const uint8_t *samples, const gc_rank1_fold *places, const int width,
                      const int t, integers term[2])
{
    if (2 * t + 1 < width)
        fold(samples, &places[t], term);
    else if (2 * t + 1 == width)
        widen(samples + places[t].first, term);
    else
        term[0] = term[1] = no_sums();
}

/* A row of a small constant width that is folded. Sums may alias whatever is in memory: places and
 * taps are copied to variables. */
INLINE void sum_narrow(const gc_rank1_row *row, const int width, const bool is_fine,
                       const uint8_t *samples, size_t count, float *to)
{
    gc_rank1_fold places[NARROW];
    int32_t taps[NARROW] = {0}, fine_taps[NARROW] = {0};
    UNROLL for (int t = 0; t < (width + 1) / 2; t++) places[t] = row->folds[t];
    UNROLL for (int p = 0; p < (width + 3) / 4; p++)
    {
        taps[p] = row->taps[p];
        fine_taps[p] = row->fine_taps[p];
    }
    for (size_t first = 0; first < count; first += BLOCK) {
        row_sums sums = no_row_sums();
        integers a[2], b[2];
        UNROLL for (int p = 0; p < (width + 3) / 4; p++)
        {
            load_term(samples + first, places, width, 2 * p, a);
            load_term(samples + first, places, width, 2 * p + 1, b);
            add_pairs(&sums, is_fine, a, b, taps[p], fine_taps[p]);
        }
        store_sums(&sums, is_fine, to + first);
    }
}

/* Any row. */
INLINE void sum_row(const gc_rank1_row *row, const bool is_folded, const bool is_fine,
                    const uint8_t *samples, size_t count, float *to)
{
    for (size_t first = 0; first < count; first += BLOCK, samples += BLOCK) {
        const gc_rank1_fold *places = row->folds;
        row_sums sums = no_row_sums();
        integers a[2], b[2];
        for (int p = 0; p < row->pair_count; p++, places += 2) {
            if (is_folded) {
                fold(samples, &places[0], a);
                fold(samples, &places[1], b);
            } else {
                widen(samples + places[0].first, a);
                widen(samples + places[1].first, b);
            }
            add_pairs(&sums, is_fine, a, b, row->taps[p], row->fine_taps[p]);
        }
        store_sums(&sums, is_fine, to + first);
    }
}

INLINE void sum_kind(const gc_rank1_row *row, const bool is_fine, const uint8_t *samples,
                     size_t count, float *sums)
{
    switch (row->is_folded ? row->width : 0) {
    case 0:
        sum_row(row, false, is_fine, samples, count, sums);
        break;
    case 3:
        sum_narrow(row, 3, is_fine, samples, count, sums);
        break;
    case 5:
        sum_narrow(row, 5, is_fine, samples, count, sums);
        break;
    case 7:
        sum_narrow(row, 7, is_fine, samples, count, sums);
        break;
    default:
        sum_row(row, true, is_fine, samples, count, sums);
        break;
    }
}

static void sum(const gc_rank1_row *row, const uint8_t *samples, size_t count, float *scratch,
                float *sums)
{
    (void)scratch;
    if (row->is_fine)
        sum_kind(row, true, samples, count, sums);
    else
        sum_kind(row, false, samples, count, sums);
}

#else

static void sum(const gc_rank1_row *row, const uint8_t *samples, size_t count, float *scratch,
                float *sums)
{
    int32_t *wide = (int32_t *)(void *)scratch;
    size_t last = row->advance * (size_t)(row->width - 1);
    for (size_t i = 0; i < count + last + BLOCK; i++)
        wide[i] = samples[i];
    for (size_t first = 0; first < count; first += BLOCK) {
        int32_t block[BLOCK] = {0};
        for (int k = 0; k < row->width; k++) {
            const int32_t *from = wide + first + (size_t)k * row->advance;
            int32_t weight = (int32_t)row->weights[k];
            for (int i = 0; i < BLOCK; i++)
                block[i] += weight * from[i];
        }
        for (int i = 0; i < BLOCK; i++)
            sums[first + (size_t)i] = (float)block[i];
    }
}

#endif

/* ---- Columns --------------------------------------------------------------------------------- */

/* A vector of ROWS sums of columns. Each row is loaded once. */
INLINE void sum_columns(const gc_rank1_column *column, const float *const *rows, size_t at,
                        floats sums[ROWS])
{
    const float *weights = column->weights;
    int height = column->height;
    sums[0] = multiply_add(sums[0], load(rows[0] + at), all_of(weights[0]));
    for (int j = 1; j < height; j++) {
        floats x = load_once(rows[j] + at);
        sums[0] = multiply_add(sums[0], x, all_of(weights[j]));
        sums[1] = multiply_add(sums[1], x, all_of(weights[j - 1]));
    }
    sums[1] = multiply_add(sums[1], load(rows[height] + at), all_of(weights[height - 1]));
}

/* A vector of ROWS sums of columns, of a small height whose weights are even. Each row is loaded
 * once. */
INLINE void sum_low_columns(const floats weights[LOW], const int height, const float *const *rows,
                            size_t at, floats sums[ROWS])
{
    floats x[LOW + 1];
    UNROLL for (int j = 0; j <= height; j++) x[j] = load_once(rows[j] + at);
    UNROLL for (int j = 0; j <= height / 2; j++) UNROLL for (int o = 0; o < ROWS; o++)
    {
        bool is_middle = 2 * j + 1 == height;
        floats folded = is_middle ? x[o + j] : add(x[o + j], x[o + height - 1 - j]);
        sums[o] = multiply_add(sums[o], folded, weights[j]);
    }
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Where a block of levels goes. */
typedef struct place {
    uint8_t *out;
    const uint8_t *kept; /* samples of which some stay in the place of levels, or NULL */
    uint32_t kept_mask;  /* 255 in the bytes of four samples that stay */
    bool streams;        /* past the caches, to aligned memory */
} place;

#if defined(__AVX2__)

/* A tie is exact: where the first product is not the quotient, the rest corrects it. */
INLINE floats quotient(const gc_rank1_column *column, floats sum)
{
    floats reciprocal = all_of(column->reciprocal);
    floats first = VECTOR(mul_ps)(sum, reciprocal);
    floats rest = VECTOR(fnmadd_ps)(first, all_of(column->divisor), sum);
    return multiply_add(first, rest, reciprocal);
}

INLINE floats value_of(const gc_rank1_column *column, const gc_rank1_kind kind, const bool absolute,
                       floats sum)
{
    sum = absolute ? magnitude(sum) : sum;
    if (kind == GC_RANK1_DIVIDED)
        sum = quotient(column, sum);
    return kind == GC_RANK1_DIVIDED || absolute
               ? multiply_add(all_of(column->start), sum, all_of(column->sign))
               : sum;
}

/* Clamps to 0..255. */
INLINE void store_levels(const integers x[VECTORS], const place *to)
{
    integers low = VECTOR(packs_epi32)(x[0], x[1]), high = VECTOR(packs_epi32)(x[2], x[3]);
    integers levels = VECTOR(packus_epi16)(low, high);
    if (to->kept != NULL)
        levels = take_kept(levels, to->kept, to->kept_mask);
#if defined(__AVX512BW__)
    if (to->streams) {
        stream_samples(levels, to->out);
        return;
    }
#endif
    store_samples(levels, to->out);
}

/* Bits of samples in fixed point whose lanes are near a tie. */
static __attribute__((noinline)) uint64_t near_bits(const integers fixed[VECTORS], uint32_t far)
{
    uint64_t near = 0;
    for (int v = 0; v < VECTORS; v++) {
        uint64_t bits = without(fixed[v], far);
        bits = (bits & 0xf) | (bits & 0xf0) << 12 | (bits & 0xf00) << 24 | (bits & 0xf000) << 36;
        near |= bits << 4 * v;
    }
    return near;
}

INLINE uint64_t finish_block(const gc_rank1_column *column, const gc_rank1_kind kind,
                             const bool absolute, const floats sums[VECTORS], const place *to)
{
    integers values[VECTORS], levels[VECTORS];
    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        values[v] = VECTOR(cvtps_epi32)(value_of(column, kind, absolute, sums[v]));
        levels[v] = kind == GC_RANK1_FIXED ? VECTOR(srai_epi32)(values[v], 16) : values[v];
    }
    store_levels(levels, to);
    if (kind == GC_RANK1_FIXED && __builtin_expect(any_without(values, column->far), 0))
        return near_bits(values, column->far);
    return 0;
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
    sum = absolute ? fabsf(sum) : sum;
    if (kind == GC_RANK1_DIVIDED)
        sum = sum / column->divisor;
    return kind == GC_RANK1_DIVIDED || absolute ? column->start + sum * column->sign : sum;
}

INLINE uint64_t finish_block(const gc_rank1_column *column, const gc_rank1_kind kind,
                             const bool absolute, const floats vectors[VECTORS], const place *to)
{
    uint8_t *out = to->out;
    float sums[BLOCK];
    uint64_t near = 0;
    memcpy(sums, vectors, sizeof sums);
    for (int i = 0; i < BLOCK; i++) {
        float value = value_of(column, kind, absolute, sums[i]);
        if (kind != GC_RANK1_FIXED) {
            out[i] = (uint8_t)clamped(nearest(value));
            continue;
        }
        int32_t fixed = (int32_t)value;
        near |= (uint64_t)(((uint32_t)fixed & column->far) == 0) << i;
        out[i] = (uint8_t)clamped(fixed >> 16);
    }
    for (int i = 0; i < BLOCK && to->kept != NULL; i++)
        out[i] = to->kept_mask >> 8 * (i % 4) & 1 ? to->kept[i] : out[i];
    return near;
}

#endif

INLINE place place_of(const gc_rank1_output *output, int row)
{
    return (place){.out = output->out[row],
                   .kept = output->kept[row],
                   .kept_mask = output->kept_mask,
                   .streams = output->streams};
}

/* The first `count` values of a block, of any kind: once a row. */
static __attribute__((noinline)) uint64_t finish_part(const gc_rank1_column *column,
                                                      const floats sums[VECTORS], size_t count,
                                                      const place *to)
{
    uint8_t out[BLOCK], kept[BLOCK] = {0};
    place part = {out, NULL, to->kept_mask, false};
    if (to->kept != NULL)
        part.kept = memcpy(kept, to->kept, count);
    uint64_t bits = finish_block(column, column->kind, column->absolute, sums, &part);
    memcpy(to->out, out, count);
    return bits;
}

/* Sets bits of values from value `first` on. */
INLINE void mark(gc_rank1_near *near, size_t first, uint64_t bits)
{
    uint64_t word = (uint64_t)1 << first / 64;
    uint64_t before = near->words & word ? near->bits[first / 64] : 0;
    near->bits[first / 64] = before | bits << first % 64;
    near->words |= word;
}

/* A block of one row of output, from value `first` on. */
INLINE void finish_row(const gc_rank1_column *column, const gc_rank1_kind kind, const bool absolute,
                       const floats sums[VECTORS], size_t count, size_t first, place *to,
                       gc_rank1_near *near)
{
    uint64_t bits = count - first >= BLOCK ? finish_block(column, kind, absolute, sums, to)
                                           : finish_part(column, sums, count - first, to);
    to->out += BLOCK;
    to->kept += to->kept != NULL ? BLOCK : 0;
    if (kind == GC_RANK1_FIXED && __builtin_expect(bits != 0, 0))
        mark(near, first, bits);
}

/* Output may alias whatever is in memory: what blocks have in common is copied to variables. Rows
 * of `low` heights, which are constants, are among that. */
INLINE void finish_rows(const gc_rank1_column *all, const gc_rank1_kind kind, const bool absolute,
                        const int low, const float *const *rows, size_t count,
                        gc_rank1_output *output, int row_count)
{
    const gc_rank1_column column = *all;
    const float *low_rows[LOW + 1];
    floats low_weights[LOW];
    place to[ROWS];
    UNROLL for (int j = 0; j <= low; j++) low_rows[j] = rows[j];
    UNROLL for (int j = 0; j < low; j++) low_weights[j] = all_of(column.weights[j]);
    UNROLL for (int o = 0; o < ROWS; o++) to[o] = place_of(output, o);
    floats start = all_of(kind == GC_RANK1_DIVIDED || absolute ? 0 : column.start);
    for (size_t first = 0; first < count; first += BLOCK) {
        floats sums[ROWS][VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++)
        {
            floats of_rows[ROWS];
            UNROLL for (int o = 0; o < ROWS; o++) of_rows[o] = start;
            if (low > 0)
                sum_low_columns(low_weights, low, low_rows, first + (size_t)(v * LANES), of_rows);
            else
                sum_columns(&column, rows, first + (size_t)(v * LANES), of_rows);
            UNROLL for (int o = 0; o < ROWS; o++) sums[o][v] = of_rows[o];
        }
        UNROLL for (int o = 0; o < ROWS; o++)
        {
            if (o < row_count)
                finish_row(&column, kind, absolute, sums[o], count, first, &to[o],
                           &output->near[o]);
        }
    }
}

/* Heights that are usual have code of their own. */
INLINE void finish_kind(const gc_rank1_column *column, const gc_rank1_kind kind,
                        const bool absolute, const float *const *rows, size_t count,
                        gc_rank1_output *output, int row_count)
{
    switch (column->is_even ? column->height : 0) {
    case 3:
        finish_rows(column, kind, absolute, 3, rows, count, output, row_count);
        break;
    case 5:
        finish_rows(column, kind, absolute, 5, rows, count, output, row_count);
        break;
    case 7:
        finish_rows(column, kind, absolute, 7, rows, count, output, row_count);
        break;
    default:
        finish_rows(column, kind, absolute, 0, rows, count, output, row_count);
        break;
    }
}

static void finish(const gc_rank1_column *column, const float *const *rows, size_t count,
                   gc_rank1_output *output, int row_count)
{
    switch (2 * (int)column->kind + column->absolute) {
    case 2 * GC_RANK1_PLAIN:
        finish_kind(column, GC_RANK1_PLAIN, false, rows, count, output, row_count);
        break;
    case 2 * GC_RANK1_PLAIN + 1:
        finish_kind(column, GC_RANK1_PLAIN, true, rows, count, output, row_count);
        break;
    case 2 * GC_RANK1_DIVIDED:
        finish_kind(column, GC_RANK1_DIVIDED, false, rows, count, output, row_count);
        break;
    case 2 * GC_RANK1_DIVIDED + 1:
        finish_kind(column, GC_RANK1_DIVIDED, true, rows, count, output, row_count);
        break;
    case 2 * GC_RANK1_FIXED:
        finish_kind(column, GC_RANK1_FIXED, false, rows, count, output, row_count);
        break;
    default:
        finish_kind(column, GC_RANK1_FIXED, true, rows, count, output, row_count);
        break;
    }
}

extern const gc_rank1_loops GC_RANK1_LOOPS;
const gc_rank1_loops GC_RANK1_LOOPS = {sum, finish, sizeof(integers) == 64};
