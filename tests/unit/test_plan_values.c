/* Chain values: comparing those of two runs, and converting them to output rows. */
#include "base/status.h"
#include "plan_support.h"

static gconv_difference compared(const gconv_plan *plan, const uint8_t *in, const float *a,
                                 const float *b)
{
    gconv_difference difference;
    assert_succeeds(
        gconv_plan_compare(plan, in, WIDTH, a, b, WIDTH * sizeof(float), &difference, &why));
    return difference;
}

TEST(compare_exact_chains)
{
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    OWNED_PLAN plan = planned(&job);
    assert_true(gconv_plan_is_exact(plan));
    gconv_difference d = compared(plan, in, a, b);
    assert_true(d.within && d.mismatches == 0 && d.largest == 0 && d.bound == 0);
    a[7 * WIDTH + 5] = 0x1p-20f;
    a[9 * WIDTH + 6] = -18;
    d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_int_equal(d.mismatches, 2);
    assert_true(d.largest == 2); /* 18 over the divisor */
    assert_int_equal(d.x, 6);
    assert_int_equal(d.y, 9);
    a[0] = NAN;
    d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_true(d.largest == INFINITY);
    b[0] = NAN; /* the same bits */
    assert_int_equal(compared(plan, in, a, b).mismatches, 2);
}

TEST(compare_tells_zeros_apart_where_exact)
{
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    float tenth[] = {0.1f};
    gconv_filter filter = filter_of(1, 1, 1, tenth);
    const gconv_filter *fraction[] = {&filter};
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    a[4 * WIDTH + 3] = -0.0f;
    gconv_difference d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_int_equal(d.mismatches, 1);
    assert_int_equal(d.x, 3);
    assert_int_equal(d.y, 4);
    gconv_plan_free(plan);
    job.filters = fraction;
    plan = planned(&job);
    d = compared(plan, in, a, b);
    assert_true(d.within && d.mismatches == 0 && d.largest == 0);
    gconv_plan_free(plan);
}

TEST(compare_within_the_bound)
{
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    float tenth[] = {0.1f};
    gconv_filter filter = filter_of(1, 1, 2, tenth);
    const gconv_filter *fraction[] = {&filter};
    in[3] = 200;
    gconv_job job = usual_job();
    job.filters = fraction;
    OWNED_PLAN plan = planned(&job);
    assert_false(gconv_plan_is_exact(plan));
    float bound = 4 * 0x1p-24f * 0.1f * 200;
    a[50] = bound * 0.99f;
    gconv_difference d = compared(plan, in, a, b);
    assert_true(d.within && d.mismatches == 0 && d.largest > 0 && d.largest <= d.bound);
    assert_true(d.bound > 0.499 * (double)bound && d.bound < 0.501 * (double)bound);
    a[50] = -bound * 1.01f;
    d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_int_equal(d.mismatches, 1);
}

/* If an image is missing or a stride is too small, nothing is read. */
TEST(images_are_checked)
{
    enum { CHAIN_BYTES = WIDTH * sizeof(float) };
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT];
    const struct {
        const void *in;
        size_t in_stride;
        const float *chain, *reference;
        size_t chain_stride;
        const char *message;
    } refused[] = {
        {NULL, WIDTH, a, a, CHAIN_BYTES, "null"},     {in, WIDTH, NULL, a, CHAIN_BYTES, "null"},
        {in, WIDTH, a, NULL, CHAIN_BYTES, "null"},    {in, WIDTH - 1, a, a, CHAIN_BYTES, "stride"},
        {in, WIDTH, a, a, CHAIN_BYTES - 1, "stride"},
    };
    gconv_job job = usual_job();
    OWNED_PLAN plan = planned(&job);
    gconv_difference difference;
    for (size_t i = 0; i < COUNT(refused); i++) {
        gconv_status status =
            gconv_plan_compare(plan, refused[i].in, refused[i].in_stride, refused[i].chain,
                               refused[i].reference, refused[i].chain_stride, &difference, &error);
        assert_fails(status, GCONV_ERROR_ARGUMENT, &error, refused[i].message);
    }
}
