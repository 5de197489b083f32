/* What gconv makes of the times of several runs, against values computed by hand. */
#include "cli/measure/figures.h"
#include "cli/measure/points.h"
#include "cli/measure/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 5 };

/* Expects the shortest of so many times in any order, their quartiles and their median. */
static void expect(int count, const double times[RUNS], const double wanted[4])
{
    double sorted[RUNS];
    gc_measurement row = {.runs = 0};
    memcpy(sorted, times, sizeof sorted);
    gc_take_runs(&row, sorted, count);
    assert_int_equal(row.runs, count);
    assert_true(row.shortest == wanted[0]);
    assert_true(row.lower_quartile == wanted[1]);
    assert_true(row.seconds == wanted[2]);
    assert_true(row.upper_quartile == wanted[3]);
}

/* Between two runs a quartile lies on the line between them. */
static void median_and_quartiles(void **state)
{
    (void)state;
    expect(1, (const double[RUNS]){3}, (const double[4]){3, 3, 3, 3});
    expect(2, (const double[RUNS]){5, 1}, (const double[4]){1, 2, 3, 4});
    expect(3, (const double[RUNS]){4, 8, 2}, (const double[4]){2, 3, 4, 6});
    expect(4, (const double[RUNS]){16, 4, 8, 0}, (const double[4]){0, 3, 6, 10});
    expect(5, (const double[RUNS]){9, 1, 100, 2, 5}, (const double[4]){1, 2, 5, 9});
}

static void noise(void **state)
{
    (void)state;
    const gc_point point = {.lower_quartile = 2, .upper_quartile = 2.75};
    assert_true(gc_point_spread(&point) == 0.75);
    assert_false(gc_is_noisy(8, 0.75));
    assert_true(gc_is_noisy(7, 0.75));
    assert_false(gc_is_noisy(1, 0));
}

/* Where there is no column for the spread, the mark stands beside the time. */
static void marks(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(gc_total_figure(0.007, 0.00075, true, text, sizeof text), "7.000!");
    assert_string_equal(gc_total_figure(0.008, 0.00075, true, text, sizeof text), "8.000");
    assert_string_equal(gc_total_figure(0.007, 0.00075, false, text, sizeof text), "7.000");
    assert_string_equal(gc_total_figure(0, 0, true, text, sizeof text), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_and_quartiles),
        cmocka_unit_test(noise),
        cmocka_unit_test(marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
