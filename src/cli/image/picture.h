/* A whole image in memory. */
#ifndef GC_CLI_IMAGE_PICTURE_H
#define GC_CLI_IMAGE_PICTURE_H

#include "gconv.h"

typedef struct gc_picture {
    gconv_shape shape;
    size_t stride;
    unsigned char *samples; /* owned; NULL: there is no picture */
} gc_picture;

/* Reads the rest of an opened image, to its end. The picture is destroyed after a failure too. */
gconv_status gc_picture_read(gconv_reader *reader, gc_picture *picture, gconv_error *error);
void gc_picture_destroy(gc_picture *picture);

/* Whether every pixel is opaque. */
bool gc_picture_is_opaque(const gc_picture *picture);

/* The rows of a picture as a source. `rows` says where the source stands and lives as long. */
typedef struct gc_picture_rows {
    const gc_picture *picture;
    uint32_t given; /* rows that were read */
} gc_picture_rows;

gconv_source gc_picture_source(gc_picture_rows *rows);

#endif
