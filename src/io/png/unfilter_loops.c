/* Undoes the filters of rows (ISO/IEC 15948, 9.2) with AVX2.
 *
 * A byte depends on the byte to its left, so that one row alone waits for each pixel. Here a vector
 * takes a pixel of each of several rows, a wave: lane r has pixel t - r of row r at step t.
 *
 *     row 0   . . . . . 0        the digits are lanes
 *     row 1   . . . . 1
 *     row 2   . . . 2
 *
 * What a lane needs is then there: its own last result is the pixel to the left, that of the lane
 * before it the pixel above, and the pixel above of the last step is the corner. Rows of a wave may
 * have different filters. */
#include "io/png/pack_loops.h"

#ifdef GC_HAS_UNFILTER
#include <immintrin.h>
#include <string.h>

enum { VECTOR_BYTES = 32, LANES_MAX = VECTOR_BYTES / 4 };

/* ---- One row --------------------------------------------------------------------------------- */

static uint8_t paeth(int left, int above, int corner)
{
    int from_left = above - corner, from_above = left - corner;
    int from_corner = from_left + from_above;
    from_left = from_left < 0 ? -from_left : from_left;
    from_above = from_above < 0 ? -from_above : from_above;
    from_corner = from_corner < 0 ? -from_corner : from_corner;
    if (from_left <= from_above && from_left <= from_corner)
        return (uint8_t)left;
    return (uint8_t)(from_above <= from_corner ? above : corner);
}

/* Bytes [from, end) of a row. */
static void unfilter_bytes(int filter, uint8_t *row, const uint8_t *above, size_t pixel,
                           size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        int left = i >= pixel ? row[i - pixel] : 0;
        int corner = i >= pixel ? above[i - pixel] : 0;
        int predicted = filter == GC_FILTER_SUB       ? left
                        : filter == GC_FILTER_UP      ? above[i]
                        : filter == GC_FILTER_AVERAGE ? (left + above[i]) / 2
                        : filter == GC_FILTER_PAETH   ? paeth(left, above[i], corner)
                                                      : 0;
        row[i] = (uint8_t)(row[i] + predicted);
    }
}

static void add_above(uint8_t *restrict row, const uint8_t *restrict above, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row[i] = (uint8_t)(row[i] + above[i]);
}

/* ---- A wave ---------------------------------------------------------------------------------- */

/* Rows one below the other. Where these are fewer than lanes, the other lanes have rows that nobody
 * reads. */
typedef struct wave {
    const uint8_t *above; /* of the first row */
    uint8_t *rows[LANES_MAX];
    int filters[LANES_MAX];
    size_t pixel, pixels; /* bytes of a pixel, and pixels of a row */
} wave;

/* All ones in the lanes whose rows have this filter. */
static __m256i lanes_with(const wave *w, gc_row_filter filter, int lanes)
{
    _Alignas(32) uint8_t bytes[VECTOR_BYTES];
    for (int i = 0; i < VECTOR_BYTES; i++)
        bytes[i] = w->filters[i * lanes / VECTOR_BYTES] == (int)filter ? 255 : 0;
    return _mm256_load_si256((const __m256i *)bytes);
}

static inline int load4(const uint8_t *from)
{
    int word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline long long load8(const uint8_t *from)
{
    long long word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* Pixel t - r of each row r, with bytes that follow it. */
static inline __m256i gather(uint8_t *const rows[LANES_MAX], size_t t, size_t pixel)
{
    size_t at = t * pixel;
    if (pixel > 4)
        return _mm256_set_epi64x(load8(rows[3] + at - 3 * pixel), load8(rows[2] + at - 2 * pixel),
                                 load8(rows[1] + at - pixel), load8(rows[0] + at));
    return _mm256_set_epi32(load4(rows[7] + at - 7 * pixel), load4(rows[6] + at - 6 * pixel),
                            load4(rows[5] + at - 5 * pixel), load4(rows[4] + at - 4 * pixel),
                            load4(rows[3] + at - 3 * pixel), load4(rows[2] + at - 2 * pixel),
                            load4(rows[1] + at - pixel), load4(rows[0] + at));
}

/* Stores pixel t - r of each row r, `bytes` bytes each. */
static inline void scatter(uint8_t *const rows[LANES_MAX], size_t t, size_t pixel, __m256i v,
                           size_t bytes)
{
    int lanes = pixel > 4 ? 4 : 8;
    size_t at = t * pixel;
    __m128i half[2] = {_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)};
    for (int r = 0; r < lanes; r++) {
        __m128i from = half[2 * r / lanes];
        uint64_t word;
        if (pixel > 4)
            word = (uint64_t)(r % 2 == 0 ? _mm_cvtsi128_si64(from) : _mm_extract_epi64(from, 1));
        else
            word = (uint32_t)(r % 4 == 0   ? _mm_cvtsi128_si32(from)
                              : r % 4 == 1 ? _mm_extract_epi32(from, 1)
                              : r % 4 == 2 ? _mm_extract_epi32(from, 2)
                                           : _mm_extract_epi32(from, 3));
        memcpy(rows[r] + at - (size_t)r * pixel, &word, bytes);
    }
}

/* Moves each lane to the next one. The first gets the pixel at `above`. */
static inline __m256i move_down(__m256i v, const uint8_t *above, size_t pixel)
{
    if (pixel > 4)
        return _mm256_blend_epi32(_mm256_permute4x64_epi64(v, 0x90),
                                  _mm256_castsi128_si256(_mm_cvtsi64_si128(load8(above))), 3);
    const __m256i next = _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 0);
    return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(v, next),
                              _mm256_castsi128_si256(_mm_cvtsi32_si128(load4(above))), 1);
}

static inline __m256i distance(__m256i a, __m256i b)
{
    return _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
}

/* As filter_paeth in pack_loops.c has it. */
static inline __m256i predict_paeth(__m256i a, __m256i b, __m256i c)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i from_a = distance(b, c), from_b = distance(a, c);
    __m256i same_side = _mm256_cmpeq_epi8(_mm256_cmpeq_epi8(_mm256_subs_epu8(a, c), zero),
                                          _mm256_cmpeq_epi8(_mm256_subs_epu8(b, c), zero));
    __m256i from_c = _mm256_or_si256(distance(from_a, from_b), same_side);
    __m256i least = _mm256_min_epu8(from_b, from_c);
    __m256i b_or_c = _mm256_blendv_epi8(c, b, _mm256_cmpeq_epi8(least, from_b));
    return _mm256_blendv_epi8(b_or_c, a, _mm256_cmpeq_epi8(_mm256_min_epu8(from_a, least), from_a));
}

/* The mean rounded down: the vectors' mean is rounded up. */
static inline __m256i predict_average(__m256i a, __m256i b)
{
    __m256i odd = _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_set1_epi8(1));
    return _mm256_sub_epi8(_mm256_avg_epu8(a, b), odd);
}

/* The steps at which every lane has a pixel; the pixels of earlier steps are done. A store of
 * `stored` bytes may reach into the next pixel, which is loaded by then. */
static inline void run_steps(const wave *w, size_t pixel, size_t stored)
{
    const int lanes = pixel > 4 ? 4 : 8;
    const __m256i subs = lanes_with(w, GC_FILTER_SUB, lanes);
    const __m256i ups = lanes_with(w, GC_FILTER_UP, lanes);
    const __m256i averages = lanes_with(w, GC_FILTER_AVERAGE, lanes);
    const __m256i paeths = lanes_with(w, GC_FILTER_PAETH, lanes);
    const size_t first = (size_t)lanes - 1, last = w->pixels - 1;
    /* The last lane is at its first pixel: left of it and in the corner is 0. */
    const __m256i but_last = _mm256_set_epi64x(pixel > 4 ? 0 : 0xffffffff, -1, -1, -1);
    __m256i left = _mm256_and_si256(gather(w->rows, first - 1, pixel), but_last);
    __m256i corner =
        move_down(gather(w->rows, first - 2, pixel), w->above + (first - 1) * pixel, pixel);
    corner = _mm256_and_si256(corner, but_last);
    __m256i raw = gather(w->rows, first, pixel);
    for (size_t t = first;; t++) {
        __m256i next = t < last ? gather(w->rows, t + 1, pixel) : raw;
        __m256i above = move_down(left, w->above + t * pixel, pixel);
        __m256i simple =
            _mm256_or_si256(_mm256_and_si256(left, subs), _mm256_and_si256(above, ups));
        __m256i average = _mm256_and_si256(predict_average(left, above), averages);
        __m256i paeth = _mm256_and_si256(predict_paeth(left, above, corner), paeths);
        __m256i predicted = _mm256_or_si256(_mm256_or_si256(simple, average), paeth);
        left = _mm256_add_epi8(raw, predicted);
        corner = above;
        if (t == last)
            break;
        scatter(w->rows, t, pixel, left, stored);
        raw = next;
    }
    scatter(w->rows, last, pixel, left, pixel);
}

/* Before and after those steps some lanes have a pixel, and others have none. */
static void run_wave(const wave *w, size_t count)
{
    const size_t lanes = w->pixel > 4 ? 4 : 8, pixel = w->pixel;
    const uint8_t *above = w->above;
    for (size_t r = 0; r < count; above = w->rows[r], r++)
        unfilter_bytes(w->filters[r], w->rows[r], above, pixel, 0, (lanes - 1 - r) * pixel);
    switch (pixel) {
    case 1:
        run_steps(w, 1, 1);
        break;
    case 2:
        run_steps(w, 2, 2);
        break;
    case 3:
        run_steps(w, 3, 4);
        break;
    case 4:
        run_steps(w, 4, 4);
        break;
    case 6:
        run_steps(w, 6, 8);
        break;
    default:
        run_steps(w, 8, 8);
        break;
    }
    above = w->above;
    for (size_t r = 0; r < count; above = w->rows[r], r++)
        unfilter_bytes(w->filters[r], w->rows[r], above, pixel, (w->pixels - r) * pixel,
                       w->pixels * pixel);
}

/* Takes as many rows as there are lanes. Returns how many. */
static size_t unfilter_several(uint8_t *rows, size_t count, size_t row_bytes, const uint8_t *above,
                               size_t pixel, uint8_t *spare)
{
    size_t lanes = pixel > 4 ? 4 : 8, taken = 0;
    wave w = {.above = above, .pixel = pixel, .pixels = row_bytes / pixel};
    if (w.pixels < 2 * lanes) {
        unfilter_bytes(rows[0], rows + 1, above, pixel, 0, row_bytes);
        return 1;
    }
    for (; taken < lanes && taken < count && rows[taken * (row_bytes + 1)] < GC_FILTER_COUNT;
         taken++) {
        w.rows[taken] = rows + taken * (row_bytes + 1) + 1;
        w.filters[taken] = w.rows[taken][-1];
    }
    for (size_t r = taken; r < lanes; r++)
        w.rows[r] = spare;
    run_wave(&w, taken);
    return taken;
}

void GC_PACK(unfilter)(uint8_t *rows, size_t count, size_t row_bytes, const uint8_t *above,
                       size_t pixel, uint8_t *spare)
{
    for (size_t y = 0, taken; y < count && rows[0] < GC_FILTER_COUNT; y += taken) {
        taken = 1;
        if (rows[0] == GC_FILTER_UP)
            add_above(rows + 1, above, row_bytes);
        else if (rows[0] != GC_FILTER_NONE)
            taken = unfilter_several(rows, count - y, row_bytes, above, pixel, spare);
        for (size_t r = 0; r < taken; r++, rows += row_bytes + 1)
            rows[0] = GC_FILTER_NONE;
        above = rows - row_bytes;
    }
}
#endif
