/* Reads the header of a JPEG for devices that decode the data behind it. docs/gpu-jpeg.md says what
 * the header must be, and what the devices check. */
#ifndef GC_IO_JPEG_FAST_LAYOUT_H
#define GC_IO_JPEG_FAST_LAYOUT_H

#include "io/jpeg/fast/jpeg_layout.h"

#include <stdbool.h>

/* How many samples of Y there are for one of Cb and Cr. */
typedef enum gc_jpeg_sampling {
    GC_JPEG_GREY, /* no Cb and Cr */
    GC_JPEG_444,  /* 1 */
    GC_JPEG_422,  /* 2 in a row */
    GC_JPEG_420   /* 2 in a row, 2 in a column */
} gc_jpeg_sampling;

/* What is known of a JPEG beside its layout. libjpeg-turbo takes its colours as grey or as
 * YCbCr. */
typedef struct gc_jpeg_facts {
    uint32_t width, height;
    int components; /* 1 or 3 */
    gc_jpeg_sampling sampling;
    bool is_cut; /* the header goes on behind the bytes; may be set after a rejection, too */
} gc_jpeg_facts;

/* Whether the image that begins at bytes[0] has a header that devices take; of the data it proves
 * nothing. If not, *reason is a short phrase that says what was met, and *facts and *layout are
 * undefined: the file may be damaged, or only unusual. Reads no byte beyond `size`, which may be a
 * part of the file: facts->is_cut says whether more is needed. Takes no memory. */
bool gc_jpeg_read_layout(const unsigned char *bytes, size_t size, gc_jpeg_facts *facts,
                         gc_jpeg_layout *layout, const char **reason);

#endif
