/* Boxes from samples to samples: every sample is the true quotient, rounded once, on every
 * instruction set. */
#include "cpu/fast/loops/loops.h"

#include "core_support.h"
#include "sanitized.h"
#include "sets_support.h"

#include <math.h>

enum { SIDE_MAX = 300, BYTES_MAX = 200000 };

typedef struct trial {
    gconv_filter filter;
    const gconv_filter *chain[1];
    gconv_job job;
    double ones[SIDE_MAX];
    float weights[32 * 32];
    _Alignas(64) uint8_t image[BYTES_MAX];
    _Alignas(64) uint8_t wanted[BYTES_MAX + 64], got[BYTES_MAX + 64];
} trial;

static uint32_t seed = 9;

/* Below `end`. */
static int any(int end)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)end);
}

static size_t row_bytes(const trial *t)
{
    const gconv_shape *shape = &t->job.input;
    return (size_t)shape->width * (size_t)shape->channels * (size_t)shape->depth / 8;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* A matrix of one weight, or two vectors of 1, over its sum or another whole number. */
static void fill_filter(trial *t, int width, int height)
{
    int weight = any(3) == 0 ? 1 + any(4) : 1;
    t->filter = filter_of(width, height, (double)weight * width * height, t->weights);
    if (width * height > (int)COUNT(t->weights) || width > GCONV_FILTER_SIDE_MAX || any(2) == 0) {
        t->filter.weights = NULL;
        t->filter.row = t->filter.column = t->ones;
        t->filter.divisor = (double)width * height;
        weight = 1;
    }
    for (int i = 0; i < SIDE_MAX; i++)
        t->ones[i] = 1;
    for (int i = 0; t->filter.weights != NULL && i < width * height; i++)
        t->weights[i] = (float)weight;
    if (any(3) == 0)
        t->filter.divisor = (double)weight * (3 + any(any(2) == 0 ? 600 : 65534));
    t->filter.anchor_x = any(width);
    t->filter.anchor_y = any(height);
}

static void fill_image(trial *t)
{
    const int kind = any(4);
    for (size_t i = 0; i < row_bytes(t) * t->job.input.height; i++)
        t->image[i] = kind == 0   ? (uint8_t)any(256)
                      : kind == 1 ? (uint8_t)(any(2) * 255)
                      : kind == 2 ? 77
                                  : 255;
}

static void fill_job(trial *t, int width, int depth)
{
    gconv_shape shape = shape_of((uint32_t)width, (uint32_t)(1 + any(40)), 1 + any(4), depth);
    while ((size_t)shape.width * shape.height * 8 > BYTES_MAX)
        shape.height /= 2;
    t->chain[0] = &t->filter;
    t->job = job_of(t->chain, 1, shape);
    t->job.border = (gconv_border)any(GCONV_BORDER_COUNT);
    t->job.border_value = any(256);
    t->job.correlate = any(2) == 0;
    t->job.absolute = any(4) == 0;
    t->job.alpha = any(3) != 0 ? GCONV_ALPHA_KEEP : GCONV_ALPHA_FILTER;
    t->job.threads = 1 + any(2);
    fill_image(t);
}

/* Not vacuously: some trials go by running sums where there are loops for them. */
static void check_passes(int passes)
{
    assert_int_equal(passes > 0, gc_instructions_chosen()->box->has_levels);
}

/* True if running sums gave the levels. */
static bool run(trial *t, const char *implementation, uint8_t *out)
{
    t->job.implementation = implementation;
    OWNED_PLAN plan = planned(&t->job);
    const size_t row = row_bytes(t);
    assert_ok(gconv_plan_run_memory(plan, t->image, row, out, row, NULL, NULL));
    return strstr(gconv_plan_explanation(plan), "running sums to levels") != NULL;
}

static int compare_all(trial *t)
{
    const gconv_shape *shape = &t->job.input;
    const size_t bytes = row_bytes(t) * shape->height;
    int passes = 0;
    run(t, "reference", t->wanted);
    EACH_SET(set, n)
    {
        setenv("GCONV_INSTRUCTIONS", set->name, 1);
        memset(t->got, 0xa5, sizeof t->got);
        bool is = run(t, "cpu", t->got);
        unsetenv("GCONV_INSTRUCTIONS");
        passes += is;
        assert_int_equal(t->got[bytes], 0xa5);
        for (size_t i = 0; is && i < bytes; i++)
            if (t->got[i] != t->wanted[i])
                fail_msg("%s: %dx%d over %g, anchor %d, %d, border %s, alpha %d, image %ux%u of %d "
                         "channels and %d bits: byte %zu is %d, not %d",
                         set->name, t->filter.width, t->filter.height, t->filter.divisor,
                         t->filter.anchor_x, t->filter.anchor_y, gconv_border_name(t->job.border),
                         (int)t->job.alpha, shape->width, shape->height, shape->channels,
                         shape->depth, i, t->got[i], t->wanted[i]);
    }
    return passes;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Widths lie beside those of blocks, and of strips. */
TEST(boxes)
{
    static trial t;
    static const int widths[] = {1, 2, 13, 31, 32, 33, 63, 64, 65, 127, 191, 257, 2730, 8192, 8193};
    int passes = 0;
    for (int n = 0; n < TRIALS(1200); n++) {
        int most = n % 4 == 0 ? 257 : n % 4 == 1 ? 40 : 12;
        fill_filter(&t, 1 + any(most), 1 + any(most));
        fill_job(&t, widths[any(any(4) == 0 ? 15 : 12)], n % 3 == 0 ? 16 : 8);
        passes += compare_all(&t);
    }
    check_passes(passes);
}

/* The largest sums: white, below the largest boxes. */
TEST(largest)
{
    static trial t;
    int passes = 0;
    for (int n = 0; n < TRIALS(60); n++) {
        fill_filter(&t, 250 + any(8), 250 + any(8));
        fill_job(&t, 1 + any(300), n % 2 == 0 ? 16 : 8);
        memset(t.image, 255, sizeof t.image);
        for (int i = 0; i < 400; i++)
            t.image[any(BYTES_MAX)] = (uint8_t)any(256);
        passes += compare_all(&t);
    }
    check_passes(passes);
}

/* Samples whose sums are every number: each quotient by many divisors, ties among them. */
TEST(quotients)
{
    static trial t;
    static const int heights[] = {1, 2, 7, 64, 257};
    for (int depth = 8; depth <= 16; depth += 8) {
        int passes = 0;
        for (size_t h = 0; h < COUNT(heights); h++)
            for (int n = 0; n < TRIALS(12); n++) {
                fill_filter(&t, 1 + any(3), heights[h]);
                t.filter.divisor = 2 * (2 + any(n % 2 == 0 ? 300 : 32767));
                t.filter.weights = NULL;
                t.filter.row = t.filter.column = t.ones;
                fill_job(&t, 4096, depth);
                t.job.border = GCONV_BORDER_REPLICATE;
                for (size_t i = 0; i < BYTES_MAX; i++)
                    t.image[i] = (uint8_t)(depth == 16 && i % 2 != 0 ? i >> 9 : i >> 1 | any(2));
                passes += compare_all(&t);
            }
        check_passes(passes);
    }
}

/* A row that ends one column behind a strip, below boxes that reach to one side alone. */
TEST(last_columns)
{
    static trial t;
    int passes = 0;
    for (int n = 0; n < TRIALS(60); n++) {
        fill_filter(&t, 1 + any(SIDE_MAX), 1);
        fill_job(&t, 16385, 16);
        t.job.input.channels = 4;
        t.job.input.height = 1;
        t.filter.anchor_x = n % 2 == 0 ? 0 : t.filter.width - 1;
        t.job.alpha = GCONV_ALPHA_KEEP;
        for (size_t i = 0; i < row_bytes(&t); i++)
            t.image[i] = (uint8_t)any(256);
        passes += compare_all(&t);
    }
    check_passes(passes);
}

/* Samples of depth 1 are bits of a grey: not the levels of a box. */
TEST(bits_are_no_levels)
{
    static trial t;
    for (int channels = 1; channels <= 4; channels++) {
        fill_filter(&t, 3, 3);
        fill_job(&t, 37, 8);
        t.job.input.channels = channels;
        t.job.input.height = 9;
        t.job.output_depth = 1;
        fill_image(&t);
        memset(t.got, 0, sizeof t.got);
        memset(t.wanted, 0, sizeof t.wanted);
        assert_false(run(&t, "cpu", t.got));
        run(&t, "reference", t.wanted);
        assert_memory_equal(t.got, t.wanted, row_bytes(&t) * t.job.input.height);
    }
}
