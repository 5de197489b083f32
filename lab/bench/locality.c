#include "lab/bench/locality.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "cpu/fast/loops/transform.h"
#include "cpu/instructions/instructions.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Numbers that a thread takes at one time: at least a group of the longest lines. */
enum { PIECE = GC_LOCALITY_POINTS_MAX * GC_LANES_MAX };

/* Floats between the real and the imaginary parts, which would share a few sets of a cache
 * otherwise. */
enum { PART_PADDING = 256 };

struct gc_locality {
    const gc_transform_loops *loops;
    int threads;
    gc_complex numbers; /* groups of `lanes` lines, each group as gc_complex says */
    float *roots;       /* cosines, then sines */
    float *factors;     /* of each thread: room for the spectrum that gc_transform_loops copies */
    gc_transform transform;
    atomic_int next; /* the next piece of a pass */
};

gconv_status gc_locality_create(int threads, gc_locality **locality, gconv_error *error)
{
    const gc_transform_loops *loops = gc_instructions_chosen()->transforms.loops;
    size_t count = (size_t)gc_thread_count(threads);
    gc_locality *l = *locality = calloc(1, sizeof *l);
    float *numbers =
        gc_allocate_aligned(2 * (size_t)GC_LOCALITY_NUMBERS + PART_PADDING, sizeof(float));
    float *roots = gc_allocate_aligned(2 * GC_LOCALITY_POINTS_MAX * (1 + count), sizeof(float));
    if (l == NULL || numbers == NULL || roots == NULL) {
        free(numbers);
        free(roots);
        free(l);
        *locality = NULL;
        return gc_fail_memory(error, 2 * sizeof(float) * GC_LOCALITY_NUMBERS);
    }
    l->loops = loops;
    l->threads = (int)count;
    l->numbers = (gc_complex){numbers, numbers + GC_LOCALITY_NUMBERS + PART_PADDING};
    l->roots = roots;
    l->factors = roots + 2 * GC_LOCALITY_POINTS_MAX;
    return GCONV_OK;
}

void gc_locality_free(gc_locality *locality)
{
    if (locality == NULL)
        return;
    free(locality->numbers.real);
    free(locality->roots);
    free(locality);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

float gc_locality_value(size_t index)
{
    uint32_t x = (uint32_t)index * 0x9e3779b9u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    x ^= x >> 13;
    return (float)(int32_t)x * 0x1p-31f;
}

static void fill_piece(const gc_locality *l, size_t first)
{
    float *real = l->numbers.real, *imaginary = l->numbers.imaginary;
    for (size_t i = first; i < first + PIECE; i++) {
        real[i] = gc_locality_value(i);
        imaginary[i] = gc_locality_value(i + GC_LOCALITY_NUMBERS);
    }
}

/* ---- A pass ---------------------------------------------------------------------------------- */

static void turn_piece(const gc_locality *l, size_t first)
{
    float *real = (float *)l->numbers.real + first,
          *imaginary = (float *)l->numbers.imaginary + first;
    for (size_t i = 0; i < PIECE; i++)
        real[i] = -real[i];
    for (size_t i = 0; i < PIECE; i++)
        imaginary[i] = -imaginary[i];
}

static void transform_piece(const gc_locality *l, size_t first, int member)
{
    float *factor = l->factors + (size_t)member * 2 * GC_LOCALITY_POINTS_MAX;
    const gc_complex spectrum = {factor, factor + GC_LOCALITY_POINTS_MAX};
    size_t group = (size_t)l->transform.side * (size_t)l->loops->lanes;
    for (size_t at = first; at < first + PIECE; at += group)
        l->loops->spectrum(
            &l->transform,
            (gc_complex){(float *)l->numbers.real + at, (float *)l->numbers.imaginary + at},
            spectrum);
}

/* The next piece's first number; GC_LOCALITY_NUMBERS or more if none is left. */
static size_t next_piece(gc_locality *l)
{
    return (size_t)atomic_fetch_add(&l->next, 1) * PIECE;
}

static void fill(void *user, int member)
{
    gc_locality *l = user;
    (void)member;
    for (size_t first; (first = next_piece(l)) < GC_LOCALITY_NUMBERS;)
        fill_piece(l, first);
}

static void turn(void *user, int member)
{
    gc_locality *l = user;
    (void)member;
    for (size_t first; (first = next_piece(l)) < GC_LOCALITY_NUMBERS;)
        turn_piece(l, first);
}

static void transform(void *user, int member)
{
    gc_locality *l = user;
    for (size_t first; (first = next_piece(l)) < GC_LOCALITY_NUMBERS;)
        transform_piece(l, first, member);
}

static void run(gc_locality *l, gc_team_function *work)
{
    atomic_store(&l->next, 0);
    gc_team_run(l->threads, true, work, l);
}

/* The angle of -2 pi i f / points, of which only the rest of f by points counts. */
static double angle(int64_t f, int points)
{
    return -2 * acos(-1) * (double)(f % points) / points;
}

double gc_locality_pass(gc_locality *locality, int points)
{
    gc_locality *l = locality;
    l->transform = (gc_transform){.side = points,
                                  .stride = (size_t)l->loops->lanes,
                                  .cosine = l->roots,
                                  .sine = l->roots + points};
    for (int i = 0; i < points; i++) {
        l->roots[i] = (float)cos(angle(i, points));
        l->roots[points + i] = (float)sin(angle(i, points));
    }
    run(l, fill);
    double start = gc_seconds();
    run(l, points == 1 ? turn : transform);
    return gc_seconds() - start;
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* The frequency that the loops leave at `place` of a line: decimation in frequency, one round of
 * radix 2 if the length is no power of 4, then rounds of radix 4. */
static int frequency_at(int place, int points)
{
    int frequency = 0, weight = 1, length = points;
    if ((points & 0x2aaaaaaa) != 0) {
        length /= 2;
        frequency = place / length;
        place %= length;
        weight = 2;
    }
    for (; length >= 4; length /= 4) {
        frequency += place / (length / 4) * weight;
        place %= length / 4;
        weight *= 4;
    }
    return frequency;
}

double gc_locality_bound(int points)
{
    return 4 * 32 * log2(points) * 0x1p-24 * points;
}

void gc_locality_sum(size_t first, size_t stride, int points, int frequency, double *real,
                     double *imaginary)
{
    *real = *imaginary = 0;
    for (int i = 0; i < points; i++) {
        size_t index = first + (size_t)i * stride;
        double a = gc_locality_value(index), b = gc_locality_value(index + GC_LOCALITY_NUMBERS);
        double turned = angle((int64_t)frequency * i, points);
        *real += a * cos(turned) - b * sin(turned);
        *imaginary += a * sin(turned) + b * cos(turned);
    }
}

/* The larger difference of a line's real and imaginary parts at one place. `line` is the number of
 * its group's first number, plus its lane. */
static double difference_at(const gc_locality *l, size_t line, int place)
{
    int points = l->transform.side;
    size_t lanes = (size_t)l->loops->lanes, at = line + (size_t)place * lanes;
    double real, imaginary, sign = points == 1 ? -1 : 1;
    gc_locality_sum(line, lanes, points, frequency_at(place, points), &real, &imaginary);
    return fmax(fabs((double)((float *)l->numbers.real)[at] - sign * real),
                fabs((double)((float *)l->numbers.imaginary)[at] - sign * imaginary));
}

double gc_locality_judge(const gc_locality *locality)
{
    enum { PLACES = 16 };
    int points = locality->transform.side;
    size_t lanes = (size_t)locality->loops->lanes, group = lanes * (size_t)points;
    const size_t lines[] = {0, GC_LOCALITY_NUMBERS / 2 / group * group + lanes / 2,
                            GC_LOCALITY_NUMBERS - group + lanes - 1};
    double largest = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (int k = 0; k < PLACES; k++) {
            int place = (int)((int64_t)k * (points - 1) / (PLACES - 1));
            largest = fmax(largest, difference_at(locality, lines[i], place));
        }
    return largest;
}
