/* Transforms of lines over large memory: right for every length, and judged so. */
#include "unit.h"

#include "lab/bench/locality.h"

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

TEST(test_right)
{
    for (int points = 2; points <= GC_LOCALITY_POINTS_MAX; points *= 2) {
        assert_true(gc_locality_pass(locality, points) > 0);
        double largest = gc_locality_error(locality), bound = gc_locality_bound(points);
        if (!(largest > 0 && largest <= bound))
            fail_msg("%d points: %g is not within %g", points, largest, bound);
        /* Spectra of random numbers are about this large, so the bound tells right from wrong. */
        assert_true(bound < sqrt(2.0 / 3 * points));
    }
}

TEST(test_one_point)
{
    gc_locality_pass(locality, 1);
    assert_true(gc_locality_error(locality) == 0 && gc_locality_bound(1) == 0);
}

static const char *missing(void)
{
    return gconv_cpu_lines() > 0 ? NULL : "a build without fast paths";
}

const test_suite suite = {.setup = setup, .teardown = teardown, .missing = missing};
