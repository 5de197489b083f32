/* Which points a chart shows. */
#ifndef GC_CLI_CHARTS_SELECT_H
#define GC_CLI_CHARTS_SELECT_H

#include "cli/draw/grid.h"
#include "cli/measure/points.h"

/* Points that may stand in one chart over the sides of filters: those of an image and a kind of
 * filter. */
typedef struct gc_scene {
    int width, height; /* of the image */
    const char *samples;
    bool rank1;
} gc_scene;

/* Points that may stand in one chart over the sides of images: those of a filter. */
typedef struct gc_filter_scene {
    int width, height; /* of the filter */
    const char *samples, *filter;
    bool rank1;
} gc_filter_scene;

enum { GC_SCENES_MAX = 64 };

typedef struct gc_names {
    const char *at[GC_SCENES_MAX];
    int count;
} gc_names;

/* Whether a point was timed and is right. */
bool gc_point_counts(const gc_point *point);

/* Whether a GPU has taken part in the points. */
bool gc_points_have_gpu(const gc_points *points);

/* The time by which implementations are compared: on a GPU that of its kernels, on the CPU that of
 * the run. */
double gc_point_time(const gc_point *point);

/* 10^9 floating-point operations a second, in the time of the convolution. */
double gc_point_gflops(const gc_point *point);

/* Whether the name is of an implementation by Fourier transforms. */
bool gc_is_transform(const char *name);

/* The names of all points that count, in the order of the points. */
void gc_names_collect(const gc_points *points, gc_names *names);

/* The place of a name; -1 where it is not there. */
int gc_names_find(const gc_names *names, const char *name);

/* The scenes of points that count and have one filter. Returns their number. */
int gc_scenes_collect(const gc_points *points, gc_scene scenes[GC_SCENES_MAX]);
int gc_filter_scenes_collect(const gc_points *points, gc_filter_scene scenes[GC_SCENES_MAX]);

bool gc_scene_holds(const gc_scene *scene, const gc_point *point);

/* Whether a point would stand in the scene, if it had a right result. */
bool gc_scene_lacks(const gc_scene *scene, const gc_point *point);
bool gc_filter_scene_holds(const gc_filter_scene *scene, const gc_point *point);

/* The sides of filters in a scene. */
typedef struct gc_sides {
    gc_numbers squares, widths, heights;
    bool grid; /* filters are not square alone */
} gc_sides;

void gc_scene_sides(const gc_points *points, const gc_scene *scene, gc_sides *sides);

/* Leaves the widths and heights of rectangles alone, where every pair of them was measured, and
 * most cells of a map of all sides would be empty: other squares would be a diagonal in it. */
void gc_scene_map_sides(const gc_points *points, const gc_scene *scene, gc_sides *sides);

/* Whether the width and the height of the filter are among the sides. */
bool gc_sides_hold(const gc_sides *sides, const gc_point *point);

/* The point of an implementation on a filter; NULL where it was not measured. */
const gc_point *gc_scene_point(const gc_points *points, const gc_scene *scene, const char *name,
                               int width, int height);

/* "4096x4096, grey8, filters of rank 1" */
void gc_scene_title(const gc_scene *scene, char *text, size_t size);

#endif
