/* The final conversion on a device: which one is taken, and that the short ones round as the long one. */
#include "core_support.h"

#include "gpu/finish.h"

#include <math.h>

/* ---- What is taken --------------------------------------------------------------------------- */

static float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

/* The conversion of a 3x3 filter over `divisor`; -1 where the device leaves it to the CPU. */
static int kind_of(gconv_job job, double divisor, gc_finish *finish)
{
    gconv_filter filter = filter_of(3, 3, divisor, weights);
    const gconv_filter *filters[] = {&filter};
    job.filters = filters;
    job.filter_count = 1;
    gc_problem problem;
    gconv_error error;
    if (gc_problem_create(&job, &problem, &error) != GCONV_OK)
        fail_msg("%s", error.message);
    bool made = gc_finish_of(&problem, finish);
    gc_problem_destroy(&problem);
    return made ? finish->kind : -1;
}

static void divisions_without_ties_are_short(void **state)
{
    (void)state;
    gc_finish finish;
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    assert_int_equal(kind_of(job, 1, &finish), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 16, &finish), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 289, &finish), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 18, &finish), GC_FINISH_QUOTIENT);
    job.absolute = true;
    assert_int_equal(kind_of(job, 16, &finish), GC_FINISH_QUOTIENT);
    assert_true(finish.absolute);
}

static void all_else_is_computed_in_double(void **state)
{
    (void)state;
    gc_finish finish;
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    assert_int_equal(kind_of(job, 2.5, &finish), GC_FINISH_SAMPLES);
    assert_int_equal(kind_of(job, -3, &finish), GC_FINISH_SAMPLES);
    assert_int_equal(kind_of(job, 16385, &finish), GC_FINISH_SAMPLES);
    gconv_job scaled = job;
    scaled.scale = 2;
    assert_int_equal(kind_of(scaled, 16, &finish), GC_FINISH_SAMPLES);
    gconv_job moved = job;
    moved.has_offset = true;
    moved.offset = 1;
    assert_int_equal(kind_of(moved, 16, &finish), GC_FINISH_SAMPLES);
    gconv_job deeper = job;
    deeper.output_depth = 16;
    assert_int_equal(kind_of(deeper, 16, &finish), GC_FINISH_SAMPLES);
    assert_true(finish.factor == 257);
    assert_false(finish.narrows);
}

static void alpha_of_its_own_kind_is_left_to_the_cpu(void **state)
{
    (void)state;
    gc_finish finish;
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 4, 8));
    job.alpha = GCONV_ALPHA_KEEP;
    assert_int_equal(kind_of(job, 16, &finish), -1);
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    assert_int_equal(kind_of(job, 16, &finish), -1);
    job.alpha = GCONV_ALPHA_FILTER;
    assert_int_equal(kind_of(job, 16, &finish), GC_FINISH_ROUND);
    job.output_depth = 1; /* colour becomes black or white, alpha does not */
    assert_int_equal(kind_of(job, 16, &finish), -1);
}

static void thresholds_are_those_of_rule_6(void **state)
{
    (void)state;
    gc_finish finish;
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    job.output = GCONV_OUTPUT_EDGES;
    job.output_depth = 1;
    job.threshold = 5;
    assert_int_equal(kind_of(job, 16, &finish), GC_FINISH_EDGES);
    assert_true(finish.threshold == 80 && finish.side == 0 && finish.largest == 1);
    job.rule = GCONV_RULE_POSITIVE;
    kind_of(job, -16, &finish); /* a negative divisor turns the side */
    assert_int_equal(finish.side, -1);
}

/* ---- That they round alike ------------------------------------------------------------------- */

/* gc_finish_round and gc_finish_quotient of gpu/kernels/pass.cuh. */
static unsigned round_short(float value, float divisor, float largest)
{
    float reciprocal = (float)(1 / (double)divisor);
    float nearest = fminf(fmaxf(value * reciprocal, 0), largest) + 8388608.0f;
    return (unsigned)(nearest - 8388608.0f);
}

static unsigned round_quotient(float value, float divisor, float largest)
{
    unsigned quotient = round_short(value, divisor, largest);
    float rest = fmaf(-(float)quotient, divisor, value);
    if (2 * fabsf(rest) == divisor && (quotient & 1) != 0)
        quotient += rest > 0 ? 1 : ~0u;
    return quotient < (unsigned)largest ? quotient : (unsigned)largest;
}

/* Rule 5 of the contract. */
static unsigned round_in_double(float value, float divisor, float largest)
{
    return (unsigned)rint(fmin(fmax((double)value / (double)divisor, 0), (double)largest));
}

static void check_around(float value, float divisor, float largest, bool plain)
{
    for (float near = value - 2; near <= value + 2; near += 1) {
        unsigned expected = round_in_double(near, divisor, largest);
        unsigned got =
            plain ? round_short(near, divisor, largest) : round_quotient(near, divisor, largest);
        if (got != expected)
            fail_msg("%g / %g: %u instead of %u", (double)near, (double)divisor, got, expected);
    }
}

/* Every divisor that finish.c lets through for 8 bits, around every tie. */
static void short_conversions_round_as_the_long_one(void **state)
{
    (void)state;
    for (int divisor = 1; divisor < 16384; divisor++) {
        bool is_power = (divisor & (divisor - 1)) == 0;
        int step = divisor > 512 ? 7 : 1;
        for (int level = -1; level <= 256; level += step)
            check_around(floorf((float)(2 * level + 1) * (float)divisor / 2), (float)divisor, 255,
                         is_power || divisor % 2 == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divisions_without_ties_are_short),
        cmocka_unit_test(all_else_is_computed_in_double),
        cmocka_unit_test(alpha_of_its_own_kind_is_left_to_the_cpu),
        cmocka_unit_test(thresholds_are_those_of_rule_6),
        cmocka_unit_test(short_conversions_round_as_the_long_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
