/* A stretch of a JPEG: rows of MCUs that are decoded one after the other, to samples and RGB. */
#pragma once

#include "io/jpeg/fast/lanes.h"
#include "io/jpeg/fast/traces.h"

enum { GC_JPEG_FEED_BYTES = 256 * 1024 };

/* The source of more bytes of the file, when those of the place are used up. */
typedef struct gc_jpeg_feed {
    const struct gc_input *input;
    uint64_t offset; /* in the file, of the byte behind those that the place has */
    bool ended;
    unsigned char *bytes; /* GC_JPEG_FEED_BYTES */
} gc_jpeg_feed;

/* An image and how it is divided. */
typedef struct gc_jpeg_image {
    gc_jpeg_frame frame;
    uint32_t chunk;                  /* MCUs whose bytes fit a feed */
    uint32_t piece;                  /* MCUs that are taken before samples are made of them */
    uint32_t mcu_height;             /* pixels */
    size_t pitch[GC_JPEG_PARTS_MAX]; /* from row to row of samples; 0: not kept */
    bool interpolates;               /* a row of RGB needs Cb and Cr of the rows beside it */
} gc_jpeg_image;

typedef struct gc_jpeg_stretch {
    uint32_t first, count; /* rows of MCUs */
    gc_jpeg_place place;   /* where it begins in `bytes` */
    unsigned char *bytes;  /* its part of the file, if that is kept */
    size_t size, room;     /* of `bytes` */
    uint64_t left;         /* MCUs that are not joined yet, */
    uint32_t first_bit;    /* and the bit of bytes[0] where the others begin */
    int16_t *coefficients; /* of a piece, or of all its MCUs */
    gc_jpeg_lanes *lanes;  /* if it follows codes; may be NULL */
    unsigned char *planes[GC_JPEG_PARTS_MAX];
    unsigned char *rgb;     /* pixels, if they are made before they are asked for */
    unsigned char *scratch; /* for gc_jpeg_stretch_give */
    uint32_t end;           /* rows of the image that can be given are before it */
} gc_jpeg_stretch;

/* What a stretch holds beside planes. */
typedef struct gc_jpeg_holding {
    bool coefficients; /* of all its MCUs: then others follow the codes */
    bool rgb;          /* if that is wanted of the image */
} gc_jpeg_holding;

/* Chooses all but the frame. */
void gc_jpeg_image_divide(gc_jpeg_image *image);

/* Bytes that the samples of a row of MCUs take, and its pixels if RGB is wanted. */
size_t gc_jpeg_image_row_bytes(const gc_jpeg_image *image);

/* Fills `bytes`, which have `room`, behind the `size` ones that are there. Returns how many there
 * are then. */
size_t gc_jpeg_feed_read(gc_jpeg_feed *feed, unsigned char *bytes, size_t size, size_t room);

/* Makes sure that the place has the next `wanted` bytes, as far as the file has them. If it has
 * fewer, they move into the feed, and others are read behind them. What cannot be read counts as
 * the end: then libjpeg reads, and says so. */
void gc_jpeg_feed_more(gc_jpeg_feed *feed, gc_jpeg_place *place, size_t wanted);

/* Room for a stretch of `count` rows of MCUs. On failure too it is destroyed by the caller. */
bool gc_jpeg_stretch_create(gc_jpeg_stretch *stretch, const gc_jpeg_image *image, uint32_t count,
                            gc_jpeg_holding holding);
void gc_jpeg_stretch_destroy(gc_jpeg_stretch *stretch);

/* Follow stretch->count rows of MCUs from a place on, with bytes of the feed: to keep the bytes, or
 * to take all coefficients. False if they are not sound, or memory is out. `lanes` may be NULL.
 */
bool gc_jpeg_stretch_pass(gc_jpeg_stretch *stretch, const gc_jpeg_image *image, gc_jpeg_feed *feed,
                          gc_jpeg_place *place);
bool gc_jpeg_stretch_take(gc_jpeg_stretch *stretch, const gc_jpeg_image *image, gc_jpeg_feed *feed,
                          gc_jpeg_place *place, gc_jpeg_lanes *lanes);

/* Passes over stretch->count rows of MCUs by traces, and keeps the bytes. After
 * GC_JPEG_JOIN_LACKS it is called again in the next span. Behind the image `behind` bytes are
 * wanted. Before the first call, stretch->left are all MCUs. */
gc_jpeg_joined gc_jpeg_stretch_join(gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                                    gc_jpeg_join *join, size_t behind);

/* Decode a stretch: from a place, with bytes of the feed, after it was passed, or after it was
 * taken. False if it is not sound to its end. The rows before that can be given. */
bool gc_jpeg_stretch_decode(gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                            gc_jpeg_feed *feed, gc_jpeg_place *place);
bool gc_jpeg_stretch_decode_passed(gc_jpeg_stretch *stretch, const gc_jpeg_image *image);
bool gc_jpeg_stretch_decode_taken(gc_jpeg_stretch *stretch, const gc_jpeg_image *image);

/* Gives row `y` of the image. above[c] is the last row of samples of the stretch above, see
 * gc_jpeg_stretch_save. */
void gc_jpeg_stretch_give(gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                          unsigned char *const above[GC_JPEG_PARTS_MAX], uint32_t y,
                          unsigned char *row);

/* Copies the last rows of samples of a sound stretch, for the stretch below. Does nothing if the
 * image does not interpolate. */
void gc_jpeg_stretch_save(const gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                          unsigned char *const above[GC_JPEG_PARTS_MAX]);
