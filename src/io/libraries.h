/* The libraries that read and write images. */
#ifndef GC_IO_LIBRARIES_H
#define GC_IO_LIBRARIES_H

enum { GC_LIBRARIES_BYTES = 160 };

/* "libpng 1.6.39, zlib 1.2.13, libjpeg-turbo 2.1.5"; where another version is loaded than the build
 * was made with, "libpng 1.6.40 (built with 1.6.39)". */
void gc_libraries(char text[GC_LIBRARIES_BYTES]);

#endif
