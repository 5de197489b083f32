/* Running sums of cpu/fast/box.c, compiled once for every instruction set under the name that
 * GC_BOX_LOOPS gives them. But for `scan`, plain loops: compilers fill the vectors. */
#include "cpu/fast/loops/loops.h"
#include "cpu/unroll.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef uint32_t vector __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef uint32_t unaligned_vector
    __attribute__((vector_size(LANES * sizeof(uint32_t)), aligned(sizeof(uint32_t)), may_alias));

/* ---- Sums of columns ------------------------------------------------------------------------- */

static void add_bytes(uint32_t *restrict sums, const uint8_t *row, size_t count)
{
    for (size_t x = 0; x < count; x++)
        sums[x] += row[x];
}

static void add_whole(uint32_t *restrict sums, const float *row, size_t count)
{
    for (size_t x = 0; x < count; x++)
        sums[x] += (uint32_t)(int32_t)row[x];
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

/* v with its lanes moved up by `by`, and 0 in the lanes below. */
#if defined(__clang__)
#define FROM(v, by, i) ((i) < (by) ? (i) : LANES + (i) - (by))
#if defined(__AVX512F__)
#define MOVE(v, by)                                                                                \
    __builtin_shufflevector((vector){0}, v, FROM(v, by, 0), FROM(v, by, 1), FROM(v, by, 2),        \
                            FROM(v, by, 3), FROM(v, by, 4), FROM(v, by, 5), FROM(v, by, 6),        \
                            FROM(v, by, 7), FROM(v, by, 8), FROM(v, by, 9), FROM(v, by, 10),       \
                            FROM(v, by, 11), FROM(v, by, 12), FROM(v, by, 13), FROM(v, by, 14),    \
                            FROM(v, by, 15))
#elif defined(__AVX2__)
#define MOVE(v, by)                                                                                \
    __builtin_shufflevector((vector){0}, v, FROM(v, by, 0), FROM(v, by, 1), FROM(v, by, 2),        \
                            FROM(v, by, 3), FROM(v, by, 4), FROM(v, by, 5), FROM(v, by, 6),        \
                            FROM(v, by, 7))
#else
#define MOVE(v, by)                                                                                \
    __builtin_shufflevector((vector){0}, v, FROM(v, by, 0), FROM(v, by, 1), FROM(v, by, 2),        \
                            FROM(v, by, 3))
#endif
#else
INLINE vector moved(vector v, const int by)
{
    typedef int32_t index __attribute__((vector_size(LANES * sizeof(int32_t))));
    index from;
    for (int i = 0; i < LANES; i++)
        from[i] = i < by ? i : LANES + i - by;
    return __builtin_shuffle((vector){0}, v, from);
}
#define MOVE(v, by) moved(v, by)
#endif

/* to[x] = sums[x] + added[x]; sums[x] = to[x] - removed[x] */
INLINE void slide_columns(uint32_t *restrict sums, const void *added, const void *removed,
                          const int bytes, size_t first, size_t end, uint32_t *restrict to)
{
    if (bytes)
        for (size_t x = first; x < end; x++) {
            to[x] = sums[x] + ((const uint8_t *)added)[x];
            sums[x] = to[x] - ((const uint8_t *)removed)[x];
        }
    else
        for (size_t x = first; x < end; x++) {
            to[x] = sums[x] + (uint32_t)(int32_t)((const float *)added)[x];
            sums[x] = to[x] - (uint32_t)(int32_t)((const float *)removed)[x];
        }
}

/* values[i] becomes the sum of values 0 to i and `before`, for i in [0, count). Returns the last
 * sum in all lanes. Up to LANES - 1 values beyond are overwritten. */
INLINE vector scan(uint32_t *values, size_t count, vector before)
{
    for (size_t i = 0; i < count; i += LANES) {
        vector v = *(const unaligned_vector *)(values + i);
        v += MOVE(v, 1);
        v += MOVE(v, 2);
#if defined(__AVX2__)
        v += MOVE(v, 4);
#endif
#if defined(__AVX512F__)
        v += MOVE(v, 8);
#endif
        *(unaligned_vector *)(values + i) = v + before;
        before += v[LANES - 1];
    }
    return before;
}

/* Replaces values by running sums of their channels, of which `channels` are interleaved. totals[c]
 * carries the sum of channel c on. */
INLINE void scan_channels(uint32_t *values, size_t count, const size_t channels, uint32_t totals[4])
{
    for (size_t i = 0; i < count; i += channels)
        for (size_t c = 0; c < channels; c++) {
            totals[c] += values[i + c];
            values[i + c] = totals[c];
        }
}

/* Values that are slid and scanned while they are in the first-level cache: a multiple of the
 * lanes, and of 2, 3 and 4 channels. */
enum { BLOCK = 960 };

/* to[i + channels] = to[i] + a sum of the column, from zeros on. */
INLINE void slide_and_scan(uint32_t *sums, const void *added, const void *removed, const int bytes,
                           size_t count, const size_t channels, uint32_t *to)
{
    vector before = {0};
    uint32_t totals[4] = {0};
    for (size_t c = 0; c < channels; c++)
        to[c] = 0;
    to += channels;
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t end = count - first < BLOCK ? count : first + BLOCK;
        slide_columns(sums, added, removed, bytes, first, end, to);
        if (channels == 1)
            before = scan(to + first, end - first, before);
        else
            scan_channels(to + first, end - first, channels, totals);
    }
}

INLINE void slide(const gc_box_row *row, const void *added, const void *removed, const int bytes)
{
    const size_t span = row->span, count = row->count, all = count + span - row->channels;
    const float factor = row->factor;
    uint32_t *restrict prefix = row->prefix;
    float *restrict out = row->out;
    if (row->channels == 1)
        slide_and_scan(row->sums, added, removed, bytes, all, 1, prefix);
    else if (row->channels == 2)
        slide_and_scan(row->sums, added, removed, bytes, all, 2, prefix);
    else if (row->channels == 3)
        slide_and_scan(row->sums, added, removed, bytes, all, 3, prefix);
    else
        slide_and_scan(row->sums, added, removed, bytes, all, 4, prefix);
    for (size_t i = 0; i < count; i++) /* + 0: no -0 */
        out[i] = factor * (float)(int32_t)(prefix[i + span] - prefix[i]) + 0;
}

static void slide_bytes(const gc_box_row *row, const uint8_t *added, const uint8_t *removed)
{
    slide(row, added, removed, 1);
}

static void slide_whole(const gc_box_row *row, const float *added, const float *removed)
{
    slide(row, added, removed, 0);
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

extern const gc_box_loops GC_BOX_LOOPS;
const gc_box_loops GC_BOX_LOOPS = {
    add_bytes, add_whole, add_real, slide_bytes, slide_whole, slide_real, sum_real,
};
