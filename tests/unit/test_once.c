/* Rounding once (contract.md, rule 99): where cpu promises it, every sample is the true one, on
 * every instruction set. Images and divisors are such that many levels lie within the error of a
 * tie, on both sides. */
#include "core_support.h"
#include "sanitized.h"
#include "sets_support.h"

#include "core/border.h"
#include "cpu/once.h"
#include "cpu/pipeline/settle.h"

#include <math.h>

enum { WIDTH_MAX = 700, HEIGHT_MAX = 24, VALUES_MAX = WIDTH_MAX * HEIGHT_MAX * 4, STEPS = 3 };

typedef struct trial {
    gconv_filter filters[STEPS];
    const gconv_filter *chain[STEPS];
    float weights[STEPS][31 * 31];
    double column[STEPS][40], row[STEPS][40];
    gconv_job job;
    uint16_t image[VALUES_MAX]; /* samples of 8 bits lie in its first half */
    double planes[2][VALUES_MAX];
    uint16_t wanted[VALUES_MAX], got[VALUES_MAX];
} trial;

static uint32_t seed = 9;

/* Below `end`. */
static int any(int end)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)end);
}

static double any_real(void)
{
    return any(1 << 20) / 1048576.0;
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* Kinds of weights. Sums of `biased` ones lie near 192 on an image of 255, and each addition
 * rounds them by almost half a bit, down or up as `bias` says. `almost equal` ones give many sums
 * near each other. */
enum { ANY_SIGN, POSITIVE, ALMOST_EQUAL, BIASED, RANK_1, RANK_2, EQUAL, KINDS };

static double bias = 0.49;

static double weight_of(int kind, int index)
{
    if (kind == ALMOST_EQUAL)
        return 0.1 * (1 + (any(9) - 4) * 0x1p-21);
    if (kind == BIASED)
        return index == 0 ? 150.0 / 255 : (any(20000) + bias) * 0x1p-16 / 255;
    return any_real() - (kind == ANY_SIGN ? 0.4 : -0.01);
}

static void fill_matrix(trial *t, int s, int width, int height, int kind)
{
    double row[31], column[31], equal = any_real() + 0.1;
    for (int i = 0; i < 31; i++) {
        row[i] = any_real() + 0.01;
        column[i] = i < height && i > height / 2 && any(2) == 0 ? column[height - 1 - i]
                                                                : any_real() + 0.01;
    }
    for (int i = 0; i < width * height; i++)
        t->weights[s][width * height - 1 - i] =
            (float)(kind == RANK_1   ? row[i % width] * column[i / width]
                    : kind == RANK_2 ? row[i % width] * column[i / width] + i % width * column[0]
                    : kind == EQUAL  ? equal
                                     : weight_of(kind, i));
    t->filters[s] = filter_of(width, height, 1, t->weights[s]);
}

/* Whole numbers, whose sums exceed float32. */
static void fill_vectors(trial *t, int s)
{
    int width = 1 + any(38), height = 1 + any(38);
    for (int i = 0; i < 40; i++) {
        t->column[s][i] = any(3000);
        t->row[s][i] = any(3000) - 300;
    }
    t->filters[s] = filter_of(width, height, 1, NULL);
    t->filters[s].column = t->column[s];
    t->filters[s].row = t->row[s];
}

static void fill_filter(trial *t, int s)
{
    int kind = any(KINDS);
    int most = kind == RANK_1 || kind == RANK_2 || kind == EQUAL ? 31 : any(3) == 0 ? 9 : 5;
    if (any(8) == 0)
        fill_vectors(t, s);
    else
        fill_matrix(t, s, 1 + any(most), 1 + any(most), kind);
    t->filters[s].anchor_x = any(t->filters[s].width);
    t->filters[s].anchor_y = any(t->filters[s].height);
    t->chain[s] = &t->filters[s];
}

/* ---- Images ---------------------------------------------------------------------------------- */

static size_t row_samples(const trial *t)
{
    return (size_t)t->job.input.width * (size_t)t->job.input.channels;
}

static void set_sample(trial *t, size_t at, int value)
{
    if (t->job.input.depth == 8)
        ((uint8_t *)t->image)[at] = (uint8_t)(value & 255);
    else
        t->image[at] = (uint16_t)(value * 257);
}

/* Flat but for some columns. */
static void fill_image(trial *t, int flat)
{
    size_t row = row_samples(t), noisy = any(2) == 0 ? 0 : row / 2;
    int kind = any(3);
    for (size_t i = 0; i < row * t->job.input.height; i++)
        set_sample(t, i, kind == 0 ? any(256) : i % row < noisy && any(3) != 0 ? any(256) : flat);
}

static double sum_of_weights(const gconv_filter *filter)
{
    double sum = 0, across = 0;
    if (filter->weights == NULL) {
        for (int j = 0; j < filter->height; j++)
            sum += filter->column[j];
        for (int i = 0; i < filter->width; i++)
            across += filter->row[i];
        return sum * across;
    }
    for (int i = 0; i < filter->width * filter->height; i++)
        sum += (double)filter->weights[i];
    return sum;
}

/* Chooses divisors so that the flat parts come as near to a tie, or to a threshold, as the error
 * of float32. */
static void choose_divisors(trial *t, int flat)
{
    double level = flat, wanted = t->job.output_depth == 1 ? 128 : any(250) + 0.5;
    int last = t->job.filter_count - 1;
    for (int s = 0; s <= last; s++) {
        double sum = sum_of_weights(&t->filters[s]);
        t->filters[s].divisor = any(2) == 0 ? (double)(1 << any(3)) : 1;
        if (sum != 0 && s == last)
            t->filters[s].divisor =
                any(8) == 0 ? 20 * fabs(sum)
                            : level * sum / (wanted + (any_real() - 0.5) * ldexp(1, -any(16)));
        if (any(2) == 0)
            t->filters[s].divisor = (float)t->filters[s].divisor;
        if (t->filters[s].divisor == 0)
            t->filters[s].divisor = 1;
        level *= sum / t->filters[s].divisor;
    }
    t->job.threshold = fabs(level) * (1 + (any_real() - 0.5) * ldexp(1, -14 - any(8)));
    t->job.threshold = (float)fmin(t->job.threshold, 1e5);
}

static void fill_job(trial *t, int steps)
{
    static const double scales[] = {1, 1, 1, 0.5, -1, 0.3};
    int flat = any(4) == 0 ? 255 : 1 + any(255), output = any(5);
    gconv_shape shape = shape_of((uint32_t)(1 + any(any(5) == 0 ? WIDTH_MAX : 90)),
                                 (uint32_t)(1 + any(HEIGHT_MAX)), 1 + any(4), any(6) == 0 ? 16 : 8);
    t->job = job_of(t->chain, steps, shape);
    t->job.output_depth = output == 0 ? 1 : 8;
    t->job.output = output == 1 ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    if (t->job.output == GCONV_OUTPUT_EDGES)
        t->job.input.channels = 1;
    t->job.border = (gconv_border)any(GCONV_BORDER_COUNT);
    t->job.border_value = any(2) == 0 ? any(256) : any(600) / 4.0 - 20;
    t->job.correlate = any(2) == 0;
    t->job.absolute = t->job.output != GCONV_OUTPUT_EDGES && any(4) == 0;
    t->job.scale = t->job.output == GCONV_OUTPUT_EDGES ? 1 : scales[any(6)];
    t->job.has_offset = t->job.output != GCONV_OUTPUT_EDGES && any(3) == 0;
    t->job.offset = t->job.scale < 0 ? 255 : any(100);
    t->job.rule = (gconv_rule)any(3);
    t->job.invert = t->job.output == GCONV_OUTPUT_EDGES && any(2) == 0;
    t->job.alpha = any(3) != 0 ? GCONV_ALPHA_KEEP : GCONV_ALPHA_FILTER;
    t->job.threads = 1 + any(2);
    fill_image(t, flat);
    choose_divisors(t, flat);
}

/* ---- What is true ---------------------------------------------------------------------------- */

static double sample_at(const trial *t, size_t at)
{
    return t->job.input.depth == 8 ? ((const uint8_t *)t->image)[at] : t->image[at];
}

static double value_at(const gc_problem *problem, const gc_step *step, const double *plane,
                       int64_t x, int64_t y, int c)
{
    const gc_chain *chain = &problem->chain;
    x = gc_border_index(chain->border, x, chain->width);
    y = gc_border_index(chain->border, y, chain->height);
    return x < 0 || y < 0 ? step->terms_border[c]
                          : plane[(y * chain->width + x) * chain->channels + c];
}

/* One sum of a step, which double holds. */
static double true_sum(const gc_problem *problem, const gc_step *step, const double *plane,
                       int64_t x, int64_t y, int c)
{
    double sum = 0;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            double weight = step->column != NULL ? step->terms[j] * step->terms[step->height + i]
                                                 : step->terms[j * step->width + i];
            sum +=
                weight * value_at(problem, step, plane, x + i - step->left, y + j - step->top, c);
        }
    return sum;
}

/* Plane 0 becomes the sums of the chain. */
static void sum_chain(trial *t, const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    size_t channels = (size_t)chain->channels, given = (size_t)t->job.input.channels;
    for (size_t p = 0; p < (size_t)chain->width * chain->height; p++)
        for (size_t c = 0; c < channels; c++)
            t->planes[0][p * channels + c] = sample_at(t, p * given + c);
    for (int s = 0; s < chain->step_count; s++) {
        double *to = t->planes[1];
        for (int64_t y = 0; y < chain->height; y++)
            for (int64_t x = 0; x < chain->width; x++)
                for (int c = 0; c < chain->channels; c++)
                    *to++ = true_sum(problem, &chain->steps[s], t->planes[0], x, y, c);
        memcpy(t->planes[0], t->planes[1], (size_t)(to - t->planes[1]) * sizeof *to);
    }
}

static uint32_t true_sample(const gc_problem *problem, double sum)
{
    const gc_conversion *conversion = &problem->conversion;
    if (!conversion->finds_edges)
        return gc_round_once(&problem->rounding, sum);
    bool edge = gc_passes_threshold(&problem->rounding, sum) != conversion->invert;
    return edge ? (1u << conversion->output.depth) - 1 : 0;
}

/* Sample c of a pixel of the output. */
static uint32_t sample_of(const trial *t, const gc_problem *problem, const void *output, size_t y,
                          size_t x, size_t c)
{
    const gconv_shape *shape = &problem->conversion.output;
    size_t stride = gconv_shape_row_bytes(shape);
    const uint8_t *row = (const uint8_t *)output + y * stride;
    size_t at = x * (size_t)shape->channels + c;
    (void)t;
    return shape->depth == 1   ? (row[at / 8] >> (7 - at % 8)) & 1u
           : shape->depth == 8 ? row[at]
                               : ((const uint16_t *)(const void *)row)[at];
}

static void compare(const trial *t, const gc_problem *problem, const char *set)
{
    const gc_chain *chain = &problem->chain;
    const double *sum = t->planes[0];
    for (size_t y = 0; y < chain->height; y++)
        for (size_t x = 0; x < chain->width; x++)
            for (size_t c = 0; c < (size_t)chain->channels; c++, sum++) {
                uint32_t got = sample_of(t, problem, t->got, y, x, c);
                uint32_t wanted = true_sample(problem, *sum);
                if (got != wanted)
                    fail_msg("%s: %dx%d, %d steps, border %s, %ux%u of %d channels, depth %d to "
                             "%d: value %zu of (%zu, %zu) is %u, not %u; v is %.9f",
                             set, t->filters[0].width, t->filters[0].height, chain->step_count,
                             gconv_border_name(t->job.border), chain->width, chain->height,
                             t->job.input.channels, t->job.input.depth, t->job.output_depth, c, x,
                             y, got, wanted,
                             (problem->rounding.a * *sum + problem->rounding.b) /
                                 problem->rounding.c);
            }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Whether the job is rounded once. */
static bool try_job(trial *t)
{
    OWNED_PROBLEM problem = problem_of(&t->job);
    if (!gc_cpu_settles(&problem))
        return false;
    sum_chain(t, &problem);
    EACH_SET(set, n)
    {
        setenv("GCONV_INSTRUCTIONS", set->name, 1);
        t->job.implementation = "cpu";
        OWNED_PLAN plan = planned(&t->job);
        assert_ok(gconv_plan_run_memory(plan, t->image, row_samples(t) * t->job.input.depth / 8,
                                        t->got, gconv_shape_row_bytes(&problem.conversion.output),
                                        NULL, NULL));
        unsetenv("GCONV_INSTRUCTIONS");
        assert_int_equal(gconv_plan_promise(plan),
                         problem.chain.exact ? GCONV_PROMISE_EXACT : GCONV_PROMISE_ROUNDED_ONCE);
        compare(t, &problem, set->name);
    }
    return true;
}

TEST(one_filter)
{
    static trial t;
    int once = 0, trials = TRIALS(1500);
    for (int n = 0; n < trials; n++) {
        fill_filter(&t, 0);
        fill_job(&t, 1);
        once += try_job(&t);
    }
    print_message("%d of %d rounded once\n", once, trials);
    assert_true(once > trials / 3);
}

/* Weights of few bits, so that double holds the sums of a chain of them. */
static void fill_link(trial *t, int s, int bits)
{
    fill_matrix(t, s, 1 + any(7), 1 + any(7), any(2) == 0 ? ANY_SIGN : POSITIVE);
    for (int i = 0; i < t->filters[s].width * t->filters[s].height; i++)
        t->weights[s][i] = (float)(ldexp(rint(ldexp(t->weights[s][i], bits)), -bits) / 8);
    t->filters[s].anchor_x = any(t->filters[s].width);
    t->filters[s].anchor_y = any(t->filters[s].height);
    t->chain[s] = &t->filters[s];
}

TEST(chains)
{
    static trial t;
    int once = 0, trials = TRIALS(400);
    for (int n = 0; n < trials; n++) {
        int steps = 2 + any(STEPS - 1);
        for (int s = 0; s < steps; s++)
            fill_link(&t, s, 30 / steps);
        fill_job(&t, steps);
        once += try_job(&t);
    }
    print_message("%d of %d rounded once\n", once, trials);
    assert_true(once > trials / 8);
}

/* Sums that are rounded by almost half a bit each: the error is more than half of its
 * bound. */
TEST(biased_sums)
{
    static trial t;
    int once = 0, trials = TRIALS(600);
    for (int n = 0; n < trials; n++) {
        bias = n % 2 == 0 ? 0.49 : 0.51;
        fill_matrix(&t, 0, 1 + any(9), 1 + any(9), BIASED);
        t.chain[0] = &t.filters[0];
        t.job = job_of(t.chain, 1, shape_of(70, 4, 1, 8));
        t.job.border = GCONV_BORDER_REPLICATE;
        memset(t.image, 255, sizeof t.image);
        t.job.output_depth = n % 4 < 2 ? 8 : 1;
        double sum = 255 * sum_of_weights(&t.filters[0]);
        double level = n % 4 < 2 ? floor(sum) + 0.5 : 128;
        t.filters[0].divisor = sum / (level + (any_real() - 0.5) * 0x1p-11);
        once += try_job(&t);
    }
    assert_true(once > trials / 2);
}

/* Sums that float32 holds, and a factor that it does not hold. */
TEST(levels)
{
    static trial t;
    int once = 0, trials = TRIALS(600);
    for (int n = 0; n < trials; n++) {
        int flat = 128 + any(128), level = 128 + any(127);
        fill_matrix(&t, 0, 1, 1, EQUAL);
        t.weights[0][0] = 1;
        t.chain[0] = &t.filters[0];
        t.job = job_of(t.chain, 1, shape_of(70, 4, 1, 8));
        t.job.scale = (level + 0.5) / flat * (1 + (any_real() - 0.5) * 0x1p-22);
        memset(t.image, flat, sizeof t.image);
        once += try_job(&t);
    }
    assert_true(once > trials / 2);
}

/* Every third row is flat, and the sums of the others differ by less than their error. */
TEST(rows_that_are_nearly_flat)
{
    static trial t;
    int once = 0, trials = TRIALS(100);
    for (int n = 0; n < trials; n++) {
        fill_matrix(&t, 0, 3, 3, ALMOST_EQUAL);
        t.chain[0] = &t.filters[0];
        t.job = job_of(t.chain, 1, shape_of(300, 9, 1, 8));
        t.job.output_depth = n % 2 == 0 ? 8 : 1;
        t.job.scale = (n % 2 == 0 ? 57.5 : 128) / 115.2 * (1 + (any_real() - 0.5) * 0x1p-22);
        for (int i = 0; i < 300 * 9; i++)
            set_sample(&t, (size_t)i, i / 300 % 3 == 0 ? 128 : 120 + i % 3 * 8);
        once += try_job(&t);
    }
    assert_true(once > trials / 2);
}

/* ---- Sums in double -------------------------------------------------------------------------- */

/* Whether areas are summed in double. Then all sets give what the reference gives, which knows
 * nothing of that. */
static bool try_areas(trial *t)
{
    OWNED_PROBLEM problem = problem_of(&t->job);
    if (!gc_cpu_sums_in_double(&problem))
        return false;
    size_t in = row_samples(t) * (size_t)t->job.input.depth / 8;
    size_t out = gconv_shape_row_bytes(&problem.conversion.output), rows = t->job.input.height;
    t->job.implementation = "reference";
    OWNED_PLAN reference = planned(&t->job);
    assert_ok(gconv_plan_run_memory(reference, t->image, in, t->wanted, out, NULL, NULL));
    t->job.implementation = "cpu";
    EACH_SET(set, n)
    {
        setenv("GCONV_INSTRUCTIONS", set->name, 1);
        OWNED_PLAN plan = planned(&t->job);
        assert_int_equal(gconv_plan_promise(plan), GCONV_PROMISE_ROUNDED_ONCE);
        memset(t->got, 0xff, out * rows);
        assert_ok(gconv_plan_run_memory(plan, t->image, in, t->got, out, NULL, NULL));
        unsetenv("GCONV_INSTRUCTIONS");
        if (memcmp(t->got, t->wanted, out * rows) != 0)
            fail_msg("%s: %dx%d, %u channels, depth %d to %d, border %s", set->name,
                     t->filters[0].width, t->filters[0].height, t->job.input.channels,
                     t->job.input.depth, t->job.output_depth, gconv_border_name(t->job.border));
    }
    return true;
}

/* Flat parts come near to a tie of 16 bits, as far as doubles can. Small weights have sums that
 * double does not hold. */
static void come_near(trial *t, bool small)
{
    gconv_filter *filter = &t->filters[0];
    for (int i = 0; filter->weights != NULL && small && i < filter->width * filter->height; i++)
        t->weights[0][i] = ldexpf(t->weights[0][i], -any(18));
    double level = t->job.input.depth == 8 ? 255.0 : 65535.0;
    double off = any(3) == 0 ? ldexp(any_real() - 0.5, -20 - any(30)) : 0;
    double tie = (32768 + any(32767) + 0.5) * (1 + off);
    double sum = fabs(sum_of_weights(filter));
    filter->divisor = sum == 0 ? 1 : level * sum / tie;
    if (t->job.output_depth == 8 && sum != 0) /* times 257 it is a double, too */
        filter->divisor = (double)(float)(257 * filter->divisor);
}

TEST(areas)
{
    static const int depths[] = {16, 16, 8, 1};
    static trial t;
    int once = 0, quick = 0, trials = TRIALS(1500);
    for (int n = 0; n < trials; n++) {
        int side = any(3) == 0 ? 15 : 4;
        t.chain[0] = &t.filters[0];
        fill_matrix(&t, 0, 1 + any(side), 1 + any(side), any(KINDS));
        fill_job(&t, 1);
        t.job.output_depth = depths[any(4)];
        t.job.input.depth = any(3) == 0 ? 8 : 16;
        t.job.scale = 1;
        t.job.has_offset = false;
        fill_image(&t, 255);
        for (size_t i = 0; t.job.input.depth == 16 && i < row_samples(&t); i++)
            t.image[i] ^= (uint16_t)any(256); /* the first row */
        come_near(&t, any(3) != 0);
        t.job.exact = any(4) != 0;
        bool is_once = try_areas(&t);
        once += is_once;
        quick += is_once && !t.job.exact;
    }
    print_message("%d of %d in double, %d of these without being asked\n", once, trials, quick);
    assert_true(once > trials / 4 && quick > trials / 40);
}

TEST(chains_in_areas)
{
    static trial t;
    int once = 0, trials = TRIALS(150);
    for (int n = 0; n < trials; n++) {
        int steps = 1 + any(STEPS);
        for (int s = 0; s < steps; s++)
            fill_link(&t, s, 24 / steps);
        if (steps == 1)
            fill_vectors(&t, 0);
        fill_job(&t, steps);
        t.job.exact = true;
        t.job.output_depth = any(2) == 0 ? 16 : 8;
        once += try_areas(&t);
    }
    assert_true(once > trials / 6);
}

/* Levels around ties, computed in double, are right or doubtful. */
TEST(levels_in_double)
{
    float one = 1;
    gconv_filter filter = filter_of(1, 1, 1, &one);
    gconv_job job = job_of(CHAIN(&filter), 1, shape_of(8, 8, 1, 16));
    OWNED_PROBLEM problem = problem_of(&job);
    gc_rounding *r = &problem.rounding;
    int wrong = 0, doubts = 0, sets = 0;
    EACH_SET(set, s) sets++;
    for (int n = 0; n < 3000; n++) {
        double sums[64];
        uint16_t samples[64];
        uint64_t doubtful;
        gc_settler settler;
        *r = (gc_rounding){.once = true, .a = 1 + any_real() / 3, .c = 1 + any_real() / 7};
        r->b = any(3) == 0 ? any(60000) * r->c / 3 : 0;
        r->largest = 65535;
        assert_ok(gc_settler_create(&settler, &problem, NULL, NULL, NULL));
        for (int i = 0; i < 64; i++) {
            sums[i] = ((any(65535) + 0.5) * r->c - r->b) / r->a;
            for (int k = any(7); k > 0; k--)
                sums[i] = nextafter(sums[i], k % 2 == 0 ? -INFINITY : INFINITY);
        }
        EACH_SET(set, s)
        {
            set->taps->round(&settler.in_double, sums, 64, samples, &doubtful);
            for (int i = 0; i < 64; i++)
                wrong += (doubtful >> i & 1) == 0 && samples[i] != gc_round_once(r, sums[i]);
            doubts += __builtin_popcountll(doubtful);
        }
        gc_settler_destroy(&settler);
    }
    assert_int_equal(wrong, 0);
    assert_true(doubts > sets * 64 * 3000 / 2);
}
