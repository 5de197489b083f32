/* The CPU beside its peers: convolutions in memory, taking turns, medians and ratios.
 *
 * Every result is verified in the same run: it is held against the definition, summed in double, at
 * points all over the image and along its borders. The bound is that of float32 summation. gconv
 * reads its samples as 16-bit integers, since it has no float input; the peers read floats. All
 * write floats, except in the lines of 8 bits.
 *
 * usage: benchmark_cpu [SIDE] [--alone] [--whole] [--rank N]
 *     SIDE      this filter size only
 *     --alone   one thread, and its processor time instead of the time that passes: for a machine
 *               that others use too
 *     --whole   whole weights, with which the line of 8 bits must be exact
 *     --rank N  weights that are the sum of N products of a column and a row, not of full rank */
#include "contenders.h"

#include <gconv.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 4096, TURNS_MAX = 31, POINTS = 4000, SIDE_MAX = 64, CONTENDERS_MAX = 9 };

/* Seconds of turns a filter size may take in all. */
static const double patience = 12;

static bool alone_only, whole_weights;
static int rank; /* 0: full */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(alone_only ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- gconv ----------------------------------------------------------------------------------- */

typedef struct ours {
    gconv_filter filter;
    const gconv_filter *chain[1];
    gconv_plan *plan;
} ours;

static void stop(const gconv_error *error)
{
    fprintf(stderr, "gconv: %s\n", error->message);
    exit(1);
}

static void open_ours(ours *o, const contest *race, const float *weights, int depth, int threads)
{
    gconv_error error;
    o->filter = (gconv_filter){.width = race->side,
                               .height = race->side,
                               .anchor_x = race->side / 2,
                               .anchor_y = race->side / 2,
                               .divisor = 1,
                               .weights = (float *)weights};
    o->chain[0] = &o->filter;
    gconv_job job = gconv_job_default();
    job.filters = o->chain;
    job.filter_count = 1;
    job.correlate = true;
    job.implementation = "cpu";
    job.threads = threads;
    job.input = (gconv_shape){(uint32_t)race->width, (uint32_t)race->height, 1, depth};
    job.output_depth = depth == 8 ? 8 : 32;
    if (gconv_plan_create(&job, &o->plan, &error) != GCONV_OK)
        stop(&error);
}

static void run_ours(const ours *o, const contest *race, int depth)
{
    gconv_error error;
    size_t width = (size_t)race->width;
    const void *in = depth == 8 ? (const void *)race->levels : race->samples;
    void *out = depth == 8 ? (void *)race->levels_out : race->out;
    if (gconv_plan_run_memory(o->plan, in, width * (depth == 8 ? 1 : 2), out,
                              width * (depth == 8 ? 1 : 4), NULL, &error) != GCONV_OK)
        stop(&error);
}

static ours direct, separable, alone, levels;

static void run_direct(const contest *race)
{
    run_ours(&direct, race, 16);
}

static void run_alone(const contest *race)
{
    run_ours(&alone, race, 16);
}

static void run_separable(const contest *race)
{
    run_ours(&separable, race, 16);
}

static void run_levels(const contest *race)
{
    run_ours(&levels, race, 8);
}

/* ---- Verification ---------------------------------------------------------------------------- */

static int mirrored(int at, int size)
{
    return at < 0 ? -1 - at : at < size ? at : 2 * size - 1 - at;
}

static double wanted(const contest *race, const float *weights, int x, int y)
{
    double sum = 0;
    int radius = race->side / 2;
    for (int j = 0; j < race->side; j++)
        for (int i = 0; i < race->side; i++)
            sum +=
                (double)weights[j * race->side + i] *
                (double)race
                    ->floats[(size_t)mirrored(y + j - radius, race->height) * (size_t)race->width +
                             (size_t)mirrored(x + i - radius, race->width)];
    return sum;
}

/* The rounding of any order of summation, a transform of 2^16 points included, and half a level of
 * 8-bit results. */
static bool verify(const contest *race, const float *weights, bool eight)
{
    double sum = 0;
    for (int i = 0; i < race->side * race->side; i++)
        sum += fabs((double)weights[i]);
    double bound = 4 * (race->side * race->side + 32.0 * 16) * 0x1p-24 * sum * 255;
    unsigned seed = 1;
    for (int n = 0; n < POINTS; n++) {
        seed = seed * 1664525 + 1013904223;
        int x = (int)(seed >> 8) % race->width;
        seed = seed * 1664525 + 1013904223;
        int y = (int)(seed >> 8) % race->height;
        x = n % 4 == 0 ? n / 4 % 50 : n % 4 == 1 ? race->width - 1 - n / 4 % 50 : x;
        y = n % 8 == 2 ? n / 8 % 50 : n % 8 == 3 ? race->height - 1 - n / 8 % 50 : y;
        size_t at = (size_t)y * (size_t)race->width + (size_t)x;
        double value = wanted(race, weights, x, y);
        double got = eight ? (double)race->levels_out[at] : (double)race->out[at];
        if (eight)
            value = value < 0 ? 0 : value > 255 ? 255 : value;
        if (!(fabs(got - value) <= bound + (eight ? 0.5 : 0))) {
            printf("  (%d, %d) is %.6g, not %.6g\n", x, y, got, value);
            return false;
        }
    }
    return true;
}

/* ---- The race -------------------------------------------------------------------------------- */

typedef struct contender {
    const char *name;
    void (*run)(const contest *race);
    const float *weights;
    bool eight; /* its result is in levels_out */
    double seconds[TURNS_MAX];
    int turns;
    double median;
} contender;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool check(const contest *race, contender *c)
{
    memset(race->out, 0xff, (size_t)race->width * (size_t)race->height * sizeof(float));
    memset(race->levels_out, 0x55, (size_t)race->width * (size_t)race->height);
    c->run(race);
    if (verify(race, c->weights, c->eight))
        return true;
    printf("%s is wrong at %dx%d\n", c->name, race->side, race->side);
    return false;
}

/* In turns until patience ends; a slow one sits out turns so that it does not take it all. */
static void take_turns(const contest *race, contender *list, int count)
{
    double start = seconds_now();
    for (int turn = 0; turn < TURNS_MAX; turn++)
        for (int i = 0; i < count; i++) {
            contender *c = &list[i];
            bool slow = c->turns > 0 && c->seconds[0] > patience / 20;
            if ((seconds_now() - start > patience && turn >= 3) || (slow && turn % 4 != 0))
                continue;
            double from = seconds_now();
            c->run(race);
            c->seconds[c->turns++] = seconds_now() - from;
        }
    for (int i = 0; i < count; i++) {
        qsort(list[i].seconds, (size_t)list[i].turns, sizeof(double), compare);
        list[i].median = list[i].seconds[list[i].turns / 2];
    }
}

static contender list[CONTENDERS_MAX];
static int count;

static contender *enter(const char *name, void (*run)(const contest *race), const float *weights,
                        bool eight)
{
    list[count] = (contender){.name = name, .run = run, .weights = weights, .eight = eight};
    return &list[count++];
}

static double milliseconds(const contender *c)
{
    return c == NULL ? NAN : 1e3 * c->median;
}

static void print_line(const contest *race, const contender *const *c, double peak)
{
    double best = fmin(fmin(milliseconds(c[2]), milliseconds(c[3])), milliseconds(c[4]));
    double flops = 2.0 * race->side * race->side * race->width * race->height / c[0]->median;
    printf(
        "%2dx%-2d %8.1f %8.1f %8.1f %8.1f %6.2f %5.0f%% %6.2f | %8.1f %8.1f %6.2f | %8.1f %8.1f\n",
        race->side, race->side, milliseconds(c[0]), milliseconds(c[2]), milliseconds(c[3]),
        milliseconds(c[4]), best / milliseconds(c[0]), 100 * flops / peak,
        c[1]->median / c[0]->median, milliseconds(c[5]), milliseconds(c[6]),
        milliseconds(c[6]) / milliseconds(c[5]), milliseconds(c[7]), milliseconds(c[8]));
    fflush(stdout);
}

/* One filter size. False if a result was wrong. */
static bool run_size(const contest *race, const float *product, double peak)
{
    open_ours(&direct, race, race->weights, 16, race->threads);
    open_ours(&alone, race, race->weights, 16, 1);
    open_ours(&separable, race, product, 16, race->threads);
    open_ours(&levels, race, race->weights, 8, race->threads);
    count = 0;
    const contender *c[9] = {NULL};
    c[0] = enter("gconv", run_direct, race->weights, false);
    c[1] = enter("gconv, one thread", run_alone, race->weights, false);
#if HAVE_OPENCV
    c[2] = enter("OpenCV filter2D", opencv_filter2d, race->weights, false);
    c[6] = enter("OpenCV sepFilter2D", opencv_separable, product, false);
#endif
#if HAVE_FFTW
    c[3] = enter("FFTW", fftw_tiles, race->weights, false);
#endif
    c[4] = enter("plain loop", plain_loop, race->weights, false);
    c[5] = enter("gconv, separable", run_separable, product, false);
    c[7] = enter("gconv, 8 bits", run_levels, race->weights, true);
#if HAVE_OPENCV
    if (race->side < 12) /* above, it goes through transforms: another accuracy */
        c[8] = enter("OpenCV filter2D, 8 bits", opencv_filter2d_levels, race->weights, true);
#endif
    bool right = true;
    for (int i = 0; i < count; i++)
        right = check(race, &list[i]) && right;
    take_turns(race, list, count);
    print_line(race, c, peak);
    gconv_plan_free(direct.plan);
    gconv_plan_free(alone.plan);
    gconv_plan_free(separable.plan);
    gconv_plan_free(levels.plan);
    return right;
}

static void fill_image(contest *race, uint8_t *eight, uint16_t *sixteen, float *floats)
{
    unsigned seed = 7;
    for (size_t i = 0; i < (size_t)race->width * (size_t)race->height; i++) {
        seed = seed * 1664525 + 1013904223;
        eight[i] = (uint8_t)(seed >> 24);
        sixteen[i] = eight[i];
        floats[i] = eight[i];
    }
    race->levels = eight;
    race->samples = sixteen;
    race->floats = floats;
}

/* From -0.4 to 0.6; with --whole one of -4, -3 .. 5. */
static float random_weight(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    float weight = (float)(*seed >> 8) / 0x1p24f - 0.4f;
    return whole_weights ? roundf(10 * weight - 0.5f) : weight;
}

/* Weights of both signs: without structure, or of a rank that is asked for. */
static void fill_weights(int side, float *weights)
{
    unsigned seed = 99;
    float column[SIDE_MAX], row[SIDE_MAX];
    float scale = whole_weights ? 1 : 0.25f / (float)side;
    for (int i = 0; i < side * side; i++)
        weights[i] = rank == 0 ? random_weight(&seed) * scale : 0;
    for (int r = 0; r < rank; r++) {
        for (int i = 0; i < side; i++) {
            column[i] = random_weight(&seed) * scale;
            row[i] = random_weight(&seed);
        }
        for (int i = 0; i < side * side; i++)
            weights[i] += column[i / side] * row[i % side];
    }
}

/* A row like a Gaussian, and its product with itself as a column. */
static void fill_product(int side, float *row, float *product)
{
    double sum = 0;
    for (int i = 0; i < side; i++)
        sum += exp(-8.0 * pow((i - side / 2) / (double)side, 2));
    for (int i = 0; i < side; i++)
        row[i] = (float)(exp(-8.0 * pow((i - side / 2) / (double)side, 2)) / sum);
    for (int i = 0; i < side * side; i++)
        product[i] = row[i / side] * row[i % side];
}

/* The filter size that is asked for, 0 for all. */
static int read_arguments(int argc, char **argv)
{
    int only = 0;
    for (int i = 1; i < argc; i++) {
        alone_only = alone_only || strcmp(argv[i], "--alone") == 0;
        whole_weights = whole_weights || strcmp(argv[i], "--whole") == 0;
        if (strcmp(argv[i], "--rank") == 0 && i + 1 < argc)
            rank = atoi(argv[++i]);
        else if (atoi(argv[i]) > 0)
            only = atoi(argv[i]);
    }
    return only;
}

int main(int argc, char **argv)
{
    static const int sides[] = {3, 5, 7, 9, 11, 15, 17, 21, 31, 43};
    static float weights[SIDE_MAX * SIDE_MAX], product[SIDE_MAX * SIDE_MAX], row[SIDE_MAX];
    const size_t values = (size_t)SIZE * SIZE;
    contest race = {.width = SIZE, .height = SIZE, .weights = weights, .row = row};
    int only = read_arguments(argc, argv);
    race.threads = alone_only ? 1 : omp_get_max_threads();
    uint8_t *eight = malloc(values);
    uint16_t *sixteen = malloc(values * sizeof *sixteen);
    float *floats = malloc(values * sizeof *floats);
    race.out = malloc(values * sizeof *race.out);
    race.levels_out = malloc(values);
    if (eight == NULL || sixteen == NULL || floats == NULL || race.out == NULL ||
        race.levels_out == NULL)
        return 1;
    fill_image(&race, eight, sixteen, floats);
    double peak = multiply_add_peak(race.threads);
    printf("%s\n%dx%d, %d threads, %s; multiply-add peak %.0f GFLOP/s\n", gconv_build_description(),
           SIZE, SIZE, race.threads, alone_only ? "processor time" : "time that passes",
           1e-9 * peak);
    printf("ms       gconv filter2D     FFTW    plain  ahead   peak  one/n |  separab sepFilt2D "
           "ahead |   8 bits filter2D\n");
    bool right = true;
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        race.side = sides[i];
        if (only > 0 && only != race.side)
            continue;
        fill_weights(race.side, weights);
        fill_product(race.side, row, product);
        right = run_size(&race, product, peak) && right;
    }
    printf(right ? "all results verified\n" : "some results are WRONG\n");
    return right ? 0 : 1;
}
