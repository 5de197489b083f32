/* Input of depth 32 (contract.md, rule 82): what floats become, on the reference and on the CPU. */
#include "core/plan.h"
#include "core_support.h"

#include <float.h>

static const char *const implementations[] = {"reference", "cpu"};
enum { IMPLEMENTATIONS = 2 };

static float one[] = {1};

static gconv_job float_job(const gconv_filter *const *filters, uint32_t width, uint32_t height,
                           int channels, int output_depth)
{
    gconv_job job = job_of(filters, 1, shape_of(width, height, channels, 32));
    job.output_depth = output_depth;
    return job;
}

static void run(const gconv_job *job, const float *in, void *out)
{
    OWNED_PLAN plan = planned(job);
    gconv_error error;
    if (gconv_plan_run_memory(plan, in, gconv_shape_row_bytes(&job->input), out,
                              gconv_shape_row_bytes(gconv_plan_output_shape(plan)), NULL,
                              &error) != GCONV_OK)
        fail_msg("%s: %s", job->implementation, error.message);
}

TEST(jobs_take_floats)
{
    gconv_filter filter = filter_of(1, 1, 1, one);
    gconv_job job = float_job(CHAIN(&filter), 5, 4, 3, 32);
    assert_ok(gconv_job_check(&job, NULL));
    job.input.depth = 1;
    assert_invalid(gconv_job_check(&job, NULL));
    job.input.depth = 64;
    assert_invalid(gconv_job_check(&job, NULL));
}

TEST(no_chain_on_floats_is_exact)
{
    gconv_filter filter = filter_of(1, 1, 1, one);
    gconv_job job = float_job(CHAIN(&filter), 5, 4, 1, 32);
    gconv_plan *plan = planned(&job);
    assert_false(gconv_plan_is_exact(plan));
    gconv_plan_free(plan);
    job.input.depth = 16;
    plan = planned(&job);
    assert_true(gconv_plan_is_exact(plan));
    gconv_plan_free(plan);
}

/* Awkward numbers up to 2^32. */
static const float awkward[] = {0,       0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, FLT_MIN,
                                -1e-30f, 1.0f / 3,  -0.5f,      127.999f,         255,
                                -255,    300.25f,   65535.5f,   0x1p24f + 2,      -0x1.fffffep31f,
                                0x1p32f};
enum { AWKWARD = COUNT(awkward) };

/* Under premultiply colours are divided by alpha again, which is a power of 2 here. */
TEST(identity_keeps_floats)
{
    enum { WIDTH = 67, HEIGHT = 5, VALUES = WIDTH * HEIGHT * 4 };
    static float in[VALUES], out[VALUES];
    gconv_filter filter = filter_of(1, 1, 1, one);
    for (int n = 0; n < 4 * 3 * IMPLEMENTATIONS; n++) {
        int channels = 1 + n % 4;
        gconv_job job = float_job(CHAIN(&filter), WIDTH, HEIGHT, channels, 32);
        job.alpha = (gconv_alpha)(n / 4 % 3);
        job.implementation = implementations[n / 12];
        bool multiplied = channels % 2 == 0 && job.alpha == GCONV_ALPHA_PREMULTIPLY;
        for (int i = 0; i < WIDTH * HEIGHT * channels; i++) {
            in[i] = awkward[i * 7 % AWKWARD];
            if (multiplied && i % channels == channels - 1)
                in[i] = 64;
        }
        run(&job, in, out);
        for (int i = 0; i < WIDTH * HEIGHT * channels; i++)
            if (out[i] != in[i])
                fail_msg("%s, %d channels, alpha mode %d: %a becomes %a", job.implementation,
                         channels, (int)job.alpha, (double)in[i], (double)out[i]);
    }
}

static const float levels[] = {-5, 0, 0.5f, 1.5f, 127.25f, 128, 254.6f, 255, 300, 0x1p32f};
enum { LEVELS = COUNT(levels) };

TEST(floats_become_integers)
{
    static const uint8_t bytes[LEVELS] = {0, 0, 0, 2, 127, 128, 255, 255, 255, 255};
    /* 0.5 * 257 and 1.5 * 257 are ties. */
    static const uint16_t shorts[LEVELS] = {0,     0,     128,   386,   32703,
                                            32896, 65432, 65535, 65535, 65535};
    gconv_filter filter = filter_of(1, 1, 1, one);
    for (int n = 0; n < IMPLEMENTATIONS; n++) {
        uint8_t as_bytes[LEVELS], as_bits[2];
        uint16_t as_shorts[LEVELS];
        gconv_job job = float_job(CHAIN(&filter), LEVELS, 1, 1, 8);
        job.implementation = implementations[n];
        run(&job, levels, as_bytes);
        assert_memory_equal(as_bytes, bytes, sizeof bytes);
        job.output_depth = 16;
        run(&job, levels, as_shorts);
        assert_memory_equal(as_shorts, shorts, sizeof shorts);
        job.output_depth = 1;
        run(&job, levels, as_bits);
        assert_memory_equal(as_bits, ((uint8_t[]){0x07, 0xc0}), sizeof as_bits);
    }
}

/* Offset, threshold and the border's value are in the samples' own unit. */
TEST(levels_count_as_they_are)
{
    float row[] = {1, 0, 0};
    gconv_filter move = filter_of(3, 1, 1, row), same = filter_of(1, 1, 1, one);
    const gconv_filter *moves[] = {&move}, *sames[] = {&same};
    for (int n = 0; n < IMPLEMENTATIONS; n++) {
        float out[2];
        gconv_job job = float_job(moves, 2, 1, 1, 32);
        job.implementation = implementations[n];
        job.border = GCONV_BORDER_CONSTANT;
        job.border_value = 33.25;
        job.has_offset = true;
        job.offset = 2;
        run(&job, (float[]){10, 20.5f}, out); /* a true convolution reads to the right */
        assert_true(out[0] == 22.5f && out[1] == 35.25f);
        uint8_t flags[2];
        job = float_job(sames, 2, 1, 1, 8);
        job.implementation = implementations[n];
        job.output = GCONV_OUTPUT_EDGES;
        job.threshold = 5;
        run(&job, (float[]){5, -5.0000005f}, flags);
        assert_true(flags[0] == 0 && flags[1] == 255);
        job.output_depth = 32;
        run(&job, (float[]){5, -5.0000005f}, out);
        assert_true(out[0] == 0 && out[1] == 255);
    }
}

TEST(kept_alpha_is_converted)
{
    static const float in[] = {10, 0.25f, 20, 254.5f, 30, -1, 40, 300};
    gconv_filter filter = filter_of(1, 1, 1, one);
    for (int n = 0; n < IMPLEMENTATIONS; n++) {
        uint8_t bytes[8];
        uint16_t shorts[8];
        gconv_job job = float_job(CHAIN(&filter), 4, 1, 2, 8);
        job.implementation = implementations[n];
        run(&job, in, bytes);
        assert_memory_equal(bytes, ((uint8_t[]){10, 0, 20, 254, 30, 0, 40, 255}), 8);
        job.output_depth = 16;
        run(&job, in, shorts);
        assert_memory_equal(shorts, ((uint16_t[]){2570, 64, 5140, 65406, 7710, 0, 10280, 65535}),
                            sizeof shorts);
    }
}

TEST(alpha_of_255_is_opaque)
{
    gconv_shape shape = shape_of(2, 1, 2, 32);
    assert_true(gconv_shape_is_opaque(&shape, (float[]){0, 255, 1, 255}, 1, 16));
    assert_false(gconv_shape_is_opaque(&shape, (float[]){255, 255, 255, 254.9f}, 1, 16));
    assert_false(gconv_shape_is_opaque(&shape, (float[]){255, NAN, 255, 255}, 1, 16));
    assert_false(gconv_shape_is_opaque(&shape, (float[]){255, 0x1p-129f, 255, 255}, 1, 16));
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* A weight of 2^95 brings samples of 2^32 to 2^127. Twice that is beyond float32. */
TEST(ranges_reach_to_the_largest_sample)
{
    float weight[] = {0x1p95f};
    gconv_filter filter = filter_of(1, 1, 1, weight);
    gconv_job job = float_job(CHAIN(&filter), 4, 4, 1, 32);
    assert_ok(gconv_job_check(&job, NULL));
    for (int n = 0; n < IMPLEMENTATIONS; n++) {
        float in[16], out[16];
        for (int i = 0; i < 16; i++)
            in[i] = i % 2 == 0 ? 0x1p32f : -0x1p32f;
        job.implementation = implementations[n];
        run(&job, in, out);
        for (int i = 0; i < 16; i++)
            assert_true(out[i] == (i % 2 == 0 ? 0x1p127f : -0x1p127f));
    }
    weight[0] = 0x1p96f;
    assert_int_equal(gconv_job_check(&job, NULL), GCONV_ERROR_FILTER);
    job.input.depth = 16;
    assert_ok(gconv_job_check(&job, NULL));
    job = float_job(CHAIN(&filter), 4, 4, 2, 32);
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    weight[0] = 0x1p63f;
    assert_ok(gconv_job_check(&job, NULL));
    weight[0] = 0x1p64f;
    assert_int_equal(gconv_job_check(&job, NULL), GCONV_ERROR_FILTER);
}

static double bound_of(const gconv_plan *plan, const float *in, gconv_difference *difference)
{
    float values[4] = {0}, others[4] = {0, 0, 0, 0x1p-60f};
    assert_succeeds(gconv_plan_compare(plan, in, 16, values, others, 16, difference, &why));
    return difference->bound;
}

/* 4 n 2^-24 sum|w| max|in|, n = 1; the largest sample counts, or 2^-60. */
TEST(the_bound_follows_the_samples)
{
    gconv_filter filter = filter_of(1, 1, 1, one);
    gconv_job job = float_job(CHAIN(&filter), 4, 1, 1, 32);
    OWNED_PLAN plan = planned(&job);
    gconv_difference difference;
    double tiny = 0x1p-148;
    assert_true(bound_of(plan, (float[]){1, 2, -1024, 3}, &difference) == 0x1p-12 + tiny);
    assert_true(difference.within);
    assert_true(bound_of(plan, (float[]){0, 0, 0, 0}, &difference) == 0x1p-82 + tiny);
    assert_int_equal(difference.mismatches, 1); /* 2^-60 where all is black */
    assert_true(bound_of(plan, (float[]){0, 0x1p-70f, 0, 0}, &difference) == 0x1p-82 + tiny);
    assert_true(bound_of(plan, (float[]){0, 0x1p-50f, 0, 0}, &difference) == 0x1p-72 + tiny);
}

/* ---- What is no number ----------------------------------------------------------------------- */

/* Not-a-number is no edge, and black as an integer. */
TEST(not_a_number_is_black)
{
    gconv_filter filter = filter_of(1, 1, 1, one);
    for (int n = 0; n < IMPLEMENTATIONS; n++) {
        uint8_t out[3];
        gconv_job job = float_job(CHAIN(&filter), 3, 1, 1, 8);
        job.implementation = implementations[n];
        run(&job, (float[]){NAN, INFINITY, -INFINITY}, out);
        assert_memory_equal(out, ((uint8_t[]){0, 255, 0}), 3);
    }
}
