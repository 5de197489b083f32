/* Undoes the filters of rows (ISO/IEC 15948, 9.2) by vectors.
 *
 * A byte depends on the byte to its left, so that one row alone waits for each pixel. Here a vector
 * takes a pixel of each of several rows, a wave: lane r has pixel t - 2r of row r at step t.
 *
 *     row 0   . . . . . 0        the digits are lanes
 *     row 1   . . . 1
 *     row 2   . 2
 *
 * What a lane needs is then there: its own last result is the pixel to the left, that of the lane
 * before it two steps ago the pixel above, and the pixel above of the last step is the corner. With
 * rows one pixel apart, each step would wait until a result has come from lane to lane. Rows of a
 * wave may have different filters. */
#include "io/png/fast/pack_loops.h"

#ifdef GC_HAS_VECTORS

#include <stdlib.h>

enum { VECTOR_BYTES = 32, LANES_MAX = VECTOR_BYTES / 4, APART = 2 /* pixels, of rows */ };

/* ---- One row --------------------------------------------------------------------------------- */

static int paeth(int left, int above, int corner)
{
    int from_left = abs(above - corner), from_above = abs(left - corner);
    int from_corner = abs(left + above - 2 * corner);
    int above_or_corner = from_above <= from_corner ? above : corner;
    return from_left <= from_above && from_left <= from_corner ? left : above_or_corner;
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

/* ---- A wave ---------------------------------------------------------------------------------- */

/* Rows one below the other. If these are fewer than lanes, the other lanes have rows that nobody
 * reads. */
typedef struct wave {
    const uint8_t *above; /* of the first row */
    uint8_t *rows[LANES_MAX];
    int filters[LANES_MAX];
    size_t pixel, pixels; /* bytes of a pixel, and pixels of a row */
} wave;

/* All ones in the lanes whose rows have this filter. */
static vec lanes_with(const wave *w, gc_row_filter filter, int lanes)
{
    uint8_t bytes[VECTOR_BYTES];
    for (int i = 0; i < VECTOR_BYTES; i++)
        bytes[i] = w->filters[i * lanes / VECTOR_BYTES] == (int)filter ? 255 : 0;
    return vec_load(bytes);
}

static inline uint32_t load4(const uint8_t *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint64_t load8(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* Pixel t - 2r of each row r, with bytes that follow it. */
static inline vec gather(uint8_t *const rows[LANES_MAX], size_t t, size_t pixel)
{
    const size_t at = t * pixel, apart = APART * pixel;
    if (pixel > 4)
        return vec_of_four(load8(rows[0] + at), load8(rows[1] + at - apart),
                           load8(rows[2] + at - 2 * apart), load8(rows[3] + at - 3 * apart));
    return vec_of_eight(load4(rows[0] + at), load4(rows[1] + at - apart),
                        load4(rows[2] + at - 2 * apart), load4(rows[3] + at - 3 * apart),
                        load4(rows[4] + at - 4 * apart), load4(rows[5] + at - 5 * apart),
                        load4(rows[6] + at - 6 * apart), load4(rows[7] + at - 7 * apart));
}

/* Stores pixel t - 2r of each row r, `bytes` bytes each. */
static inline void scatter(uint8_t *const rows[LANES_MAX], size_t t, size_t pixel, vec v,
                           size_t bytes)
{
    int lanes = pixel > 4 ? 4 : 8;
    size_t at = t * pixel;
    for (int r = 0; r < lanes; r++) {
        uint64_t word = pixel > 4 ? vec_word64(v, r) : vec_word32(v, r);
        memcpy(rows[r] + at - (size_t)r * APART * pixel, &word, bytes);
    }
}

/* Moves each lane to the next one. The first gets the pixel at `above`. */
static inline vec move_down(vec v, const uint8_t *above, size_t pixel)
{
    return pixel > 4 ? vec_shift_in64(v, load8(above)) : vec_shift_in32(v, load4(above));
}

/* The sum of the pixel that Paeth's predictor takes of a, b, and c. As filter_paeth in pack_loops.c
 * has it. */
static inline vec choose_paeth(vec a, vec b, vec c, vec sum_a, vec sum_b, vec sum_c)
{
    vec from_a = vec_distance8(b, c), from_b = vec_distance8(a, c);
    vec same_side = vec_equal8(vec_at_most(a, c), vec_at_most(b, c));
    vec from_c = vec_or(vec_distance8(from_a, from_b), same_side);
    vec b_or_c = vec_choose(vec_at_most(from_b, from_c), sum_b, sum_c);
    return vec_choose(vec_and(vec_at_most(from_a, from_b), vec_at_most(from_a, from_c)), sum_a,
                      b_or_c);
}

/* The steps at which every lane has a pixel; the pixels of earlier steps are done. A store of
 * `stored` bytes may reach into the next pixel, which is loaded by then. */
static inline void run_steps(const wave *w, size_t pixel, size_t stored)
{
    const int lanes = pixel > 4 ? 4 : 8;
    const vec subs = lanes_with(w, GC_FILTER_SUB, lanes);
    const vec ups = lanes_with(w, GC_FILTER_UP, lanes);
    const vec averages = lanes_with(w, GC_FILTER_AVERAGE, lanes);
    const vec paeths = lanes_with(w, GC_FILTER_PAETH, lanes);
    const size_t first = APART * ((size_t)lanes - 1), last = w->pixels - 1;
    /* The last lane is at its first pixel: left of it and in the corner is 0. */
    const uint64_t all = UINT64_MAX;
    const vec but_last = vec_of_four(all, all, all, pixel > 4 ? 0 : 0xffffffff);
    vec left = vec_and(gather(w->rows, first - 1, pixel), but_last);
    vec above = move_down(gather(w->rows, first - 2, pixel), w->above + first * pixel, pixel);
    vec corner =
        move_down(gather(w->rows, first - 3, pixel), w->above + (first - 1) * pixel, pixel);
    corner = vec_and(corner, but_last);
    vec raw = gather(w->rows, first, pixel);
    for (size_t t = first;; t++) {
        vec next = t < last ? gather(w->rows, t + 1, pixel) : raw;
        vec next_above = move_down(left, w->above + (t + 1) * pixel, pixel);
        vec simple = vec_or(vec_and(left, subs), vec_and(above, ups));
        vec sum = vec_add8(raw, vec_or(simple, vec_and(vec_mean8(left, above), averages)));
        left = choose_paeth(left, above, corner, vec_add8(sum, vec_and(left, paeths)),
                            vec_add8(sum, vec_and(above, paeths)),
                            vec_add8(sum, vec_and(corner, paeths)));
        corner = above;
        above = next_above;
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
        unfilter_bytes(w->filters[r], w->rows[r], above, pixel, 0, APART * (lanes - 1 - r) * pixel);
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
        unfilter_bytes(w->filters[r], w->rows[r], above, pixel, (w->pixels - APART * r) * pixel,
                       w->pixels * pixel);
}

/* Takes as many rows as there are lanes. Returns how many. */
static size_t unfilter_several(uint8_t *rows, size_t count, size_t row_bytes, const uint8_t *above,
                               size_t pixel, uint8_t *spare)
{
    size_t lanes = pixel > 4 ? 4 : 8, taken = 0;
    wave w = {.above = above, .pixel = pixel, .pixels = row_bytes / pixel};
    if (w.pixels < 2 * APART * lanes) {
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
            unfilter_bytes(GC_FILTER_UP, rows + 1, above, 1, 0, row_bytes);
        else if (rows[0] != GC_FILTER_NONE)
            taken = unfilter_several(rows, count - y, row_bytes, above, pixel, spare);
        for (size_t r = 0; r < taken; r++, rows += row_bytes + 1)
            rows[0] = GC_FILTER_NONE;
        above = rows - row_bytes;
    }
}
#endif
