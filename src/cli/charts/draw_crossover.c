#include "cli/charts/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether a point takes part in the charts of a device. On the CPU these are the methods: `cpu`
 * chooses between sums and transforms, so it belongs to neither. */
static bool takes_part(const gc_point *point, bool on_gpu)
{
    return on_gpu ? point->kernel_seconds > 0 : strncmp(point->name, "cpu:", strlen("cpu:")) == 0;
}

/* The least time of the implementations by transforms, or of all others, on a filter; HUGE_VAL
 * where none was measured. */
static double least_time(const gc_drawing *d, const gc_scene *scene, bool on_gpu, bool transforms,
                         int width, int height)
{
    double least = HUGE_VAL;
    for (int i = 0; i < d->names.count; i++) {
        const gc_point *point =
            gc_is_transform(d->names.at[i]) == transforms
                ? gc_scene_point(d->points, scene, d->names.at[i], width, height)
                : NULL;
        if (point != NULL && takes_part(point, on_gpu))
            least = fmin(least, gc_point_time(point));
    }
    return least;
}

static void add_ratios(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                       bool on_gpu, bool squares, gc_chart *chart)
{
    gc_series *series = gc_chart_series(chart, "measured", GC_SERIES_MEASURED, 0);
    for (int x = 0; x < sides->widths.count; x++)
        for (int y = 0; y < sides->heights.count; y++) {
            int width = sides->widths.at[x], height = sides->heights.at[y];
            double spatial = least_time(d, scene, on_gpu, false, width, height);
            double fourier = least_time(d, scene, on_gpu, true, width, height);
            if (spatial == HUGE_VAL || fourier == HUGE_VAL || (squares && width != height))
                continue;
            double ratio = fourier / spatial;
            gc_chart_dot(chart, series,
                         (gc_dot){.x = width, .y = squares ? ratio : height, .value = ratio});
        }
}

/* Published speed-ups, and the line where both take equally long. */
static void add_references(const gc_scene *scene, const gc_sides *sides, bool on_gpu,
                           gc_chart *chart)
{
    const gc_published *row;
    gc_series *series =
        gc_chart_series(chart, "published, GTX 680, 4096x4096", GC_SERIES_PUBLISHED, 1);
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++)
        if (on_gpu && !scene->rank1 && strcmp(row->preset, "fft-map") == 0 &&
            row->quantity == GC_QUANTITY_SPEED_UP)
            gc_chart_dot(chart, series, (gc_dot){.x = row->filter_width, .y = row->value});
    series = gc_chart_series(chart, "equally fast", GC_SERIES_LIMIT, -1);
    gc_chart_dot(chart, series, (gc_dot){.x = sides->squares.at[0], .y = 1});
    gc_chart_dot(chart, series, (gc_dot){.x = sides->squares.at[sides->squares.count - 1], .y = 1});
}

/* Whether there is something by transforms and something else to compare it with. */
static bool has_both(const gc_drawing *d, const gc_scene *scene, bool on_gpu)
{
    bool has[2] = {false, false};
    for (size_t i = 0; i < d->points->count; i++)
        if (gc_scene_holds(scene, &d->points->at[i]) && takes_part(&d->points->at[i], on_gpu))
            has[gc_is_transform(d->points->at[i].name)] = true;
    return has[0] && has[1];
}

static const char *device_name(bool on_gpu)
{
    return on_gpu ? "GPU" : "CPU";
}

/* What counts as transforms, and how times are taken. */
static void write_note(const gc_drawing *d, bool on_gpu, const char *reading, gc_chart *chart)
{
    snprintf(chart->note, sizeof chart->note,
             "%s By transforms: %s. The fastest of each kind counts. %s", reading,
             on_gpu ? "fft, of the whole image, and tilefft, of tiles"
                    : "cpu:tiles; cpu chooses between both and does not take part",
             on_gpu ? gc_time_note(d) : "");
}

static gconv_status draw(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                         bool on_gpu, bool squares, gconv_error *error)
{
    gc_chart chart = {.kind = squares ? GC_CHART_LINES : GC_CHART_RATIOS, .y_log = squares};
    char where[GC_CHART_TEXT_BYTES];
    gc_scene_title(scene, where, sizeof where);
    snprintf(chart.title, sizeof chart.title,
             "%s: the fastest spatial implementation over the fastest by transforms, %s%.80s",
             device_name(on_gpu), squares ? "" : "by width and height, ", where);
    snprintf(chart.x_label, sizeof chart.x_label, "%s of the %sfilter (weights)",
             squares ? "side" : "width", squares ? "square " : "");
    snprintf(chart.y_label, sizeof chart.y_label, "%s",
             squares ? "spatial: times as fast" : "height of the filter (weights)");
    snprintf(chart.value_label, sizeof chart.value_label, "spatial: times as fast");
    write_note(d, on_gpu, "Above 1 the spatial implementation is faster.", &chart);
    chart.x_everywhere = squares && sides->squares.count <= 24;
    add_ratios(d, scene, sides, on_gpu, squares, &chart);
    if (squares)
        add_references(scene, sides, on_gpu, &chart);
    return gc_charts_add(d->charts, &chart, error);
}

/* Speed-ups over the side of square filters and of square images, for one kind of filter. */
static gconv_status draw_map(const gc_drawing *d, bool on_gpu, bool rank1, gconv_error *error)
{
    gc_scene scenes[GC_SCENES_MAX];
    gc_numbers images = {.count = 0};
    int count = gc_scenes_collect(d->points, scenes);
    gc_chart chart = {.kind = GC_CHART_RATIOS,
                      .x_label = "side of the square filter (weights)",
                      .y_label = "side of the square image (pixels)",
                      .value_label = "spatial: times as fast"};
    snprintf(chart.title, sizeof chart.title, "%s: where transforms take over, filters of %s",
             device_name(on_gpu), rank1 ? "rank 1" : "full rank");
    write_note(d, on_gpu, "Blue: transforms are faster.", &chart);
    gc_series *series = gc_chart_series(&chart, "measured", GC_SERIES_MEASURED, 0);
    for (int i = 0; i < count; i++) {
        if (scenes[i].rank1 != rank1 || scenes[i].width != scenes[i].height ||
            strcmp(scenes[i].samples, scenes[0].samples) != 0)
            continue;
        gc_sides sides;
        gc_scene_sides(d->points, &scenes[i], &sides);
        gc_numbers_add(&images, scenes[i].width);
        for (int j = 0; j < sides.squares.count; j++) {
            int side = sides.squares.at[j];
            double ratio = least_time(d, &scenes[i], on_gpu, true, side, side) /
                           least_time(d, &scenes[i], on_gpu, false, side, side);
            if (isfinite(ratio) && ratio > 0)
                gc_chart_dot(&chart, series,
                             (gc_dot){.x = side, .y = scenes[i].width, .value = ratio});
        }
    }
    if (images.count < 2)
        gc_chart_destroy(&chart);
    return gc_charts_add(d->charts, &chart, error);
}

gconv_status gc_draw_crossover_map(const gc_drawing *d, bool rank1, gconv_error *error)
{
    gconv_status status = draw_map(d, true, rank1, error);
    return status == GCONV_OK ? draw_map(d, false, rank1, error) : status;
}

gconv_status gc_draw_crossover(const gc_drawing *d, const gc_scene *scene, gconv_error *error)
{
    gc_sides sides;
    gc_scene_sides(d->points, scene, &sides);
    gconv_status status = GCONV_OK;
    bool has[2] = {has_both(d, scene, false), has_both(d, scene, true)};
    for (int gpu = 1; status == GCONV_OK && gpu >= 0; gpu--)
        if (has[gpu] && sides.squares.count > 1)
            status = draw(d, scene, &sides, gpu == 1, true, error);
    gc_scene_map_sides(d->points, scene, &sides);
    for (int gpu = 1; status == GCONV_OK && gpu >= 0; gpu--)
        if (has[gpu] && sides.grid)
            status = draw(d, scene, &sides, gpu == 1, false, error);
    return status;
}
