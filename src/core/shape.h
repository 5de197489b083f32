/* Shapes of images: see gconv_shape. */
#ifndef GC_CORE_SHAPE_H
#define GC_CORE_SHAPE_H

#include "gconv.h"

enum { GC_CHANNELS_MAX = 4 };

#endif
