/* A whole image in memory. */
#pragma once

#include "base/memory_rows.h"

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

/* The rows of a picture as a source. `rows` holds the position of the source, and must live as long
 * as the source. */
gconv_source gc_picture_source(const gc_picture *picture, gc_memory_source *rows);
