/* The charts that fit points. */
#ifndef GC_CLI_CHARTS_CHARTS_H
#define GC_CLI_CHARTS_CHARTS_H

#include "cli/charts/published.h"
#include "cli/charts/select.h"
#include "cli/draw/chart.h"

/* What makers of charts share. */
typedef struct gc_drawing {
    const gc_points *points;
    double bandwidth, peak; /* of the GPU: bytes and operations a second; 0 where there is none */
    const char *preset;     /* "" where there is none */
    gc_names names;
    gc_charts *charts;
} gc_drawing;

/* Makes all charts of points. `bandwidth` and `peak` are those of the GPU that took part, in bytes
 * and operations a second; 0 where there is none. */
gconv_status gc_charts_make(const gc_points *points, double bandwidth, double peak,
                            gc_charts *charts, gconv_error *error);

/* ---- One kind of charts each: adds those that have something to show -------------------------- */

/* GFLOP/s over the side of square filters. */
gconv_status gc_draw_sides(const gc_drawing *d, const gc_scene *scene, gconv_error *error);

/* Maps over width and height of filters: rates, steps over each other, factors, the fastest. */
gconv_status gc_draw_maps(const gc_drawing *d, const gc_scene *scene, gconv_error *error);

/* Spatial implementations over those by Fourier transforms. */
gconv_status gc_draw_crossover(const gc_drawing *d, const gc_scene *scene, gconv_error *error);

gconv_status gc_draw_crossover_map(const gc_drawing *d, bool rank1, gconv_error *error);

/* Time and speed-up over the side of square images. */
gconv_status gc_draw_images(const gc_drawing *d, const gc_filter_scene *scene, gconv_error *error);

/* One row an implementation, of one filter on one image. */
gconv_status gc_draw_rows(const gc_drawing *d, const gc_filter_scene *scene, gconv_error *error);

/* Arithmetic intensity against rate. */
gconv_status gc_draw_rooflines(const gc_drawing *d, gconv_error *error);

/* Transforms of lines and the bound of De Smet 2011. */
gconv_status gc_draw_locality(const gc_drawing *d, gconv_error *error);

/* The rates that the equations of KTH 2018 allow. */
gconv_status gc_draw_theory(const gc_drawing *d, gconv_error *error);

/* ---- For makers ------------------------------------------------------------------------------ */

/* The name of the implementation that stands for a published step: the first that was measured, else
 * the first of the row, else the step's own name. Returns `name`. */
const char *gc_drawing_name(const gc_drawing *d, const gc_published *row, char *name, size_t size);

/* The colour of an implementation: the same in all charts. Published steps that were not measured
 * come behind the measured ones. */
int gc_drawing_colour(const gc_drawing *d, const char *name);

/* What rates and times on a GPU hold, for the notes of charts; "" where no GPU took part. */
const char *gc_rate_note(const gc_drawing *d);
const char *gc_time_note(const gc_drawing *d);

#endif
