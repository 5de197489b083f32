/* The one thing of an EXIF blob that changes pixels: orientation. */
#ifndef GC_IO_EXIF_H
#define GC_IO_EXIF_H

#include <stddef.h>

enum { GC_ORIENTATION_UPRIGHT = 1, GC_ORIENTATION_COUNT = 8 };

/* Orientation of a TIFF structure ("II*\0..." or "MM\0*..."): 1 to 8, 1 where it says none, 0 where
 * the structure is broken or the value is not one of these. */
int gc_exif_orientation(const unsigned char *exif, size_t size);

/* Sets the orientation to 1 where there is one. */
void gc_exif_reset_orientation(unsigned char *exif, size_t size);

#endif
