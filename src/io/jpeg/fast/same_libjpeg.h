/* Whether libjpeg decodes as the libjpeg-turbo does that other decoders were compared with. */
#ifndef GC_IO_JPEG_FAST_SAME_LIBJPEG_H
#define GC_IO_JPEG_FAST_SAME_LIBJPEG_H

#include <stdbool.h>

/* Decodes small files when it is first called, some milliseconds, and compares hashes of their
 * samples. Any thread. */
bool gc_jpeg_check(void);

#endif
