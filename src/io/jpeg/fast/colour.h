/* RGB rows from the planes of a JPEG, with the whole-number arithmetic of libjpeg-turbo: fancy
 * upsampling and YCbCr to RGB (jdsample.c, jdcolor.c). For processors with AVX2. */
#ifndef GC_IO_JPEG_FAST_COLOUR_H
#define GC_IO_JPEG_FAST_COLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Samples that rows given here may be read, and rows made here are written, behind their last. */
enum { GC_JPEG_COLOUR_STRAY = 32 };

/* How a row of Cb or Cr is made as wide as the image. */
typedef struct gc_jpeg_upsampling {
    bool across, down; /* a sample stands for two pixels in a row, in a column */
    uint32_t width;    /* of the plane: at least 3 samples if `across` */
} gc_jpeg_upsampling;

/* Makes 2 x `width` samples if `across`, else `width`. `near` is the plane's row of this row of
 * pixels. `far` is the row above it, or below it for odd rows of pixels; it counts if `down`.
 * `numbers` has room for `width` + GC_JPEG_COLOUR_STRAY of them. */
void gc_jpeg_upsample(const gc_jpeg_upsampling *how, const unsigned char *near,
                      const unsigned char *far, uint16_t *numbers, unsigned char *samples);

/* Makes `width` pixels of RGB; writes no byte behind them. */
void gc_jpeg_to_rgb(const unsigned char *y, const unsigned char *cb, const unsigned char *cr,
                    uint32_t width, unsigned char *rgb);

#endif
