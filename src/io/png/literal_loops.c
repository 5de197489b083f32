/* Codes of literals (io/png/literals.h), compiled once for every instruction set. */
#include "io/png/pack_loops.h"

#include <stdbool.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

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

#ifdef __AVX512VBMI__
/* Numbers of bits, and how many these are. The first bit is the lowest. */
typedef struct vector_bits {
    __m512i bits, counts;
} vector_bits;

/* A byte of the code of each byte, or the length. */
typedef struct vector_table {
    __m512i part[4];
} vector_table;

typedef struct vector_codes {
    vector_table low, high, length;
} vector_codes;

static inline vector_table load_table(const uint8_t table[256])
{
    return (vector_table){{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                           _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)}};
}

static vector_codes load_codes(const gc_byte_codes *codes)
{
    uint8_t low[256], high[256], length[256];
    for (int byte = 0; byte < 256; byte++) {
        low[byte] = (uint8_t)codes->codes[byte].bits;
        high[byte] = (uint8_t)(codes->codes[byte].bits >> 8);
        length[byte] = (uint8_t)codes->codes[byte].length;
    }
    return (vector_codes){load_table(low), load_table(high), load_table(length)};
}

/* upper: which bytes are from 128 on. */
static inline __m512i look_up(const vector_table *table, __m512i bytes, __mmask64 upper)
{
    return _mm512_mask_blend_epi8(upper,
                                  _mm512_permutex2var_epi8(table->part[0], bytes, table->part[1]),
                                  _mm512_permutex2var_epi8(table->part[2], bytes, table->part[3]));
}

/* Joins neighbouring codes of 16 bits to codes of up to 30 bits, and these to up to 60. */
static inline vector_bits join_four(vector_bits v)
{
    const __m512i low16 = _mm512_set1_epi32(0xffff), low32 = _mm512_set1_epi64(0xffffffff);
    __m512i bits = _mm512_or_si512(
        _mm512_and_si512(v.bits, low16),
        _mm512_sllv_epi32(_mm512_srli_epi32(v.bits, 16), _mm512_and_si512(v.counts, low16)));
    __m512i counts = _mm512_madd_epi16(v.counts, _mm512_set1_epi16(1));
    __m512i first = _mm512_and_si512(counts, low32);
    bits = _mm512_or_si512(_mm512_and_si512(bits, low32),
                           _mm512_sllv_epi64(_mm512_srli_epi64(bits, 32), first));
    return (vector_bits){bits, _mm512_add_epi64(first, _mm512_srli_epi64(counts, 32))};
}

static inline bool fits_words(__m512i counts)
{
    return _mm512_cmpgt_epi64_mask(counts, _mm512_set1_epi64(56)) == 0;
}

typedef struct stored_words {
    _Alignas(64) uint64_t bits[8], counts[8];
} stored_words;

static inline stored_words store_words(vector_bits v)
{
    stored_words words;
    _mm512_store_si512(words.bits, v.bits);
    _mm512_store_si512(words.counts, v.counts);
    return words;
}

static inline void put_word(gc_bits *to, const stored_words *words, int k)
{
    gc_put(to, words->bits[k], (int)words->counts[k]);
}

/* Looks up 64 bytes. Of 16 bytes, *a gets the codes of the first eight, *b those of the others. Each is
 * joined with three neighbours. */
static inline void look_up_fours(const uint8_t *bytes, const vector_codes *t, vector_bits *a,
                                 vector_bits *b)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i v = _mm512_loadu_si512(bytes);
    __mmask64 upper = _mm512_movepi8_mask(v);
    __m512i low = look_up(&t->low, v, upper), high = look_up(&t->high, v, upper);
    __m512i length = look_up(&t->length, v, upper);
    *a = join_four(
        (vector_bits){_mm512_unpacklo_epi8(low, high), _mm512_unpacklo_epi8(length, zero)});
    *b = join_four(
        (vector_bits){_mm512_unpackhi_epi8(low, high), _mm512_unpackhi_epi8(length, zero)});
}

/* Joins the fours of look_up_fours. */
static inline vector_bits join_eight(vector_bits a, vector_bits b)
{
    __m512i first = _mm512_unpacklo_epi64(a.counts, b.counts);
    __m512i second = _mm512_unpackhi_epi64(a.counts, b.counts);
    __m512i bits = _mm512_or_si512(_mm512_unpacklo_epi64(a.bits, b.bits),
                                   _mm512_sllv_epi64(_mm512_unpackhi_epi64(a.bits, b.bits), first));
    return (vector_bits){bits, _mm512_add_epi64(first, second)};
}

/* Eight codes mostly fit the 56 bits that go at once, four nearly always. */
void GC_PACK(put_bytes)(gc_bits *to, const uint8_t *bytes, size_t count, const gc_byte_codes *codes)
{
    const vector_codes tables = load_codes(codes);
    gc_bits local = *to;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        vector_bits a, b;
        look_up_fours(bytes + i, &tables, &a, &b);
        vector_bits eights = join_eight(a, b);
        if (fits_words(eights.counts)) {
            stored_words words = store_words(eights);
            for (int k = 0; k < 8; k++)
                put_word(&local, &words, k);
        } else if (fits_words(_mm512_max_epi32(a.counts, b.counts))) {
            stored_words first = store_words(a), second = store_words(b);
            for (int k = 0; k < 8; k += 2) {
                put_word(&local, &first, k);
                put_word(&local, &first, k + 1);
                put_word(&local, &second, k);
                put_word(&local, &second, k + 1);
            }
        } else {
            put_few(&local, bytes + i, 64, codes->codes);
        }
    }
    put_few(&local, bytes + i, count - i, codes->codes);
    *to = local;
}
#elif defined __AVX2__
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
void GC_PACK(put_bytes)(gc_bits *to, const uint8_t *bytes, size_t count, const gc_byte_codes *codes)
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
void GC_PACK(put_bytes)(gc_bits *to, const uint8_t *bytes, size_t count, const gc_byte_codes *codes)
{
    put_few(to, bytes, count, codes->codes);
}
#endif
