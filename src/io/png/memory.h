/* Memory for libpng. If memory is out, libpng may drop a chunk and go on. So a refused request is
 * noted here. gc_png_check_memory reports it after the calls of libpng. */
#pragma once

#include "gconv.h"

#include <png.h>

/* How the data of an iTXt chunk of XMP begin (Adobe's XMP Specification, part 3, 1.1.5), with the
 * literal's NUL: a keyword, no compression, and two texts that are empty. Other programs may write
 * a language and a keyword in it there. */
#define GC_PNG_XMP_HEAD "XML:com.adobe.xmp\0\0\0\0"

typedef struct gc_png_memory {
    size_t refused_bytes; /* of the latest request that was refused; 0 if none was */
} gc_png_memory;

/* libpng's functions for memory; its memory pointer is a gc_png_memory. They never longjmp: zlib
 * calls them too, and would leak what it holds. */
png_voidp gc_png_allocate(png_structp png, png_alloc_size_t size);
void gc_png_release(png_structp png, png_voidp memory);

/* After calls of libpng: GCONV_ERROR_MEMORY if a request was refused. */
gconv_status gc_png_check_memory(const gc_png_memory *memory, gconv_error *error);
