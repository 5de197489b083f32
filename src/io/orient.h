/* EXIF orientation, as a permutation of pixels. */
#ifndef GC_IO_ORIENT_H
#define GC_IO_ORIENT_H

#include "gconv.h"

/* Orientations 5 to 8 swap width and height. */
bool gc_orientation_swaps(int orientation);

/* Reverses the pixels of a row in place. */
void gc_orient_mirror_row(unsigned char *row, uint32_t width, size_t pixel_bytes);

/* Rows first .. first+count of the upright image, from the whole stored image: `stored` is
 * its shape, `stored_stride` the bytes between its rows. */
void gc_orient_rows(const unsigned char *image, const gconv_shape *stored, size_t stored_stride,
                    int orientation, uint32_t first, uint32_t count, unsigned char *rows,
                    size_t stride);

#endif
