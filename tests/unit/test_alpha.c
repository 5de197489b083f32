/* Alpha that is left to the library: when the pixels decide, and what they decide. */
#include "core_support.h"

static float box_weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static float slope_weights[3] = {-1, 0, 1};

/* A job of one or two filters whose gain is the product of these. */
static gconv_job auto_job(const gconv_filter *const *filters, int count, int channels)
{
    gconv_job job = job_of(filters, count, shape_of(3, 2, channels, 8));
    job.alpha = GCONV_ALPHA_AUTO;
    return job;
}

TEST(pixels_decide_where_there_is_alpha_and_the_gain_is_one)
{
    gconv_filter box = filter_of(3, 3, 9, box_weights), slope = filter_of(3, 1, 1, slope_weights);
    gconv_filter twice = filter_of(3, 3, 4.5, box_weights), half = filter_of(3, 3, 18, box_weights);
    const gconv_filter *const mean[] = {&box}, *const edge[] = {&slope};
    const gconv_filter *const two[] = {&twice, &half}, *const bright[] = {&twice};
    for (int channels = 1; channels <= 4; channels++) {
        bool has_alpha = channels % 2 == 0;
        gconv_job job = auto_job(mean, 1, channels);
        assert_true(gconv_alpha_needs_pixels(&job) == has_alpha);
        job = auto_job(two, 2, channels);
        assert_true(gconv_alpha_needs_pixels(&job) == has_alpha);
        job = auto_job(edge, 1, channels);
        assert_false(gconv_alpha_needs_pixels(&job));
        job = auto_job(bright, 1, channels);
        assert_false(gconv_alpha_needs_pixels(&job));
    }
    gconv_job job = auto_job(mean, 1, 4);
    box.divisor = 9 * (1 + 5e-7);
    assert_true(gconv_alpha_needs_pixels(&job));
    box.divisor = 9 * (1 + 2e-6);
    assert_false(gconv_alpha_needs_pixels(&job));
}

TEST(auto_stands_for_premultiply_or_keep)
{
    gconv_filter box = filter_of(3, 3, 9, box_weights), slope = filter_of(3, 1, 1, slope_weights);
    const gconv_filter *const mean[] = {&box}, *const edge[] = {&slope};
    gconv_job job = auto_job(mean, 1, 4);
    assert_int_equal(gconv_alpha_resolve(&job, false), GCONV_ALPHA_PREMULTIPLY);
    assert_int_equal(gconv_alpha_resolve(&job, true), GCONV_ALPHA_KEEP);
    job = auto_job(edge, 1, 4);
    assert_int_equal(gconv_alpha_resolve(&job, false), GCONV_ALPHA_KEEP);
    for (int alpha = GCONV_ALPHA_KEEP; alpha < GCONV_ALPHA_AUTO; alpha++) {
        job.alpha = (gconv_alpha)alpha;
        assert_false(gconv_alpha_needs_pixels(&job));
        assert_int_equal(gconv_alpha_resolve(&job, false), alpha);
    }
}

/* A plan does not guess: it takes AUTO only where the pixels cannot matter. */
TEST(plans_refuse_what_pixels_decide)
{
    gconv_filter box = filter_of(3, 3, 9, box_weights), slope = filter_of(3, 1, 1, slope_weights);
    const gconv_filter *const mean[] = {&box}, *const edge[] = {&slope};
    gconv_plan *plan;
    gconv_job job = auto_job(mean, 1, 2);
    assert_fails(gconv_plan_create(&job, &plan, &error), GCONV_ERROR_ARGUMENT, &error,
                 "gconv_alpha_resolve");
    assert_invalid(gconv_job_check(&job, NULL));
    job = auto_job(mean, 1, 3);
    assert_ok(gconv_plan_create(&job, &plan, &error));
    gconv_plan_free(plan);
    job = auto_job(edge, 1, 4);
    assert_ok(gconv_plan_create(&job, &plan, &error));
    assert_int_equal(gconv_plan_chain_channels(plan), 3); /* alpha is kept */
    gconv_plan_free(plan);
}

TEST(one_transparent_pixel_is_found)
{
    enum { WIDTH = 5, HEIGHT = 3, PADDED = 24 };
    static uint8_t bytes[HEIGHT][PADDED];
    static uint16_t words[HEIGHT][PADDED];
    for (int channels = 2; channels <= 4; channels += 2) {
        gconv_shape narrow = shape_of(WIDTH, HEIGHT, channels, 8);
        gconv_shape wide = shape_of(WIDTH, HEIGHT, channels, 16);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                memset(bytes, 0, sizeof bytes);
                memset(words, 0, sizeof words);
                for (int i = 0; i < WIDTH * HEIGHT; i++) {
                    bytes[i / WIDTH][(i % WIDTH + 1) * channels - 1] = 255;
                    words[i / WIDTH][(i % WIDTH + 1) * channels - 1] = 65535;
                }
                assert_true(gconv_shape_is_opaque(&narrow, bytes, HEIGHT, sizeof bytes[0]));
                assert_true(gconv_shape_is_opaque(&wide, words, HEIGHT, sizeof words[0]));
                bytes[y][(x + 1) * channels - 1] = 254;
                words[y][(x + 1) * channels - 1] = 65534;
                assert_false(gconv_shape_is_opaque(&narrow, bytes, HEIGHT, sizeof bytes[0]));
                assert_false(gconv_shape_is_opaque(&wide, words, HEIGHT, sizeof words[0]));
                assert_true(gconv_shape_is_opaque(&narrow, bytes, (uint32_t)y, sizeof bytes[0]));
            }
    }
    gconv_shape colour = shape_of(WIDTH, HEIGHT, 3, 8);
    memset(bytes, 0, sizeof bytes);
    assert_true(gconv_shape_is_opaque(&colour, bytes, HEIGHT, sizeof bytes[0]));
}
