/* Points that files keep: what --json and --resume wrote. */
#pragma once

#include "cli/measure/point.h"

/* Whether both were measured with the same preset, image, filter and name. */
bool gc_point_is_same(const gc_point *a, const gc_point *b);

/* The first point that was measured on the image and with the filter that `wanted` says; NULL if
 * there is none. `timed`: it must have times. */
const gc_point *gc_points_find(const gc_points *points, const gc_point *wanted, bool timed);

/* Reads an open file, up to 256 MiB, to its end. free releases *text. */
gconv_status gc_read_kept(int descriptor, char **text, size_t *size, gconv_error *error);

/* The length of the whole lines of a text. */
size_t gc_whole_lines(const char *text, size_t size);

/* Adds every point that JSON holds: objects of gc_point_json, wherever they stand. `preset` is that
 * of all points. points->gpu gets the roofs of a GPU that the text names. GCONV_ERROR_FORMAT if the
 * text is not JSON, or a point has a value that cannot be. */
gconv_status gc_points_read(const char *text, size_t size, const char *preset, gc_points *points,
                            gconv_error *error);
