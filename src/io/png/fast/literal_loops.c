/* Codes of literals (io/png/fast/literals.h), compiled once for every instruction set. */
#include "io/png/fast/pack_loops.h"

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

enum { PUT_MAX = 56 }; /* bits that go at once (gc_put) */

#ifdef GC_HAS_VECTORS
enum { STEP = 32, WORDS = STEP / 8 };

typedef struct vector_table {
    vec low, high, length;
} vector_table;

static inline vector_table load_table(const gc_code_table *table)
{
    return (vector_table){vec_table(table->low), vec_table(table->high), vec_table(table->length)};
}

typedef struct vector_codes {
    vector_table first, last, group;
    vec inside; /* the four lower bits for groups, else 0 */
} vector_codes;

static vector_codes load_codes(const gc_byte_codes *codes)
{
    static const uint8_t inside[16] = {0,  15, 15, 15, 15, 15, 15, 15,
                                       15, 15, 15, 15, 15, 15, 15, 0};
    return (vector_codes){load_table(&codes->first), load_table(&codes->last),
                          load_table(&codes->group), vec_table(inside)};
}

/* Numbers of bits, and how many these are. The last bit is the lowest. */
typedef struct vector_bits {
    vec bits, counts;
} vector_bits;

/* Joins neighbouring codes of 16 bits to codes of up to 30 bits, and these to up to 60. */
static inline vector_bits join_four(vector_bits v)
{
    const vec low16 = vec_set32(0xffff), low32 = vec_set64(0xffffffff);
    vec second = vec_upper_half32(v.counts);
    vec bits = vec_or(vec_shift_left32(vec_and(v.bits, low16), second), vec_upper_half32(v.bits));
    vec counts = vec_add64(vec_and(v.counts, low16), second);
    second = vec_upper_half64(counts);
    bits = vec_or(vec_shift_left64(vec_and(bits, low32), second), vec_upper_half64(bits));
    return (vector_bits){bits, vec_add64(vec_and(counts, low32), second)};
}

/* Joins the fours of look_up_fours. */
static inline vector_bits join_eight(vector_bits a, vector_bits b)
{
    vec second = vec_zip_high64(a.counts, b.counts);
    vec bits = vec_or(vec_shift_left64(vec_zip_low64(a.bits, b.bits), second),
                      vec_zip_high64(a.bits, b.bits));
    return (vector_bits){bits, vec_add64(vec_zip_low64(a.counts, b.counts), second)};
}

/* Looks up 32 bytes. Of 16 bytes, *a gets the codes of the first eight, *b those of the others.
 * Each is joined with three neighbours. A lookup gives 0 for an index from 16 on. So the sums of
 * the three tables are the codes. */
static inline void look_up_fours(const uint8_t *bytes, const vector_codes *t, vector_bits *a,
                                 vector_bits *b)
{
    const vec zero = vec_set8(0);
    vec v = vec_load(bytes), opposite = vec_not(v), group = vec_upper_bits(v);
    vec low = vec_or(vec_or(vec_look_up(t->first.low, v), vec_look_up(t->last.low, opposite)),
                     vec_look_up(t->group.low, group));
    vec high = vec_or(vec_or(vec_look_up(t->first.high, v), vec_look_up(t->last.high, opposite)),
                      vec_look_up(t->group.high, group));
    vec length =
        vec_or(vec_or(vec_look_up(t->first.length, v), vec_look_up(t->last.length, opposite)),
               vec_look_up(t->group.length, group));
    vec inside = vec_and(v, vec_look_up(t->inside, group));
    *a = join_four((vector_bits){vec_add16(vec_zip_low8(low, high), vec_zip_low8(inside, zero)),
                                 vec_zip_low8(length, zero)});
    *b = join_four((vector_bits){vec_add16(vec_zip_high8(low, high), vec_zip_high8(inside, zero)),
                                 vec_zip_high8(length, zero)});
}

typedef struct stored_words {
    uint64_t bits[WORDS], counts[WORDS];
} stored_words;

static inline bool fits_words(vec counts)
{
    return !vec_any_above(counts, PUT_MAX);
}

static inline stored_words store_words(vector_bits v)
{
    stored_words words;
    vec_store(words.bits, vec_reverse64(v.bits, v.counts));
    vec_store(words.counts, v.counts);
    return words;
}

static inline void put_word(gc_bits *to, const stored_words *words, int k)
{
    gc_put(to, words->bits[k], (int)words->counts[k]);
}

/* Eight codes mostly fit the 56 bits that go at once, four nearly always. */
void GC_PACK(put_bytes)(gc_bits *to, const uint8_t *bytes, size_t count, const gc_byte_codes *codes)
{
    const vector_codes tables = load_codes(codes);
    gc_bits local = *to;
    size_t i = 0;
    for (; i + STEP <= count; i += STEP) {
        vector_bits a, b;
        look_up_fours(bytes + i, &tables, &a, &b);
        vector_bits eights = join_eight(a, b);
        if (fits_words(eights.counts)) {
            stored_words words = store_words(eights);
            for (int k = 0; k < WORDS; k++)
                put_word(&local, &words, k);
        } else if (fits_words(a.counts) && fits_words(b.counts)) {
            stored_words first = store_words(a), second = store_words(b);
            for (int k = 0; k < WORDS; k += 2) {
                put_word(&local, &first, k);
                put_word(&local, &first, k + 1);
                put_word(&local, &second, k);
                put_word(&local, &second, k + 1);
            }
        } else {
            put_few(&local, bytes + i, STEP, codes->codes);
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
