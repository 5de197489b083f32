/* Running sums of cpu/fast/box.c and cpu/fast/means.c, compiled once for every instruction set
 * under the name that GC_BOX_LOOPS gives them. Sums of columns are plain loops: compilers fill the
 * vectors.
 *
 * The sum of a box is the one before it in its channel, and the sum of the column that enters, less
 * that of the column that leaves. So a vector of these differences, summed over the lanes of each
 * channel, and the sums before it make a vector of sums of boxes. */
#include "cpu/fast/loops/loops.h"
#include "cpu/fast/loops/rank1_bytes_vectors.h"

#include <string.h>

/* ---- Sums of columns ------------------------------------------------------------------------- */

/* sums[x] += added[x] - removed[x], where zeros stand for a row that is NULL. */
#define SLIDE(sums, added, removed, count, of)                                                     \
    if ((added) == NULL)                                                                           \
        for (size_t x = 0; x < (count); x++)                                                       \
            (sums)[x] -= of((removed)[x]);                                                         \
    else if ((removed) == NULL)                                                                    \
        for (size_t x = 0; x < (count); x++)                                                       \
            (sums)[x] += of((added)[x]);                                                           \
    else                                                                                           \
        for (size_t x = 0; x < (count); x++)                                                       \
        (sums)[x] += of((added)[x]) - of((removed)[x])

#define WHOLE(x) (uint32_t)(int32_t)(x)

static void slide_bytes(uint32_t *restrict sums, const uint8_t *added, const uint8_t *removed,
                        size_t count)
{
    SLIDE(sums, added, removed, count, (uint32_t));
}

static void slide_whole(uint32_t *restrict sums, const float *added, const float *removed,
                        size_t count)
{
    SLIDE(sums, added, removed, count, WHOLE);
}

static void slide8(uint16_t *restrict sums, const uint8_t *added, const uint8_t *removed,
                   size_t count)
{
    for (size_t x = 0; x < count; x++)
        sums[x] = (uint16_t)(sums[x] + added[x] - removed[x]);
}

static void slide16(uint32_t *restrict sums, const uint16_t *added, const uint16_t *removed,
                    size_t count)
{
    for (size_t x = 0; x < count; x++)
        sums[x] += (uint32_t)added[x] - removed[x];
}

static void add_real(double *restrict sums, const float *row, size_t count)
{
    for (size_t x = 0; x < count; x++)
        sums[x] += (double)row[x];
}

static void slide_real(double *restrict sums, const float *added, const float *removed,
                       size_t count, double *restrict to)
{
    for (size_t x = 0; x < count; x++) {
        to[x] = sums[x] + (double)added[x];
        sums[x] = to[x] - (double)removed[x];
    }
}

/* ---- Sums along a row, of whole numbers ------------------------------------------------------ */

/* Whether sums of columns have 32 bits. */
INLINE bool is_wide(const gc_box_kind kind)
{
    return kind == GC_BOX_WIDE || kind == GC_BOX_NUMBERS;
}

/* The sum of column x. */
INLINE uint32_t sum_at(const gc_box_kind kind, const void *sums, size_t x)
{
    return is_wide(kind) ? ((const uint32_t *)sums)[x] : ((const uint16_t *)sums)[x];
}

/* Sums of the first boxes, without their last columns. */
INLINE void begin(const gc_box *box, const gc_box_kind kind, const size_t channels,
                  const void *sums, uint32_t first[GC_CHANNELS_MAX])
{
    for (size_t c = 0; c < channels; c++)
        first[c] = 0;
    for (size_t x = 0; x + channels < box->span; x += channels)
        for (size_t c = 0; c < channels; c++)
            first[c] += sum_at(kind, sums, x + c);
}

#if defined(__AVX2__)

enum { WORDS = sizeof(integers) / sizeof(int16_t) };
typedef int16_t words __attribute__((vector_size(sizeof(integers))));
typedef int8_t bytes __attribute__((vector_size(sizeof(integers))));

/* Words of the value that lane `lane` takes from the last values of a vector, one of each channel.
 * A value has `size` words. */
INLINE int last_word(const int word, const int channels, const int size)
{
    return ((WORDS / size) - channels + word / size % channels) * size + word % size;
}

/* EITHER defines a function by its result in vectors of 512 bits and of 256. */
#if defined(__AVX512BW__)
#define EITHER(type, name, parameters, of_512, of_256)                                             \
    INLINE type name parameters                                                                    \
    {                                                                                              \
        return of_512;                                                                             \
    }

typedef __m256i half;

/* v with its words moved up by `by`, and 0 in the words below. */
INLINE integers shift_up(integers v, const int by)
{
    words from;
    for (int i = 0; i < WORDS; i++)
        from[i] = (int16_t)(i - by);
    return _mm512_maskz_permutexvar_epi16(UINT32_MAX << by, (integers)from, v);
}

INLINE integers last_of(integers v, const int channels, const int size)
{
    words from;
    for (int i = 0; i < WORDS; i++)
        from[i] = (int16_t)last_word(i, channels, size);
    return _mm512_permutexvar_epi16((integers)from, v);
}
#else
#define EITHER(type, name, parameters, of_512, of_256)                                             \
    INLINE type name parameters                                                                    \
    {                                                                                              \
        return of_256;                                                                             \
    }

typedef __m128i half;

INLINE integers shift_up(integers v, const int by)
{
    integers low = _mm256_permute2x128_si256(v, v, 0x08);
    switch (by) {
    case 1:
        return _mm256_alignr_epi8(v, low, 14);
    case 2:
        return _mm256_alignr_epi8(v, low, 12);
    case 3:
        return _mm256_alignr_epi8(v, low, 10);
    case 4:
        return _mm256_alignr_epi8(v, low, 8);
    case 6:
        return _mm256_alignr_epi8(v, low, 4);
    case 8:
        return low;
    default: /* 12 */
        return _mm256_slli_si256(low, 8);
    }
}

/* They lie in the upper half. */
INLINE integers last_of(integers v, const int channels, const int size)
{
    bytes from;
    for (int i = 0; i < 2 * WORDS; i++)
        from[i] = (int8_t)(2 * last_word(i / 2, channels, size) + i % 2 - WORDS);
    return _mm256_shuffle_epi8(_mm256_permute2x128_si256(v, v, 0x11), (integers)from);
}
#endif

EITHER(integers, widen_words, (const void *from), _mm512_cvtepu16_epi32(_mm256_loadu_si256(from)),
       _mm256_cvtepu16_epi32(_mm_loadu_si128(from)))
EITHER(integers, broadcast_mask, (uint64_t mask), _mm512_set1_epi64((int64_t)mask),
       _mm256_set1_epi64x((int64_t)mask))
EITHER(integers, join_bits, (integers a, integers b), _mm512_or_si512(a, b), _mm256_or_si256(a, b))
EITHER(half, low_half, (integers v), _mm512_castsi512_si256(v), _mm256_castsi256_si128(v))
EITHER(half, high_half, (integers v), _mm512_extracti64x4_epi64(v, 1),
       _mm256_extracti128_si256(v, 1))
EITHER(integers, join, (half low, half high),
       _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1),
       _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1))

/* Packing goes by parts of 128 bits: puts values into the samples' order. */
EITHER(integers, order_words, (integers v),
       _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v),
       _mm256_permute4x64_epi64(v, 0xd8))

/* The largest odd divisor by which the product of floats is near enough (fast/means.c). */
enum { ODD_MAX = (1 << 14) - 1 };

INLINE integers divide_long(const gc_box *box, integers sums)
{
    const floats by = all_of((float)box->divisor), part = all_of(1 / (float)box->divisor);
    floats sum = VECTOR(cvtepi32_ps)(sums), level = multiply(sum, part);
    if (box->divisor % 2 == 0 || box->divisor > ODD_MAX)
        level = multiply_add(level, subtract_product(sum, level, by), part);
    return VECTOR(cvtps_epi32)(level);
}

/* Sums below 2^24: twice a whole number near half of the level, and the nearest to the rest. */
INLINE integers divide_small(const gc_box *box, integers sums)
{
    const float divisor = (float)box->divisor;
    const floats part = all_of(1 / divisor), sum = VECTOR(cvtepi32_ps)(sums);
    integers half_level = VECTOR(cvtps_epi32)(multiply(sum, all_of(0.5f / divisor)));
    floats rest = subtract_product(sum, VECTOR(cvtepi32_ps)(half_level), all_of(2 * divisor));
    floats level = multiply(rest, part);
    if (box->divisor % 2 == 0)
        level = multiply_add(level, subtract_product(rest, level, all_of(divisor)), part);
    return VECTOR(add_epi32)(VECTOR(cvtps_epi32)(level), VECTOR(slli_epi32)(half_level, 1));
}

/* Sums have no sign. */
INLINE integers divide_large(const gc_box *box, integers sums)
{
    integers signed_sums = VECTOR(add_epi32)(sums, VECTOR(set1_epi32)(INT32_MIN));
    half halves[2] = {low_half(signed_sums), high_half(signed_sums)};
    UNROLL for (int h = 0; h < 2; h++)
    {
        __auto_type part = VECTOR(set1_pd)(1.0 / box->divisor);
        __auto_type sum = VECTOR(add_pd)(VECTOR(cvtepi32_pd)(halves[h]), VECTOR(set1_pd)(0x1p31));
        __auto_type level = VECTOR(mul_pd)(sum, part);
        if (box->divisor % 2 == 0) {
            __auto_type rest = VECTOR(fnmadd_pd)(level, VECTOR(set1_pd)(box->divisor), sum);
            level = VECTOR(fmadd_pd)(rest, part, level);
        }
        halves[h] = VECTOR(cvtpd_epi32)(level);
    }
    return join(halves[0], halves[1]);
}

/* No -0. */
INLINE integers numbers_of(const gc_box *box, integers sums)
{
    return (integers)add(multiply(VECTOR(cvtepi32_ps)(sums), all_of(box->factor)), all_of(0));
}

/* Sums of three channels, for the lanes of the next vector: these begin with another channel. */
INLINE integers turn(integers before, const int size)
{
    bytes from;
    for (int i = 0; i < 2 * WORDS; i++)
        from[i] = (int8_t)((i % 16 / (2 * size) + WORDS / size) % 3 * 2 * size + i % (2 * size));
    return VECTOR(shuffle_epi8)(before, (integers)from);
}

/* A vector of the differences between the columns that enter and those that leave, from value x
 * on. `leaving` is the place of the column that leaves before the first box. */
INLINE integers difference(const gc_box_kind kind, const char *leaving, size_t x, size_t span)
{
    const size_t size = is_wide(kind) ? sizeof(uint32_t) : sizeof(uint16_t);
    const char *old = leaving + x * size, *new = old + span *size;
    if (kind == GC_BOX_SHORT)
        return VECTOR(sub_epi16)(load_samples((const void *)new), load_samples((const void *)old));
    if (kind == GC_BOX_LONG)
        return VECTOR(sub_epi32)(widen_words(new), widen_words(old));
    return VECTOR(sub_epi32)(load_samples((const void *)new), load_samples((const void *)old));
}

/* A vector of sums of boxes. *before has the sums before them, of its lanes' channels. */
INLINE integers sum_boxes(const gc_box_kind kind, const int channels, integers v, integers *before)
{
    const int size = kind == GC_BOX_SHORT ? 1 : 2;
    UNROLL for (int n = 0; n < 5; n++) if (channels * size << n < WORDS)
    {
        integers moved = shift_up(v, channels * size << n);
        v = kind == GC_BOX_SHORT ? VECTOR(add_epi16)(v, moved) : VECTOR(add_epi32)(v, moved);
    }
    integers last = last_of(v, channels, size), old = *before;
    v = kind == GC_BOX_SHORT ? VECTOR(add_epi16)(v, *before) : VECTOR(add_epi32)(v, *before);
    if (channels == 3)
        old = turn(old, size);
    *before = kind == GC_BOX_SHORT ? VECTOR(add_epi16)(old, last) : VECTOR(add_epi32)(old, last);
    return v;
}

INLINE integers divide_wide(const gc_box *box, integers sums)
{
    return box->is_small ? divide_small(box, sums) : divide_large(box, sums);
}

/* A vector of levels or numbers, from as many vectors of sums as that takes. */
INLINE integers made_of(const gc_box *box, const gc_box_kind kind, const short_division *by,
                        const integers sums[4])
{
    if (kind == GC_BOX_SHORT)
        return order_words(
            VECTOR(packus_epi16)(divide_short(by, sums[0]), divide_short(by, sums[1])));
    if (kind == GC_BOX_NUMBERS)
        return numbers_of(box, sums[0]);
    if (kind == GC_BOX_WIDE)
        return order_words(
            VECTOR(packus_epi32)(divide_wide(box, sums[0]), divide_wide(box, sums[1])));
    integers low = VECTOR(packs_epi32)(divide_long(box, sums[0]), divide_long(box, sums[1]));
    integers high = VECTOR(packs_epi32)(divide_long(box, sums[2]), divide_long(box, sums[3]));
    return order_words(VECTOR(packus_epi16)(order_words(low), order_words(high)));
}

/* Sums before the first box, of all lanes' channels. */
INLINE integers sums_before(const gc_box *box, const gc_box_kind kind, const size_t channels,
                            const void *sums)
{
    uint32_t first[GC_CHANNELS_MAX], longs[WORDS / 2];
    uint16_t shorts[WORDS];
    begin(box, kind, channels, sums, first);
    for (size_t i = 0; i < WORDS; i++)
        shorts[i] = (uint16_t)first[i % channels];
    for (size_t i = 0; i < WORDS / 2; i++)
        longs[i] = first[i % channels];
    return load_samples(kind == GC_BOX_SHORT ? (const uint8_t *)shorts : (const uint8_t *)longs);
}

/* Samples of `kept` that stay take the places of levels. */
INLINE integers keep(const gc_box *box, integers levels, const uint8_t *kept)
{
    const integers mask = broadcast_mask(box->kept_mask);
    return join_bits(ANDNOT(mask, levels), AND(mask, load_samples(kept)));
}

INLINE void store_row(const gc_box *all, const gc_box_kind kind, const int channels,
                      const void *sums, size_t count, const uint8_t *kept, uint8_t *out)
{
    enum { BYTES = sizeof(integers) };
    const gc_box box = *all;
    const size_t size = kind == GC_BOX_NUMBERS ? 4 : kind == GC_BOX_WIDE ? 2 : 1;
    const size_t block = BYTES / size, lanes = BYTES / (kind == GC_BOX_SHORT ? 2 : 4);
    const char *leaving = (const char *)sums - (size_t)channels * (is_wide(kind) ? 4 : 2);
    const short_division by = division_of(&box.by);
    uint8_t last[BYTES];
    integers before = sums_before(&box, kind, (size_t)channels, sums);
    for (size_t x = 0; x < count; x += block, out += BYTES) {
        integers boxes[4];
        const size_t part = count - x < block ? (count - x) * size : BYTES;
        UNROLL for (size_t v = 0; v < 4; v++) if (v < block / lanes) boxes[v] =
            sum_boxes(kind, channels, difference(kind, leaving, x + v * lanes, box.span), &before);
        integers made = made_of(&box, kind, &by, boxes);
        if (kept != NULL) {
            const uint8_t *from = kept + x * size;
            made = keep(&box, made, part < BYTES ? memcpy(last, from, part) : from);
        }
        store_samples(made, part < BYTES ? last : out);
        if (__builtin_expect(part < BYTES, 0))
            memcpy(out, last, part);
    }
}

#else

typedef uint32_t counts __attribute__((vector_size(LANES * sizeof(uint32_t))));

INLINE counts shift_up(counts v, const int by)
{
    return by == 1   ? (counts){0, v[0], v[1], v[2]}
           : by == 2 ? (counts){0, 0, v[0], v[1]}
                     : (counts){0, 0, 0, v[0]};
}

INLINE counts last_of(counts v, const int channels)
{
    return channels == 1   ? (counts){v[3], v[3], v[3], v[3]}
           : channels == 2 ? (counts){v[2], v[3], v[2], v[3]}
           : channels == 3 ? (counts){v[1], v[2], v[3], v[1]}
                           : v;
}

/* Numbers alone. */
INLINE void store_row(const gc_box *box, const gc_box_kind kind, const int channels,
                      const void *sums, size_t count, const uint8_t *kept, void *out)
{
    enum { PART = 192 }; /* whole pixels */
    const size_t span = box->span;
    const float factor = box->factor;
    const uint32_t *leaving = (const uint32_t *)sums - channels;
    uint32_t first[GC_CHANNELS_MAX];
    counts before;
    (void)kept;
    begin(box, kind, (size_t)channels, sums, first);
    for (int i = 0; i < LANES; i++)
        before[i] = first[i % channels];
    for (size_t x = 0; x < count; x += PART, leaving += PART) {
        const size_t part = count - x < PART ? count - x : PART;
        float *restrict to = (float *)out + x;
        _Alignas(counts) uint32_t boxes[PART];
        for (size_t i = 0; i < (part + LANES - 1) / LANES * LANES; i++)
            boxes[i] = leaving[i + span] - leaving[i];
        for (size_t i = 0; i < part; i += LANES) {
            counts *v = (counts *)(void *)(boxes + i);
            for (int by = channels; by < LANES; by *= 2)
                *v += shift_up(*v, by);
            counts last = last_of(*v, channels);
            *v += before;
            if (channels == 3) /* the next vector begins with another channel */
                before = (counts){before[1], before[2], before[0], before[1]};
            before += last;
        }
        for (size_t i = 0; i < part; i++)
            to[i] = factor * (float)(int32_t)boxes[i] + 0; /* no -0 */
    }
}

#endif

#define STORE(count_of)                                                                            \
    case count_of:                                                                                 \
        store_row(box, kind, count_of, sums, count, kept, out);                                    \
        break;
INLINE void store_kind(const gc_box *box, const gc_box_kind kind, const void *sums, size_t count,
                       const void *kept, void *out)
{
    switch (box->channels) {
        STORE(1)
        STORE(2)
        STORE(3)
        STORE(4)
    }
}

#define STORE_KIND(kind)                                                                           \
    case kind:                                                                                     \
        store_kind(box, kind, sums, count, kept, out);                                             \
        break;
static void store_boxes(const gc_box *box, const void *sums, size_t count, const void *kept,
                        void *out)
{
    switch (box->kind) {
#if defined(__AVX2__)
        STORE_KIND(GC_BOX_SHORT)
        STORE_KIND(GC_BOX_LONG)
        STORE_KIND(GC_BOX_WIDE)
#endif
        STORE_KIND(GC_BOX_NUMBERS)
    default:
        break;
    }
}

/* ---- Sums along rows, of real numbers -------------------------------------------------------- */

/* Rows go together, because each sum waits for the one before it. */
static void sum_real(const double *const *sums, size_t count, size_t span, size_t channels,
                     double factor, float *const *out)
{
    for (size_t c = 0; c < channels; c++) {
        double of[GC_BOX_ROWS] = {0};
        for (size_t i = c; i < span; i += channels)
            for (int o = 0; o < GC_BOX_ROWS; o++)
                of[o] += sums[o][i];
        for (size_t i = c; i < count; i += channels)
            for (int o = 0; o < GC_BOX_ROWS; o++) {
                out[o][i] = (float)(factor * of[o]);
                of[o] += sums[o][i + span] - sums[o][i];
            }
    }
}

const gc_box_loops GC_BOX_LOOPS = {
    add_real, slide_bytes, slide_whole, store_boxes,
#if defined(__AVX2__)
    true,
#else
    false,
#endif
    slide8,   slide16,     slide_real,  sum_real,
};
