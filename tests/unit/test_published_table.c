/* Tables of a report: published figures beside measured ones, and all results. */
#include "cli/page/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gc_point point_of(const char *name, bool rank1, double seconds)
{
    gc_point point = {.width = 4096,
                      .height = 4096,
                      .filter_width = 3,
                      .filter_height = 3,
                      .rank1 = rank1,
                      .verdict = GC_VERDICT_EXACT,
                      .runs = 5,
                      .seconds = seconds,
                      .kernel_seconds = seconds};
    snprintf(point.preset, sizeof point.preset, "fft-map");
    snprintf(point.name, sizeof point.name, "%s", name);
    return point;
}

/* Figure 17 of 2014 is about filters of full rank, whatever is fastest on others. */
static void ranks_are_kept_apart(void **state)
{
    (void)state;
    gc_point all[] = {point_of("direct", false, 2e-3), point_of("fft", false, 20e-3),
                      point_of("separable", true, 1e-3), point_of("fft", true, 30e-3)};
    const gc_points points = {.at = all, .count = sizeof all / sizeof all[0]};
    char *text = NULL;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    assert_non_null(page);
    gc_published_print(page, &points);
    assert_int_equal(fclose(page), 0);
    assert_non_null(strstr(text, "<td>direct</td>"));
    assert_non_null(strstr(text, "<td class=\"n\">18.96</td><td class=\"n\">10</td>"));
    assert_null(strstr(text, "<td>separable</td>"));
    free(text);
}

/* Large numbers have all their digits, and no exponent. */
static void numbers_are_plain(void **state)
{
    (void)state;
    gc_point all[] = {point_of("direct", false, 1e-6), point_of("fft", false, 0.0345678)};
    const gc_points points = {.at = all, .count = sizeof all / sizeof all[0]};
    char *text = NULL;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    assert_non_null(page);
    gc_published_print(page, &points);
    assert_int_equal(fclose(page), 0);
    assert_non_null(strstr(text, "<td class=\"n\">34568</td><td class=\"n\">1823</td>"));
    free(text);
}

static char *results_of(gc_point point)
{
    const gc_points points = {.at = &point, .count = 1};
    char *text = NULL;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    assert_non_null(page);
    gc_results_print(page, &points);
    assert_int_equal(fclose(page), 0);
    return text;
}

/* The parts of a run on a GPU have columns where a GPU took part. */
static void columns_of_a_gpu(void **state)
{
    (void)state;
    gc_point point = point_of("direct", false, 2e-3);
    char *text = results_of(point);
    assert_non_null(strstr(text, "kernel ms"));
    assert_non_null(strstr(text, "<td class=\"n\">2.0000</td>"));
    free(text);
    point.kernel_seconds = 0;
    text = results_of(point);
    assert_null(strstr(text, "kernel ms"));
    assert_non_null(strstr(text, "<td class=\"n\">5</td><td class=\"n\">2.000</td>"));
    free(text);
}

/* Names that cannot run for one reason stand together. */
static void shared_reasons(void **state)
{
    (void)state;
    gc_point all[] = {{.name = "naive", .reason = "'naive' needs a CUDA device"},
                      {.name = "const", .reason = "'const' needs a CUDA device"},
                      {.name = "fft", .reason = "'fft' needs cuFFT"}};
    const gc_points points = {.at = all, .count = sizeof all / sizeof all[0]};
    char *text = NULL;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    assert_non_null(page);
    gc_refused_print(page, &points);
    assert_int_equal(fclose(page), 0);
    assert_non_null(strstr(text, "<li><code>naive</code>, <code>const</code>: each needs a CUDA"));
    assert_non_null(strstr(text, "<li><code>fft</code>: needs cuFFT</li>"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_kept_apart), cmocka_unit_test(numbers_are_plain),
        cmocka_unit_test(columns_of_a_gpu), cmocka_unit_test(shared_reasons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
