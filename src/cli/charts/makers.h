/* The makers of charts, in the files draw_*.c. Each makes one kind of charts, and adds those that
 * have something to show. */
#ifndef GC_CLI_CHARTS_MAKERS_H
#define GC_CLI_CHARTS_MAKERS_H

#include "cli/charts/drawing.h"

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

#endif
