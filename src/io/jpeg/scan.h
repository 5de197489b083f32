/* Reads a JPEG for other decoders than libjpeg. For those that do not find damage themselves it is
 * proved sound, without decoding it to pixels; the others need its header alone.
 * docs/gpu-jpeg.md says what is proved and why that is enough. */
#ifndef GC_IO_JPEG_SCAN_H
#define GC_IO_JPEG_SCAN_H

#include "core/jpeg_layout.h"

#include <stdbool.h>

/* How many samples of Y there are for one of Cb and Cr. */
typedef enum gc_jpeg_sampling {
    GC_JPEG_GREY, /* no Cb and Cr */
    GC_JPEG_444,  /* 1 */
    GC_JPEG_422,  /* 2 in a row */
    GC_JPEG_420   /* 2 in a row, 2 in a column */
} gc_jpeg_sampling;

/* What is known of a JPEG. libjpeg-turbo takes its colours as grey or as YCbCr. */
typedef struct gc_jpeg_facts {
    uint32_t width, height;
    int components; /* 1 or 3 */
    gc_jpeg_sampling sampling;
    uint32_t restart_interval; /* in MCUs; 0: no restart markers */
    size_t data;               /* offset of the entropy-coded data */
    size_t bytes;              /* from SOI to EOI, both included; what follows is not looked at */
    bool is_cut;               /* the header goes on behind the bytes; set after a doubt, too */
} gc_jpeg_facts;

/* Whether the image that begins at bytes[0] is proved sound: every decoder that follows the
 * standard gives the planes that libjpeg-turbo gives, and libjpeg-turbo does not warn.
 * Else *doubt is a short phrase that says what the scan has met, and *facts is undefined: the file
 * may be damaged, or only unusual. Reads no byte beyond `size`, and takes no memory. */
bool gc_jpeg_scan(const unsigned char *bytes, size_t size, gc_jpeg_facts *facts,
                  const char **doubt);

/* The same for the header alone: of the data it proves nothing. facts->bytes is `size`. The bytes
 * may be the first ones of the file: facts->is_cut says whether more are needed. */
bool gc_jpeg_read_layout(const unsigned char *bytes, size_t size, gc_jpeg_facts *facts,
                         gc_jpeg_layout *layout, const char **doubt);

#endif
