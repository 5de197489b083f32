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

enum { VECTOR_BYTES = 32, LANES_MAX = VECTOR_BYTES / 4, APART = 2 /* pixels, of rows */ };

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
    const ptrdiff_t at = (ptrdiff_t)(t * pixel), apart = APART * (ptrdiff_t)pixel;
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

/* Of three sums, that of the pixel that Paeth's predictor takes of `low`, the lesser of left and
 * above, `high`, the larger, and the corner: the nearest to low + high - corner. That is `high` if
 * it lies at least twice as far beyond the corner as `low` lies below it, `low` in the opposite
 * case, and else the corner. By distances, as filter_paeth in pack_loops.c has it, more steps lead
 * from a pixel to the next. */
static inline vec choose_paeth(vec low, vec high, vec corner, vec sum_low, vec sum_high,
                               vec sum_corner)
{
    vec below = vec_excess8(corner, low), beyond = vec_excess8(high, corner);
    vec takes_low = vec_at_most(beyond, vec_excess8(below, beyond));
    vec takes_high = vec_at_most(below, vec_excess8(beyond, below));
    return vec_choose(takes_high, sum_high, vec_choose(takes_low, sum_low, sum_corner));
}

/* Stores pixel t - 2r of each row r that has it, of the first `end` rows. */
static void scatter_some(const wave *w, size_t t, vec v, size_t end)
{
    uint8_t bytes[VECTOR_BYTES];
    size_t lane_bytes = w->pixel > 4 ? 8 : 4, first = 0;
    vec_store(bytes, v);
    if (t >= w->pixels)
        first = (t - w->pixels) / APART + 1;
    for (size_t r = first; r < end; r++)
        memcpy(w->rows[r] + (t - APART * r) * w->pixel, bytes + r * lane_bytes, w->pixel);
}

/* A lane has 0 to the left and in the corner until its row begins. A store of `stored` bytes may
 * reach into the next pixel, which is loaded by then. */
static inline void run_steps(const wave *w, size_t pixel, size_t stored)
{
    const size_t lanes = pixel > 4 ? 4 : 8, late = APART * (lanes - 1), last = w->pixels - 1;
    const vec subs = lanes_with(w, GC_FILTER_SUB, (int)lanes);
    const vec ups = lanes_with(w, GC_FILTER_UP, (int)lanes);
    const vec averages = lanes_with(w, GC_FILTER_AVERAGE, (int)lanes);
    const vec odd_averages = vec_and(averages, vec_set8(1)); /* means are rounded down */
    const vec paeths = lanes_with(w, GC_FILTER_PAETH, (int)lanes);
    vec left = vec_set8(0), corner = left, above = move_down(left, w->above, pixel);
    vec raw = gather(w->rows, 0, pixel);
    for (size_t t = 0; t <= last + late; t++) {
        vec next = t < last + late ? gather(w->rows, t + 1, pixel) : raw;
        vec next_above = move_down(left, w->above + (t + 1) * pixel, pixel);
        vec low = vec_smaller8(left, above), high = vec_larger8(left, above);
        vec simple = vec_or(vec_and(left, subs), vec_and(above, ups));
        vec rounded = vec_sub8(raw, vec_and(vec_xor(left, above), odd_averages));
        vec sum = vec_add8(rounded, vec_or(simple, vec_and(vec_mean8(left, above), averages)));
        left = choose_paeth(low, high, corner, vec_add8(sum, vec_and(low, paeths)),
                            vec_add8(sum, vec_and(high, paeths)),
                            vec_add8(sum, vec_and(corner, paeths)));
        corner = above;
        above = next_above;
        raw = next;
        if (t >= late && t < last) {
            scatter(w->rows, t, pixel, left, stored);
        } else {
            uint8_t begun[VECTOR_BYTES] = {0};
            size_t end = t < late ? t / APART + 1 : lanes;
            memset(begun, 255, end * VECTOR_BYTES / lanes);
            left = vec_and(left, vec_load(begun));
            scatter_some(w, t, left, end);
        }
    }
}

static void run_wave(const wave *w)
{
    switch (w->pixel) {
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
}

/* Takes as many rows as there are lanes. Returns how many. */
static size_t unfilter_several(uint8_t *rows, size_t count, size_t row_bytes, const uint8_t *above,
                               size_t pixel, uint8_t *spare)
{
    size_t lanes = pixel > 4 ? 4 : 8, taken = 0;
    wave w = {.above = above, .pixel = pixel, .pixels = row_bytes / pixel};
    for (; taken < lanes && taken < count && rows[taken * (row_bytes + 1)] < GC_FILTER_COUNT;
         taken++) {
        w.rows[taken] = rows + taken * (row_bytes + 1) + 1;
        w.filters[taken] = w.rows[taken][-1];
    }
    for (size_t r = taken; r < lanes; r++)
        w.rows[r] = spare;
    run_wave(&w);
    return taken;
}

void GC_PACK(unfilter)(uint8_t *rows, size_t count, size_t row_bytes, const uint8_t *above,
                       size_t pixel, uint8_t *spare)
{
    for (size_t y = 0, taken; y < count && rows[0] < GC_FILTER_COUNT; y += taken) {
        taken = 1;
        if (rows[0] == GC_FILTER_UP)
            for (size_t i = 0; i < row_bytes; i++)
                rows[1 + i] = (uint8_t)(rows[1 + i] + above[i]);
        else if (rows[0] != GC_FILTER_NONE)
            taken = unfilter_several(rows, count - y, row_bytes, above, pixel, spare);
        for (size_t r = 0; r < taken; r++, rows += row_bytes + 1)
            rows[0] = GC_FILTER_NONE;
        above = rows - row_bytes;
    }
}
#endif
