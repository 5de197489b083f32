/* Whether a JPEG is sound: the judge of devices that have to find damage themselves. */
#pragma once

#include "io/jpeg/fast/header.h"

#include <stddef.h>

/* Has libjpeg read the header, without a warning, and then gc_jpeg_read_layout. Sets *picture.
 * Returns NULL, else what was met. Reads no byte beyond `size`. */
const char *jpeg_read_layout(const unsigned char *bytes, size_t size, gconv_encoded *picture,
                             gc_jpeg_layout *layout);

typedef struct jpeg_verdict {
    gconv_encoded picture; /* whose layout is the next member */
    gc_jpeg_layout layout;
    size_t bytes;       /* from SOI to EOI, both included */
    const char *reason; /* what was met; NULL if the file is sound */
} jpeg_verdict;

/* Judges the header (jpeg_read_layout) and the data, code by code and bit by bit. If the file is
 * sound, every decoder that follows the standard gives the planes that libjpeg-turbo gives, and
 * libjpeg-turbo does not warn. Else verdict->reason is a short phrase. Reads no byte beyond
 * `size`. */
bool jpeg_is_sound(const unsigned char *bytes, size_t size, jpeg_verdict *verdict);
