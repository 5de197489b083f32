/* Pixels of a large image at which results are checked. */
#ifndef GC_LAB_BENCH_SPOTS_H
#define GC_LAB_BENCH_SPOTS_H

#include "gconv_lab.h"

#include <stddef.h>

enum { GC_SPOTS_MAX = 192 };

typedef struct gc_spots {
    gconv_pixel at[GC_SPOTS_MAX];
    size_t count;
} gc_spots;

/* Chooses pixels where results go wrong: the corners, on the edges, beside boundaries of tiles and
 * bands, and all over the image. The same image has the same pixels. `taps` is how many weights a
 * value takes: there are fewer pixels where each of them takes long. */
void gc_spots_choose(uint32_t width, uint32_t height, double taps, gc_spots *spots);

#endif
