/* Sums of the rows of one filter of rank 1, for rank1_bytes_loops.c. They are summed in integers,
 * two products to a lane. If the weights of a row are the same on both sides of its middle, the
 * samples of both sides are added first. Half of the products are left. Rows of bytes are summed in
 * 16 bits. */
#pragma once

#include "cpu/fast/loops/loops.h"
#include "cpu/fast/loops/rank1_bytes_vectors.h"

/* A case of `sum`: a row of a width that has code of its own. */
#define SUM_CASE(function, width, to)                                                              \
    case width:                                                                                    \
        function(row, width, samples, ahead, count, to);                                           \
        break;
#define SUM_NARROW(width) SUM_CASE(sum_narrow, width, sums)

#if defined(__AVX2__)

/* A term: samples of two places, each times its factor. */
INLINE void fold(const uint8_t *first, const uint8_t *second, integers factors, integers term[2])
{
    integers a = load_twice(first), b = load_twice(second);
    term[0] = VECTOR(maddubs_epi16)(VECTOR(unpacklo_epi8)(a, b), factors);
    term[1] = VECTOR(maddubs_epi16)(VECTOR(unpackhi_epi8)(a, b), factors);
}

INLINE void no_term(integers term[2])
{
    term[0] = term[1] = no_sums();
}

/* Adds two terms, each times its tap. Sums are exact, since they stay below 2^31 (rank1_bytes.c)
 * and what leaves 32 bits on the way comes back. */
INLINE void add_terms(integers sums[VECTORS], const integers a[2], const integers b[2],
                      int32_t taps)
{
    integers pairs[VECTORS];
    UNROLL for (int half = 0; half < 2; half++)
    {
        pairs[2 * half] = VECTOR(unpacklo_epi16)(a[half], b[half]);
        pairs[2 * half + 1] = VECTOR(unpackhi_epi16)(a[half], b[half]);
    }
    UNROLL for (int v = 0; v < VECTORS; v++) sums[v] = add_products(sums[v], pairs[v], taps);
}

INLINE void store_sums(const integers sums[VECTORS], float *to)
{
    UNROLL for (int v = 0; v < VECTORS; v++) store(VECTOR(cvtepi32_ps)(sums[v]), to + v * LANES);
}

/* A row of a small constant width that is folded. Sums may alias whatever is in memory: places,
 * factors and taps are copied to variables. */
INLINE void sum_narrow(const gc_rank1_row *row, const int width, const uint8_t *samples,
                       const uint8_t *ahead, size_t count, float *to)
{
    const int terms = (width + 1) / 2;
    integers factors[(SMALL + 1) / 2];
    int32_t taps[(SMALL + 3) / 4];
    size_t places[SMALL];
    UNROLL for (int i = 0; i < width; i++) places[i] = (size_t)i * row->advance;
    UNROLL for (int t = 0; t < terms; t++) factors[t] = VECTOR(set1_epi16)(row->factors[t]);
    UNROLL for (int p = 0; p < (terms + 1) / 2; p++) taps[p] = row->taps[p];
    for (size_t at = 0; at < count; at += BLOCK) {
        request(ahead + at, false);
        const uint8_t *from = samples + at;
        integers sums[VECTORS], term[2][2];
        UNROLL for (int v = 0; v < VECTORS; v++) sums[v] = no_sums();
        UNROLL for (int t = 0; t < terms; t++)
        {
            fold(from + places[t], from + places[width - 1 - t], factors[t], term[t % 2]);
            if (t + 1 == terms && t % 2 == 0)
                no_term(term[1]);
            if (t + 1 == terms || t % 2 != 0)
                add_terms(sums, term[0], term[1], taps[t / 2]);
        }
        store_sums(sums, to + at);
    }
}

/* Whether a quarter of a vector holds all samples of its four sums. */
INLINE bool fits_quarter(const gc_rank1_row *row)
{
    return row->is_folded && 4 + (size_t)(row->width - 1) * row->advance <= sizeof(__m128i);
}

/* As sum_narrow, if fits_quarter: permutations of one vector have the place of the others. A middle
 * sample that has no other term beside it shares permutation and factor with that of the next
 * vector. */
INLINE void sum_quarters(const gc_rank1_row *row, const int width, const uint8_t *samples,
                         const uint8_t *ahead, size_t count, float *to)
{
    enum { PAIRS_MAX = (SMALL + 1) / 4 };
    const int pairs = (width + 1) / 4, advance = (int)row->advance, middle = width / 2 * advance;
    const bool is_alone = (width + 1) / 2 % 2 != 0;
    const integers own = repeat_quarter(_mm_setr_epi32(0, 0x01010101, 0x02020202, 0x03030303));
    integers places[PAIRS_MAX], factors[PAIRS_MAX];
    int32_t taps[PAIRS_MAX];
    UNROLL for (int p = 0; p < pairs; p++)
    {
        const int t = 2 * p, next = t + 1;
        const int of_first = advance * (t | (width - 1 - t) << 8);
        const int of_next = advance * (next | (width - 1 - next) << 8);
        places[p] = VECTOR(add_epi8)(own, VECTOR(set1_epi32)(of_first | of_next << 16));
        factors[p] = VECTOR(unpacklo_epi16)(VECTOR(set1_epi16)(row->factors[t]),
                                            VECTOR(set1_epi16)(row->factors[next]));
        taps[p] = row->taps[p];
    }
    const integers two =
        VECTOR(add_epi8)(own, VECTOR(set1_epi32)(middle * 0x01010101 + 0x04040000));
    const integers factor = VECTOR(set1_epi16)(row->factors[width / 2]);
    const int32_t tap = is_alone ? row->taps[pairs] : 0;
    const int32_t other_tap = (int32_t)((uint32_t)tap << 16);
    for (size_t at = 0; at < count; at += BLOCK) {
        integers sums[VECTORS], middles = no_sums();
        request(ahead + at, width < FAST);
        UNROLL for (int v = 0; v < VECTORS; v++)
        {
            const integers window = load_samples(samples + at + 4 * v);
            sums[v] = no_sums();
            UNROLL for (int p = 0; p < pairs; p++)
            {
                integers pair = VECTOR(shuffle_epi8)(window, places[p]);
                sums[v] = add_products(sums[v], VECTOR(maddubs_epi16)(pair, factors[p]), taps[p]);
            }
            if (is_alone && v % 2 == 0)
                middles = VECTOR(maddubs_epi16)(VECTOR(shuffle_epi8)(window, two), factor);
            if (is_alone)
                sums[v] = add_products(sums[v], middles, v % 2 == 0 ? tap : other_tap);
        }
        store_sums(sums, to + at);
    }
}

/* Any row. */
INLINE void sum_row(const gc_rank1_row *row, const uint8_t *samples, const uint8_t *ahead,
                    size_t count, float *to)
{
    const size_t advance = row->advance, end = advance * (size_t)(row->width - 1);
    const int terms = row->is_folded ? (row->width + 1) / 2 : row->width;
    for (size_t at = 0; at < count; at += BLOCK) {
        request(ahead + at, false);
        const uint8_t *first = samples + at, *second = first + (row->is_folded ? end : 0);
        const ptrdiff_t back = row->is_folded ? -(ptrdiff_t)advance : (ptrdiff_t)advance;
        integers sums[VECTORS], term[2][2];
        UNROLL for (int v = 0; v < VECTORS; v++) sums[v] = no_sums();
        for (int t = 0; t < terms; t += 2) {
            fold(first, second, VECTOR(set1_epi16)(row->factors[t]), term[0]);
            no_term(term[1]);
            if (t + 1 < terms)
                fold(first + advance, second + back, VECTOR(set1_epi16)(row->factors[t + 1]),
                     term[1]);
            add_terms(sums, term[0], term[1], row->taps[t / 2]);
            first += 2 * advance;
            second += 2 * back;
        }
        store_sums(sums, to + at);
    }
}

/* Adds products of two samples, or of one, to words: of even and of odd places if weights meet
 * samples side by side (`is_grey`), else of both halves of quarters. */
INLINE void add_pair(const uint8_t *from, size_t advance, const bool is_one, const bool is_grey,
                     integers taps, integers words[2])
{
    const integers a = is_grey ? load_samples(from) : load_twice(from);
    const integers b = is_grey  ? load_samples(from + advance)
                       : is_one ? a
                                : load_twice(from + advance);
    const integers pairs[] = {is_grey ? a : VECTOR(unpacklo_epi8)(a, b),
                              is_grey ? b : VECTOR(unpackhi_epi8)(a, b)};
    UNROLL for (int half = 0; half < 2; half++) words[half] =
        VECTOR(add_epi16)(words[half], VECTOR(maddubs_epi16)(pairs[half], taps));
}

INLINE void store_words(const integers words[2], const bool is_short, float *to, size_t at)
{
    integers sums[VECTORS];
    UNROLL for (int half = 0; half < 2; half++)
    {
        if (is_short)
            store_samples(words[half], (uint8_t *)((uint16_t *)(void *)to + at + half * BLOCK / 2));
        sums[2 * half] = VECTOR(unpacklo_epi16)(words[half], no_sums());
        sums[2 * half + 1] = VECTOR(unpackhi_epi16)(words[half], no_sums());
    }
    if (!is_short)
        store_sums(sums, to + at);
}

/* Most loads of AVX-512 take two cache lines: rows that are not short have fewer of them folded. */
enum { TAKES_BYTES = sizeof(integers) < 64 };

/* A row of bytes, of a width that is a small constant or `usual` is 0. */
INLINE void sum_bytes(const gc_rank1_row *row, const int usual, const bool is_short,
                      const bool is_grey, const uint8_t *samples, const uint8_t *ahead,
                      size_t count, float *to)
{
    const size_t advance = is_grey ? 1 : row->advance;
    integers taps[(SMALL + 1) / 2];
    UNROLL for (int p = 0; 2 * p < usual; p++) taps[p] = VECTOR(set1_epi16)(row->pairs[p]);
    for (size_t at = 0; at < count; at += BLOCK) {
        const uint8_t *from = samples + at;
        integers words[2] = {no_sums(), no_sums()};
        request(ahead + at, usual > 0 && usual <= FAST);
        UNROLL for (int p = 0; 2 * p < usual; p++) add_pair(
            from + (size_t)(2 * p) * advance, advance, 2 * p + 1 == usual, is_grey, taps[p], words);
        for (int p = 0; usual == 0 && 2 * p < row->width; p++)
            add_pair(from + (size_t)(2 * p) * advance, advance, false, is_grey,
                     VECTOR(set1_epi16)(row->pairs[p]), words);
        if (is_grey) {
            const integers even = words[0], odd = words[1];
            words[0] = VECTOR(unpacklo_epi16)(even, odd);
            words[1] = VECTOR(unpackhi_epi16)(even, odd);
        }
        store_words(words, is_short, to, at);
    }
}

INLINE void sum_bytes_of(const gc_rank1_row *row, const int usual, const uint8_t *samples,
                         const uint8_t *ahead, size_t count, float *to)
{
    const bool is_grey = row->advance == 1 && usual != 3 && TAKES_BYTES;
    if (row->is_short && is_grey)
        sum_bytes(row, usual, true, true, samples, ahead, count, to);
    else if (row->is_short)
        sum_bytes(row, usual, true, false, samples, ahead, count, to);
    else if (is_grey)
        sum_bytes(row, usual, false, true, samples, ahead, count, to);
    else
        sum_bytes(row, usual, false, false, samples, ahead, count, to);
}

#define SUM_QUARTERS(width) SUM_CASE(sum_quarters, width, sums)
#define SUM_BYTES(width) SUM_CASE(sum_bytes_of, width, sums)
static void sum(const gc_rank1_row *row, const uint8_t *samples, const uint8_t *ahead, size_t count,
                float *scratch, float *sums)
{
    (void)scratch;
    if (row->is_short || (row->is_bytes && TAKES_BYTES)) {
        switch (row->width) {
            USUAL(SUM_BYTES)
        default:
            sum_bytes_of(row, 0, samples, ahead, count, sums);
        }
        return;
    }
    if (fits_quarter(row)) {
        switch (row->width) {
            USUAL(SUM_QUARTERS)
        default:
            sum_row(row, samples, ahead, count, sums);
        }
        return;
    }
    switch (row->is_folded ? row->width : 0) {
        USUAL(SUM_NARROW)
    default:
        sum_row(row, samples, ahead, count, sums);
    }
}

#elif defined(GC_NEON)

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

INLINE void store_sums(const integers sums[VECTORS], float *to)
{
    UNROLL for (int v = 0; v < VECTORS; v++) vst1q_f32(to + v * LANES, vcvtq_f32_s32(sums[v]));
}

/* A term: samples of two places, the first one times its factor, the second one times that and the
 * sign, which may be 0. */
INLINE void fold(const uint8_t *first, const uint8_t *second, uint8_t factor, const int sign,
                 int16x8_t term[2])
{
    const uint8x16_t a = vld1q_u8(first), b = vld1q_u8(second), by = vdupq_n_u8(factor);
    uint16x8_t low = vmull_u8(vget_low_u8(a), vget_low_u8(by)), high = vmull_high_u8(a, by);
    if (sign > 0) {
        low = vmlal_u8(low, vget_low_u8(b), vget_low_u8(by));
        high = vmlal_high_u8(high, b, by);
    } else if (sign < 0) {
        low = vmlsl_u8(low, vget_low_u8(b), vget_low_u8(by));
        high = vmlsl_high_u8(high, b, by);
    }
    term[0] = vreinterpretq_s16_u16(low);
    term[1] = vreinterpretq_s16_u16(high);
}

/* A row of a small constant width, whose weights are even. Sums may alias whatever is in memory:
 * places, factors and taps are copied to variables. */
INLINE void sum_narrow(const gc_rank1_row *row, const int width, const uint8_t *samples,
                       const uint8_t *ahead, size_t count, float *to)
{
    const int terms = (width + 1) / 2;
    int16_t taps[(SMALL + 1) / 2];
    uint8_t factors[(SMALL + 1) / 2];
    size_t places[SMALL];
    UNROLL for (int i = 0; i < width; i++) places[i] = (size_t)i * row->advance;
    UNROLL for (int t = 0; t < terms; t++)
    {
        taps[t] = tap_of(row->taps, t);
        factors[t] = (uint8_t)row->factors[t];
    }
    for (size_t at = 0; at < count; at += BLOCK) {
        request(ahead + at, false);
        const uint8_t *from = samples + at;
        integers sums[VECTORS] = {0};
        UNROLL for (int t = 0; t < terms; t++)
        {
            int16x8_t term[2];
            fold(from + places[t], from + places[width - 1 - t], factors[t], 2 * t + 1 < width,
                 term);
            add_products(sums, term, taps[t]);
        }
        store_sums(sums, to + at);
    }
}

/* Any row. */
INLINE void sum_row(const gc_rank1_row *row, const uint8_t *samples, const uint8_t *ahead,
                    size_t count, float *to)
{
    const size_t advance = row->advance, end = advance * (size_t)(row->width - 1);
    const int terms = row->is_folded ? (row->width + 1) / 2 : row->width;
    for (size_t at = 0; at < count; at += BLOCK) {
        request(ahead + at, false);
        const uint8_t *first = samples + at, *second = first + (row->is_folded ? end : 0);
        integers sums[VECTORS] = {0};
        for (int t = 0; t < terms; t++) {
            const int sign = row->factors[t] > UINT8_MAX ? 1 : row->factors[t] < 0 ? -1 : 0;
            int16x8_t term[2];
            fold(first, second, (uint8_t)row->factors[t], sign, term);
            add_products(sums, term, tap_of(row->taps, t));
            first += advance;
            second = row->is_folded ? second - advance : first;
        }
        store_sums(sums, to + at);
    }
}

static void sum(const gc_rank1_row *row, const uint8_t *samples, const uint8_t *ahead, size_t count,
                float *scratch, float *sums)
{
    (void)scratch;
    switch (row->is_folded && row->factors[0] >= 0 ? row->width : 0) {
        USUAL(SUM_NARROW)
    default:
        sum_row(row, samples, ahead, count, sums);
    }
}

#else

static void sum(const gc_rank1_row *row, const uint8_t *samples, const uint8_t *ahead, size_t count,
                float *scratch, float *sums)
{
    int32_t *wide = (int32_t *)(void *)scratch;
    size_t last = row->advance * (size_t)(row->width - 1);
    for (size_t i = 0; i < count + last + BLOCK; i++)
        wide[i] = samples[i];
    for (size_t first = 0; first < count; first += BLOCK) {
        request(ahead + first, false);
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
