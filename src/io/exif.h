/* What of an EXIF blob concerns pixels: orientation, resolution, sides and the thumbnail. */
#ifndef GC_IO_EXIF_H
#define GC_IO_EXIF_H

#include "io/metadata.h"

enum { GC_ORIENTATION_UPRIGHT = 1, GC_ORIENTATION_COUNT = 8 };

/* Orientation of a TIFF structure ("II*\0..." or "MM\0*..."): 1 to 8, 1 where it says none, 0 where
 * the structure is broken or the value is not one of these. */
int gc_exif_orientation(const unsigned char *exif, size_t size);

/* Makes the blob describe the upright picture: sets the orientation to 1 where there is one, and
 * exchanges widths and heights, horizontal and vertical resolutions where it was a quarter turn. */
void gc_exif_reset_orientation(unsigned char *exif, size_t size);

/* The resolution that the blob gives, GC_RESOLUTION_NONE where it gives none. */
gc_resolution gc_exif_resolution(const unsigned char *exif, size_t size);

/* Takes the thumbnail out, so that no byte of it is left: the second directory, those after it, and
 * what they refer to. *size shrinks where that lies at the end, elsewhere it becomes zeros.
 * GCONV_ERROR_MEMORY where memory is out, GCONV_ERROR_FORMAT where parts of the blob lie over each
 * other many times: the blob is as it was. */
gconv_status gc_exif_drop_thumbnail(unsigned char *exif, size_t *size);

#endif
