/* Sums of the rows of one filter of rank 1, for rank1_bytes_loops.c. They are summed in integers,
 * two products to a lane. If the weights of a row are the same on both sides of its middle, the
 * samples of both sides are added first. Half of the products are left. */
#ifndef GC_CPU_FAST_LOOPS_RANK1_BYTES_ROWS_H
#define GC_CPU_FAST_LOOPS_RANK1_BYTES_ROWS_H

#include "cpu/fast/loops/loops.h"
#include "cpu/fast/loops/rank1_bytes_vectors.h"

#include <string.h>

/* A case of sum_kind: a folded row of a width that has code of its own. */
#define SUM_NARROW(width)                                                                          \
    case width:                                                                                    \
        sum_narrow(row, width, is_fine, samples, count, sums);                                     \
        break;

#if defined(__AVX2__)

/* Lanes of two samples: of a[0] and b[0], then of a[1] and b[1]. */
INLINE void pair(const integers a[2], const integers b[2], integers pairs[VECTORS])
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        pairs[2 * half] = VECTOR(unpacklo_epi16)(a[half], b[half]);
        pairs[2 * half + 1] = VECTOR(unpackhi_epi16)(a[half], b[half]);
    }
}

INLINE void add_pairs(integers sums[VECTORS], const integers pairs[VECTORS], int32_t taps)
{
    UNROLL for (int v = 0; v < VECTORS; v++) sums[v] = add_products(sums[v], pairs[v], taps);
}

/* Samples of two places, each times its factor (gc_rank1_row). */
INLINE void fold(const uint8_t *first, const uint8_t *second, integers factors, integers folded[2])
{
    integers a = load_samples(first), b = load_samples(second);
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

INLINE void store_sums(const integers sums[VECTORS], float *to)
{
    UNROLL for (int v = 0; v < VECTORS; v++) store(VECTOR(cvtepi32_ps)(sums[v]), to + v * LANES);
}

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

/* Adds pair p of taps: the lower one times `a`, the upper one times `b`. */
INLINE void add_terms(row_sums *sums, const gc_rank1_row *row, const bool is_fine, int p,
                      const integers a[2], const integers b[2])
{
    integers pairs[VECTORS];
    pair(a, b, pairs);
    add_pairs(sums->coarse, pairs, row->taps[p]);
    if (is_fine)
        add_pairs(sums->fine, pairs, row->fine_taps[p]);
}

INLINE void store_row_sums(row_sums *sums, const bool is_fine, float *to)
{
    UNROLL for (int v = 0; v < VECTORS && is_fine; v++) sums->coarse[v] =
        VECTOR(add_epi32)(VECTOR(slli_epi32)(sums->coarse[v], GC_RANK1_FINE_BITS), sums->fine[v]);
    store_sums(sums->coarse, to);
}

/* Term t of a row of `width` that is folded: two samples, the one in the middle, or nothing. Tap i
 * reads from places[i] on. */
INLINE void load_term(const uint8_t *samples, const size_t places[SMALL], const int width,
                      const int t, integers factors, integers term[2])
{
    if (2 * t + 1 < width)
        fold(samples + places[t], samples + places[width - 1 - t], factors, term);
    else if (2 * t + 1 == width)
        widen(samples + places[t], term);
    else
        term[0] = term[1] = no_sums();
}

/* Taps of a row of a small constant width. `alone` has the last tap of 16 bits and, in the upper
 * half, its fine tap. */
typedef struct narrow_taps {
    int32_t coarse[(SMALL + 3) / 4], fine[(SMALL + 3) / 4], alone;
} narrow_taps;

INLINE narrow_taps taps_of(const gc_rank1_row *row, const int width)
{
    const int last = (width + 3) / 4 - 1;
    narrow_taps taps;
    UNROLL for (int p = 0; p <= last; p++)
    {
        taps.coarse[p] = row->taps[p];
        taps.fine[p] = row->fine_taps[p];
    }
    taps.alone =
        (int32_t)((uint32_t)row->taps[last] % 65536 | (uint32_t)row->fine_taps[last] << 16);
    return taps;
}

/* A block of a row of a small constant width that is folded. If the term in the middle of a fine
 * row has no other beside it, its tap and its fine tap make the pair: they meet
 * 2^GC_RANK1_FINE_BITS times the sample, which is at most 16320, and the sample. Sums are exact,
 * since they stay below 2^31 (rank1_bytes.c) and what leaves 32 bits on the way comes back. */
INLINE void sum_narrow_block(const uint8_t *samples, const size_t places[SMALL], const int width,
                             const narrow_taps *taps, const bool is_fine, integers factors,
                             integers sums[VECTORS])
{
    const int terms = (width + 1) / 2;
    const int count = is_fine ? terms / 2 : (terms + 1) / 2;
    integers pairs[(SMALL + 3) / 4][VECTORS], a[2], b[2];
    UNROLL for (int v = 0; v < VECTORS; v++) sums[v] = no_sums();
    UNROLL for (int p = 0; p < count; p++)
    {
        load_term(samples, places, width, 2 * p, factors, a);
        load_term(samples, places, width, 2 * p + 1, factors, b);
        pair(a, b, pairs[p]);
        add_pairs(sums, pairs[p], taps->coarse[p]);
    }
    if (!is_fine)
        return;
    UNROLL for (int v = 0; v < VECTORS; v++) sums[v] =
        VECTOR(slli_epi32)(sums[v], GC_RANK1_FINE_BITS);
    UNROLL for (int p = 0; p < count; p++) add_pairs(sums, pairs[p], taps->fine[p]);
    if (terms % 2 == 0)
        return;
    load_term(samples, places, width, terms - 1, factors, b);
    UNROLL for (int half = 0; half < 2; half++) a[half] =
        VECTOR(slli_epi16)(b[half], GC_RANK1_FINE_BITS);
    pair(a, b, pairs[0]);
    add_pairs(sums, pairs[0], taps->alone);
}

/* Sums may alias whatever is in memory: places and taps are copied to variables. */
INLINE void sum_narrow(const gc_rank1_row *row, const int width, const bool is_fine,
                       const uint8_t *samples, size_t count, float *to)
{
    const narrow_taps taps = taps_of(row, width);
    const integers factors = VECTOR(set1_epi16)(row->factors);
    size_t places[SMALL];
    UNROLL for (int i = 0; i < width; i++) places[i] = (size_t)i * row->advance;
    for (size_t first = 0; first < count; first += BLOCK) {
        integers sums[VECTORS];
        sum_narrow_block(samples + first, places, width, &taps, is_fine, factors, sums);
        store_sums(sums, to + first);
    }
}

/* Any row that is folded. */
INLINE void sum_folded(const gc_rank1_row *row, const bool is_fine, const uint8_t *samples,
                       size_t count, float *to)
{
    const size_t advance = row->advance;
    const int folds = row->width / 2;
    const integers factors = VECTOR(set1_epi16)(row->factors);
    const bool has_middle = row->width % 2 != 0;
    for (size_t at = 0; at < count; at += BLOCK) {
        const uint8_t *first = samples + at, *second = first + advance * (size_t)(row->width - 1);
        row_sums sums = no_row_sums();
        integers a[2], b[2];
        int p = 0;
        for (; 2 * p + 2 <= folds; p++) {
            fold(first, second, factors, a);
            fold(first + advance, second - advance, factors, b);
            add_terms(&sums, row, is_fine, p, a, b);
            first += 2 * advance;
            second -= 2 * advance;
        }
        b[0] = b[1] = no_sums();
        if (folds % 2 != 0) {
            fold(first, second, factors, a);
            if (has_middle)
                widen(first + advance, b);
            add_terms(&sums, row, is_fine, p, a, b);
        } else if (has_middle) {
            widen(first, a);
            add_terms(&sums, row, is_fine, p, a, b);
        }
        store_row_sums(&sums, is_fine, to + at);
    }
}

/* Any row. */
INLINE void sum_row(const gc_rank1_row *row, const bool is_fine, const uint8_t *samples,
                    size_t count, float *to)
{
    for (size_t at = 0; at < count; at += BLOCK) {
        const uint8_t *from = samples + at;
        row_sums sums = no_row_sums();
        integers a[2], b[2];
        for (int k = 0; k < row->width; k += 2, from += 2 * row->advance) {
            widen(from, a);
            b[0] = b[1] = no_sums();
            if (k + 1 < row->width)
                widen(from + row->advance, b);
            add_terms(&sums, row, is_fine, k / 2, a, b);
        }
        store_row_sums(&sums, is_fine, to + at);
    }
}

/* Short sums of a row of a small constant width, which is odd: two vectors of a block. */
INLINE void sum_short(const gc_rank1_row *row, const int width, const uint8_t *samples,
                      size_t count, uint16_t *to)
{
    const size_t advance = row->advance;
    integers taps[(SMALL + 1) / 2];
    UNROLL for (int p = 0; p <= width / 2; p++)
    {
        int upper = 2 * p + 1 < width ? (int)row->weights[2 * p + 1] : 0;
        taps[p] = VECTOR(set1_epi16)((int16_t)((int)row->weights[2 * p] | upper << 8));
    }
    for (size_t at = 0; at < count; at += BLOCK) {
        integers low = no_sums(), high = no_sums();
        UNROLL for (int p = 0; p <= width / 2; p++)
        {
            const uint8_t *from = samples + at + (size_t)(2 * p) * advance;
            integers a = load_samples(from);
            integers b = 2 * p + 1 < width ? load_samples(from + advance) : no_sums();
            low =
                VECTOR(add_epi16)(low, VECTOR(maddubs_epi16)(VECTOR(unpacklo_epi8)(a, b), taps[p]));
            high = VECTOR(add_epi16)(high,
                                     VECTOR(maddubs_epi16)(VECTOR(unpackhi_epi8)(a, b), taps[p]));
        }
        store_samples(low, (uint8_t *)(to + at));
        store_samples(high, (uint8_t *)(to + at + BLOCK / 2));
    }
}

#define SUM_SHORT(width)                                                                           \
    case width:                                                                                    \
        sum_short(row, width, samples, count, (uint16_t *)(void *)sums);                           \
        break;
INLINE void sum_kind(const gc_rank1_row *row, const bool is_fine, const uint8_t *samples,
                     size_t count, float *sums)
{
    switch (row->is_folded ? row->width : 0) {
    case 0:
        sum_row(row, is_fine, samples, count, sums);
        break;
        USUAL(SUM_NARROW)
    default:
        sum_folded(row, is_fine, samples, count, sums);
    }
}

static void sum(const gc_rank1_row *row, const uint8_t *samples, size_t count, float *scratch,
                float *sums)
{
    (void)scratch;
    switch (row->is_short ? row->width : 0) {
        USUAL(SUM_SHORT)
    default:
        break;
    }
    if (row->is_short)
        return;
    if (row->is_fine)
        sum_kind(row, true, samples, count, sums);
    else
        sum_kind(row, false, samples, count, sums);
}

#elif defined(GC_NEON)

/* Sums of a block by taps, and by what fine taps add to these. */
typedef struct row_sums {
    integers coarse[VECTORS], fine[VECTORS];
} row_sums;

INLINE int16_t tap_of(const int32_t *pairs, int t)
{
    return (int16_t)(pairs[t / 2] >> 16 * (t % 2));
}

INLINE void add_products(integers sums[VECTORS], const int16x8_t term[2], int16_t tap)
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        sums[2 * half] = vmlal_n_s16(sums[2 * half], vget_low_s16(term[half]), tap);
        sums[2 * half + 1] = vmlal_high_n_s16(sums[2 * half + 1], term[half], tap);
    }
}

INLINE void store_row_sums(row_sums *sums, const bool is_fine, float *to)
{
    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        if (is_fine)
            sums->coarse[v] =
                vaddq_s32(vshlq_n_s32(sums->coarse[v], GC_RANK1_FINE_BITS), sums->fine[v]);
        vst1q_f32(to + v * LANES, vcvtq_f32_s32(sums->coarse[v]));
    }
}

/* The sums of samples of two places, or their differences. */
INLINE void fold(const uint8_t *first, const uint8_t *second, const bool is_even, int16x8_t term[2])
{
    uint8x16_t a = vld1q_u8(first), b = vld1q_u8(second);
    uint8x8_t low_a = vget_low_u8(a), low_b = vget_low_u8(b);
    term[0] = vreinterpretq_s16_u16(is_even ? vaddl_u8(low_a, low_b) : vsubl_u8(low_a, low_b));
    term[1] = vreinterpretq_s16_u16(is_even ? vaddl_high_u8(a, b) : vsubl_high_u8(a, b));
}

/* Samples of one place. */
INLINE void widen(const uint8_t *samples, int16x8_t term[2])
{
    uint8x16_t x = vld1q_u8(samples);
    term[0] = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x)));
    term[1] = vreinterpretq_s16_u16(vmovl_high_u8(x));
}

/* A row of a small constant width, whose weights are even. Sums may alias whatever is in memory:
 * places and taps are copied to variables. */
INLINE void sum_narrow(const gc_rank1_row *row, const int width, const bool is_fine,
                       const uint8_t *samples, size_t count, float *to)
{
    const int terms = (width + 1) / 2;
    int16_t taps[(SMALL + 1) / 2], fine_taps[(SMALL + 1) / 2];
    size_t places[SMALL];
    UNROLL for (int i = 0; i < width; i++) places[i] = (size_t)i * row->advance;
    UNROLL for (int t = 0; t < terms; t++)
    {
        taps[t] = tap_of(row->taps, t);
        fine_taps[t] = tap_of(row->fine_taps, t);
    }
    for (size_t at = 0; at < count; at += BLOCK) {
        const uint8_t *from = samples + at;
        row_sums sums = {0};
        UNROLL for (int t = 0; t < terms; t++)
        {
            int16x8_t term[2];
            if (2 * t + 1 < width)
                fold(from + places[t], from + places[width - 1 - t], true, term);
            else
                widen(from + places[t], term);
            add_products(sums.coarse, term, taps[t]);
            if (is_fine)
                add_products(sums.fine, term, fine_taps[t]);
        }
        store_row_sums(&sums, is_fine, to + at);
    }
}

/* Any row. */
INLINE void sum_row(const gc_rank1_row *row, const bool is_fine, const uint8_t *samples,
                    size_t count, float *to)
{
    const size_t advance = row->advance;
    const int width = row->width, terms = row->is_folded ? (width + 1) / 2 : width;
    const bool is_even = row->factors == 0x0101;
    for (size_t at = 0; at < count; at += BLOCK) {
        const uint8_t *first = samples + at, *second = first + advance * (size_t)(width - 1);
        row_sums sums = {0};
        for (int t = 0; t < terms; t++, first += advance, second -= advance) {
            int16x8_t term[2];
            if (!row->is_folded || first == second)
                widen(first, term);
            else
                fold(first, second, is_even, term);
            add_products(sums.coarse, term, tap_of(row->taps, t));
            if (is_fine)
                add_products(sums.fine, term, tap_of(row->fine_taps, t));
        }
        store_row_sums(&sums, is_fine, to + at);
    }
}

INLINE void sum_kind(const gc_rank1_row *row, const bool is_fine, const uint8_t *samples,
                     size_t count, float *sums)
{
    switch (row->is_folded && row->factors == 0x0101 ? row->width : 0) {
        USUAL(SUM_NARROW)
    default:
        sum_row(row, is_fine, samples, count, sums);
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

#endif
