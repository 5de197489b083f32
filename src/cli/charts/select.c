#include "cli/charts/select.h"

#include <stdio.h>
#include <string.h>

bool gc_point_counts(const gc_point *point)
{
    bool right = point->verdict == GC_VERDICT_EXACT || point->verdict == GC_VERDICT_WITHIN;
    return right && point->runs > 0 && point->seconds > 0;
}

bool gc_points_have_gpu(const gc_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        if (points->at[i].kernel_seconds > 0)
            return true;
    return false;
}

double gc_point_time(const gc_point *point)
{
    return point->kernel_seconds > 0 ? point->kernel_seconds : point->seconds;
}

double gc_point_gflops(const gc_point *point)
{
    return 1e-9 * point->flops;
}

bool gc_is_transform(const char *name)
{
    return strncmp(name, "fft", 3) == 0 || strncmp(name, "tilefft", 7) == 0 ||
           strcmp(name, "cpu:tiles") == 0;
}

int gc_names_find(const gc_names *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return i;
    return -1;
}

void gc_names_collect(const gc_points *points, gc_names *names)
{
    names->count = 0;
    for (size_t i = 0; i < points->count && names->count < GC_SCENES_MAX; i++) {
        const gc_point *point = &points->at[i];
        if (gc_point_counts(point) && gc_names_find(names, point->name) < 0)
            names->at[names->count++] = point->name;
    }
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static bool is_of_scene(const gc_scene *scene, const gc_point *point)
{
    return point->filter_width > 0 && point->width == scene->width &&
           point->height == scene->height && point->rank1 == scene->rank1 &&
           strcmp(point->samples, scene->samples) == 0;
}

bool gc_scene_holds(const gc_scene *scene, const gc_point *point)
{
    return gc_point_counts(point) && is_of_scene(scene, point);
}

bool gc_scene_lacks(const gc_scene *scene, const gc_point *point)
{
    return !gc_point_counts(point) && is_of_scene(scene, point);
}

int gc_scenes_collect(const gc_points *points, gc_scene scenes[GC_SCENES_MAX])
{
    int count = 0;
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        bool known = !gc_point_counts(point) || point->filter_width == 0;
        for (int j = 0; !known && j < count; j++)
            known = gc_scene_holds(&scenes[j], point);
        if (!known && count < GC_SCENES_MAX)
            scenes[count++] = (gc_scene){point->width, point->height, point->samples, point->rank1};
    }
    return count;
}

bool gc_filter_scene_holds(const gc_filter_scene *scene, const gc_point *point)
{
    return gc_point_counts(point) && point->filter_width == scene->width &&
           point->filter_height == scene->height && point->rank1 == scene->rank1 &&
           strcmp(point->samples, scene->samples) == 0 && strcmp(point->filter, scene->filter) == 0;
}

int gc_filter_scenes_collect(const gc_points *points, gc_filter_scene scenes[GC_SCENES_MAX])
{
    int count = 0;
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        bool known = !gc_point_counts(point);
        for (int j = 0; !known && j < count; j++)
            known = gc_filter_scene_holds(&scenes[j], point);
        if (!known && count < GC_SCENES_MAX)
            scenes[count++] = (gc_filter_scene){point->filter_width, point->filter_height,
                                                point->samples, point->filter, point->rank1};
    }
    return count;
}

void gc_scene_sides(const gc_points *points, const gc_scene *scene, gc_sides *sides)
{
    *sides = (gc_sides){.grid = false};
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        if (!gc_scene_holds(scene, point))
            continue;
        gc_numbers_add(&sides->widths, point->filter_width);
        gc_numbers_add(&sides->heights, point->filter_height);
        if (point->filter_width == point->filter_height)
            gc_numbers_add(&sides->squares, point->filter_width);
        else
            sides->grid = true;
    }
}

bool gc_sides_hold(const gc_sides *sides, const gc_point *point)
{
    return gc_numbers_find(&sides->widths, point->filter_width) >= 0 &&
           gc_numbers_find(&sides->heights, point->filter_height) >= 0;
}

enum { RECTANGLE_SIDES_MAX = 64 };

void gc_scene_map_sides(const gc_points *points, const gc_scene *scene, gc_sides *sides)
{
    gc_sides rectangles = {.grid = true};
    bool seen[RECTANGLE_SIDES_MAX][RECTANGLE_SIDES_MAX] = {{false}};
    int count = 0;
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        if (!gc_scene_holds(scene, point) || point->filter_width == point->filter_height)
            continue;
        gc_numbers_add(&rectangles.widths, point->filter_width);
        gc_numbers_add(&rectangles.heights, point->filter_height);
    }
    int columns = rectangles.widths.count, rows = rectangles.heights.count;
    int measured_at_most = columns * rows + sides->squares.count;
    int cells = sides->widths.count * sides->heights.count;
    if (columns > RECTANGLE_SIDES_MAX || rows > RECTANGLE_SIDES_MAX || 4 * measured_at_most > cells)
        return;
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        if (!gc_scene_holds(scene, point) || !gc_sides_hold(&rectangles, point))
            continue;
        bool *cell = &seen[gc_numbers_find(&rectangles.widths, point->filter_width)]
                          [gc_numbers_find(&rectangles.heights, point->filter_height)];
        count += !*cell;
        *cell = true;
    }
    if (count == 0 || count < columns * rows)
        return;
    sides->widths = rectangles.widths;
    sides->heights = rectangles.heights;
}

const gc_point *gc_scene_point(const gc_points *points, const gc_scene *scene, const char *name,
                               int width, int height)
{
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        if (point->filter_width == width && point->filter_height == height &&
            strcmp(point->name, name) == 0 && gc_scene_holds(scene, point))
            return point;
    }
    return NULL;
}

void gc_scene_title(const gc_scene *scene, char *text, size_t size)
{
    snprintf(text, size, "%dx%d%s%s%s", scene->width, scene->height,
             scene->samples[0] != '\0' ? ", " : "", scene->samples,
             scene->rank1 ? ", filters of rank 1" : "");
}
