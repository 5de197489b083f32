#include "cli/charts/makers.h"

#include <stdio.h>
#include <string.h>

/* 10^6 samples a second, with the quartiles of the runs. */
static gc_dot row_dot(const gc_point *point)
{
    double counted = point->kernel_seconds > 0 ? point->kernel_seconds : point->seconds;
    gc_dot dot = {.x = 1e-6 * point->values_a_second};
    if (point->kernel_seconds <= 0 && point->upper_quartile > 0 && point->lower_quartile > 0) {
        dot.low = dot.x * counted / point->upper_quartile;
        dot.high = dot.x * counted / point->lower_quartile;
    }
    return dot;
}

static gconv_status draw_image(const gc_drawing *d, const gc_filter_scene *scene,
                               const gc_point *first, gconv_error *error)
{
    gc_chart chart = {.kind = GC_CHART_ROWS, .x_label = "million samples a second"};
    snprintf(chart.title, sizeof chart.title, "Rate, %dx%d, %.32s%s%.32s", first->width,
             first->height, scene->filter, scene->samples[0] != '\0' ? ", " : "", scene->samples);
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (point->width != first->width || point->height != first->height ||
            !gc_filter_scene_holds(scene, point))
            continue;
        char name[GC_SERIES_NAME_BYTES];
        bool chosen = strcmp(point->name, "auto") == 0;
        snprintf(name, sizeof name, "%.40s%s%.40s", point->name, chosen ? ": " : "",
                 chosen ? point->implementation : "");
        gc_series *series =
            gc_chart_series(&chart, name, GC_SERIES_MEASURED, gc_drawing_colour(d, point->name));
        gc_chart_dot(&chart, series, row_dot(point));
    }
    snprintf(chart.note, sizeof chart.note, "More is better. %s%s", gc_time_note(d),
             "Thin lines reach from quartile to quartile of the runs.");
    if (chart.count < 2)
        gc_chart_destroy(&chart);
    return gc_charts_add(d->charts, &chart, error);
}

gconv_status gc_draw_rows(const gc_drawing *d, const gc_filter_scene *scene, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    const gc_point *last = NULL;
    for (size_t i = 0; status == GCONV_OK && i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        bool same = last != NULL && last->width == point->width && last->height == point->height;
        if (!gc_filter_scene_holds(scene, point) || same)
            continue;
        last = point;
        status = draw_image(d, scene, point, error);
    }
    return status;
}
