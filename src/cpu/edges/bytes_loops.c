/* Canny on bytes, in vectors of 16-bit integers: the operator sobel without a blur before it, the
 * border replicate and the rules of OpenCV. Squares of the norm L2 have 32 bits. */
#include "cpu/edges/loops.h"

#include <immintrin.h>
#include <string.h>

typedef __m256i vector; /* of 16-bit integers */

enum { LANES = 16 };

#define VECTOR(name) _mm256_##name

static inline vector load(const void *from)
{
    return VECTOR(loadu_si256)(from);
}

static inline void store(void *to, vector values)
{
    VECTOR(storeu_si256)(to, values);
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

/* The sums of squares of 16 gradients. */
static inline void store_squares(int32_t *to, vector across, vector down)
{
    vector low = VECTOR(unpacklo_epi16)(across, down);
    vector high = VECTOR(unpackhi_epi16)(across, down);
    low = VECTOR(madd_epi16)(low, low);
    high = VECTOR(madd_epi16)(high, high);
    store(to, VECTOR(permute2x128_si256)(low, high, 0x20));
    store(to + LANES / 2, VECTOR(permute2x128_si256)(low, high, 0x31));
}

/* y 2^15 < x 13573 for whole numbers, x above 0, means y <= floor(x 13573 / 2^15): 13573 is odd, so
 * the quotient is no whole number. The product of 2x has it in its upper half. */
static inline void measure(const int16_t *sums, const int16_t *differences, size_t count,
                           bool squared, void *magnitudes, int16_t *sectors)
{
    const vector tangent = VECTOR(set1_epi16)(13573), one = VECTOR(set1_epi16)(1);
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
            VECTOR(sub_epi16)(VECTOR(add_epi16)(one, one),
                              VECTOR(srai_epi16)(VECTOR(xor_si256)(across, down), LANES - 1));
        sector = VECTOR(blendv_epi8)(sector, one, above_high);
        store(sectors + x, VECTOR(and_si256)(sector, above_low));
        if (squared)
            store_squares((int32_t *)magnitudes + x, across, down);
        else
            store((int16_t *)magnitudes + x, VECTOR(add_epi16)(a, b));
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

/* 16 masks of 16 bits, of 16 of 32 bits. */
static inline vector narrow(vector first, vector second)
{
    return VECTOR(permute4x64_epi64)(VECTOR(packs_epi32)(first, second), 0xd8);
}

/* The bits of 32 masks of 16 bits, the first one in the most significant bit of the first byte. */
static inline uint32_t bits_of(const vector masks[2])
{
    const vector order = VECTOR(broadcastsi128_si256)(
        _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    vector bytes = VECTOR(permute4x64_epi64)(VECTOR(packs_epi16)(masks[0], masks[1]), 0xd8);
    return (uint32_t)VECTOR(movemask_epi8)(VECTOR(shuffle_epi8)(bytes, order));
}

enum { BLOCK = 2 * LANES }; /* pixels whose bits are found at once */

/* The bits of a block of magnitudes in 16 bits, unless none is above `low`. */
static inline void find_block_16(const void *const rows[3], const int16_t *sectors, size_t x,
                                 int32_t low, int32_t high, uint32_t *weak, uint32_t *strong)
{
    const int16_t *above = (const int16_t *)rows[0] + x, *own = (const int16_t *)rows[1] + x;
    const int16_t *below = (const int16_t *)rows[2] + x;
    const vector lowest = VECTOR(set1_epi16)((int16_t)low);
    const vector highest = VECTOR(set1_epi16)((int16_t)high);
    vector largest = VECTOR(max_epi16)(load(own), load(own + LANES)), found[2], sure[2];
    if (VECTOR(movemask_epi8)(VECTOR(cmpgt_epi16)(largest, lowest)) == 0)
        return;
    for (int i = 0; i < 2; i++) {
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
    vector found[4], sure[4], largest = load(own);
    for (int at = 8; at < BLOCK; at += 8)
        largest = VECTOR(max_epi32)(largest, load(own + at));
    if (VECTOR(movemask_epi8)(VECTOR(cmpgt_epi32)(largest, lowest)) == 0)
        return;
    for (int i = 0; i < 4; i++) {
        int at = i * LANES / 2;
        vector sector =
            VECTOR(cvtepi16_epi32)(_mm_loadu_si128((const __m128i *)(sectors + x + at)));
        found[i] = peaks_32(above + at, own + at, below + at, sector, lowest);
        sure[i] = VECTOR(cmpgt_epi32)(load(own + at), highest);
    }
    *weak = bits_of((vector[]){narrow(found[0], found[1]), narrow(found[2], found[3])});
    *strong = *weak & bits_of((vector[]){narrow(sure[0], sure[1]), narrow(sure[2], sure[3])});
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

extern const gc_edge_bytes_loops GC_EDGE_BYTES_LOOPS;
const gc_edge_bytes_loops GC_EDGE_BYTES_LOOPS = {measure_rows, peaks};
