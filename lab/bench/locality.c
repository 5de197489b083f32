#include "lab/bench/locality.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Numbers that a thread takes at one time: at least a group of the longest lines. */
enum { PIECE = GC_LOCALITY_POINTS_MAX * GCONV_CPU_LINES_MAX };

/* Floats between the real and the imaginary parts, which would share a few sets of a cache
 * otherwise. */
enum { PART_PADDING = 256 };

typedef void piece_function(const gc_locality *l, size_t first, int member);

struct gc_locality {
    int threads;
    int points;            /* of a line in the last pass */
    gconv_complex numbers; /* groups of lines, as gconv_cpu_transform_lines takes them */
    float *roots;          /* cosines, then sines; then for each thread room for a spectrum */
    piece_function *work;
    atomic_int next; /* the next piece of a pass */
};

gconv_status gc_locality_create(int threads, gc_locality **locality, gconv_error *error)
{
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
    l->threads = (int)count;
    l->numbers = (gconv_complex){numbers, numbers + GC_LOCALITY_NUMBERS + PART_PADDING};
    l->roots = roots;
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

/* ---- A pass ---------------------------------------------------------------------------------- */

float gc_locality_value(size_t index)
{
    uint32_t x = (uint32_t)index * 0x9e3779b9u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    x ^= x >> 13;
    return (float)(int32_t)x * 0x1p-31f;
}

static void fill_piece(const gc_locality *l, size_t first, int member)
{
    (void)member;
    for (size_t i = first; i < first + PIECE; i++) {
        l->numbers.real[i] = gc_locality_value(i);
        l->numbers.imaginary[i] = gc_locality_value(i + GC_LOCALITY_NUMBERS);
    }
}

static void turn_piece(const gc_locality *l, size_t first, int member)
{
    float *real = l->numbers.real + first, *imaginary = l->numbers.imaginary + first;
    (void)member;
    for (size_t i = 0; i < PIECE; i++)
        real[i] = -real[i];
    for (size_t i = 0; i < PIECE; i++)
        imaginary[i] = -imaginary[i];
}

static void transform_piece(const gc_locality *l, size_t first, int member)
{
    float *room = l->roots + (1 + (size_t)member) * 2 * GC_LOCALITY_POINTS_MAX;
    size_t group = (size_t)l->points * (size_t)gconv_cpu_lines();
    for (size_t at = first; at < first + PIECE; at += group)
        gconv_cpu_transform_lines(l->points,
                                  (gconv_complex){l->numbers.real + at, l->numbers.imaginary + at},
                                  (gconv_complex){l->roots, l->roots + l->points},
                                  (gconv_complex){room, room + GC_LOCALITY_POINTS_MAX});
}

static void take_pieces(void *user, int member)
{
    gc_locality *l = user;
    for (size_t first;
         (first = (size_t)atomic_fetch_add(&l->next, 1) * PIECE) < GC_LOCALITY_NUMBERS;)
        l->work(l, first, member);
}

/* Returns the seconds of the work on all pieces. */
static double run(gc_locality *l, piece_function *work)
{
    double start = gc_seconds();
    l->work = work;
    atomic_store(&l->next, 0);
    gc_team_run(l->threads, true, take_pieces, l);
    return gc_seconds() - start;
}

/* The angle of -2 pi i f / points, of which only the rest of f by points counts. */
static double angle(int64_t f, int points)
{
    return -2 * acos(-1) * (double)(f % points) / points;
}

double gc_locality_pass(gc_locality *locality, int points)
{
    gc_locality *l = locality;
    l->points = points;
    for (int i = 0; i < points; i++) {
        l->roots[i] = (float)cos(angle(i, points));
        l->roots[points + i] = (float)sin(angle(i, points));
    }
    run(l, fill_piece);
    return run(l, points == 1 ? turn_piece : transform_piece);
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* The frequency that gconv_cpu_transform_lines leaves at `place` of a line. */
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

/* The larger difference of real and imaginary parts between `number` and the spectrum of the line
 * whose first random number is `line`, at one frequency, summed in double. */
static double difference_from_sum(const gc_spectra *s, size_t line, int frequency,
                                  const float number[2])
{
    double real = 0, imaginary = 0;
    for (int i = 0; i < s->points; i++) {
        size_t index = line + (size_t)i * s->stride;
        double a = gc_locality_value(index), b = gc_locality_value(index + GC_LOCALITY_NUMBERS);
        double turned = angle((int64_t)frequency * i, s->points);
        real += a * cos(turned) - b * sin(turned);
        imaginary += a * sin(turned) + b * cos(turned);
    }
    return fmax(fabs((double)number[0] - real), fabs((double)number[1] - imaginary));
}

gconv_status gc_spectra_judge(const gc_spectra *spectra, double *largest, gconv_error *error)
{
    enum { PLACES = 16 };
    int points = spectra->points;
    size_t stride = spectra->stride, group = stride * (size_t)points;
    const size_t lines[] = {0, GC_LOCALITY_NUMBERS / 2 / group * group + stride / 2,
                            GC_LOCALITY_NUMBERS - group + stride - 1};
    *largest = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (int k = 0; k < PLACES; k++) {
            int place = (int)((int64_t)k * (points - 1) / (PLACES - 1));
            int frequency = spectra->ordered ? place : frequency_at(place, points);
            float number[2];
            GC_TRY(spectra->read(spectra->from, lines[i] + (size_t)place * stride, number, error));
            *largest = fmax(*largest, difference_from_sum(spectra, lines[i], frequency, number));
        }
    return GCONV_OK;
}

static gconv_status read_number(const void *from, size_t index, float number[2], gconv_error *error)
{
    const gc_locality *l = from;
    float sign = l->points == 1 ? -1 : 1;
    (void)error;
    number[0] = sign * l->numbers.real[index];
    number[1] = sign * l->numbers.imaginary[index];
    return GCONV_OK;
}

double gc_locality_error(const gc_locality *locality)
{
    const gc_spectra spectra = {.points = locality->points,
                                .stride = (size_t)gconv_cpu_lines(),
                                .read = read_number,
                                .from = locality};
    double largest;
    gc_spectra_judge(&spectra, &largest, NULL);
    return largest;
}
