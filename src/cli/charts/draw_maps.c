#include "cli/charts/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void begin_map(const gc_scene *scene, gc_chart_kind kind, const char *what, gc_chart *chart)
{
    char where[GC_CHART_TEXT_BYTES];
    gc_scene_title(scene, where, sizeof where);
    *chart = (gc_chart){.kind = kind,
                        .x_label = "width of the filter (weights)",
                        .y_label = "height of the filter (weights)"};
    snprintf(chart->title, sizeof chart->title, "%.80s, %.90s", what, where);
}

static bool is_in_map(const gc_point *point, const gc_scene *scene, const gc_sides *sides,
                      const char *name)
{
    return strcmp(point->name, name) == 0 && gc_scene_holds(scene, point) &&
           gc_sides_hold(sides, point);
}

static bool has_cell(const gc_chart *chart, const gc_point *point)
{
    const gc_series *cells = &chart->series[0];
    for (size_t i = 0; i < cells->count; i++)
        if (cells->dots[i].x == point->filter_width && cells->dots[i].y == point->filter_height)
            return true;
    return false;
}

/* Adds empty cells where the implementation was tried and has no right result, to a map that has
 * other cells. */
static void add_empty(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                      const char *name, gc_chart *chart)
{
    for (size_t i = 0; gc_chart_dots(chart) > 0 && i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (strcmp(point->name, name) == 0 && gc_scene_lacks(scene, point) &&
            gc_sides_hold(sides, point) && !has_cell(chart, point))
            gc_chart_dot(
                chart, &chart->series[0],
                (gc_dot){.x = point->filter_width, .y = point->filter_height, .value = NAN});
    }
}

/* Maps of rates have one scale, up to the greatest rate of most. The fastest implementations have a
 * scale of their own where it would make others look alike, and so have those that are slow. */
enum { SCALES_APART = 4 };
static const double outstanding = 1.6;

/* The greatest rate of an implementation; 0 where it was not measured. */
static double greatest_rate(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                            const char *name)
{
    double most = 0;
    for (size_t i = 0; i < d->points->count; i++)
        if (is_in_map(&d->points->at[i], scene, sides, name))
            most = fmax(most, gc_point_gflops(&d->points->at[i]));
    return most;
}

/* The end of the common scale: the greatest rate of all but those that stand out. At least half of
 * the implementations stay below it. */
static double common_scale(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides)
{
    double rates[GC_SCENES_MAX];
    int count = 0;
    for (int i = 0; i < d->names.count; i++) {
        double rate = greatest_rate(d, scene, sides, d->names.at[i]);
        int place = count;
        if (!(rate > 0))
            continue;
        for (; place > 0 && rates[place - 1] > rate; place--)
            rates[place] = rates[place - 1];
        rates[place] = rate;
        count++;
    }
    int last = count - 1;
    while (last > 0 && last > count / 2 && rates[last] > outstanding * rates[last - 1])
        last--;
    return count > 0 ? rates[last] : 0;
}

static gconv_status draw_rates(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                               const char *name, double most, gconv_error *error)
{
    gc_chart chart;
    char what[80];
    snprintf(what, sizeof what, "GFLOP/s of %.60s", name);
    begin_map(scene, GC_CHART_SURFACE, what, &chart);
    snprintf(chart.value_label, sizeof chart.value_label, "GFLOP/s");
    double own = 0;
    bool on_gpu = false;
    gc_series *series = gc_chart_series(&chart, name, GC_SERIES_MEASURED, 0);
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (!is_in_map(point, scene, sides, name))
            continue;
        own = fmax(own, gc_point_gflops(point));
        on_gpu = on_gpu || point->kernel_seconds > 0;
        gc_chart_dot(&chart, series,
                     (gc_dot){.x = point->filter_width,
                              .y = point->filter_height,
                              .value = gc_point_gflops(point)});
    }
    add_empty(d, scene, sides, name, &chart);
    bool common = own > most / SCALES_APART && own <= most;
    chart.value_max = common ? most : own;
    snprintf(chart.note, sizeof chart.note, "%s%s",
             d->names.count == 1 ? ""
             : common            ? "Maps of rates have one scale, unless they say another. "
             : own > most        ? "These rates are high and have a scale of their own. "
                                 : "These rates are low and have a scale of their own. ",
             on_gpu ? gc_rate_note(d) : "");
    return gc_charts_add(d->charts, &chart, error);
}

/* The largest factor of adaptive: GC_FACTOR_MAX of gpu/ladder/tiling.h. */
enum { FACTOR_MAX = 16 };

static gconv_status draw_factors(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                                 const char *name, gconv_error *error)
{
    gc_chart chart;
    char what[80];
    int low = 0, high = 0;
    snprintf(what, sizeof what, "Tiling factor of %.60s", name);
    begin_map(scene, GC_CHART_FACTORS, what, &chart);
    snprintf(chart.value_label, sizeof chart.value_label, "tiling factor");
    gc_series *series = gc_chart_series(&chart, name, GC_SERIES_MEASURED, 0);
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (!is_in_map(point, scene, sides, name) || point->factor == 0)
            continue;
        low = low == 0 || point->factor < low ? point->factor : low;
        high = point->factor > high ? point->factor : high;
        gc_chart_dot(
            &chart, series,
            (gc_dot){.x = point->filter_width, .y = point->filter_height, .value = point->factor});
    }
    add_empty(d, scene, sides, name, &chart);
    bool is_chosen = strncmp(name, "adaptive", strlen("adaptive")) == 0;
    if (low == high && !is_chosen) { /* that of --tile or of the name */
        gc_chart_destroy(&chart);
        return GCONV_OK;
    }
    if (low == high)
        snprintf(chart.note, sizeof chart.note, "The factor is %d for every filter here%s", low,
                 low == FACTOR_MAX ? ", the largest that gconv has: no limit of this device asks "
                                     "for a smaller one."
                                   : ".");
    return gc_charts_add(d->charts, &chart, error);
}

/* How many times as fast `name` is as `over`. */
static gconv_status draw_ratio(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                               const char *name, const char *over, gconv_error *error)
{
    gc_chart chart;
    char what[80];
    double sum = 0;
    int count = 0;
    snprintf(what, sizeof what, "Speed-up of %.30s over %.30s", name, over);
    begin_map(scene, GC_CHART_RATIOS, what, &chart);
    snprintf(chart.value_label, sizeof chart.value_label, "%.80s: times as fast as %.80s", name,
             over);
    gc_series *series = gc_chart_series(&chart, what, GC_SERIES_MEASURED, 0);
    for (size_t i = 0; i < d->points->count; i++) {
        const gc_point *point = &d->points->at[i];
        if (!is_in_map(point, scene, sides, name))
            continue;
        const gc_point *other =
            gc_scene_point(d->points, scene, over, point->filter_width, point->filter_height);
        bool alike = other != NULL && (other->kernel_seconds > 0) == (point->kernel_seconds > 0);
        if (!alike) /* a CPU is no step before a GPU */
            continue;
        double ratio = gc_point_counted_seconds(other) / gc_point_counted_seconds(point);
        sum += ratio;
        count++;
        gc_chart_dot(&chart, series,
                     (gc_dot){.x = point->filter_width, .y = point->filter_height, .value = ratio});
    }
    add_empty(d, scene, sides, name, &chart);
    add_empty(d, scene, sides, over, &chart);
    if (count > 0)
        snprintf(chart.note, sizeof chart.note,
                 "The mean over these %d filters is %.2f. Orange: %.60s is faster; blue: %.60s is. "
                 "%s",
                 count, sum / count, name, over, gc_rate_note(d));
    return gc_charts_add(d->charts, &chart, error);
}

/* The implementation that is fastest on each filter. */
static gconv_status draw_fastest(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                                 gconv_error *error)
{
    gc_chart chart;
    begin_map(scene, GC_CHART_CLASSES, "The fastest implementation", &chart);
    snprintf(chart.note, sizeof chart.note, "%s", gc_time_note(d));
    for (int i = 0; i < d->names.count; i++)
        gc_chart_series(&chart, d->names.at[i], GC_SERIES_MEASURED,
                        gc_drawing_colour(d, d->names.at[i]));
    for (int x = 0; !chart.failed && x < sides->widths.count; x++)
        for (int y = 0; y < sides->heights.count; y++) {
            int width = sides->widths.at[x], height = sides->heights.at[y], best = -1;
            double least = HUGE_VAL;
            for (int i = 0; i < d->names.count; i++) {
                const gc_point *point =
                    gc_scene_point(d->points, scene, d->names.at[i], width, height);
                if (point == NULL || gc_point_time(point) >= least)
                    continue;
                least = gc_point_time(point);
                best = i;
            }
            if (best >= 0)
                gc_chart_dot(&chart, &chart.series[best], (gc_dot){.x = width, .y = height});
        }
    return gc_charts_add(d->charts, &chart, error);
}

/* What the sources compare by figures of one implementation each. */
static const struct {
    const char *preset, *name, *over;
} pairs[] = {
    {"adaptive-2011", "const", "naive:const"},               /* 3a, 2b */
    {"adaptive-2011", "const:32x32", "naive:const"},         /* 3b, 2b */
    {"adaptive-2011", "tiled:nopad:16x16x2", "const"},       /* 5a, 3a */
    {"adaptive-2011", "tiled:nopad", "tiled:nopad:16x16x2"}, /* 5b, 5a */
    {"adaptive-2011", "tiled:16x16x2", "tiled:nopad:16x16x2"},
    {"adaptive-2011", "tiled", "tiled:nopad"},            /* 6b, 5b */
    {"adaptive-2011", "tiled", "tiled:16x16x2"},          /* 6b, 6a */
    {"adaptive-2011", "tiled:32x32x2", "tiled:16x16x2"},  /* 7a, 6a */
    {"adaptive-2011", "tiled:32x32x4", "tiled:32x32x2"},  /* 7b, 7a */
    {"adaptive-2011", "adaptive:16x16", "tiled"},         /* 8, 6b */
    {"adaptive-2011", "adaptive:32x32", "tiled:32x32x4"}, /* 8, 7b */
    {"adaptive-2011", "adaptive", "tiled:32x32x4"},       /* 8c, 7b: 1.34 */
    {"adaptive-2014", "const", "naive"},                  /* 3b */
    {"adaptive-2014", "const:16x16", "naive"},            /* 3a */
    {"adaptive-2014", "tiled:nopad:16x16x2", "const:16x16"},
    {"adaptive-2014", "tiled:nopad", "tiled:nopad:16x16x2"}, /* 6b, 6a */
    {"adaptive-2014", "tiled:16x16x2", "tiled:nopad:16x16x2"},
    {"adaptive-2014", "tiled:16x16x4", "tiled:nopad"}, /* 9; 10b, 6b */
    {"adaptive-2014", "tiled:32x32x2", "const"},       /* 5a, 3b */
    {"adaptive-2014", "tiled", "tiled:32x32x2"},       /* 5b, 5a */
    {"adaptive-2014", "adaptive", "tiled"},            /* 11a, 5b */
    {"adaptive-2014", "adaptive:nc", "adaptive"},
    {"adaptive-2014", "adaptive:ours", "adaptive"},
    {"adaptive-2014", "adaptive:unrolled", "adaptive"}, /* 12, 11a */
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

/* Draws what the sources compare with one implementation. *drawn: there was something. */
static gconv_status draw_pairs(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                               const char *name, bool *drawn, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < PAIRS; i++) {
        if (strcmp(pairs[i].preset, d->preset) != 0 || strcmp(pairs[i].name, name) != 0 ||
            gc_names_find(&d->names, pairs[i].over) < 0)
            continue;
        *drawn = true;
        status = draw_ratio(d, scene, sides, name, pairs[i].over, error);
    }
    return status;
}

/* What a step is compared with where its source does not say it: a variant with what it varies,
 * where that came before; else the step before. */
static const char *step_before(const gc_drawing *d, int index)
{
    char base[GC_NAME_BYTES];
    snprintf(base, sizeof base, "%.*s", (int)strcspn(d->names.at[index], ":"), d->names.at[index]);
    int found = gc_names_find(&d->names, base);
    return d->names.at[found >= 0 && found < index ? found : index - 1];
}

static gconv_status draw_steps(const gc_drawing *d, const gc_scene *scene, const gc_sides *sides,
                               gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < d->names.count; i++) {
        bool drawn = false;
        status = draw_pairs(d, scene, sides, d->names.at[i], &drawn, error);
        if (status == GCONV_OK && !drawn && i > 0)
            status = draw_ratio(d, scene, sides, d->names.at[i], step_before(d, i), error);
    }
    return status;
}

/* Draws the speed-up over naive of the steps for which the papers give one. Where naive is the step
 * before, that map is there already. */
static gconv_status draw_over_naive(const gc_drawing *d, const gc_scene *scene,
                                    const gc_sides *sides, gconv_error *error)
{
    static const char *const steps[] = {"adaptive", "adaptive:unrolled"};
    int naive = gc_names_find(&d->names, "naive");
    if (naive < 0)
        naive = gc_names_find(&d->names, "naive:const");
    gconv_status status = GCONV_OK;
    for (size_t i = 0; naive >= 0 && i < sizeof steps / sizeof steps[0]; i++)
        if (status == GCONV_OK && gc_names_find(&d->names, steps[i]) > naive + 1)
            status = draw_ratio(d, scene, sides, steps[i], d->names.at[naive], error);
    return status;
}

gconv_status gc_draw_maps(const gc_drawing *d, const gc_scene *scene, gconv_error *error)
{
    gc_sides sides;
    gc_scene_sides(d->points, scene, &sides);
    if (!sides.grid)
        return GCONV_OK;
    gconv_status status = GCONV_OK;
    gc_scene_map_sides(d->points, scene, &sides);
    double most = common_scale(d, scene, &sides);
    for (int i = 0; status == GCONV_OK && i < d->names.count; i++)
        status = draw_rates(d, scene, &sides, d->names.at[i], most, error);
    for (int i = 0; status == GCONV_OK && i < d->names.count; i++)
        status = draw_factors(d, scene, &sides, d->names.at[i], error);
    /* Elsewhere names do not stand in the order of steps. */
    bool steps = strncmp(d->preset, "adaptive-", strlen("adaptive-")) == 0 || d->names.count == 2;
    if (status == GCONV_OK && steps)
        status = draw_steps(d, scene, &sides, error);
    if (status == GCONV_OK && steps)
        status = draw_over_naive(d, scene, &sides, error);
    if (status == GCONV_OK && d->names.count > 1)
        status = draw_fastest(d, scene, &sides, error);
    return status;
}
