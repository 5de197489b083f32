#include "cli/charts/makers.h"

#include <stdio.h>
#include <string.h>

enum { KTH_IMAGES = 100 }; /* of a running time of KTH 2018 */

/* Sides of the square images of a filter. */
static void collect_images(const gc_drawing *d, const gc_filter_scene *scene, gc_numbers *sides)
{
    sides->count = 0;
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (gc_filter_scene_holds(scene, point) && point->width == point->height)
            gc_numbers_add(sides, point->width);
    }
}

static const gc_point *find(const gc_drawing *d, const gc_filter_scene *scene, const char *name,
                            int side)
{
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (point->width == side && point->height == side && strcmp(point->name, name) == 0 &&
            gc_filter_scene_holds(scene, point))
            return point;
    }
    return NULL;
}

/* Milliseconds for an image, or seconds for 100 images. */
static double unit_of(const gc_drawing *d)
{
    return strcmp(d->preset, "kth") == 0 ? KTH_IMAGES : 1e3;
}

/* A published running time in this unit; 0 where the row holds no such time of the filter. */
static double published_time(const gc_drawing *d, const gc_filter_scene *scene,
                             const gc_published *row)
{
    double seconds = row->quantity == GC_QUANTITY_SECONDS_100    ? row->value / KTH_IMAGES
                     : row->quantity == GC_QUANTITY_MILLISECONDS ? 1e-3 * row->value
                                                                 : 0;
    bool here = strcmp(row->preset, d->preset) == 0 && row->filter_width == scene->width &&
                row->filter_height == scene->height;
    return here ? seconds * unit_of(d) : 0;
}

/* The published time of the step that others are compared with: the serial one. */
static double published_serial(const gc_drawing *d, const gc_filter_scene *scene, int side)
{
    const gc_published *row;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++)
        if (row->image == side && strcmp(row->implementation, "reference") == 0 &&
            published_time(d, scene, row) > 0)
            return published_time(d, scene, row);
    return 0;
}

static void add_measured(const gc_drawing *d, const gc_filter_scene *scene, const gc_numbers *sides,
                         bool speed_up, gc_chart *chart)
{
    for (int i = 0; i < d->names.count; i++) {
        const char *name = d->names.at[i];
        if (speed_up && strcmp(name, "reference") == 0)
            continue;
        gc_series *series =
            gc_chart_series(chart, name, GC_SERIES_MEASURED, gc_drawing_colour(d, name));
        for (int j = 0; j < sides->count; j++) {
            const gc_point *point = find(d, scene, name, sides->at[j]);
            const gc_point *serial = find(d, scene, "reference", sides->at[j]);
            if (point == NULL || (speed_up && serial == NULL))
                continue;
            double time = speed_up ? gc_point_counted_seconds(point) : gc_point_time(point);
            gc_dot dot = {.x = sides->at[j],
                          .y = speed_up ? gc_point_time(serial) / time : time * unit_of(d)};
            if (!speed_up && point->kernel_seconds <= 0) {
                dot.low = point->lower_quartile * unit_of(d);
                dot.high = point->upper_quartile * unit_of(d);
            }
            gc_chart_dot(chart, series, dot);
        }
    }
}

static void add_published(const gc_drawing *d, const gc_filter_scene *scene, bool speed_up,
                          gc_chart *chart)
{
    const gc_published *row;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++) {
        double time = published_time(d, scene, row);
        double serial = published_serial(d, scene, row->image);
        bool is_serial = strcmp(row->implementation, "reference") == 0;
        if (time <= 0 || (speed_up && (is_serial || serial <= 0)))
            continue;
        char name[GC_SERIES_NAME_BYTES], step[GC_SERIES_NAME_BYTES];
        gc_drawing_name(d, row, step, sizeof step);
        snprintf(name, sizeof name, "%s, %s", row->step,
                 row->device[0] != '\0' ? row->device : "published");
        gc_series *series = NULL;
        for (size_t j = 0; j < chart->count; j++)
            if (strcmp(chart->series[j].name, name) == 0)
                series = &chart->series[j];
        if (series == NULL)
            series = gc_chart_series(chart, name, GC_SERIES_PUBLISHED, gc_drawing_colour(d, step));
        gc_chart_dot(chart, series,
                     (gc_dot){.x = row->image, .y = speed_up ? serial / time : time});
    }
}

static gconv_status draw(const gc_drawing *d, const gc_filter_scene *scene, const gc_numbers *sides,
                         bool speed_up, gconv_error *error)
{
    bool hundred = unit_of(d) == KTH_IMAGES;
    gc_chart chart = {.kind = GC_CHART_LINES,
                      .x_label = "side of the square image (pixels)",
                      .x_log = true,
                      .y_log = true,
                      .x_everywhere = true};
    snprintf(chart.title, sizeof chart.title, "%s over the side of the image, filter %.32s%s%.32s",
             speed_up ? "Speed-up" : "Time", scene->filter, scene->samples[0] != '\0' ? ", " : "",
             scene->samples);
    snprintf(chart.y_label, sizeof chart.y_label, "%s",
             speed_up  ? "times as fast as the serial CPU"
             : hundred ? "seconds for 100 images"
                       : "milliseconds for an image");
    add_measured(d, scene, sides, speed_up, &chart);
    size_t measured = chart.count;
    add_published(d, scene, speed_up, &chart);
    snprintf(
        chart.note, sizeof chart.note, "%s%s%s%s", speed_up ? gc_rate_note(d) : gc_time_note(d),
        speed_up ? "Measured ones are over reference, published ones over the serial program "
                   "of the source. "
                 : "",
        gc_bars_note(&chart), chart.count > measured ? "Hollow marks are published figures." : "");
    if (measured == 0)
        gc_chart_destroy(&chart);
    return gc_charts_add(d->charts, &chart, error);
}

gconv_status gc_draw_images(const gc_drawing *d, const gc_filter_scene *scene, gconv_error *error)
{
    gc_numbers sides;
    collect_images(d, scene, &sides);
    if (sides.count < 2)
        return GCONV_OK;
    gconv_status status = draw(d, scene, &sides, false, error);
    bool others = d->names.count > 1 && gc_names_find(&d->names, "reference") >= 0;
    if (status == GCONV_OK && others)
        status = draw(d, scene, &sides, true, error);
    return status;
}
