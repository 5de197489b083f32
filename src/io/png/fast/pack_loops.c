/* Filters and the survey of bytes, and the table of all loops over the bytes of rows. Compiled once
 * for every instruction set, as the other loops are. */
#include "io/png/fast/pack_loops.h"

#include <limits.h>

/* ---- Filters --------------------------------------------------------------------------------- */

static void filter_sub(const uint8_t *restrict row, size_t pixel, size_t count,
                       uint8_t *restrict out)
{
    const uint8_t *left = row - pixel;
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(row[i] - left[i]);
}

static void filter_up(const uint8_t *restrict row, const uint8_t *restrict above, size_t count,
                      uint8_t *restrict out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(row[i] - above[i]);
}

/* The mean rounded down: of two bytes, what both have plus half of what one has. */
static void filter_average(const uint8_t *restrict row, const uint8_t *restrict above, size_t pixel,
                           size_t count, uint8_t *restrict out)
{
    const uint8_t *left = row - pixel;
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(row[i] - ((left[i] & above[i]) + ((left[i] ^ above[i]) >> 1)));
}

static inline uint8_t difference(uint8_t a, uint8_t b)
{
    return a > b ? (uint8_t)(a - b) : (uint8_t)(b - a);
}

/* Paeth's predictor is the nearest to left + above - corner of these three. In bytes: the distance
 * from `left` is |above - corner|, from `above` |left - corner|. From `corner` it is the difference
 * of both if one of the two lies above the corner and the other below, else their sum, and then the
 * corner is never the nearest alone. */
static void filter_paeth(const uint8_t *restrict row, const uint8_t *restrict above, size_t pixel,
                         size_t count, uint8_t *restrict out)
{
    const uint8_t *lefts = row - pixel, *corners = above - pixel;
    for (size_t i = 0; i < count; i++) {
        uint8_t a = lefts[i], b = above[i], c = corners[i];
        uint8_t from_a = difference(b, c), from_b = difference(a, c);
        uint8_t same_side = (uint8_t)((a > c ? 255 : 0) ^ (b > c ? 0 : 255));
        uint8_t from_c = difference(from_a, from_b) | same_side;
        uint8_t b_or_c = from_b <= from_c ? b : c;
        uint8_t nearest = from_a <= from_b && from_a <= from_c ? a : b_or_c;
        out[i] = (uint8_t)(row[i] - nearest);
    }
}

static void filter(gc_row_filter chosen, const uint8_t *row, const uint8_t *above, size_t pixel,
                   size_t count, uint8_t *out)
{
    switch (chosen) {
    case GC_FILTER_SUB:
        filter_sub(row, pixel, count, out);
        break;
    case GC_FILTER_UP:
        filter_up(row, above, count, out);
        break;
    case GC_FILTER_AVERAGE:
        filter_average(row, above, pixel, count, out);
        break;
    case GC_FILTER_PAETH:
        filter_paeth(row, above, pixel, count, out);
        break;
    default:
        memcpy(out, row, count);
        break;
    }
}

/* ---- The survey ------------------------------------------------------------------------------ */

static void survey_range(const uint8_t *bytes, size_t count, gc_survey *survey)
{
    int8_t least = SCHAR_MAX, most = SCHAR_MIN;
    for (size_t i = 0; i < count; i++) {
        int8_t byte = (int8_t)bytes[i];
        least = byte < least ? byte : least;
        most = byte > most ? byte : most;
    }
    survey->least = least;
    survey->most = most;
}

/* PART: bytes whose sums fit a byte. Of more than ALL bytes every third part is looked at. */
enum { PART = 240, BEFORE = 4, ALL = 8192 };

/* Counts in bytes, so that a vector holds many counters. */
static void survey(const uint8_t *bytes, size_t count, gc_survey *survey)
{
    survey_range(bytes, count, survey);
    size_t repeats = 0, runs = 0, scale = count > ALL ? 3 : 1;
    for (size_t at = BEFORE; at < count; at += scale * PART) {
        size_t part = count - at < PART ? count - at : PART;
        const uint8_t *b = bytes + at - BEFORE;
        uint8_t part_repeats = 0, part_runs = 0;
        for (size_t i = 0; i < part; i++) {
            uint8_t triple =
                (b[i + 4] == b[i + 3]) & (b[i + 3] == b[i + 2]) & (b[i + 2] == b[i + 1]);
            part_repeats = (uint8_t)(part_repeats + triple);
            part_runs = (uint8_t)(part_runs + (triple & (b[i + 1] != b[i])));
        }
        repeats += part_repeats;
        runs += part_runs;
    }
    survey->repeats = scale * repeats;
    survey->runs = scale * runs;
}

/* ---- The table ------------------------------------------------------------------------------- */

const gc_pack_loops GC_PACK_LOOPS = {
    .filter = filter,
#ifdef GC_HAS_VECTORS
    .unfilter = GC_PACK(unfilter),
#endif
    .survey = survey,
    .put_bytes = GC_PACK(put_bytes),
    .find_tokens = GC_PACK(find_tokens),
    .count_tokens = GC_PACK(count_tokens),
    .put_tokens = GC_PACK(put_tokens),
};
