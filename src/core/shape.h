/* Shapes of images: see gconv_shape. */
#pragma once

#include "gconv.h"

enum { GC_CHANNELS_MAX = 4 };

/* Refuses a depth that is not among `depths`, the sum of those that are possible. The message says
 * which these are. It begins with `of`, as "output ". */
gconv_status gc_depth_check(int depth, int depths, const char *of, gconv_error *error);

/* Refuses a shape that no image has, or whose depth is not among `depths`. */
gconv_status gc_shape_check(const gconv_shape *shape, int depths, const char *of,
                            gconv_error *error);
