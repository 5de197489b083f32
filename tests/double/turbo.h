/* JPEG decoding by libjpeg for the double's nvJPEG. */
#ifndef GC_DOUBLE_TURBO_H
#define GC_DOUBLE_TURBO_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gc_double_planes {
    int count;
    unsigned char *planes[3];
    size_t pitches[3];
    size_t widths[3], heights[3];
} gc_double_planes;

/* Whether the header can be read. *usual: it is one that the engine takes. */
bool gc_double_read_header(const unsigned char *bytes, size_t size, bool *usual);

/* Decodes to planes. The content of a damaged file is the same byte everywhere: the engine says
 * nothing of damage, and what it gives is wrong. False where not even the header can be read. */
bool gc_double_decode(const unsigned char *bytes, size_t size, gc_double_planes *decoded);

void gc_double_free_planes(gc_double_planes *decoded);

#ifdef __cplusplus
}
#endif

#endif
