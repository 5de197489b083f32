/* EXIF blobs. The functions read and change the entries that describe the pixels: orientation,
 * resolution, width and height. They remove the thumbnail. */
#pragma once

#include "gconv.h"
#include "io/metadata.h"

enum { GC_ORIENTATION_UPRIGHT = 1, GC_ORIENTATION_UPSIDE_DOWN = 4, GC_ORIENTATION_COUNT = 8 };

/* Orientation of a TIFF structure ("II*\0..." or "MM\0*..."): the first value of the entry, which
 * may have any type of whole numbers. Upright if there is no such value from 1 to 8. */
int gc_exif_orientation(const unsigned char *exif, size_t size);

/* Makes the blob describe the upright picture: an orientation from 2 to 8 becomes one value of 1 in
 * its type. If it was a quarter turn, width and height, and horizontal and vertical resolution are
 * exchanged, too. */
void gc_exif_reset_orientation(unsigned char *exif, size_t size);

typedef enum gc_exif_state {
    GC_EXIF_SOUND,
    GC_EXIF_CUT,   /* the first directory says that it has more entries than there are */
    GC_EXIF_BROKEN /* there is no entry that can be read */
} gc_exif_state;

enum { GC_EXIF_ROOM_BYTES = 4 };

/* Repairs a first directory that is cut: keeps the entries that are whole, values included. The
 * offset of its next directory becomes one that gc_exif_drop_thumbnail takes for broken. There is
 * room for GC_EXIF_ROOM_BYTES more behind the blob, and *size may grow by them. */
gc_exif_state gc_exif_mend(unsigned char *exif, size_t *size);

/* The resolution that the blob gives, GC_RESOLUTION_NONE if it gives none. */
gc_resolution gc_exif_resolution(const unsigned char *exif, size_t size);

/* Removes the thumbnail: the second directory, the directories after it, and all that they refer
 * to. Bytes at the end of the blob are cut off, and *size shrinks. Other bytes become 0. On failure
 * the blob is unchanged. GCONV_ERROR_FORMAT: parts of the blob overlap so often that the work would
 * take too long. */
gconv_status gc_exif_drop_thumbnail(unsigned char *exif, size_t *size);
