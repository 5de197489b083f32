/* Chain values: comparing those of two runs, and converting them to output rows. */
#include "base/status.h"
#include "plan_support.h"

#include <math.h>

static gconv_difference compared(const gconv_plan *plan, const uint8_t *in, const float *a,
                                 const float *b)
{
    gconv_difference difference;
    gconv_error error;
    if (gconv_plan_compare(plan, in, WIDTH, a, b, WIDTH * sizeof(float), &difference, &error) !=
        GCONV_OK)
        fail_msg("%s", error.message);
    return difference;
}

static void compare_exact_chains(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
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
    gconv_plan_free(plan);
}

static void compare_tells_zeros_apart_where_exact(void **state)
{
    (void)state;
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

static void compare_within_the_bound(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    float tenth[] = {0.1f};
    gconv_filter filter = filter_of(1, 1, 2, tenth);
    const gconv_filter *fraction[] = {&filter};
    in[3] = 200;
    gconv_job job = usual_job();
    job.filters = fraction;
    gconv_plan *plan = planned(&job);
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
    gconv_plan_free(plan);
}

static void convert_hands_on_errors(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT];
    static float values[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    broken sink = {.good = 17};
    gconv_error error;
    assert_int_equal(
        gconv_plan_convert(
            plan, values, WIDTH * sizeof(float), in, WIDTH,
            &(gconv_sink){.size = sizeof(gconv_sink), .write = write_broken, .user = &sink},
            &error),
        GCONV_ERROR_WRITE);
    assert_string_equal(error.message, "broken after 17 rows");
    assert_int_equal(sink.done, 18);
    gconv_plan_free(plan);
}

static void convert_needs_the_input_for_alpha_alone(void **state)
{
    (void)state;
    static float values[WIDTH * HEIGHT * 3];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    broken sink = {.good = HEIGHT};
    assert_int_equal(
        gconv_plan_convert(
            plan, values, WIDTH * sizeof(float), NULL, WIDTH,
            &(gconv_sink){.size = sizeof(gconv_sink), .write = write_broken, .user = &sink}, NULL),
        GCONV_OK);
    assert_int_equal(sink.done, HEIGHT);
    gconv_plan_free(plan);
    job.input.channels = 4;
    plan = planned(&job);
    gconv_error error;
    assert_int_equal(
        gconv_plan_convert(
            plan, values, WIDTH * 3 * sizeof(float), NULL, 0,
            &(gconv_sink){.size = sizeof(gconv_sink), .write = write_broken, .user = &sink},
            &error),
        GCONV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "alpha"));
    gconv_plan_free(plan);
}

static void convert_fails_without_a_word(void **state)
{
    (void)state;
    static float values[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    gconv_status bad = GCONV_ERROR_WRITE;
    gconv_sink sink = {.size = sizeof(gconv_sink), .write = write_silently, .user = &bad};
    gconv_error error = {.message = "of old"};
    assert_int_equal(
        gconv_plan_convert(plan, values, WIDTH * sizeof(float), NULL, 0, &sink, &error), bad);
    assert_string_equal(error.message, gconv_status_text(bad));
    assert_int_equal(gconv_plan_convert(plan, values, WIDTH * sizeof(float), NULL, 0, &sink, NULL),
                     bad);
    gconv_plan_free(plan);
}

/* Where an image is missing or a stride is too small, nothing is read. */
static void images_are_checked(void **state)
{
    (void)state;
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
    gconv_plan *plan = planned(&job);
    gconv_difference difference;
    gconv_error error;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        gconv_status status =
            gconv_plan_compare(plan, refused[i].in, refused[i].in_stride, refused[i].chain,
                               refused[i].reference, refused[i].chain_stride, &difference, &error);
        assert_int_equal(status, GCONV_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, refused[i].message));
    }
    broken to = {.good = HEIGHT};
    gconv_sink sink = {.size = sizeof(gconv_sink), .write = write_broken, .user = &to};
    assert_int_equal(gconv_plan_convert(plan, a, CHAIN_BYTES - 1, NULL, 0, &sink, &error),
                     GCONV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "stride"));
    assert_int_equal(gconv_plan_convert(plan, a, CHAIN_BYTES, in, WIDTH - 1, &sink, &error),
                     GCONV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "stride"));
    assert_int_equal(to.done, 0);
    gconv_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compare_exact_chains),
        cmocka_unit_test(compare_tells_zeros_apart_where_exact),
        cmocka_unit_test(compare_within_the_bound),
        cmocka_unit_test(convert_hands_on_errors),
        cmocka_unit_test(convert_needs_the_input_for_alpha_alone),
        cmocka_unit_test(convert_fails_without_a_word),
        cmocka_unit_test(images_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
