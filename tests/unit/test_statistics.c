/* What gconv makes of the times of several runs, against values computed by hand. */
#include "unit.h"

#include "cli/measure/figures.h"
#include "cli/measure/measure.h"

enum { RUNS = 5 };

/* Expects the shortest of so many times in any order, their quartiles and their median. */
static void expect(int count, const double times[RUNS], const double wanted[4])
{
    double sorted[RUNS];
    gc_point row = {.runs = 0};
    memcpy(sorted, times, sizeof sorted);
    gc_take_runs(&row, sorted, count);
    assert_int_equal(row.runs, count);
    assert_true(row.shortest == wanted[0]);
    assert_true(row.lower_quartile == wanted[1]);
    assert_true(row.seconds == wanted[2]);
    assert_true(row.upper_quartile == wanted[3]);
}

/* Between two runs a quartile lies on the line between them. */
TEST(median_and_quartiles)
{
    expect(1, (const double[RUNS]){3}, (const double[4]){3, 3, 3, 3});
    expect(2, (const double[RUNS]){5, 1}, (const double[4]){1, 2, 3, 4});
    expect(3, (const double[RUNS]){4, 8, 2}, (const double[4]){2, 3, 4, 6});
    expect(4, (const double[RUNS]){16, 4, 8, 0}, (const double[4]){0, 3, 6, 10});
    expect(5, (const double[RUNS]){9, 1, 100, 2, 5}, (const double[4]){1, 2, 5, 9});
}

TEST(noise)
{
    gc_point point = {.seconds = 8, .lower_quartile = 2, .upper_quartile = 2.75};
    assert_true(gc_point_spread(&point) == 0.75);
    assert_false(gc_point_is_noisy(&point));
    point.seconds = 7;
    assert_true(gc_point_is_noisy(&point));
    assert_false(gc_point_is_noisy(&(gc_point){.seconds = 1}));
}

static const char *total(double seconds, bool marks)
{
    static char cell[GC_CELL_BYTES];
    const gc_point point = {.seconds = seconds, .upper_quartile = seconds > 0 ? 0.00075 : 0};
    gc_total_print(&point, marks, cell);
    return cell;
}

/* If there is no column for the spread, the mark stands beside the time. */
TEST(marks)
{
    assert_string_equal(total(0.007, true), "7.000!");
    assert_string_equal(total(0.008, true), "8.000");
    assert_string_equal(total(0.007, false), "7.000");
    assert_string_equal(total(0, true), "-");
}
