#include "io/libraries.h"

#include <stdio.h> /* jpeglib.h needs it before */

#include <jpeglib.h>
#include <png.h>
#include <string.h>
#include <zlib.h>

#define QUOTE_VALUE(value) #value
#define QUOTE(macro) QUOTE_VALUE(macro)

static void add_library(char text[GC_LIBRARIES_BYTES], const char *name, const char *loaded,
                        const char *built)
{
    size_t used = strlen(text);
    const char *separator = used > 0 ? ", " : "";
    if (strcmp(loaded, built) == 0)
        snprintf(text + used, GC_LIBRARIES_BYTES - used, "%s%s %s", separator, name, loaded);
    else
        snprintf(text + used, GC_LIBRARIES_BYTES - used, "%s%s %s (built with %s)", separator, name,
                 loaded, built);
}

void gc_libraries(char text[GC_LIBRARIES_BYTES])
{
    text[0] = '\0';
    add_library(text, "libpng", png_get_libpng_ver(NULL), PNG_LIBPNG_VER_STRING);
    add_library(text, "zlib", zlibVersion(), ZLIB_VERSION);
    /* libjpeg has no function that tells which version is loaded. */
#ifdef LIBJPEG_TURBO_VERSION
    const char *jpeg = QUOTE(LIBJPEG_TURBO_VERSION);
    add_library(text, "libjpeg-turbo", jpeg, jpeg);
#else
    const char *jpeg = QUOTE(JPEG_LIB_VERSION);
    add_library(text, "libjpeg", jpeg, jpeg);
#endif
}
