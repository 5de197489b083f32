/* Memory for libpng. Without it libpng may drop a chunk and go on, so that what was refused is kept in mind
 * and asked for when its calls have returned. */
#ifndef GC_IO_PNG_MEMORY_H
#define GC_IO_PNG_MEMORY_H

#include "gconv.h"

#include <png.h>

typedef struct gc_png_memory {
    size_t refused_bytes; /* that libpng asked for in vain, the last time; 0 where it got all */
} gc_png_memory;

/* What libpng calls; its memory pointer is a gc_png_memory. No jump leaves them: zlib calls them too, and
 * would leak what it holds. */
png_voidp gc_png_allocate(png_structp png, png_alloc_size_t size);
void gc_png_release(png_structp png, png_voidp memory);

/* The verdict on libpng calls that returned: GCONV_ERROR_MEMORY where anything was refused. */
gconv_status gc_png_check_memory(const gc_png_memory *memory, gconv_error *error);

#endif
