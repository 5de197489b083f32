/* EXIF blobs. The functions read and change the entries that describe the pixels: orientation,
 * resolution, width and height. They remove the thumbnail. */
#ifndef GC_IO_EXIF_H
#define GC_IO_EXIF_H

#include "gconv.h"
#include "io/resolution.h"

enum { GC_ORIENTATION_UPRIGHT = 1, GC_ORIENTATION_UPSIDE_DOWN = 4, GC_ORIENTATION_COUNT = 8 };

/* Orientation of a TIFF structure ("II*\0..." or "MM\0*..."), 1 to 8. 1 where it has no such entry.
 * 0 where the structure is broken or the value is not within 1 to 8. */
int gc_exif_orientation(const unsigned char *exif, size_t size);

/* Makes the blob describe the upright picture: sets an orientation entry to 1. Where the
 * orientation was a quarter turn, it also exchanges width and height, and horizontal and vertical
 * resolution. */
void gc_exif_reset_orientation(unsigned char *exif, size_t size);

/* The resolution that the blob gives, GC_RESOLUTION_NONE where it gives none. */
gc_resolution gc_exif_resolution(const unsigned char *exif, size_t size);

/* Removes the thumbnail: the second directory, the directories after it, and all that they refer
 * to. Bytes at the end of the blob are cut off, and *size shrinks. Other bytes become 0. On failure
 * the blob is unchanged. GCONV_ERROR_FORMAT: parts of the blob overlap so often that the work would
 * take too long. */
gconv_status gc_exif_drop_thumbnail(unsigned char *exif, size_t *size);

#endif
