/* Pixels of a large image at which results are checked. */
#ifndef GC_LAB_BENCH_SPOTS_H
#define GC_LAB_BENCH_SPOTS_H

#include "gconv_lab.h"

#include <stddef.h>

enum { GC_SPOTS_MAX = 192 };

/* Chooses pixels where results go wrong: the corners, on the edges, beside boundaries of tiles and
 * bands, and all over the image. The same image has the same pixels. `taps` is how many weights a
 * value takes: there are fewer pixels if each of them takes long. Returns how many. */
size_t gc_spots_choose(uint32_t width, uint32_t height, double taps,
                       gconv_pixel spots[GC_SPOTS_MAX]);

#endif
