/* The reference at single pixels: the bits that it gives for whole images; and judging outputs
 * there. */
#include "core/reference_pixel.h"

#include "core/plan.h"
#include "core_support.h"

enum { WIDTH = 23, HEIGHT = 17, PIXELS = WIDTH * HEIGHT };

/* Fractional weights, even sides, and anchors off the centre. */
static float long_weights[4 * 7], square_weights[25], wide_weights[41 * 3];
static double column[19], row[31];
static const gconv_filter filters[] = {
    {.width = 4, .height = 7, .anchor_x = 3, .anchor_y = 1, .divisor = 2, .weights = long_weights},
    {.width = 5,
     .height = 5,
     .anchor_x = 2,
     .anchor_y = 2,
     .divisor = -3,
     .weights = square_weights},
    {.width = 41, .height = 3, .anchor_x = 7, .anchor_y = 0, .divisor = 5, .weights = wide_weights},
    {.width = 31,
     .height = 19,
     .anchor_x = 15,
     .anchor_y = 4,
     .divisor = 7,
     .column = column,
     .row = row},
};

static uint32_t state;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static int fill(void **unused)
{
    (void)unused;
    state = 7;
    for (int i = 0; i < 4 * 7; i++)
        long_weights[i] = (float)next() / 3e6f - 2;
    for (int i = 0; i < 25; i++)
        square_weights[i] = (float)next() / 7e6f - 1;
    for (int i = 0; i < 41 * 3; i++)
        wide_weights[i] = (float)next() / 9e6f;
    for (int i = 0; i < 19; i++)
        column[i] = next() / 5e6 - 1;
    for (int i = 0; i < 31; i++)
        row[i] = next() / 3e6 - 2;
    return 0;
}

static gconv_plan *plan_reference(gconv_job job)
{
    job.implementation = "reference";
    return planned(&job);
}

static void random_samples(void *samples, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)samples)[i] = (uint8_t)next();
}

/* Every pixel has the bits of the whole image. */
static void compare_all(const gconv_job *job)
{
    static uint16_t in[PIXELS * 4];
    static float chain[PIXELS * 4];
    OWNED_PLAN plan = plan_reference(*job);
    size_t stride = gconv_shape_row_bytes(&job->input);
    int channels = gconv_plan_chain_channels(plan);
    size_t chain_stride = WIDTH * (size_t)channels * sizeof(float);
    random_samples(in, sizeof in);
    assert_ok(gconv_plan_run_chain(plan, in, stride, chain, chain_stride, NULL, NULL));
    for (uint32_t i = 0; i < PIXELS; i++) {
        float values[GC_CHANNELS_MAX];
        gc_word sums[GC_CHANNELS_MAX * GC_LIMBS_MAX];
        assert_succeeds(
            gc_reference_pixel(&plan->problem, in, stride, i % WIDTH, i / WIDTH, sums, &why));
        gc_words_to_chain(&plan->problem.chain, sums, (size_t)channels, values);
        if (memcmp(values, chain + i * (size_t)channels, (size_t)channels * sizeof(float)) != 0)
            fail_msg("border %s: pixel %u is %g, the reference's is %g",
                     gconv_border_name(job->border), i, (double)values[0],
                     (double)chain[i * (size_t)channels]);
    }
}

TEST(spots_are_the_references)
{
    static const gconv_filter *const chains[][3] = {
        {&filters[0]},
        {&filters[2]},
        {&filters[3]},
        {&filters[0], &filters[1]},
        {&filters[1], &filters[3], &filters[0]},
    };
    static const int counts[] = {1, 1, 1, 2, 3};
    static const gconv_border borders[] = {GCONV_BORDER_MIRROR, GCONV_BORDER_MIRROR101,
                                           GCONV_BORDER_REPLICATE, GCONV_BORDER_WRAP,
                                           GCONV_BORDER_CONSTANT};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            gconv_job job = job_of(chains[i], counts[i], shape_of(WIDTH, HEIGHT, 1, 8));
            job.border = borders[j];
            job.border_value = 77;
            job.correlate = (i + j) % 2 == 1;
            compare_all(&job);
        }
}

TEST(spots_have_channels)
{
    static const gconv_alpha alphas[] = {GCONV_ALPHA_KEEP, GCONV_ALPHA_FILTER,
                                         GCONV_ALPHA_PREMULTIPLY};
    for (int channels = 1; channels <= 4; channels++)
        for (int i = 0; i < 3; i++) {
            gconv_job job =
                job_of(CHAIN(&filters[1], &filters[0]), 2, shape_of(WIDTH, HEIGHT, channels, 16));
            job.alpha = alphas[i];
            compare_all(&job);
        }
}

/* ---- Judging outputs ------------------------------------------------------------------------- */

typedef struct trial {
    gconv_plan *plan;
    size_t in_stride, out_stride;
    uint8_t in[PIXELS * 4], out[PIXELS * 4];
    gconv_pixel all[PIXELS];
} trial;

static trial t;

static int forget(void **unused)
{
    (void)unused;
    gconv_plan_free(t.plan);
    t.plan = NULL;
    return 0;
}

static void run_trial(const gconv_job *job)
{
    forget(NULL);
    t.plan = plan_reference(*job);
    t.in_stride = gconv_shape_row_bytes(&job->input);
    t.out_stride = gconv_shape_row_bytes(gconv_plan_output_shape(t.plan));
    random_samples(t.in, sizeof t.in);
    assert_ok(gconv_plan_run_memory(t.plan, t.in, t.in_stride, t.out, t.out_stride, NULL, NULL));
    for (uint32_t i = 0; i < PIXELS; i++)
        t.all[i] = (gconv_pixel){i % WIDTH, i / WIDTH};
}

/* The whole output, by the reference's chain values. */
static gconv_difference judged_whole(void)
{
    static float chain[PIXELS * 4];
    static uint8_t output[sizeof t.out];
    size_t stride = WIDTH * (size_t)gconv_plan_chain_channels(t.plan) * sizeof(float);
    const gconv_expectation expected = {chain, stride, output, t.out_stride};
    gconv_difference difference;
    gconv_error error;
    if (gconv_plan_run_reference(t.plan, t.in, t.in_stride, &expected, &error) != GCONV_OK ||
        gconv_plan_compare_output(t.plan, t.in, t.in_stride, t.out, t.out_stride, &expected,
                                  &difference, &error) != GCONV_OK)
        fail_msg("%s", error.message);
    return difference;
}

/* Every pixel by itself; and the whole output, which must be judged alike. */
static gconv_difference judged(void)
{
    gconv_difference difference, whole = judged_whole();
    assert_succeeds(gconv_plan_compare_pixels(t.plan, t.in, t.in_stride, t.out, t.out_stride, t.all,
                                              PIXELS, &difference, &why));
    assert_int_equal(whole.within, difference.within);
    assert_int_equal(whole.mismatches, difference.mismatches);
    assert_true(whole.largest == difference.largest && whole.bound == difference.bound);
    if (!difference.within) {
        assert_int_equal(whole.x, difference.x);
        assert_int_equal(whole.y, difference.y);
        assert_int_equal(whole.channel, difference.channel);
    }
    return difference;
}

/* Whole weights: one wrong level is wrong. Kept alpha counts. */
TEST(exact_outputs)
{
    static float ones[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    const gconv_filter box = filter_of(3, 3, 16, ones);
    gconv_job job = job_of(CHAIN(&box), 1, shape_of(WIDTH, HEIGHT, 4, 8));
    job.alpha = GCONV_ALPHA_KEEP;
    run_trial(&job);
    gconv_difference d = judged();
    assert_true(d.within && d.mismatches == 0 && d.largest == 0 && d.bound == 0);
    t.out[(5 * WIDTH + 9) * 4 + 2] ^= 1;
    t.out[(7 * WIDTH + 3) * 4 + 3] ^= 64; /* alpha */
    d = judged();
    assert_false(d.within);
    assert_true(d.mismatches == 2 && d.x == 3 && d.y == 7);
    assert_int_equal(d.channel, 3);
    assert_true(d.largest == 64);
}

/* If the bound allows two outputs both are right, a third is not. */
TEST(inexact_outputs)
{
    /* 0.1 * 5 * sample: where the sample is odd, half of a level is left, which rounding may
     * turn. */
    static float tenth[5] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f}, single = 1;
    /* No double is the product of these divisors: only then the output has a bound. */
    const gconv_filter mean = filter_of(5, 1, 0.7, tenth), one = filter_of(1, 1, 1 / 0.7, &single);
    gconv_job job = job_of(CHAIN(&mean, &one), 2, shape_of(WIDTH, HEIGHT, 1, 8));
    run_trial(&job);
    assert_int_equal(gconv_plan_promise(t.plan), GCONV_PROMISE_BOUNDED);
    memset(t.in, 51, sizeof t.in);
    memset(t.out, 26, sizeof t.out);
    gconv_difference d = judged();
    assert_true(d.within && d.bound > 0);
    t.out[40] = 25;
    assert_true(judged().within);
    t.out[41] = 27;
    t.out[3 * WIDTH + 2] = 20;
    d = judged();
    assert_false(d.within);
    assert_true(d.mismatches == 2 && d.x == 2 && d.y == 3);
}

/* The sum is 51 * 5 * 0.1f, a little above 25.5: only 26 is right. */
TEST(outputs_rounded_once)
{
    static float tenth[5] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    const gconv_filter mean = filter_of(5, 1, 1, tenth);
    gconv_job job = job_of(CHAIN(&mean), 1, shape_of(WIDTH, HEIGHT, 1, 8));
    run_trial(&job);
    assert_int_equal(gconv_plan_promise(t.plan), GCONV_PROMISE_ROUNDED_ONCE);
    memset(t.in, 51, sizeof t.in);
    memset(t.out, 26, sizeof t.out);
    assert_true(judged().within);
    t.out[40] = 25;
    assert_int_equal(judged().mismatches, 1);
}

/* The absolute value turns at 0: 0 lies between the outputs of -bound and +bound. */
TEST(absolute_outputs)
{
    static float third[2] = {1 / 3.0f, -1 / 3.0f}, single = 1;
    const gconv_filter slope = filter_of(2, 1, 0.7, third), one = filter_of(1, 1, 1 / 0.7, &single);
    gconv_job job = job_of(CHAIN(&slope, &one), 2, shape_of(WIDTH, HEIGHT, 1, 8));
    job.absolute = true;
    run_trial(&job);
    assert_true(judged().within);
    memset(t.in, 9, sizeof t.in);
    memset(t.out, 0, sizeof t.out);
    assert_true(judged().within);
    t.out[77] = 1;
    assert_int_equal(judged().mismatches, 1);
}

TEST(edges_are_bits)
{
    static float weights[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    const gconv_filter laplace = filter_of(3, 3, 1, weights);
    gconv_job job = job_of(CHAIN(&laplace), 1, shape_of(WIDTH, HEIGHT, 1, 8));
    job.output = GCONV_OUTPUT_EDGES;
    job.output_depth = 1;
    job.threshold = 100;
    run_trial(&job);
    assert_true(judged().within);
    t.out[4 * t.out_stride + 1] ^= 0x10; /* the fourth bit of the second byte: x 11 */
    gconv_difference d = judged();
    assert_true(d.mismatches == 1 && d.x == 11 && d.y == 4);
}

/* Colour is divided by alpha. If alpha may be 0, any colour is right. */
TEST(divided_outputs)
{
    static float tenth[5] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    const gconv_filter mean = filter_of(5, 1, 0.5, tenth);
    gconv_job job = job_of(CHAIN(&mean), 1, shape_of(WIDTH, HEIGHT, 4, 8));
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    run_trial(&job);
    assert_true(judged_whole().within);
    memset(t.in, 51, sizeof t.in); /* colour 51 and alpha 51 throughout */
    memset(t.out, 51, sizeof t.out);
    assert_true(judged_whole().within);
    t.out[4 * 7 + 1] = 52;
    t.out[4 * 9 + 3] = 50;
    gconv_difference d = judged_whole();
    assert_int_equal(d.mismatches, 2);
    assert_int_equal(d.x, 7);
    assert_int_equal(d.channel, 1);
    memset(t.in, 0, sizeof t.in);
    memset(t.out, 0, sizeof t.out);
    t.out[4 * 7 + 1] = 200;
    assert_true(judged_whole().within);
    t.out[4 * 9 + 3] = 1;
    assert_int_equal(judged_whole().mismatches, 1);
}

TEST(refuses)
{
    static float values[PIXELS * 4];
    const size_t full = WIDTH * sizeof(float);
    gconv_job job = job_of(CHAIN(&filters[1]), 1, shape_of(WIDTH, HEIGHT, 1, 8));
    run_trial(&job);
    gconv_difference d;
    const gconv_pixel beyond[] = {{WIDTH, 0}, {0, HEIGHT}};
    for (int i = 0; i < 2; i++)
        assert_invalid(
            gconv_plan_compare_pixels(t.plan, t.in, WIDTH, t.out, WIDTH, &beyond[i], 1, &d, NULL));
    assert_invalid(
        gconv_plan_compare_pixels(t.plan, t.in, WIDTH - 1, t.out, WIDTH, t.all, 1, &d, NULL));
    assert_invalid(
        gconv_plan_compare_pixels(t.plan, t.in, WIDTH, t.out, WIDTH - 1, t.all, 1, &d, NULL));
    assert_invalid(gconv_plan_compare_pixels(t.plan, t.in, WIDTH, NULL, WIDTH, t.all, 1, &d, NULL));
    const gconv_expectation whole = {values, full, t.out, WIDTH};
    const gconv_expectation bad[] = {
        {NULL, full, t.out, WIDTH},
        {values, full - 4, t.out, WIDTH},
        {values, full, NULL, WIDTH},
        {values, full, t.out, WIDTH - 1},
    };
    assert_invalid(
        gconv_plan_compare_output(t.plan, t.in, WIDTH, t.out, WIDTH - 1, &whole, &d, NULL));
    for (int i = 0; i < 4; i++)
        assert_invalid(
            gconv_plan_compare_output(t.plan, t.in, WIDTH, t.out, WIDTH, &bad[i], &d, NULL));
    for (int i = 0; i < 2; i++)
        assert_invalid(gconv_plan_run_reference(t.plan, t.in, WIDTH, &bad[i], NULL));
    job.input.channels = 4;
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    run_trial(&job);
    assert_int_equal(gconv_plan_compare_pixels(t.plan, t.in, t.in_stride, t.out, t.out_stride,
                                               t.all, 1, &d, NULL),
                     GCONV_ERROR_UNSUPPORTED);
}

const test_suite suite = {.setup = fill, .after = forget};
