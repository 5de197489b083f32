#include "cli/charts/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Rooflines (Williams et al. 2009) -------------------------------------------------------- */

static void add_roofs(const char *device, gc_roofs roofs, double low, double high, gc_chart *chart)
{
    double bandwidth = 1e-9 * roofs.bandwidth, peak = 1e-9 * roofs.peak;
    if (bandwidth <= 0 || peak <= 0)
        return;
    char name[GC_SERIES_NAME_BYTES];
    double ridge = peak / bandwidth;
    low = fmin(low, ridge / 4); /* the slanted part is there, too */
    snprintf(name, sizeof name, "%s: %.0f GB/s, %.0f GFLOP/s", device, bandwidth, peak);
    gc_series *series = gc_chart_series(chart, name, GC_SERIES_LIMIT, -1);
    gc_chart_dot(chart, series, (gc_dot){.x = low, .y = fmin(peak, low * bandwidth)});
    if (low < ridge)
        gc_chart_dot(chart, series, (gc_dot){.x = ridge, .y = peak});
    gc_chart_dot(chart, series, (gc_dot){.x = fmax(high, 2 * ridge), .y = peak});
}

/* The points of an implementation, on the GPU or on the CPU. Widens the range of intensities. */
static void add_rates(const gc_drawing *d, const char *name, bool on_gpu, double *low, double *high,
                      gc_chart *chart)
{
    gc_series *series = gc_chart_series(chart, name, GC_SERIES_MARKS, gc_drawing_colour(d, name));
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (!gc_point_counts(point) || point->intensity <= 0 || strcmp(point->name, name) != 0 ||
            (point->kernel_seconds > 0) != on_gpu)
            continue;
        *low = fmin(*low, point->intensity);
        *high = fmax(*high, point->intensity);
        gc_chart_dot(chart, series, (gc_dot){.x = point->intensity, .y = gc_point_gflops(point)});
    }
}

/* One roofline a device: marks of both would hide each other. */
static gconv_status draw_roofline(const gc_drawing *d, bool on_gpu, gconv_error *error)
{
    gc_chart chart = {.kind = GC_CHART_LINES,
                      .x_label = "operations of the filter for a byte of memory",
                      .y_label = "GFLOP/s",
                      .x_log = true,
                      .y_log = true};
    double low = HUGE_VAL, high = 0;
    snprintf(chart.title, sizeof chart.title, "Roofline of the %s: rate over arithmetic intensity",
             on_gpu ? "GPU" : "CPU");
    for (int i = 0; i < d->names.count; i++)
        add_rates(d, d->names.at[i], on_gpu, &low, &high, &chart);
    if (high > 0)
        add_roofs(on_gpu ? "roof, as rated" : "roof, measured", on_gpu ? d->gpu : d->cpu, low, high,
                  &chart);
    snprintf(chart.note, sizeof chart.note,
             "Each mark is a filter on an image; it counts 2 operations a weight. %s Methods that "
             "save operations may exceed the flat roof.",
             on_gpu ? "Bytes of the steps from naive to twopass are those of their published "
                      "models, which load again what caches may serve: such marks may lie above "
                      "the slanted roof. Other kernels read and write each value once; fft counts "
                      "the passes of its transforms."
                    : "Each sample is read and written once.");
    return gc_charts_add(d->charts, &chart, error);
}

gconv_status gc_draw_rooflines(const gc_drawing *d, gconv_error *error)
{
    gconv_status status = draw_roofline(d, true, error);
    bool known = d->cpu.peak > 0 || strcmp(d->preset, "roofline") == 0;
    return status == GCONV_OK && known ? draw_roofline(d, false, error) : status;
}

/* ---- Rates that the memory allows, by KTH 2018 ----------------------------------------------- */

enum { THEORY_SIDE_MAX = 15, THEORY_TILES = 21 };

/* Equations 9, 10, 11 and 13, for a square filter. */
static double intensity_of(int equation, int side)
{
    double taps = (double)side * side;
    switch (equation) {
    case 9:
        return 0.25;
    case 10:
        return 2 * taps / (4 * 4 + 4 * taps);
    case 11:
        return 2 * taps / (4 * 4);
    default:
        return 2 * taps * THEORY_TILES / (4 * (2 * 4 + (THEORY_TILES - 2) * 2));
    }
}

/* Marks for what filters of full rank reached on the largest image. */
static void add_measured(const gc_drawing *d, const char *name, gc_chart *chart)
{
    char label[GC_SERIES_NAME_BYTES];
    int width = 0;
    for (size_t i = 0; i < d->points->count; i++)
        if (gc_point_counts(&d->points->at[i]) && d->points->at[i].width > width)
            width = d->points->at[i].width;
    snprintf(label, sizeof label, "%.32s, measured at %d", name, width);
    gc_series *series = gc_chart_series(chart, label, GC_SERIES_MARKS, gc_drawing_colour(d, name));
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (gc_point_counts(point) && point->width == width && !point->rank1 &&
            strcmp(point->name, name) == 0)
            gc_chart_dot(chart, series,
                         (gc_dot){.x = point->filter_width, .y = gc_point_gflops(point)});
    }
}

gconv_status gc_draw_theory(const gc_drawing *d, gconv_error *error)
{
    static const struct {
        int equation;
        const char *name, *implementation;
    } rows[] = {{9, "naive, equation 9", "naive"},
                {10, "shared, equation 10", "shared"},
                {11, "constant, equation 11", "const"},
                {13, "21 tiles, equation 13", "adaptive:kth"}};
    if (strcmp(d->preset, "kth") != 0)
        return GCONV_OK;
    bool own = d->gpu.bandwidth > 0;
    double bandwidth = own ? 1e-9 * d->gpu.bandwidth : 80; /* GB/s of a GTX 960M */
    gc_chart chart = {.kind = GC_CHART_LINES,
                      .title = "Theory: the rate that the memory allows",
                      .x_label = "side of the square filter (weights)",
                      .y_label = "GFLOP/s",
                      .y_log = true,
                      .x_everywhere = true};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gc_series *series = gc_chart_series(&chart, rows[i].name, GC_SERIES_LIMIT,
                                            gc_drawing_colour(d, rows[i].implementation));
        for (int side = 3; side <= THEORY_SIDE_MAX; side += 2)
            gc_chart_dot(
                &chart, series,
                (gc_dot){.x = side, .y = bandwidth * intensity_of(rows[i].equation, side)});
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_measured(d, rows[i].implementation, &chart);
    add_measured(d, "adaptive", &chart);
    snprintf(chart.note, sizeof chart.note,
             "KTH 2018, figures 5 to 7, with the %.0f GB/s of %s. adaptive:kth has the factor of "
             "the paper, adaptive another one.",
             bandwidth, own ? "this GPU" : "the GTX 960M of the source, because no GPU took part");
    return gc_charts_add(d->charts, &chart, error);
}
