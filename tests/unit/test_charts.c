/* The charts of reports: published figures, charts from points, scripts, images in a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/charts/charts.h"
#include "cli/charts/published.h"
#include "cli/charts/select.h"
#include "cli/draw/grid.h"
#include "cli/draw/html.h"
#include "cli/draw/script.h"
#include "cli/draw/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-4 * fabs(wanted))
        fail_msg("%.9g, not %.9g", got, wanted);
}

/* ---- Published figures ----------------------------------------------------------------------- */

/* How many rows fit; *value becomes that of the last of them. */
static int find(const char *preset, const char *where, const char *step, int image, int width,
                int height, double *value)
{
    const gc_published *row;
    int count = 0;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++) {
        if (strcmp(row->preset, preset) != 0 || strcmp(row->where, where) != 0 ||
            strcmp(row->step, step) != 0 || row->image != image || row->filter_width != width ||
            row->filter_height != height)
            continue;
        *value = row->value;
        count++;
    }
    return count;
}

static void is_printed(const char *preset, const char *where, const char *step, int image,
                       int width, int height, double printed)
{
    double value = 0;
    assert_int_equal(find(preset, where, step, image, width, height, &value), 1);
    assert_true(value == printed);
}

static void published_as_printed(void **state)
{
    (void)state;
    is_printed("kth", "table 2", "Naive", 256, 3, 3, 0.03028);
    is_printed("kth", "table 2", "Constant", 1024, 3, 3, 0.18631);
    is_printed("kth", "table 2", "CPU", 4096, 3, 3, 141.20673);
    is_printed("kth", "table 3", "Constant", 256, 5, 5, 0.34102);
    is_printed("kth", "table 3", "Separable", 2048, 5, 5, 0.80197);
    is_printed("kth", "table 3", "Adaptive", 4096, 5, 5, 1.46357);
    is_printed("adaptive-2014", "section 9", "naive", 4096, 3, 3, 66.6);
    is_printed("adaptive-2014", "section 9", "adaptive tiling", 4096, 3, 3, 133.2);
    is_printed("adaptive-2014", "sections 5 and 9", "adaptive, unrolled", 4096, 3, 3, 251.3);
    is_printed("adaptive-2014", "figure 12, section 5", "adaptive, unrolled", 4096, 17, 43, 938.4);
    is_printed("adaptive-2014", "section 9", "adaptive, unrolled", 4096, 17, 43, 1003);
    is_printed("adaptive-2014", "table 1, left", "horizontal filtering", 4096, 41, 1, 8);
    is_printed("adaptive-2014", "table 1, right", "vertical filtering", 4096, 1, 33, 4);
    is_printed("adaptive-2011", "section 5", "constant memory", 4096, 0, 0, 51);
    is_printed("fft-map", "section 7", "spatial over Fourier", 4096, 3, 3, 18.96);
    is_printed("fft-locality", "table 1", "bound", 0, 16, 1, 354);
    is_printed("fft-locality", "table 1", "bound", 0, 1 << 14, 1, 980);
    /* A time and a speed-up. */
    double value;
    assert_int_equal(
        find("lecture", "Runtime and speedups", "Separable convolution", 2000, 17, 17, &value), 2);
}

/* Whole tables: as many rows as the source has cells, and the sum of the printed factors. */
static void published_tables_are_whole(void **state)
{
    (void)state;
    const gc_published *row;
    int table_2 = 0, table_3 = 0, lecture = 0, left = 0, right = 0;
    double sum_left = 0, sum_right = 0;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++) {
        assert_true(row->value > 0 && row->source[0] != '\0' && row->where[0] != '\0');
        table_2 += strcmp(row->where, "table 2") == 0;
        table_3 += strcmp(row->where, "table 3") == 0;
        lecture += row->quantity == GC_QUANTITY_MILLISECONDS;
        if (strcmp(row->where, "table 1, left") == 0) {
            left++;
            sum_left += row->value;
        }
        if (strcmp(row->where, "table 1, right") == 0) {
            right++;
            sum_right += row->value;
        }
    }
    assert_int_equal(table_2, 25);
    assert_int_equal(table_3, 30);
    assert_int_equal(lecture, 10);
    assert_int_equal(left, 21);
    assert_int_equal(right, 21);
    assert_near(sum_left, 137);
    assert_near(sum_right, 115);
}

/* ---- Charts ---------------------------------------------------------------------------------- */

static void add(gc_points *points, const char *preset, const char *name, int image, int width,
                int height, double seconds)
{
    gc_point point = {.width = image,
                      .height = image,
                      .filter_width = width,
                      .filter_height = height,
                      .verdict = GC_VERDICT_EXACT,
                      .runs = 5,
                      .seconds = seconds,
                      .samples = "grey8"};
    snprintf(point.preset, sizeof point.preset, "%s", preset);
    snprintf(point.name, sizeof point.name, "%s", name);
    snprintf(point.implementation, sizeof point.implementation, "%s", name);
    snprintf(point.filter, sizeof point.filter, "%dx%d", width, height);
    point.values_a_second = (double)image * image / seconds;
    point.flops = 2.0 * width * height * point.values_a_second;
    assert_int_equal(gc_points_add(points, &point, NULL), GCONV_OK);
}

static void make(const gc_points *points, double bandwidth, double peak, gc_charts *charts)
{
    *charts = (gc_charts){.count = 0};
    assert_int_equal(
        gc_charts_make(points, (gc_roofs){bandwidth, peak}, (gc_roofs){0, 0}, charts, NULL),
        GCONV_OK);
}

static const gc_chart *titled(const gc_charts *charts, const char *beginning)
{
    for (size_t i = 0; i < charts->count; i++)
        if (strncmp(charts->at[i].title, beginning, strlen(beginning)) == 0)
            return &charts->at[i];
    return NULL;
}

static const gc_series *named(const gc_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->count; i++)
        if (strcmp(chart->series[i].name, name) == 0)
            return &chart->series[i];
    return NULL;
}

static double value_at(const gc_series *series, int x, int y)
{
    for (size_t i = 0; i < series->count; i++)
        if ((int)series->dots[i].x == x && (int)series->dots[i].y == y)
            return series->dots[i].value;
    fail_msg("no cell %d %d", x, y);
    return 0;
}

/* On the CPU the run counts, on a GPU its kernels; between steps the convolution alone. */
static void time_that_counts(void **state)
{
    (void)state;
    gc_point point = {.seconds = 9, .flops = 6e9};
    assert_near(gc_point_time(&point), 9);
    assert_near(gc_point_counted_seconds(&point), 9);
    assert_near(gc_point_gflops(&point), 6);
    point.kernel_seconds = 4;
    assert_near(gc_point_time(&point), 4);
    assert_near(gc_point_counted_seconds(&point), 4);
    point.border_seconds = 1;
    point.convert_seconds = 0.5;
    assert_near(gc_point_time(&point), 4);
    assert_near(gc_point_counted_seconds(&point), 2.5);
}

static void rates_over_sides(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    add(&points, "adaptive-2014", "cpu", 1000, 3, 3, 1e-3);
    add(&points, "adaptive-2014", "cpu", 1000, 5, 5, 2e-3);
    add(&points, "adaptive-2014", "broken", 1000, 5, 5, 1e-6);
    points.at[2].verdict = GC_VERDICT_WRONG;
    points.at[1].lower_quartile = 1.6e-3;
    points.at[1].upper_quartile = 2.5e-3;
    make(&points, 0, 0, &charts);
    const gc_chart *chart = titled(&charts, "Rate over the side of square filters, 1000x1000");
    assert_non_null(chart);
    const gc_series *cpu = named(chart, "cpu"), *theirs = named(chart, "naive, GTX 680");
    assert_int_equal(cpu->count, 2);
    assert_near(cpu->dots[0].y, 18);
    assert_near(cpu->dots[1].y, 25);
    assert_near(cpu->dots[1].low, 20);
    assert_near(cpu->dots[1].high, 31.25);
    assert_non_null(strstr(chart->note, "Bars reach from quartile to quartile"));
    assert_int_equal(theirs->role, GC_SERIES_PUBLISHED);
    assert_near(theirs->dots[0].y, 66.6);
    assert_null(named(chart, "broken"));
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

static void maps_over_width_and_height(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    for (int width = 3; width <= 7; width += 2)
        for (int height = 3; height <= 7; height += 2) {
            add(&points, "adaptive-2014", "naive", 1000, width, height, 1e-2);
            add(&points, "adaptive-2014", "tiled", 1000, width, height, 1e-3 * width);
            points.at[points.count - 1].factor = 4;
            add(&points, "adaptive-2014", "adaptive", 1000, width, height, 5e-3);
            points.at[points.count - 1].factor = 21 / width;
            add(&points, "adaptive-2014", "adaptive:nc", 1000, width, height, 6e-3);
            add(&points, "adaptive-2014", "adaptive:unrolled", 1000, width, height, 4e-3);
        }
    make(&points, 0, 0, &charts);
    const gc_chart *rates = titled(&charts, "GFLOP/s of tiled");
    assert_int_equal(rates->kind, GC_CHART_SURFACE);
    assert_int_equal(rates->series[0].count, 9);
    assert_near(value_at(&rates->series[0], 7, 3), 6);
    const gc_chart *ratio = titled(&charts, "Speed-up of adaptive over tiled");
    assert_near(value_at(&ratio->series[0], 3, 7), 0.6);
    assert_near(value_at(&ratio->series[0], 7, 7), 1.4);
    assert_non_null(strstr(ratio->note, "9 filters is 1.00"));
    assert_non_null(titled(&charts, "Speed-up of adaptive:nc over adaptive"));
    assert_non_null(titled(&charts, "Speed-up of adaptive:unrolled over adaptive"));
    assert_near(value_at(&titled(&charts, "Speed-up of adaptive over naive")->series[0], 3, 3), 2);
    assert_near(
        value_at(&titled(&charts, "Speed-up of adaptive:unrolled over naive")->series[0], 3, 3),
        2.5);
    /* A factor that is the same everywhere needs no map. */
    assert_null(titled(&charts, "Tiling factor of tiled"));
    assert_near(value_at(&titled(&charts, "Tiling factor of adaptive")->series[0], 5, 3), 4);
    const gc_chart *fastest = titled(&charts, "The fastest implementation");
    assert_int_equal(named(fastest, "tiled")->count, 3);
    assert_int_equal(named(fastest, "adaptive:unrolled")->count, 6);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

static void speed_up_over_images(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    for (int side = 256; side <= 512; side *= 2) {
        add(&points, "kth", "reference", side, 3, 3, 8e-3);
        add(&points, "kth", "cpu", side, 3, 3, 1e-3);
    }
    make(&points, 0, 0, &charts);
    const gc_chart *times = titled(&charts, "Time over the side of the image, filter 3x3");
    assert_near(named(times, "cpu")->dots[0].y, 0.1); /* seconds for 100 images */
    assert_near(named(times, "Shared, GTX 960M")->dots[1].y, 0.05731);
    assert_int_equal(named(times, "Shared, GTX 960M")->count, 5);
    const gc_chart *speed_up = titled(&charts, "Speed-up over the side of the image");
    assert_near(named(speed_up, "cpu")->dots[1].y, 8);
    assert_near(named(speed_up, "Naive, GTX 960M")->dots[0].y, 0.57747 / 0.03028);
    assert_null(named(speed_up, "reference"));
    gc_charts_destroy(&charts);
    /* On a GPU the convolution counts, as in the table: 2 ms less 1.5 ms. */
    points.at[1].kernel_seconds = 2e-3;
    points.at[1].border_seconds = 1e-3;
    points.at[1].convert_seconds = 0.5e-3;
    make(&points, 0, 0, &charts);
    speed_up = titled(&charts, "Speed-up over the side of the image");
    assert_near(named(speed_up, "cpu")->dots[0].y, 16);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

/* Of blocks and factors a chart of their own, beside what they vary. */
static void tilings_over_sides(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    static const char *const names[] = {"naive", "tiled", "tiled:32x32x2", "tiled:x8",
                                        "tiled:nopad:16x16"};
    for (int side = 3; side <= 5; side += 2)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            add(&points, "adaptive-2014", names[i], 1000, side, side, 1e-3);
    make(&points, 0, 0, &charts);
    const gc_chart *chart = titled(&charts, "Rate over the side of square filters");
    assert_non_null(named(chart, "naive"));
    assert_non_null(named(chart, "tiled"));
    assert_null(named(chart, "tiled:x8"));
    chart = titled(&charts, "Rate with blocks and factors over the side");
    assert_int_equal(chart->count, 4);
    assert_null(named(chart, "naive"));
    assert_int_equal(named(chart, "tiled:nopad:16x16")->count, 2);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

/* Of 3x3 cells five: each other takes the nearest, and the note says so. */
static void gaps(void **state)
{
    (void)state;
    static const int cells[][2] = {{3, 3}, {7, 3}, {5, 5}, {3, 7}, {7, 7}};
    gc_points points = {.count = 0};
    gc_charts charts;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        add(&points, "quick", "naive", 1000, cells[i][0], cells[i][1], 1e-3);
    make(&points, 0, 0, &charts);
    const gc_chart *chart = titled(&charts, "GFLOP/s of naive");
    assert_true(gc_grid_has_gaps(chart));
    assert_non_null(strstr(chart->note, "Others have the colour of the nearest one."));
    gc_numbers columns, rows;
    gc_grid_of(chart, &columns, &rows);
    assert_int_equal(columns.count, 3);
    assert_int_equal(rows.count, 3);
    const gc_dot *nearest = gc_grid_nearest(chart, &columns, &rows, 1, 1);
    assert_true(nearest->x == 5 && nearest->y == 5);
    nearest = gc_grid_nearest(chart, &columns, &rows, 2, 2);
    assert_true(nearest->x == 7 && nearest->y == 7);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

/* Squares of 3 to 41, and rectangles of 3, 9 and 27: the maps have these sides alone, and an empty
 * cell where direct is refused. */
static void map_of_rectangles(void **state)
{
    (void)state;
    static const int sides[] = {3, 9, 27};
    gc_points points = {.count = 0};
    gc_charts charts;
    for (int side = 3; side <= 41; side += 2) {
        add(&points, "fft-map", "direct", 1000, side, side, 1e-3);
        add(&points, "fft-map", "tensor", 1000, side, side, 2e-3);
    }
    for (int i = 0; i < 9; i++)
        if (i / 3 != i % 3) {
            add(&points, "fft-map", "direct", 1000, sides[i / 3], sides[i % 3], 1e-3);
            if (i == 1)
                points.at[points.count - 1].verdict = GC_VERDICT_UNUSABLE;
            add(&points, "fft-map", "tensor", 1000, sides[i / 3], sides[i % 3], 2e-3);
        }
    make(&points, 0, 0, &charts);
    const gc_chart *chart = titled(&charts, "GFLOP/s of direct");
    assert_int_equal(chart->series[0].count, 9);
    assert_true(isnan(value_at(&chart->series[0], 3, 9)));
    assert_false(gc_grid_has_gaps(chart));
    assert_non_null(strstr(chart->note, "Empty cells have no right result"));
    chart = titled(&charts, "GFLOP/s of tensor");
    assert_int_equal(chart->series[0].count, 9);
    assert_null(strstr(chart->note, "Empty cells"));
    assert_int_equal(named(titled(&charts, "Rate over the side"), "tensor")->count, 20);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

static void crossover(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    for (int side = 3; side <= 9; side += 2) {
        add(&points, "fft-map", "direct", 1000, side, side, 1e-3 * side);
        add(&points, "fft-map", "tensor", 1000, side, side, 4e-3);
        add(&points, "fft-map", "tilefft", 1000, side, side, 2e-3 * 3);
    }
    for (size_t i = 0; i < points.count; i++)
        points.at[i].kernel_seconds = points.at[i].seconds;
    for (int side = 3; side <= 5; side += 2) {
        add(&points, "fft-map", "cpu", 1000, side, side, 1e-6);
        add(&points, "fft-map", "cpu:taps", 1000, side, side, 5e-3 * side);
        add(&points, "fft-map", "cpu:products", 1000, side, side, 5e-2);
        add(&points, "fft-map", "cpu:tiles", 1000, side, side, 20e-3);
    }
    make(&points, 0, 0, &charts);
    /* On the CPU the methods alone: 20 ms over 15 and 25. */
    const gc_chart *chart = titled(&charts, "CPU: the fastest spatial implementation over");
    assert_int_equal(named(chart, "measured")->count, 2);
    assert_near(named(chart, "measured")->dots[0].y, 20.0 / 15);
    assert_near(named(chart, "measured")->dots[1].y, 20.0 / 25);
    chart = titled(&charts, "GPU: the fastest spatial implementation over");
    assert_near(named(chart, "measured")->dots[0].y, 2);
    assert_near(named(chart, "measured")->dots[3].y, 1.5);
    assert_near(named(chart, "published, GTX 680, 4096x4096")->dots[1].y, 10.09);
    assert_null(titled(&charts, "GPU: where transforms take over")); /* of one image */
    gc_charts_destroy(&charts);
    add(&points, "fft-map", "direct", 500, 5, 5, 1e-3);
    add(&points, "fft-map", "fft", 500, 5, 5, 3e-3);
    points.at[points.count - 2].kernel_seconds = 1e-3;
    points.at[points.count - 1].kernel_seconds = 3e-3;
    make(&points, 0, 0, &charts);
    chart = titled(&charts, "GPU: where transforms take over, filters of full rank");
    assert_int_equal(chart->series[0].count, 4 + 1);
    assert_near(value_at(&chart->series[0], 5, 500), 3);
    assert_near(value_at(&chart->series[0], 9, 1000), 1.5);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

/* The equations of KTH 2018 give what the source prints for its 80 GB/s, but for one number: it
 * prints 546.52 for 21 tiles at 5x5, where equation 13 gives 456.52. */
static void theory(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    add(&points, "kth", "cpu", 256, 3, 3, 1e-3);
    add(&points, "kth", "const", 256, 5, 5, 1e-3);
    add(&points, "kth", "const", 256, 5, 5, 2e-3);
    points.at[2].rank1 = true;
    add(&points, "kth", "adaptive:kth", 256, 5, 5, 1e-3);
    make(&points, 80e9, 0, &charts);
    const gc_chart *chart = titled(&charts, "Theory");
    assert_near(named(chart, "naive, equation 9")->dots[0].y, 20);
    assert_near(named(chart, "shared, equation 10")->dots[0].y, 27.692);
    assert_near(named(chart, "shared, equation 10")->dots[1].y, 34.483);
    assert_near(named(chart, "constant, equation 11")->dots[0].y, 90);
    assert_near(named(chart, "constant, equation 11")->dots[1].y, 250);
    assert_near(named(chart, "21 tiles, equation 13")->dots[0].y, 164.35);
    assert_near(named(chart, "21 tiles, equation 13")->dots[1].y, 456.52);
    /* Of full rank alone, and the paper's factor in the colour of its equation. */
    assert_int_equal(named(chart, "const, measured at 256")->count, 1);
    assert_int_equal(named(chart, "adaptive:kth, measured at 256")->colour,
                     named(chart, "21 tiles, equation 13")->colour);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

static void roofline(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    add(&points, "roofline", "naive", 1000, 3, 3, 1e-3);
    add(&points, "roofline", "naive", 1000, 5, 5, 1e-3);
    points.at[0].intensity = points.at[1].intensity = 0.25;
    points.at[0].kernel_seconds = 1e-3;
    make(&points, 100e9, 1000e9, &charts);
    const gc_series *roof =
        named(titled(&charts, "Roofline of the GPU"), "roof, as rated: 100 GB/s, 1000 GFLOP/s");
    assert_near(roof->dots[0].y, 25);
    assert_near(roof->dots[1].x, 10);
    assert_near(roof->dots[1].y, 1000);
    assert_true(charts.count > 1 && titled(&charts, "Roofline of the GPU") == &charts.at[0]);
    gc_charts_destroy(&charts);
    /* The CPU has a chart of its own, with roofs where they were measured. */
    assert_int_equal(
        gc_charts_make(&points, (gc_roofs){100e9, 1000e9}, (gc_roofs){20e9, 500e9}, &charts, NULL),
        GCONV_OK);
    roof = named(titled(&charts, "Roofline of the CPU"), "roof, measured: 20 GB/s, 500 GFLOP/s");
    assert_near(roof->dots[0].y, 5);
    assert_near(roof->dots[1].x, 25);
    assert_near(roof->dots[1].y, 500);
    assert_int_equal(named(titled(&charts, "Roofline of the CPU"), "naive")->count, 1);
    gc_charts_destroy(&charts);
    snprintf(points.at[0].preset, sizeof points.at[0].preset, "quick");
    make(&points, 100e9, 1000e9, &charts);
    assert_true(titled(&charts, "Roofline") == &charts.at[charts.count - 1]);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

static void locality(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    add(&points, "fft-locality", "cpu", 8, 8, 1, 1e-3);
    add(&points, "fft-locality", "fft", 8, 8, 1, 1e-4);
    points.at[0].flops = 3e9;
    points.at[0].theory = 10e9;
    make(&points, 0, 0, &charts);
    assert_int_equal(charts.count, 1);
    const gc_chart *chart = &charts.at[0];
    assert_near(named(chart, "cpu")->dots[0].x, 3);
    assert_near(named(chart, "cpu")->dots[0].y, 3);
    assert_near(named(chart, "cpu: bound of its memory")->dots[0].y, 10);
    assert_near(named(chart, "cpu: half of it: read and written")->dots[0].y, 5);
    assert_int_equal(named(chart, "cpu: bound of its memory")->colour, 0);
    assert_int_equal(named(chart, "cpu: half of it: read and written")->colour, GC_CHART_COLOURS);
    assert_int_equal(named(chart, "bound printed for GeForce 9400M G")->colour, 2);
    assert_int_equal(named(chart, "bound printed for GTX280")->count, 6);
    assert_near(named(chart, "bound printed for 8800GTX")->dots[1].x, 5);
    gc_charts_destroy(&charts);
    gc_points_destroy(&points);
}

static void nothing_to_draw(void **state)
{
    (void)state;
    gc_points points = {.count = 0};
    gc_charts charts;
    make(&points, 0, 0, &charts);
    assert_int_equal(charts.count, 0);
    add(&points, "", "cpu", 256, 3, 3, 1e-3);
    points.at[0].runs = 0;
    make(&points, 0, 0, &charts);
    assert_int_equal(charts.count, 0);
    gc_points_destroy(&points);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

typedef void print_function(FILE *stream);

static char *printed(print_function *print)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    print(stream);
    fclose(stream);
    return text;
}

static void print_quoted(FILE *stream)
{
    gc_script_text(stream, "a'b`c\n\\d\"");
}

static void print_page_text(FILE *stream)
{
    gc_html_element(stream, "td class=\"n\"", "a<b>&\"c'\x01\xff");
    gc_html_download(stream, "x.csv", "text/csv", "1 2\n\"3\"");
}

static void print_image(FILE *stream)
{
    gc_svg_print(stream,
                 "<?xml version='1.0'?><svg xmlns:xlink=\"http://www.w3.org/1999/xlink\" v=\"1\">"
                 "<title>Gnuplot</title><desc>x</desc><g id='a' fill=\"rgb(0, 114, 178)\" "
                 "stroke=\"rgb(1,2,3)\" color=\"black\" stroke-width=\"1.00\" "
                 "stroke-linecap=\"butt\" stroke-linejoin=\"miter\"/><use xlink:href='#a'/>\t\t"
                 "<polygon fill = 'rgb(  9, 255, 160)' points = '310.37,45.95 323.01,46.00 '/>"
                 "</svg>",
                 "p-", "a<b");
}

static void texts(void **state)
{
    (void)state;
    char *text = printed(print_quoted);
    assert_string_equal(text, "'a''b`c \\d\"'");
    free(text);
    text = printed(print_page_text);
    assert_string_equal(text, "<td class=\"n\">a&lt;b&gt;&amp;&quot;c&#39;\\x01\\xff</td>"
                              "<a download=\"x.csv\" "
                              "href=\"data:text/csv,1%202%0A%223%22\">x.csv</a>");
    free(text);
    text = printed(print_image);
    assert_string_equal(text, "<svg role=\"img\"  v=\"1\"><title>a&lt;b</title><g id='p-a' "
                              "fill=\"var(--s0)\" stroke=\"#010203\" color=\"var(--ink)\"/>"
                              "<use href='#p-a'/>"
                              "<polygon fill='#09ffa0' points='310.4,45.95 323,46'/></svg>");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_as_printed),
        cmocka_unit_test(published_tables_are_whole),
        cmocka_unit_test(time_that_counts),
        cmocka_unit_test(rates_over_sides),
        cmocka_unit_test(maps_over_width_and_height),
        cmocka_unit_test(speed_up_over_images),
        cmocka_unit_test(tilings_over_sides),
        cmocka_unit_test(gaps),
        cmocka_unit_test(map_of_rectangles),
        cmocka_unit_test(crossover),
        cmocka_unit_test(theory),
        cmocka_unit_test(roofline),
        cmocka_unit_test(locality),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
