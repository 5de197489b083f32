/* Canny on bytes, in vectors of 16-bit integers: the operator sobel without a blur before it, the
 * norm L1 and the border replicate. */
#include "cpu/edges/loops.h"

#include <immintrin.h>
#include <string.h>

typedef __m256i vector; /* of 16-bit integers */

enum { LANES = 16 };

#define VECTOR(name) _mm256_##name

static inline vector load(const int16_t *from)
{
    return VECTOR(loadu_si256)((const vector *)from);
}

static inline void store(int16_t *to, vector values)
{
    VECTOR(storeu_si256)((vector *)to, values);
}

static inline vector load_bytes(const uint8_t *from)
{
    return VECTOR(cvtepu8_epi16)(_mm_loadu_si128((const __m128i *)from));
}

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
static void measure(const uint8_t *const rows[3], size_t count, int16_t *sums, int16_t *differences,
                    int16_t *magnitudes, int16_t *sectors)
{
    const vector tangent = VECTOR(set1_epi16)(13573), one = VECTOR(set1_epi16)(1);
    add_columns(rows, count, sums, differences);
    for (size_t x = 0; x < count; x += LANES) {
        const int16_t *s = sums + x, *d = differences + x;
        vector across = VECTOR(sub_epi16)(load(s + 1), load(s - 1)), own = load(d);
        vector down = VECTOR(add_epi16)(VECTOR(add_epi16)(load(d - 1), load(d + 1)),
                                        VECTOR(add_epi16)(own, own));
        vector a = VECTOR(abs_epi16)(across), b = VECTOR(abs_epi16)(down);
        vector twice = VECTOR(add_epi16)(a, a), low = VECTOR(mulhi_epi16)(twice, tangent);
        vector above_low = VECTOR(cmpgt_epi16)(b, low);
        vector above_high = VECTOR(cmpgt_epi16)(b, VECTOR(add_epi16)(low, twice));
        /* 2, or 3 if the signs differ; 1; or 0 */
        vector sector =
            VECTOR(sub_epi16)(VECTOR(slli_epi16)(one, 1),
                              VECTOR(srai_epi16)(VECTOR(xor_si256)(across, down), LANES - 1));
        sector = VECTOR(blendv_epi8)(sector, one, above_high);
        store(magnitudes + x, VECTOR(add_epi16)(a, b));
        store(sectors + x, VECTOR(and_si256)(sector, above_low));
    }
    memset(magnitudes + count, 0, GC_DETECTOR_SLACK * sizeof *magnitudes);
    magnitudes[-1] = 0;
}

/* Those of 16 magnitudes above `low` that are the largest in their direction. */
static inline vector find_peaks(const int16_t *above, const int16_t *own, const int16_t *below,
                                const int16_t *sectors, vector low)
{
    vector m = load(own), sector = load(sectors);
    vector rises = VECTOR(cmpgt_epi16)(m, load(above + 1)); /* sector 3 */
    rises = VECTOR(and_si256)(rises, VECTOR(cmpgt_epi16)(m, load(below - 1)));
    vector falls = VECTOR(cmpgt_epi16)(m, load(above - 1));
    falls = VECTOR(and_si256)(falls, VECTOR(cmpgt_epi16)(m, load(below + 1)));
    vector steep = VECTOR(cmpgt_epi16)(m, load(above));
    steep = VECTOR(andnot_si256)(VECTOR(cmpgt_epi16)(load(below), m), steep);
    vector flat = VECTOR(cmpgt_epi16)(m, load(own - 1));
    flat = VECTOR(andnot_si256)(VECTOR(cmpgt_epi16)(load(own + 1), m), flat);
    vector peaks =
        VECTOR(blendv_epi8)(rises, falls, VECTOR(cmpeq_epi16)(sector, VECTOR(set1_epi16)(2)));
    peaks = VECTOR(blendv_epi8)(peaks, steep, VECTOR(cmpeq_epi16)(sector, VECTOR(set1_epi16)(1)));
    peaks = VECTOR(blendv_epi8)(peaks, flat, VECTOR(cmpeq_epi16)(sector, VECTOR(setzero_si256)()));
    return VECTOR(and_si256)(peaks, VECTOR(cmpgt_epi16)(m, low));
}

/* The bits of 32 masks of 16 bits, the first one in the most significant bit of the first byte. */
static inline uint32_t bits_of(vector first, vector second)
{
    const vector order = VECTOR(broadcastsi128_si256)(
        _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    vector bytes = VECTOR(permute4x64_epi64)(VECTOR(packs_epi16)(first, second), 0xd8);
    return (uint32_t)VECTOR(movemask_epi8)(VECTOR(shuffle_epi8)(bytes, order));
}

static void peaks(const int16_t *const magnitudes[3], const int16_t *sectors, size_t count,
                  int16_t low, int16_t high, uint8_t *weak, uint8_t *strong)
{
    const vector lowest = VECTOR(set1_epi16)(low), highest = VECTOR(set1_epi16)(high);
    for (size_t x = 0; x < count; x += 2 * LANES) {
        const int16_t *above = magnitudes[0] + x, *own = magnitudes[1] + x;
        const int16_t *below = magnitudes[2] + x, *next = own + LANES;
        uint32_t found = 0, sure = 0;
        vector largest = VECTOR(max_epi16)(load(own), load(next));
        if (VECTOR(movemask_epi8)(VECTOR(cmpgt_epi16)(largest, lowest)) != 0) {
            vector first = find_peaks(above, own, below, sectors + x, lowest);
            vector second =
                find_peaks(above + LANES, next, below + LANES, sectors + x + LANES, lowest);
            found = bits_of(first, second);
            sure = found & bits_of(VECTOR(cmpgt_epi16)(load(own), highest),
                                   VECTOR(cmpgt_epi16)(load(next), highest));
        }
        memcpy(weak + x / 8, &found, sizeof found);
        memcpy(strong + x / 8, &sure, sizeof sure);
    }
}

extern const gc_edge_bytes_loops GC_EDGE_BYTES_LOOPS;
const gc_edge_bytes_loops GC_EDGE_BYTES_LOOPS = {measure, peaks};
