/* What counts as slower than a baseline, and what noise explains. */
#include "unit.h"

#include "lab/bench/baseline.h"

static gc_point point_of(double shortest, double lower, double median, double upper)
{
    return (gc_point){.runs = 9,
                      .shortest = shortest,
                      .lower_quartile = lower,
                      .seconds = median,
                      .upper_quartile = upper};
}

TEST(test_slower)
{
    const gc_point before = point_of(9, 9.5, 10, 10.5);
    static const struct {
        double shortest, lower, median, upper, percent;
        bool slower;
    } trials[] = {
        {9, 9.5, 10, 10.5, 0, false},      /* the same */
        {11, 11.5, 12, 12.5, 10, true},    /* 20 % */
        {11, 11.5, 12, 12.5, 19.9, true},  /* 20 %, and 22 % the shortest */
        {11, 11.5, 12, 12.5, 20.1, false}, /* not above the limit */
        {11, 10.4, 12, 15, 10, false},     /* the middle halves overlap */
        {9.5, 11.5, 12, 12.5, 10, false},  /* the shortest run is as short as it was */
        {5, 5.5, 6, 6.5, 10, false},       /* faster */
        {900, 950, 1000, 1050, 9800, true},
    };
    for (size_t i = 0; i < COUNT(trials); i++) {
        gc_point now =
            point_of(trials[i].shortest, trials[i].lower, trials[i].median, trials[i].upper);
        if (gc_baseline_is_slower(&now, &before, trials[i].percent) != trials[i].slower)
            fail_msg("trial %zu", i);
    }
}

/* On a GPU alone medians are known, not quartiles. */
TEST(test_kernels)
{
    gc_point before = point_of(9, 9.5, 10, 10.5), now = before;
    before.kernel_seconds = 4;
    assert_false(gc_baseline_is_slower(&now, &before, 10)); /* not known now */
    now.kernel_seconds = 4.3;
    assert_false(gc_baseline_is_slower(&now, &before, 10));
    assert_true(gc_baseline_change(&now, &before) > 7.49 &&
                gc_baseline_change(&now, &before) < 7.51);
    now.kernel_seconds = 5;
    assert_true(gc_baseline_is_slower(&now, &before, 10));
    now = point_of(18, 19, 20, 21);
    now.kernel_seconds = 4;
    assert_true(gc_baseline_is_slower(&now, &before, 10)); /* transfers count, too */
    assert_true(gc_baseline_change(&now, &before) == 0);
}

TEST(test_change)
{
    gc_point before = point_of(9, 9.5, 10, 10.5), now = point_of(4, 4.5, 5, 5.5);
    assert_true(gc_baseline_change(&now, &before) == -50);
    assert_true(gc_baseline_change(&before, &now) == 100);
    now.runs = 0;
    assert_false(gc_baseline_is_slower(&before, &now, 10));
    assert_false(gc_baseline_is_slower(&now, &before, 0));
}

/* A point without times is none for a baseline. */
TEST(test_find)
{
    gc_point points[2] = {{.filter = "3x3", .name = "cpu"}, {.filter = "3x3", .name = "cpu"}};
    const gc_points baseline = {.at = points, .count = 2};
    assert_null(gc_points_find(&baseline, &points[0], true));
    points[1].runs = 1;
    assert_ptr_equal(gc_points_find(&baseline, &points[0], true), &points[1]);
    assert_ptr_equal(gc_points_find(&baseline, &points[1], false), &points[0]);
    gc_point other = points[1];
    strcpy(other.filter, "5x5");
    assert_null(gc_points_find(&baseline, &other, false));
}
