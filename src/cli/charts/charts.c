#include "cli/charts/charts.h"

#include "cli/charts/makers.h"

#include <string.h>

/* Filters that get a chart over images, or rows, of their own: others are in the tables. */
enum { FILTERS_DRAWN_MAX = 4 };

static gconv_status draw_scenes(const gc_drawing *d, gconv_error *error)
{
    gc_scene scenes[GC_SCENES_MAX];
    int count = gc_scenes_collect(d->points, scenes);
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < count; i++) {
        status = gc_draw_sides(d, &scenes[i], error);
        if (status == GCONV_OK)
            status = gc_draw_crossover(d, &scenes[i], error);
        if (status == GCONV_OK)
            status = gc_draw_maps(d, &scenes[i], error);
    }
    return status;
}

/* Whether filter `index` of `count` is among those that are drawn: the first, the last and some in
 * between. */
static bool is_drawn(int index, int count)
{
    if (count <= FILTERS_DRAWN_MAX)
        return true;
    for (int i = 0; i < FILTERS_DRAWN_MAX; i++)
        if (index == i * (count - 1) / (FILTERS_DRAWN_MAX - 1))
            return true;
    return false;
}

/* Whether a chart over the sides of filters shows the filter. */
static bool is_in_scene(const gc_drawing *d, const gc_filter_scene *filter)
{
    gc_scene scenes[GC_SCENES_MAX];
    int count = gc_scenes_collect(d->points, scenes);
    for (int i = 0; filter->width > 0 && i < count; i++) {
        gc_sides sides;
        gc_scene_sides(d->points, &scenes[i], &sides);
        if (scenes[i].rank1 == filter->rank1 && (sides.squares.count > 1 || sides.grid))
            return true;
    }
    return false;
}

static gconv_status draw_filters(const gc_drawing *d, gconv_error *error)
{
    gc_filter_scene scenes[GC_SCENES_MAX];
    int count = gc_filter_scenes_collect(d->points, scenes);
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < count; i++) {
        size_t before = d->charts->count;
        if (is_drawn(i, count))
            status = gc_draw_images(d, &scenes[i], error);
        if (status == GCONV_OK && d->charts->count == before && !is_in_scene(d, &scenes[i]))
            status = gc_draw_rows(d, &scenes[i], error);
    }
    return status;
}

gconv_status gc_charts_make(const gc_points *points, gc_roofs gpu, gc_roofs cpu, gc_charts *charts,
                            gconv_error *error)
{
    gc_drawing d = {.points = points,
                    .gpu = gpu,
                    .cpu = cpu,
                    .preset = points->count > 0 ? points->at[0].preset : "",
                    .charts = charts};
    gc_names_collect(points, &d.names);
    gconv_status status = GCONV_OK;
    if (strcmp(d.preset, "fft-locality") == 0)
        return gc_draw_locality(&d, error);
    bool roofline_first = strcmp(d.preset, "roofline") == 0;
    if (roofline_first)
        status = gc_draw_rooflines(&d, error);
    for (int rank1 = 0; status == GCONV_OK && rank1 < 2; rank1++)
        status = gc_draw_crossover_map(&d, rank1 == 1, error);
    if (status == GCONV_OK)
        status = draw_filters(&d, error);
    if (status == GCONV_OK)
        status = gc_draw_theory(&d, error);
    if (status == GCONV_OK)
        status = draw_scenes(&d, error);
    if (status == GCONV_OK && !roofline_first)
        status = gc_draw_rooflines(&d, error);
    return status;
}
