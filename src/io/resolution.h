/* How large a pixel is: numbers of pixels in a unit of length. */
#ifndef GC_IO_RESOLUTION_H
#define GC_IO_RESOLUTION_H

#include <stdint.h>

typedef enum gc_resolution_unit {
    GC_RESOLUTION_NONE,  /* nothing is known */
    GC_RESOLUTION_RATIO, /* only x : y, the shape of a pixel */
    GC_RESOLUTION_PER_INCH,
    GC_RESOLUTION_PER_CENTIMETRE,
    GC_RESOLUTION_PER_METRE
} gc_resolution_unit;

typedef struct gc_resolution {
    gc_resolution_unit unit;
    uint32_t x; /* pixels a unit */
    uint32_t y;
} gc_resolution;

/* A resolution in another unit, rounded to nearest. A ratio stays a ratio. The result is
 * GC_RESOLUTION_NONE if a number would be 0 or more than `largest`. */
gc_resolution gc_resolution_convert(gc_resolution resolution, gc_resolution_unit unit,
                                    uint32_t largest);

#endif
