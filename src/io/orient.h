/* Turns and mirrors images as the EXIF orientation says. */
#ifndef GC_IO_ORIENT_H
#define GC_IO_ORIENT_H

#include "gconv.h"

/* Orientations 5 to 8 swap width and height. */
bool gc_orientation_swaps(int orientation);

/* Reverses the pixels of a row in place. A pixel has at most 8 bytes. */
void gc_orient_mirror_row(unsigned char *row, uint32_t width, size_t pixel_bytes);

/* Writes rows first to first + count - 1 of the upright image. `image` is the whole stored image,
 * `stored` its shape, `stored_stride` the bytes from one of its rows to the next. */
void gc_orient_rows(const unsigned char *image, const gconv_shape *stored, size_t stored_stride,
                    int orientation, uint32_t first, uint32_t count, unsigned char *rows,
                    size_t stride);

#endif
