/* Transforms of lines over large memory: right for every length, and judged so. */
#include "lab/bench/locality.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static gc_locality *locality;

static int setup(void **state)
{
    (void)state;
    return gc_locality_create(2, &locality, NULL) == GCONV_OK ? 0 : 1;
}

static int teardown(void **state)
{
    (void)state;
    gc_locality_free(locality);
    return 0;
}

static void test_right(void **state)
{
    (void)state;
    for (int points = 2; points <= GC_LOCALITY_POINTS_MAX; points *= 2) {
        assert_true(gc_locality_pass(locality, points) > 0);
        double largest = gc_locality_error(locality), bound = gc_locality_bound(points);
        if (!(largest > 0 && largest <= bound))
            fail_msg("%d points: %g is not within %g", points, largest, bound);
        /* Spectra of random numbers are about this large, so the bound tells right from wrong. */
        assert_true(bound < sqrt(2.0 / 3 * points));
    }
}

static void test_one_point(void **state)
{
    (void)state;
    gc_locality_pass(locality, 1);
    assert_true(gc_locality_error(locality) == 0 && gc_locality_bound(1) == 0);
}

int main(void)
{
    if (gconv_cpu_lines() == 0) /* a build without fast paths */
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_one_point),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
