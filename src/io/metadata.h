/* Metadata: what an image file carries beside its pixels. */
#pragma once

#include "base/status.h"
#include "gconv.h"

/* ---- Warnings -------------------------------------------------------------------------------- */

/* Lines for people. A warning changes no result and no status. */

/* The callbacks for warnings of one reader or writer. */
typedef struct gc_warnings {
    void (*warn)(void *user, const char *message);   /* may be NULL */
    void (*damage)(void *user, const char *message); /* NULL: `warn` takes it */
    void *user;
    gconv_keep keep; /* see gconv_reader_options */
    bool whole;
} gc_warnings;

/* Gives `warn` one line with control characters escaped. Does nothing if `warn` is NULL. */
void gc_warn(const gc_warnings *warnings, const char *format, ...) GC_PRINTF(2, 3);

/* gc_warn for what readers of the pixels have to know: see gconv_reader_options. */
void gc_warn_damage(const gc_warnings *warnings, const char *format, ...) GC_PRINTF(2, 3);

/* ---- Metadata -------------------------------------------------------------------------------- */

/* How large a pixel is: numbers of pixels in a unit of length. */
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

enum { GC_CHROMATICITY_COUNT = 8 };

/* How a JPEG was compressed. */
typedef struct gc_jpeg_form {
    int tables;                 /* that are known, one a component: up to 3; 0: it is no JPEG */
    bool luma;                  /* the first one is for brightness, others are for Cb and Cr */
    uint16_t steps[3][64];      /* of quantisation, row by row */
    uint8_t across[3], down[3]; /* sampling factors of components; 0: not to be had again */
} gc_jpeg_form;

/* Tags of a TIFF that are copied to a TIFF, those of GeoTIFF first; from the description on they
 * are texts: see libtiff.c. */
enum { GC_TIFF_GEO_TAGS = 6, GC_TIFF_NODATA, GC_TIFF_DESCRIPTION = 8, GC_TIFF_TAGS = 16 };

typedef struct gc_tiff_tag {
    void *values; /* NULL: the file does not have it */
    uint32_t count;
} gc_tiff_tag;

/* What is copied as bytes, for most formats in this order. */
typedef enum gc_blob_kind {
    GC_ICC,
    GC_EXIF, /* a TIFF structure, without "Exif\0\0" */
    GC_XMP,  /* a packet of XML */
    GC_IPTC, /* image resources of Photoshop, which a JPEG may have */
    GC_BLOBS
} gc_blob_kind;

typedef struct gc_blob {
    unsigned char *bytes; /* NULL: there is none */
    size_t size;
} gc_blob;

struct gconv_metadata {
    struct gc_y4m *y4m; /* the decoder's stream, which writers need whatever is kept; or NULL */
    gc_tiff_tag tags[GC_TIFF_TAGS];
    bool is_long;    /* pages of a TIFF that may exceed 4 GiB together */
    int compression; /* of a TIFF, as gconv_writer_options has it: what it is without a choice */
    gc_jpeg_form jpeg;
    gc_blob blobs[GC_BLOBS];
    gc_resolution resolution;
    /* The file has these; gconv does not keep them, and warns. */
    bool has_comment;
    bool has_private_chunk; /* of a PNG */
    bool has_cmyk;          /* of a JPEG */
    int private_tags;       /* of a TIFF, and the first of them */
    uint32_t private_tag;
    bool has_srgb;
    int srgb_intent;
    bool has_gamma;
    int32_t gamma; /* times 100000, as in gAMA */
    bool has_chromaticities;
    int32_t chromaticities[GC_CHROMATICITY_COUNT]; /* as in cHRM: white, red, green, blue x and y */
};

void gc_metadata_clear(gconv_metadata *metadata);

/* Warns that something of this part of the metadata is lost, or fails if it has to be kept. `what`
 * names it and the reason, such as "EXIF is damaged". */
gconv_status gc_metadata_lose(const gc_warnings *warnings, gconv_keep part, const char *what,
                              gconv_error *error);

/* Fails if all has to be kept, and the file has what gconv never keeps: see rule 36 of
 * docs/contract.md. Comments may go. */
gconv_status gc_metadata_check(const gconv_metadata *metadata, const gc_warnings *warnings,
                               gconv_error *error);

/* Keeps a copy of a blob, the first one of its kind, as far as it is not damaged. Thumbnails are
 * removed from EXIF, and a blob that has one otherwise is lost: they show the picture before it was
 * filtered. The resolution in EXIF becomes the image's if the file itself gives none. An empty blob
 * is dropped with a warning. */
gconv_status gc_metadata_keep(gconv_metadata *metadata, gc_blob_kind kind, const void *bytes,
                              size_t size, const gc_warnings *warnings, gconv_error *error);

/* Frees a blob: the metadata have none of its kind then. */
void gc_metadata_drop(gconv_metadata *metadata, gc_blob_kind kind);

/* The pixels have been turned: EXIF and XMP say so. */
void gc_metadata_set_upright(gconv_metadata *metadata);

/* The part of `metadata` (may be NULL) that `keep` asks for and that fits an image of `channels`
 * channels and `format`, and what says how the file was made. Warns of what is lost if everything
 * was to be kept. The result borrows the blobs of `metadata`: do not clear the result. */
gconv_metadata gc_metadata_select(const gconv_metadata *metadata, gconv_keep keep,
                                  gconv_format format, int channels, const gc_warnings *warnings);
