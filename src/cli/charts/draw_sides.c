#include "cli/charts/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A rate with the quartiles of the runs; those of a kernel are not known. */
static gc_dot rate_dot(const gc_point *point)
{
    double rate = gc_point_gflops(point);
    gc_dot dot = {.x = point->filter_width, .y = rate};
    if (point->kernel_seconds <= 0 && point->upper_quartile > point->lower_quartile) {
        dot.low = rate * point->seconds / point->upper_quartile;
        dot.high = rate * point->seconds / point->lower_quartile;
    }
    return dot;
}

/* Where a name says a thread block or a factor, as "tiled:nopad:16x16x2" does; NULL elsewhere. */
static const char *tiling_in(const char *name)
{
    const char *colon = strrchr(name, ':');
    bool says = colon != NULL && strspn(colon + 1, "x0123456789") == strlen(colon + 1);
    return says ? colon : NULL;
}

/* Whether a name belongs to the chart of blocks and factors: it says one, or it is what such a name
 * begins with. */
static bool has_tilings(const gc_drawing *d, const char *name)
{
    size_t length = strlen(name);
    if (tiling_in(name) != NULL)
        return true;
    for (int i = 0; i < d->names.count; i++)
        if (tiling_in(d->names.at[i]) == d->names.at[i] + length &&
            strncmp(d->names.at[i], name, length) == 0)
            return true;
    return false;
}

/* Adds what is measured: what says no block and no factor, or with `tilings` what does, and beside
 * it the same without. */
static void add_measured(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                         bool tilings, gc_chart *chart)
{
    for (int i = 0; i < d->names.count; i++) {
        const char *name = d->names.at[i];
        if (tilings ? !has_tilings(d, name) : tiling_in(name) != NULL)
            continue;
        gc_series *series =
            gc_chart_series(chart, name, GC_SERIES_MEASURED, gc_drawing_colour(d, name));
        for (int j = 0; j < sides->squares.count; j++) {
            int side = sides->squares.at[j];
            const gc_point *point = gc_scene_point(d->points, scene, name, side, side);
            if (point != NULL)
                gc_chart_dot(chart, series, rate_dot(point));
        }
    }
}

static bool is_rate_here(const gc_drawing *d, const gc_published *row)
{
    return strcmp(row->preset, d->preset) == 0 && row->quantity == GC_QUANTITY_GFLOPS &&
           row->filter_width == row->filter_height;
}

/* Published rates of square filters: a series for each step on a device. A rate for any filter is a
 * line from the first to the last side. */
static void add_published(const gc_drawing *d, const gc_sides *sides, gc_chart *chart)
{
    const gc_published *row;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++) {
        if (!is_rate_here(d, row))
            continue;
        char name[GC_SERIES_NAME_BYTES], step[GC_SERIES_NAME_BYTES];
        gc_drawing_name(d, row, step, sizeof step);
        snprintf(name, sizeof name, "%s, %s", row->step, row->device);
        gc_series *series = NULL;
        for (size_t j = 0; j < chart->count; j++)
            if (strcmp(chart->series[j].name, name) == 0)
                series = &chart->series[j];
        if (series == NULL)
            series = gc_chart_series(chart, name, GC_SERIES_PUBLISHED, gc_drawing_colour(d, step));
        bool any = row->filter_width == 0;
        int first = any ? sides->squares.at[0] : row->filter_width;
        int last = any ? sides->squares.at[sides->squares.count - 1] : first;
        gc_chart_dot(chart, series, (gc_dot){.x = first, .y = row->value});
        if (last > first)
            gc_chart_dot(chart, series, (gc_dot){.x = last, .y = row->value});
    }
}

/* Whether values differ so much that a linear axis would hide the small ones. */
static bool needs_log(const gc_chart *chart)
{
    double low = HUGE_VAL, high = 0;
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++) {
            low = fmin(low, chart->series[i].dots[j].y);
            high = fmax(high, chart->series[i].dots[j].y);
        }
    return high > 20 * low;
}

/* Whether all points are of one image. Of several, charts over their sides show a few filters. */
static bool has_one_image(const gc_drawing *d)
{
    gc_numbers widths = {.count = 0};
    for (size_t i = 0; i < d->points->count; i++)
        if (gc_point_counts(&d->points->at[i]))
            gc_numbers_add(&widths, d->points->at[i].width);
    return widths.count == 1;
}

static gconv_status draw(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                         bool tilings, gconv_error *error)
{
    char what[GC_CHART_TEXT_BYTES];
    gc_chart chart = {.kind = GC_CHART_LINES,
                      .x_label = "side of the square filter (weights)",
                      .y_label = "GFLOP/s",
                      .x_everywhere = sides->squares.count <= 24};
    gc_scene_title(scene, what, sizeof what);
    snprintf(chart.title, sizeof chart.title, "%s over the side of square filters, %.128s",
             tilings ? "Rate with blocks and factors" : "Rate", what);
    add_measured(d, scene, sides, tilings, &chart);
    size_t measured = chart.count;
    if (!scene->rank1 && !tilings)
        add_published(d, sides, &chart);
    chart.y_log = needs_log(&chart);
    snprintf(chart.note, sizeof chart.note,
             "2 w h operations for a sample, however an implementation saves some of them. %s%s%s",
             gc_rate_note(d), gc_bars_note(&chart),
             chart.count > measured ? "Hollow marks are published figures." : "");
    return gc_charts_add(d->charts, &chart, error);
}

gconv_status gc_draw_sides(const gc_drawing *d, const gc_scene *scene, gconv_error *error)
{
    gc_sides sides;
    bool any = false, all = true;
    gc_scene_sides(d->points, scene, &sides);
    if (sides.squares.count < (has_one_image(d) ? 2 : 3))
        return GCONV_OK;
    for (int i = 0; i < d->names.count; i++) {
        any = any || tiling_in(d->names.at[i]) != NULL;
        all = all && tiling_in(d->names.at[i]) != NULL;
    }
    gconv_status status = all ? GCONV_OK : draw(d, scene, &sides, false, error);
    return status == GCONV_OK && any ? draw(d, scene, &sides, true, error) : status;
}
