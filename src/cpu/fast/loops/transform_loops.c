/* Fourier transforms, compiled for every instruction set, in float and in double: under the name
 * that GC_TRANSFORM_LOOPS gives them, with the type GC_TRANSFORM_REAL.
 *
 * Idea: the lanes of a vector hold neighbouring columns, so the transform of columns is scalar code
 * written with vectors. It has rounds of radix 4, and one round of radix 2 if the side is not a
 * power of 4. Rows are transformed as the columns of the transposed tile. Forward uses decimation
 * in frequency, backward decimation in time, so the spectrum need not be put in order. All rounds
 * of LANES columns follow each other while these are in the first-level cache. */
#include "cpu/fast/loops/transform.h"
#include "cpu/unroll.h"

#include <stdbool.h>

typedef GC_TRANSFORM_REAL real;

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif

typedef real vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
enum { LANES = VECTOR_BYTES / sizeof(real) };

typedef struct complex_vector {
    vector real, imaginary;
} complex_vector;

/* LANES neighbouring columns of a tile. */
typedef struct columns {
    real *real, *imaginary;
    size_t stride;
} columns;

INLINE complex_vector get(const columns *s, int row)
{
    size_t at = (size_t)row * s->stride;
    return (complex_vector){*(const vector *)(s->real + at), *(const vector *)(s->imaginary + at)};
}

INLINE void put(const columns *s, int row, complex_vector value)
{
    size_t at = (size_t)row * s->stride;
    *(vector *)(s->real + at) = value.real;
    *(vector *)(s->imaginary + at) = value.imaginary;
}

INLINE complex_vector add(complex_vector a, complex_vector b)
{
    return (complex_vector){a.real + b.real, a.imaginary + b.imaginary};
}

INLINE complex_vector subtract(complex_vector a, complex_vector b)
{
    return (complex_vector){a.real - b.real, a.imaginary - b.imaginary};
}

/* a times i. */
INLINE complex_vector turn(complex_vector a)
{
    return (complex_vector){-a.imaginary, a.real};
}

/* a times a root of unity, or its conjugate if sign is -1. */
INLINE complex_vector rotate(const gc_transform *t, complex_vector a, int root, int sign)
{
    real cosine = ((const real *)t->cosine)[root];
    real sine = (real)sign * ((const real *)t->sine)[root];
    return (complex_vector){a.real * cosine - a.imaginary * sine,
                            a.real * sine + a.imaginary * cosine};
}

/* The radix-2 round over the whole side, with the roots of the side. */
INLINE void halve(const gc_transform *t, const columns *s)
{
    int half = t->side / 2;
    for (int j = 0; j < half; j++) {
        complex_vector a = get(s, j), b = get(s, j + half);
        put(s, j, add(a, b));
        put(s, j + half, rotate(t, subtract(a, b), j, 1));
    }
}

/* The inverse of halve, times 2. */
INLINE void unhalve(const gc_transform *t, const columns *s)
{
    int half = t->side / 2;
    for (int j = 0; j < half; j++) {
        complex_vector a = get(s, j), b = rotate(t, get(s, j + half), j, -1);
        put(s, j, add(a, b));
        put(s, j + half, subtract(a, b));
    }
}

/* One butterfly of a radix-4 round on rows first + {0, 1, 2, 3} * quarter. `root` is the index of
 * the second output's root of unity. */
INLINE void quarter_forward(const gc_transform *t, const columns *s, int first, int quarter,
                            int root)
{
    complex_vector a = get(s, first), b = get(s, first + quarter);
    complex_vector c = get(s, first + 2 * quarter), d = get(s, first + 3 * quarter);
    complex_vector even = add(a, c), odd = subtract(a, c);
    complex_vector sum = add(b, d), turned = turn(subtract(b, d));
    put(s, first, add(even, sum));
    put(s, first + quarter, rotate(t, subtract(odd, turned), root, 1));
    put(s, first + 2 * quarter, rotate(t, subtract(even, sum), 2 * root, 1));
    put(s, first + 3 * quarter, rotate(t, add(odd, turned), 3 * root, 1));
}

/* The inverse of quarter_forward, times 4. */
INLINE void quarter_backward(const gc_transform *t, const columns *s, int first, int quarter,
                             int root)
{
    complex_vector a = get(s, first), b = rotate(t, get(s, first + quarter), root, -1);
    complex_vector c = rotate(t, get(s, first + 2 * quarter), 2 * root, -1);
    complex_vector d = rotate(t, get(s, first + 3 * quarter), 3 * root, -1);
    complex_vector even = add(a, c), odd = subtract(a, c);
    complex_vector sum = add(b, d), turned = turn(subtract(b, d));
    put(s, first, add(even, sum));
    put(s, first + quarter, add(odd, turned));
    put(s, first + 2 * quarter, subtract(even, sum));
    put(s, first + 3 * quarter, subtract(odd, turned));
}

/* Whether the side is 2 times a power of 4. */
static int is_odd_power(int side)
{
    return (side & 0x2aaaaaaa) != 0;
}

static void columns_forward(const gc_transform *t, const columns *s)
{
    int length = t->side;
    if (is_odd_power(t->side)) {
        halve(t, s);
        length /= 2;
    }
    for (; length >= 4; length /= 4)
        for (int j = 0; j < length / 4; j++)
            for (int block = 0; block < t->side; block += length)
                quarter_forward(t, s, block + j, length / 4, t->side / length * j);
}

static void columns_backward(const gc_transform *t, const columns *s)
{
    int longest = is_odd_power(t->side) ? t->side / 2 : t->side;
    for (int length = 4; length <= longest; length *= 4)
        for (int j = 0; j < length / 4; j++)
            for (int block = 0; block < t->side; block += length)
                quarter_backward(t, s, block + j, length / 4, t->side / length * j);
    if (longest < t->side)
        unhalve(t, s);
}

/* ---- Transposition in blocks of 4x4 ---------------------------------------------------------- */

typedef real four __attribute__((vector_size(4 * sizeof(real)), may_alias));
#if defined(__clang__)
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
/* As wide as a value. */
typedef __typeof__(__builtin_choose_expr(sizeof(real) == sizeof(int), 0, 0LL)) index;
typedef index four_indices __attribute__((vector_size(sizeof(four))));
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (four_indices){i, j, k, l})
#endif

typedef struct block {
    four row[4];
} block;

/* The block at `from`, transposed. */
INLINE block read_turned(const real *from, size_t stride)
{
    four a = *(const four *)from, b = *(const four *)(from + stride);
    four c = *(const four *)(from + 2 * stride), d = *(const four *)(from + 3 * stride);
    four ac_low = SHUFFLE(a, c, 0, 4, 1, 5), ac_high = SHUFFLE(a, c, 2, 6, 3, 7);
    four bd_low = SHUFFLE(b, d, 0, 4, 1, 5), bd_high = SHUFFLE(b, d, 2, 6, 3, 7);
    return (block){{SHUFFLE(ac_low, bd_low, 0, 4, 1, 5), SHUFFLE(ac_low, bd_low, 2, 6, 3, 7),
                    SHUFFLE(ac_high, bd_high, 0, 4, 1, 5), SHUFFLE(ac_high, bd_high, 2, 6, 3, 7)}};
}

INLINE void store_block(const block *b, real *to, size_t stride)
{
    for (size_t i = 0; i < 4; i++)
        *(four *)(to + i * stride) = b->row[i];
}

static void transpose(const gc_transform *t, real *values)
{
    size_t side = (size_t)t->side, stride = t->stride;
    for (size_t y = 0; y < side; y += 4)
        for (size_t x = 0; x <= y; x += 4) {
            real *one = values + y * stride + x, *other = values + x * stride + y;
            block a = read_turned(one, stride), b = read_turned(other, stride);
            store_block(&a, other, stride);
            store_block(&b, one, stride);
        }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static columns columns_at(const gc_transform *t, gc_complex tile, int column)
{
    return (columns){(real *)tile.real + column, (real *)tile.imaginary + column, t->stride};
}

static void forward(const gc_transform *t, gc_complex tile)
{
    for (int side = 0; side < 2; side++) {
        for (int x = 0; x < t->side; x += LANES) {
            columns s = columns_at(t, tile, x);
            columns_forward(t, &s);
        }
        if (side == 0) {
            transpose(t, tile.real);
            transpose(t, tile.imaginary);
        }
    }
}

static void multiply(const gc_transform *t, const columns *s, const columns *factor)
{
    for (int y = 0; y < t->side; y++) {
        complex_vector a = get(s, y), b = get(factor, y);
        put(s, y,
            (complex_vector){a.real * b.real - a.imaginary * b.imaginary,
                             a.real * b.imaginary + a.imaginary * b.real});
    }
}

static void backward(const gc_transform *t, gc_complex tile, gc_complex factor)
{
    for (int side = 0; side < 2; side++) {
        for (int x = 0; x < t->side; x += LANES) {
            columns s = columns_at(t, tile, x), f = columns_at(t, factor, x);
            if (side == 0)
                multiply(t, &s, &f);
            columns_backward(t, &s);
        }
        if (side == 0) {
            transpose(t, tile.real);
            transpose(t, tile.imaginary);
        }
    }
}

/* ---- Values in and out ----------------------------------------------------------------------- */

static void set(void *values, size_t at, double value)
{
    ((real *)values)[at] = (real)value;
}

static void load(void *values, size_t side, const float *from, size_t step, size_t count)
{
    real *to = values;
    if (step == 1)
        for (size_t i = 0; i < count; i++)
            to[i] = (real)from[i];
    else
        for (size_t i = 0; i < count; i++)
            to[i] = (real)from[i * step];
    for (size_t i = count; i < side; i++)
        to[i] = 0;
}

/* A double beyond 2^52 has no fraction. Adding 1.5 * 2^52 to a value of less than 2^51 rounds it to
 * the nearest integer. Subtracting it again leaves +0 if that is 0. */
INLINE float stored(real value)
{
    const real shift = (real)0x1.8p52;
    return (float)(sizeof(real) == sizeof(double) ? value + shift - shift : value);
}

static void store(const void *values, float *to, size_t step, size_t count)
{
    const real *from = values;
    if (step == 1)
        for (size_t i = 0; i < count; i++)
            to[i] = stored(from[i]);
    else
        for (size_t i = 0; i < count; i++)
            to[i * step] = stored(from[i]);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Rows of a block whose rounds stay in a first-level cache of 32 KiB. */
enum { CACHED_ROWS = 32768 / (2 * VECTOR_BYTES) };

/* All rounds from `length` down to 4 on `length` rows, a power of 4. A block that exceeds the cache
 * goes through one round, and then each of its quarters through all others. */
static void lines_forward(const gc_transform *t, const columns *s, int first, int length)
{
    int end = first + length;
    if (length > CACHED_ROWS) {
        for (int j = 0; j < length / 4; j++)
            quarter_forward(t, s, first + j, length / 4, t->side / length * j);
        for (int quarter = first; quarter < end; quarter += length / 4)
            lines_forward(t, s, quarter, length / 4);
        return;
    }
    for (; length >= 4; length /= 4)
        for (int j = 0; j < length / 4; j++)
            for (int at = first; at < end; at += length)
                quarter_forward(t, s, at + j, length / 4, t->side / length * j);
}

/* The inverse of lines_forward, times `length`. */
static void lines_backward(const gc_transform *t, const columns *s, int first, int length)
{
    int end = first + length, shortest = 4;
    if (length > CACHED_ROWS) {
        for (int quarter = first; quarter < end; quarter += length / 4)
            lines_backward(t, s, quarter, length / 4);
        shortest = length;
    }
    for (int part = shortest; part <= length; part *= 4)
        for (int j = 0; j < part / 4; j++)
            for (int at = first; at < end; at += part)
                quarter_backward(t, s, at + j, part / 4, t->side / part * j);
}

/* The largest power of 4 that the side is made of. */
static int power_of_four(const gc_transform *t)
{
    return is_odd_power(t->side) ? t->side / 2 : t->side;
}

static void all_forward(const gc_transform *t, const columns *s)
{
    int length = power_of_four(t);
    if (length < t->side)
        halve(t, s);
    for (int first = 0; first < t->side; first += length)
        lines_forward(t, s, first, length);
}

static void spectrum(const gc_transform *t, gc_complex lines, gc_complex factor)
{
    columns s = columns_at(t, lines, 0);
    all_forward(t, &s);
    for (size_t i = 0; i < (size_t)t->side; i++) {
        ((real *)factor.real)[i] = s.real[i * s.stride];
        ((real *)factor.imaginary)[i] = s.imaginary[i * s.stride];
    }
}

static void convolve(const gc_transform *t, gc_complex lines, gc_complex factor)
{
    columns s = columns_at(t, lines, 0);
    int length = power_of_four(t);
    all_forward(t, &s);
    for (int i = 0; i < t->side; i++) {
        complex_vector a = get(&s, i);
        real b = ((const real *)factor.real)[i], c = ((const real *)factor.imaginary)[i];
        put(&s, i, (complex_vector){a.real * b - a.imaginary * c, a.real * c + a.imaginary * b});
    }
    for (int first = 0; first < t->side; first += length)
        lines_backward(t, &s, first, length);
    if (length < t->side)
        unhalve(t, &s);
}

/* A loop for floats and one for bytes. */
#define LOAD_COLUMNS(name, sample)                                                                 \
    static void name(void *lines, size_t side, const sample *const *rows, size_t row_count,        \
                     size_t first, size_t count)                                                   \
    {                                                                                              \
        real *to = lines;                                                                          \
        for (size_t i = 0; i < side; i++, to += LANES) {                                           \
            size_t there = i < row_count ? count : 0;                                              \
            if (there == LANES) /* a constant */                                                   \
                for (size_t l = 0; l < LANES; l++)                                                 \
                    to[l] = (real)rows[i][first + l];                                              \
            else                                                                                   \
                for (size_t l = 0; l < LANES; l++)                                                 \
                    to[l] = l < there ? (real)rows[i][first + l] : 0;                              \
        }                                                                                          \
    }
LOAD_COLUMNS(load_columns, float)
LOAD_COLUMNS(load_columns_of_bytes, uint8_t)

static void store_columns(const void *lines, float *const *rows, size_t row_count, size_t first,
                          size_t count)
{
    const real *from = lines;
    for (size_t i = 0; i < row_count; i++, from += LANES) {
        float *to = rows[i] + first;
        if (count == LANES)
            for (size_t l = 0; l < LANES; l++)
                to[l] = stored(from[l]);
        else
            for (size_t l = 0; l < count; l++)
                to[l] = stored(from[l]);
    }
}

enum { TURNED = 4 }; /* lines and samples that are transposed together */

/* Writes samples i to i + 3 of four rows as columns. */
INLINE void turn_block(const float *const *from, size_t i, real *to, size_t stride)
{
    real rows[TURNED][TURNED] __attribute__((aligned(sizeof(four))));
    for (size_t k = 0; k < TURNED; k++)
        for (size_t j = 0; j < TURNED; j++)
            rows[k][j] = (real)from[k][i + j];
    block b = read_turned(rows[0], TURNED);
    store_block(&b, to, stride);
}

static bool has_all(const float *const *rows)
{
    bool all = true;
    for (size_t l = 0; l < LANES; l++)
        all = all && rows[l] != NULL;
    return all;
}

static void load_rows(void *lines, size_t side, const float *const *from, size_t step, size_t count)
{
    real *to = lines;
    size_t i = 0;
    if (step == 1 && LANES % TURNED == 0 && has_all(from))
        for (; i + TURNED <= count; i += TURNED)
            for (size_t l = 0; l + TURNED <= LANES; l += TURNED)
                turn_block(from + l, i, to + i * LANES + l, LANES);
    for (; i < side; i++)
        for (size_t l = 0; l < LANES; l++)
            to[i * LANES + l] = i < count && from[l] != NULL ? (real)from[l][i * step] : 0;
}

static void store_rows(const void *lines, float *const *to, size_t step, size_t count)
{
    const real *from = lines;
    size_t i = 0;
    if (step == 1 && LANES % TURNED == 0 && has_all((const float *const *)to))
        for (; i + TURNED <= count; i += TURNED)
            for (size_t l = 0; l + TURNED <= LANES; l += TURNED) {
                block b = read_turned(from + i * LANES + l, LANES);
                for (size_t k = 0; k < TURNED; k++)
                    for (size_t j = 0; j < TURNED; j++)
                        to[l + k][i + j] = stored(b.row[k][j]);
            }
    for (; i < count; i++)
        for (size_t l = 0; l < LANES; l++)
            if (to[l] != NULL)
                to[l][i * step] = stored(from[i * LANES + l]);
}

const gc_transform_loops GC_TRANSFORM_LOOPS = {
    .value_size = sizeof(real),
    .set = set,
    .load = load,
    .store = store,
    .forward = forward,
    .backward = backward,
    .lanes = LANES,
    .load_columns = load_columns,
    .load_columns_of_bytes = load_columns_of_bytes,
    .store_columns = store_columns,
    .load_rows = load_rows,
    .store_rows = store_rows,
    .spectrum = spectrum,
    .convolve = convolve,
};
