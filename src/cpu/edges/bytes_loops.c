/* Canny on bytes, in vectors of 16-bit integers: the operator sobel without a blur before it, the
 * border replicate and the rules of OpenCV. Squares of the norm L2 have 32 bits. */
#include "cpu/edges/loops.h"
#include "cpu/edges/vectors.h"

#include <string.h>

/* Columns 1 2 1 and -1 0 1 of three rows, and a column more at both ends. */
static void add_columns(const uint8_t *const rows[3], size_t count, int16_t *sums,
                        int16_t *differences)
{
    const uint8_t *above = rows[0], *own = rows[1], *below = rows[2];
    size_t x = 0;
    for (; x + LANES <= count; x += LANES) {
        vector a = load_bytes(above + x), b = load_bytes(own + x), c = load_bytes(below + x);
        store(sums + x, VECTOR(add_epi16)(VECTOR(add_epi16)(a, c), VECTOR(slli_epi16)(b, 1)));
        store(differences + x, VECTOR(sub_epi16)(c, a));
    }
    for (; x < count; x++) {
        sums[x] = (int16_t)(above[x] + 2 * own[x] + below[x]);
        differences[x] = (int16_t)(below[x] - above[x]);
    }
    sums[-1] = sums[0];
    differences[-1] = differences[0];
    sums[count] = sums[count - 1];
    differences[count] = differences[count - 1];
}

/* y 2^15 < x 13573 for whole numbers, x above 0, means y <= floor(x 13573 / 2^15): 13573 is odd, so
 * the quotient is no whole number. The product of 2x has it in its upper half. */
static inline void measure(const int16_t *sums, const int16_t *differences, size_t count,
                           bool squared, void *magnitudes, int16_t *sectors)
{
    const vector one = VECTOR(set1_epi16)(1);
    for (size_t x = 0; x < count; x += LANES) {
        const int16_t *s = sums + x, *d = differences + x;
        vector across = VECTOR(sub_epi16)(load(s + 1), load(s - 1)), own = load(d);
        vector down = VECTOR(add_epi16)(VECTOR(add_epi16)(load(d - 1), load(d + 1)),
                                        VECTOR(add_epi16)(own, own));
        vector a = VECTOR(abs_epi16)(across), b = VECTOR(abs_epi16)(down);
        vector twice = VECTOR(add_epi16)(a, a), low = scale(a, 13573);
        vector above_low = VECTOR(cmpgt_epi16)(b, low);
        vector above_high = VECTOR(cmpgt_epi16)(b, VECTOR(add_epi16)(low, twice));
        /* 2, or 3 if the signs differ; 1; or 0 */
        vector sector = VECTOR(sub_epi16)(VECTOR(add_epi16)(one, one),
                                          VECTOR(srai_epi16)(VECTOR(xor_si256)(across, down), 15));
        sector = VECTOR(blendv_epi8)(sector, one, above_high);
        store(sectors + x, VECTOR(and_si256)(sector, above_low));
        if (squared) {
            vector squares[2];
            add_squares(across, down, squares);
            store((int32_t *)magnitudes + x, squares[0]);
            store((int32_t *)magnitudes + x + LANES / 2, squares[1]);
        } else {
            store((int16_t *)magnitudes + x, VECTOR(add_epi16)(a, b));
        }
    }
}

static void measure_rows(const uint8_t *const rows[3], size_t count, bool squared, int16_t *sums,
                         int16_t *differences, void *magnitudes, int16_t *sectors)
{
    size_t size = squared ? sizeof(int32_t) : sizeof(int16_t);
    add_columns(rows, count, sums, differences);
    if (squared)
        measure(sums, differences, count, true, magnitudes, sectors);
    else
        measure(sums, differences, count, false, magnitudes, sectors);
    memset((char *)magnitudes + count * size, 0, GC_DETECTOR_SLACK * size);
    memset((char *)magnitudes - size, 0, size);
}

/* ---- Peaks ----------------------------------------------------------------------------------- */

/* Magnitudes above `low` that are the largest in the direction of their sector, as masks, in
 * vectors of integers of so many bits. */
#define FIND_PEAKS(bits)                                                                           \
    static inline vector peaks_##bits(const int##bits##_t *above, const int##bits##_t *own,        \
                                      const int##bits##_t *below, vector sector, vector low)       \
    {                                                                                              \
        vector m = load(own);                                                                      \
        vector rises = VECTOR(and_si256)(VECTOR(cmpgt_epi##bits)(m, load(above + 1)),              \
                                         VECTOR(cmpgt_epi##bits)(m, load(below - 1)));             \
        vector falls = VECTOR(and_si256)(VECTOR(cmpgt_epi##bits)(m, load(above - 1)),              \
                                         VECTOR(cmpgt_epi##bits)(m, load(below + 1)));             \
        vector steep = VECTOR(andnot_si256)(VECTOR(cmpgt_epi##bits)(load(below), m),               \
                                            VECTOR(cmpgt_epi##bits)(m, load(above)));              \
        vector flat = VECTOR(andnot_si256)(VECTOR(cmpgt_epi##bits)(load(own + 1), m),              \
                                           VECTOR(cmpgt_epi##bits)(m, load(own - 1)));             \
        vector peaks = VECTOR(blendv_epi8)(                                                        \
            rises, falls, VECTOR(cmpeq_epi##bits)(sector, VECTOR(set1_epi##bits)(2)));             \
        peaks = VECTOR(blendv_epi8)(peaks, steep,                                                  \
                                    VECTOR(cmpeq_epi##bits)(sector, VECTOR(set1_epi##bits)(1)));   \
        peaks = VECTOR(blendv_epi8)(peaks, flat,                                                   \
                                    VECTOR(cmpeq_epi##bits)(sector, VECTOR(setzero_si256)()));     \
        return VECTOR(and_si256)(peaks, VECTOR(cmpgt_epi##bits)(m, low));                          \
    }

FIND_PEAKS(16)
FIND_PEAKS(32)

/* The bits of a block of magnitudes in 16 bits, unless none is above `low`. */
static inline void find_block_16(const void *const rows[3], const int16_t *sectors, size_t x,
                                 int32_t low, int32_t high, uint32_t *weak, uint32_t *strong)
{
    const int16_t *above = (const int16_t *)rows[0] + x, *own = (const int16_t *)rows[1] + x;
    const int16_t *below = (const int16_t *)rows[2] + x;
    const vector lowest = VECTOR(set1_epi16)((int16_t)low);
    const vector highest = VECTOR(set1_epi16)((int16_t)high);
    vector largest = load(own), found[BLOCK / LANES], sure[BLOCK / LANES];
    for (int at = LANES; at < BLOCK; at += LANES)
        largest = VECTOR(max_epi16)(largest, load(own + at));
    if (!is_any(VECTOR(cmpgt_epi16)(largest, lowest)))
        return;
    for (int i = 0; i < BLOCK / LANES; i++) {
        int at = i * LANES;
        found[i] = peaks_16(above + at, own + at, below + at, load(sectors + x + at), lowest);
        sure[i] = VECTOR(cmpgt_epi16)(load(own + at), highest);
    }
    *weak = bits_of(found);
    *strong = *weak & bits_of(sure);
}

/* The same in 32 bits. */
static inline void find_block_32(const void *const rows[3], const int16_t *sectors, size_t x,
                                 int32_t low, int32_t high, uint32_t *weak, uint32_t *strong)
{
    const int32_t *above = (const int32_t *)rows[0] + x, *own = (const int32_t *)rows[1] + x;
    const int32_t *below = (const int32_t *)rows[2] + x;
    const vector lowest = VECTOR(set1_epi32)(low), highest = VECTOR(set1_epi32)(high);
    vector largest = load(own), found[BLOCK / LANES], sure[BLOCK / LANES];
    for (int at = LANES / 2; at < BLOCK; at += LANES / 2)
        largest = VECTOR(max_epi32)(largest, load(own + at));
    if (!is_any(VECTOR(cmpgt_epi32)(largest, lowest)))
        return;
    for (int i = 0; i < BLOCK / LANES; i++) {
        vector of[2], above_high[2];
        for (int half = 0; half < 2; half++) {
            int at = i * LANES + half * LANES / 2;
            of[half] =
                peaks_32(above + at, own + at, below + at, load_wide(sectors + x + at), lowest);
            above_high[half] = VECTOR(cmpgt_epi32)(load(own + at), highest);
        }
        found[i] = narrow(of[0], of[1]);
        sure[i] = narrow(above_high[0], above_high[1]);
    }
    *weak = bits_of(found);
    *strong = *weak & bits_of(sure);
}

static void peaks(const void *const magnitudes[3], const int16_t *sectors, size_t count,
                  bool squared, int32_t low, int32_t high, uint8_t *weak, uint8_t *strong)
{
    for (size_t x = 0; x < count; x += BLOCK) {
        uint32_t found = 0, sure = 0;
        if (squared)
            find_block_32(magnitudes, sectors, x, low, high, &found, &sure);
        else
            find_block_16(magnitudes, sectors, x, low, high, &found, &sure);
        memcpy(weak + x / 8, &found, sizeof found);
        memcpy(strong + x / 8, &sure, sizeof sure);
    }
}

const gc_edge_bytes_loops GC_EDGE_BYTES_LOOPS = {measure_rows, peaks};
