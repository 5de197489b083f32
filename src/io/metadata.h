/* What an image file carries beside its pixels. */
#ifndef GC_IO_METADATA_H
#define GC_IO_METADATA_H

#include "gconv.h"
#include "io/warnings.h"

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

enum { GC_CHROMATICITY_COUNT = 8 };

struct gconv_metadata {
    unsigned char *icc; /* NULL where there is none */
    size_t icc_bytes;
    unsigned char *exif; /* a TIFF structure, without "Exif\0\0"; NULL where there is none */
    size_t exif_bytes;
    gc_resolution resolution;
    bool has_xmp; /* these three are not kept, only told of */
    bool has_iptc;
    bool has_comment;
    bool has_srgb;
    int srgb_intent;
    bool has_gamma;
    int32_t gamma; /* times 100000, as in gAMA */
    bool has_chromaticities;
    int32_t chromaticities[GC_CHROMATICITY_COUNT]; /* as in cHRM: white, red, green, blue x and y */
};

void gc_metadata_clear(gconv_metadata *metadata);

/* Keeps a copy; GCONV_ERROR_MEMORY where there is no room for it. Of EXIF the thumbnail is not kept,
 * as it shows the picture before it was filtered, and its resolution becomes that of the image
 * where none is known yet: that of the container comes first. */
gconv_status gc_metadata_set_icc(gconv_metadata *metadata, const void *bytes, size_t size,
                                 const gc_warnings *warnings, gconv_error *error);
gconv_status gc_metadata_set_exif(gconv_metadata *metadata, const void *bytes, size_t size,
                                  const gc_warnings *warnings, gconv_error *error);

/* Orientation of the EXIF blob, 1 to 8; a broken blob is dropped with a warning and counts as 1. */
int gc_metadata_orientation(gconv_metadata *metadata, const gc_warnings *warnings);

/* The part of `metadata` (may be NULL) that `keep` lets through and that fits an image of so many
 * channels, with warnings of what is lost although all was to be kept. It borrows the blobs of `metadata` and is not cleared. */
gconv_metadata gc_metadata_select(const gconv_metadata *metadata, gconv_keep keep, int channels,
                                  const gc_warnings *warnings);

/* The same resolution in another unit, rounded to nearest; a ratio stays one, and what is beyond
 * `largest` becomes GC_RESOLUTION_NONE. */
gc_resolution gc_resolution_convert(gc_resolution resolution, gc_resolution_unit unit,
                                    uint32_t largest);

#endif
