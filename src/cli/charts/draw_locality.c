#include "cli/charts/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A rate with the quartiles of the runs, over the binary logarithm of the points. */
static gc_dot rate_dot(const gc_point *point)
{
    double rate = gc_point_gflops(point);
    gc_dot dot = {.x = log2(point->filter_width), .y = rate};
    if (point->upper_quartile > point->lower_quartile && point->lower_quartile > 0) {
        dot.low = rate * point->seconds / point->upper_quartile;
        dot.high = rate * point->seconds / point->lower_quartile;
    }
    return dot;
}

static void add_rates(const gc_drawing *d, const char *name, gc_chart *chart)
{
    gc_series *series =
        gc_chart_series(chart, name, GC_SERIES_MEASURED, gc_drawing_colour(d, name));
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (gc_point_counts(point) && point->flops > 0 && strcmp(point->name, name) == 0)
            gc_chart_dot(chart, series, rate_dot(point));
    }
}

/* A part of the bound of the memory of an implementation, as a line: the whole, or with dashes half
 * of it. */
static void add_bound(const gc_drawing *d, const char *name, const char *title, double part,
                      gc_chart *chart)
{
    char text[GC_SERIES_NAME_BYTES];
    snprintf(text, sizeof text, "%s: %s", name, title);
    int dashes = part < 1 ? GC_CHART_COLOURS : 0;
    gc_series *series =
        gc_chart_series(chart, text, GC_SERIES_LIMIT, gc_drawing_colour(d, name) + dashes);
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (gc_point_counts(point) && point->theory > 0 && strcmp(point->name, name) == 0)
            gc_chart_dot(
                chart, series,
                (gc_dot){.x = log2(point->filter_width), .y = 1e-9 * part * point->theory});
    }
}

/* Table 1 of the source: a series for each GPU, in colours behind those of what was measured. */
static void add_published(const gc_drawing *d, gc_chart *chart)
{
    const gc_published *row;
    const char *device = "";
    gc_series *series = NULL;
    int colour = d->names.count;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++) {
        if (strcmp(row->preset, "fft-locality") != 0 || row->filter_width == 0)
            continue;
        if (strcmp(device, row->device) != 0) {
            char name[GC_SERIES_NAME_BYTES];
            device = row->device;
            snprintf(name, sizeof name, "bound printed for %s", device);
            series = gc_chart_series(chart, name, GC_SERIES_PUBLISHED, colour++);
        }
        gc_chart_dot(chart, series, (gc_dot){.x = log2(row->filter_width), .y = row->value});
    }
}

gconv_status gc_draw_locality(const gc_drawing *d, gconv_error *error)
{
    gc_chart chart = {.kind = GC_CHART_LINES,
                      .title = "Transforms from memory to memory, and the bound of the memory",
                      .x_label = "binary logarithm of the points of a transform",
                      .y_label = "GFLOP/s",
                      .y_log = true,
                      .x_everywhere = true};
    for (int i = 0; i < d->names.count; i++) {
        const char *name = d->names.at[i];
        add_rates(d, name, &chart);
        add_bound(d, name, "bound of its memory", 1, &chart);
        add_bound(d, name, "half of it: read and written", 0.5, &chart);
    }
    add_published(d, &chart);
    snprintf(chart.note, sizeof chart.note,
             "De Smet 2011, table 1: 5 log2 N operations for a complex number, times the numbers "
             "of 8 bytes that the bandwidth carries in a second. The bandwidth is that of the row "
             "'memory', which reads and writes every number. fft is cuFFT. The bound counts each "
             "number once, so a transform that reads and writes it reaches half of it at most. %s",
             gc_bars_note(&chart));
    return gc_charts_add(d->charts, &chart, error);
}
