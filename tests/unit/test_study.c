/* Reports where gnuplot takes too long. */
#include "io_support.h"

#include "base/clock.h"
#include "cli/page/study.h"

static double late; /* seconds by which the clock goes ahead at each look */

double __real_gc_seconds(void);
double __wrap_gc_seconds(void);

double __wrap_gc_seconds(void)
{
    static double ahead;
    ahead += late;
    return __real_gc_seconds() + ahead;
}

/* A gnuplot that adds a line to the file "runs", and fails or does not end. */
static void make_gnuplot(const char *end)
{
    char text[600];
    int length =
        snprintf(text, sizeof text, "#!/bin/sh\necho run >>'%s'\n%s\n", scratch_path("runs"), end);
    save_file(scratch_path("gnuplot"), text, (size_t)length);
    chmod(scratch_path("gnuplot"), 0755);
    unlink(scratch_path("runs"));
    save_file(scratch_path("report.html.data"), "", 0); /* no data are kept */
}

/* Writes a report of several charts; how often gnuplot was started. */
static size_t count_runs(void)
{
    gc_points points = {.count = 0};
    gc_output *output;
    const char *path = scratch_path("report.html");
    for (int side = 3; side <= 7; side += 2)
        for (int width = 32; width <= 64; width *= 2) {
            gc_point point = {.preset = "",
                              .samples = "grey8",
                              .width = width,
                              .height = width,
                              .filter_width = side,
                              .filter_height = side,
                              .name = "cpu",
                              .implementation = "cpu",
                              .verdict = GC_VERDICT_EXACT,
                              .runs = 3,
                              .seconds = 1e-3 * side,
                              .lower_quartile = 1e-3 * side,
                              .upper_quartile = 1e-3 * side,
                              .flops = 1e9};
            snprintf(point.filter, sizeof point.filter, "%dx%d", side, side);
            assert_int_equal(gc_points_add(&points, &point, NULL), GCONV_OK);
        }
    const gc_study study = {.title = "test", .subject = "None.", .points = &points};
    assert_int_equal(gc_output_open(path, &(gc_output_options){.sync = false}, &output, NULL),
                     GCONV_OK);
    assert_int_equal(gc_study_write(&study, path, output, NULL), GCONV_OK);
    gc_points_destroy(&points);
    blob runs = load_file(scratch_path("runs"));
    free(runs.bytes);
    return runs.size / strlen("run\n");
}

static void one_timeout_is_enough(void **state)
{
    (void)state;
    setenv("PATH", scratch, 1);
    make_gnuplot("exit 1");
    assert_true(count_runs() > 1);
    make_gnuplot("exec /bin/sleep 600");
    late = 1;
    assert_int_equal(count_runs(), 1);
    late = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_timeout_is_enough)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
