/* Turns and mirrors images as EXIF orientations say. */
#pragma once

#include "gconv.h"

/* Orientations 5 to 8 swap width and height. */
bool gc_orientation_swaps(int orientation);

/* Reverses the pixels of a row in place. A pixel has at most 8 bytes. */
void gc_orient_mirror_row(unsigned char *row, uint32_t width, size_t pixel_bytes);

/* A whole image as it is stored. */
typedef struct gc_stored_image {
    const unsigned char *rows;
    gconv_shape shape;
    size_t stride; /* bytes from row to row */
    int orientation;
} gc_stored_image;

/* Writes rows first to first + count - 1 of the upright image. */
void gc_orient_rows(const gc_stored_image *stored, uint32_t first, uint32_t count,
                    unsigned char *rows, size_t stride);
