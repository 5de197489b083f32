/* Loops over the bytes of rows, compiled once for every instruction set under the name that
 * GC_PACK_LOOPS gives it. */
#include "io/png/loops.h"

#include <limits.h>
#include <stdbool.h>
#include <zlib.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

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
 * of both where one of the two lies above the corner and the other below, else their sum, and then
 * the corner is never the nearest alone. */
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

/* ---- Codes ----------------------------------------------------------------------------------- */

/* Three codes have at most 45 bits. */
static void put_few(gc_bits *to, const uint8_t *bytes, size_t count, const gc_code *codes)
{
    gc_bits local = *to;
    size_t i = 0;
    for (; i + 3 <= count; i += 3) {
        gc_code a = codes[bytes[i]], b = codes[bytes[i + 1]], c = codes[bytes[i + 2]];
        gc_put(&local,
               a.bits | (uint64_t)b.bits << a.length | (uint64_t)c.bits << (a.length + b.length),
               a.length + b.length + c.length);
    }
    for (; i < count; i++)
        gc_put_code(&local, codes[bytes[i]]);
    *to = local;
}

#ifdef __AVX2__
static inline __m256i load_table(const uint8_t table[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
}

typedef struct vector_table {
    __m256i low, high, length;
} vector_table;

static inline vector_table load_code_table(const gc_code_table *table)
{
    return (vector_table){load_table(table->low), load_table(table->high),
                          load_table(table->length)};
}

/* Numbers of bits, and how many these are. The last bit is the lowest. */
typedef struct vector_bits {
    __m256i bits, counts;
} vector_bits;

/* Joins neighbouring codes of 16 bits to codes of up to 30 bits, and these to up to 60. */
static inline vector_bits join_four(vector_bits v)
{
    const __m256i low16 = _mm256_set1_epi32(0xffff), low32 = _mm256_set1_epi64x(0xffffffff);
    __m256i second = _mm256_srli_epi32(v.counts, 16);
    __m256i bits = _mm256_or_si256(_mm256_sllv_epi32(_mm256_and_si256(v.bits, low16), second),
                                   _mm256_srli_epi32(v.bits, 16));
    __m256i counts = _mm256_add_epi32(_mm256_and_si256(v.counts, low16), second);
    second = _mm256_srli_epi64(counts, 32);
    bits = _mm256_or_si256(_mm256_sllv_epi64(_mm256_and_si256(bits, low32), second),
                           _mm256_srli_epi64(bits, 32));
    counts = _mm256_add_epi64(_mm256_and_si256(counts, low32), second);
    return (vector_bits){bits, counts};
}

/* Reverses the bits: the first one becomes the lowest. */
static inline __m256i reverse_words(vector_bits v)
{
    const __m256i swap = _mm256_broadcastsi128_si256(
        _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    const __m256i nibble = _mm256_set1_epi8(0x0f);
    const __m256i reversed = _mm256_broadcastsi128_si256(
        _mm_set_epi8(15, 7, 11, 3, 13, 5, 9, 1, 14, 6, 10, 2, 12, 4, 8, 0));
    const __m256i reversed_high = _mm256_slli_epi16(reversed, 4);
    __m256i bytes = _mm256_shuffle_epi8(v.bits, swap);
    __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
    __m256i lower = _mm256_and_si256(bytes, nibble);
    bytes = _mm256_or_si256(_mm256_shuffle_epi8(reversed_high, lower),
                            _mm256_shuffle_epi8(reversed, upper));
    return _mm256_srlv_epi64(bytes, _mm256_sub_epi64(_mm256_set1_epi64x(64), v.counts));
}

/* Appends the four words in this order of their elements. */
static inline void put_words(gc_bits *to, vector_bits v, int second, int third)
{
    _Alignas(32) uint64_t words[4], counts[4];
    _mm256_store_si256((__m256i *)words, reverse_words(v));
    _mm256_store_si256((__m256i *)counts, v.counts);
    gc_put(to, words[0], (int)counts[0]);
    gc_put(to, words[second], (int)counts[second]);
    gc_put(to, words[third], (int)counts[third]);
    gc_put(to, words[3], (int)counts[3]);
}

static inline bool fits_words(__m256i counts)
{
    return _mm256_movemask_epi8(_mm256_cmpgt_epi32(counts, _mm256_set1_epi64x(56))) == 0;
}

typedef struct vector_codes {
    vector_table first, last, group;
    __m256i inside; /* the four lower bits for groups, else 0 */
} vector_codes;

/* Looks up 32 bytes: *a gets the codes of the first 16, *b those of the others. A lookup gives 0 for
 * an index from 128 on. So the sums of the three tables are the codes. */
static inline void look_up(__m256i bytes, const vector_codes *t, vector_bits *a, vector_bits *b)
{
    const __m256i nibble = _mm256_set1_epi8(0x0f), saturate = _mm256_set1_epi8(0x70);
    const __m256i ones = _mm256_set1_epi8(-1), zero = _mm256_setzero_si256();
    bytes = _mm256_permute4x64_epi64(bytes, 0xd8);
    __m256i group = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
    __m256i first = _mm256_adds_epu8(bytes, saturate);
    __m256i last = _mm256_adds_epu8(_mm256_xor_si256(bytes, ones), saturate);
    __m256i low = _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(t->first.low, first),
                                                  _mm256_shuffle_epi8(t->last.low, last)),
                                  _mm256_shuffle_epi8(t->group.low, group));
    __m256i high = _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(t->first.high, first),
                                                   _mm256_shuffle_epi8(t->last.high, last)),
                                   _mm256_shuffle_epi8(t->group.high, group));
    __m256i length = _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(t->first.length, first),
                                                     _mm256_shuffle_epi8(t->last.length, last)),
                                     _mm256_shuffle_epi8(t->group.length, group));
    __m256i inside = _mm256_and_si256(bytes, _mm256_shuffle_epi8(t->inside, group));
    a->bits = _mm256_add_epi16(_mm256_unpacklo_epi8(low, high), _mm256_unpacklo_epi8(inside, zero));
    b->bits = _mm256_add_epi16(_mm256_unpackhi_epi8(low, high), _mm256_unpackhi_epi8(inside, zero));
    a->counts = _mm256_unpacklo_epi8(length, zero);
    b->counts = _mm256_unpackhi_epi8(length, zero);
}

static vector_codes load_codes(const gc_byte_codes *codes)
{
    const __m128i inside =
        _mm_set_epi8(0, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 0);
    return (vector_codes){load_code_table(&codes->first), load_code_table(&codes->last),
                          load_code_table(&codes->group), _mm256_broadcastsi128_si256(inside)};
}

/* Eight codes mostly fit the 56 bits that go at once, four nearly always. */
static void put_bytes(gc_bits *to, const uint8_t *bytes, size_t count, const gc_byte_codes *codes)
{
    const vector_codes tables = load_codes(codes);
    gc_bits local = *to;
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        vector_bits a, b;
        look_up(_mm256_loadu_si256((const __m256i *)(bytes + i)), &tables, &a, &b);
        a = join_four(a);
        b = join_four(b);
        __m256i counts_first = _mm256_unpacklo_epi64(a.counts, b.counts);
        __m256i counts_second = _mm256_unpackhi_epi64(a.counts, b.counts);
        __m256i counts = _mm256_add_epi64(counts_first, counts_second);
        if (fits_words(counts)) {
            __m256i bits = _mm256_or_si256(
                _mm256_sllv_epi64(_mm256_unpacklo_epi64(a.bits, b.bits), counts_second),
                _mm256_unpackhi_epi64(a.bits, b.bits));
            put_words(&local, (vector_bits){bits, counts}, 2, 1);
        } else if (fits_words(_mm256_max_epi32(a.counts, b.counts))) {
            put_words(&local, a, 1, 2);
            put_words(&local, b, 1, 2);
        } else {
            put_few(&local, bytes + i, 32, codes->codes);
        }
    }
    put_few(&local, bytes + i, count - i, codes->codes);
    *to = local;
}
#else
static void put_bytes(gc_bits *to, const uint8_t *bytes, size_t count, const gc_byte_codes *codes)
{
    put_few(to, bytes, count, codes->codes);
}
#endif

/* ---- Checks ---------------------------------------------------------------------------------- */

#ifdef __AVX2__
enum { ADLER_BASE = 65521 };

static inline uint32_t sum_of(__m256i v)
{
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

/* The second sum of n bytes b[0], b[1], ... grows by n times the first sum before them, and by
 * n*b[0] + (n-1)*b[1] + ... A part is short enough for sums of 32 bits. */
static uint32_t adler(uint32_t check, const uint8_t *bytes, size_t count)
{
    enum { STEP = 32, STEPS_MAX = 172 };
    const __m256i weights =
        _mm256_set_epi8(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    const __m256i ones = _mm256_set1_epi16(1), zero = _mm256_setzero_si256();
    uint32_t first = check & 0xffff, second = check >> 16;
    while (count >= STEP) {
        size_t steps = count / STEP < STEPS_MAX ? count / STEP : STEPS_MAX;
        __m256i sums = zero, before = zero, weighted = zero;
        for (size_t i = 0; i < steps; i++) {
            __m256i v = _mm256_loadu_si256((const __m256i *)(bytes + STEP * i));
            before = _mm256_add_epi32(before, sums);
            sums = _mm256_add_epi32(sums, _mm256_sad_epu8(v, zero));
            weighted = _mm256_add_epi32(weighted,
                                        _mm256_madd_epi16(_mm256_maddubs_epi16(v, weights), ones));
        }
        second = (uint32_t)((second + (uint64_t)first * (STEP * steps) +
                             (uint64_t)STEP * sum_of(before) + sum_of(weighted)) %
                            ADLER_BASE);
        first = (first + sum_of(sums)) % ADLER_BASE;
        bytes += STEP * steps;
        count -= STEP * steps;
    }
    return (uint32_t)adler32(second << 16 | first, bytes, (uInt)count);
}

/* A sum of two products of polynomials modulo the CRC's: the lower and the higher half of `v` times
 * the halves of `by`. */
static inline __m128i fold(__m128i v, __m128i by, __m128i next)
{
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(v, by, 0x00), _mm_clmulepi64_si128(v, by, 0x11)), next);
}

/* Folds 64 bytes at a time, and at last to 16 bytes that have the same CRC. The factors are x^n
 * modulo the polynomial with bits reversed: n = 512 +- 32, and 128 +- 32 (V. Gopal et al., "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009). */
static uint32_t crc(uint32_t check, const uint8_t *bytes, size_t count)
{
    const __m128i by64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    if (count < 128)
        return (uint32_t)crc32(check, bytes, (uInt)count);
    const __m128i *from = (const __m128i *)bytes;
    __m128i v[4];
    for (int k = 0; k < 4; k++)
        v[k] = _mm_loadu_si128(from + k);
    v[0] = _mm_xor_si128(v[0], _mm_cvtsi32_si128((int)~check));
    for (from += 4, count -= 64; count >= 64; from += 4, count -= 64)
        for (int k = 0; k < 4; k++)
            v[k] = fold(v[k], by64, _mm_loadu_si128(from + k));
    for (int k = 1; k < 4; k++)
        v[0] = fold(v[0], by16, v[k]);
    uint8_t folded[16];
    _mm_storeu_si128((__m128i *)folded, v[0]);
    /* zlib begins with the complement. */
    check = (uint32_t)crc32(0xffffffff, folded, sizeof folded);
    return (uint32_t)crc32(check, (const uint8_t *)from, (uInt)count);
}
#else
static uint32_t adler(uint32_t check, const uint8_t *bytes, size_t count)
{
    return (uint32_t)adler32(check, bytes, (uInt)count);
}

static uint32_t crc(uint32_t check, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32(check, bytes, (uInt)count);
}
#endif

extern const gc_pack_loops GC_PACK_LOOPS;
const gc_pack_loops GC_PACK_LOOPS = {
    .filter = filter,
#ifdef __AVX2__
    .unfilter = gc_unfilter_avx2,
#endif
    .survey = survey,
    .put_bytes = put_bytes,
    .adler32 = adler,
    .crc32 = crc,
};
