/* The libraries that read and write image files. */
#include "gconv.h"
#include "io/fast.h"

#include <stdio.h> /* jpeglib.h needs it before */

#include <jpeglib.h>
#include <png.h>
#include <pthread.h>
#include <string.h>
#include <zlib.h>
#if GC_HAS_TIFF
#include "io/tiff/libtiff.h"
#endif
#if GC_HAS_WEBP
#include "io/webp/libwebp.h"
#endif

#define QUOTE_VALUE(value) #value
#define QUOTE(macro) QUOTE_VALUE(macro)

enum { TEXT_BYTES = 300 };

static char text[TEXT_BYTES];

static void add_library(const char *name, const char *loaded, const char *built)
{
    size_t used = strlen(text);
    const char *separator = used > 0 ? ", " : "";
    if (strcmp(loaded, built) == 0)
        snprintf(text + used, TEXT_BYTES - used, "%s%s %s", separator, name, loaded);
    else
        snprintf(text + used, TEXT_BYTES - used, "%s%s %s (built with %s)", separator, name, loaded,
                 built);
}

#if GC_HAS_TIFF || GC_HAS_WEBP
static void add_loaded(const char *name, const char *version)
{
    const char *known = version[0] != '\0' ? version : "not there";
    add_library(name, known, known);
}
#endif

/* Names the libraries that are loaded when a file asks for them, if they are there. */
static void describe_loaded(void)
{
#if GC_HAS_TIFF
    char version[16] = "";
    if (gc_libtiff_load(NULL) == GCONV_OK)
        sscanf(gc_tiff.TIFFGetVersion(), "LIBTIFF, Version %15[0-9.]", version);
    add_loaded("libtiff", version);
#endif
#if GC_HAS_WEBP
    char number[16] = "";
    if (gc_libwebp_load(NULL) == GCONV_OK) {
        int v = gc_webp.WebPGetDecoderVersion();
        snprintf(number, sizeof number, "%d.%d.%d", v >> 16 & 255, v >> 8 & 255, v & 255);
    }
    add_loaded("libwebp", number);
#endif
}

static void describe(void)
{
    add_library("libpng", png_get_libpng_ver(NULL), PNG_LIBPNG_VER_STRING);
    add_library("zlib", zlibVersion(), ZLIB_VERSION);
    if (gc_fast.png_inflating != NULL)
        add_library("ISA-L", gc_fast.png_inflating->library, gc_fast.png_inflating->library);
        /* libjpeg has no function that tells which version is loaded. */
#ifdef LIBJPEG_TURBO_VERSION
    const char *jpeg = QUOTE(LIBJPEG_TURBO_VERSION);
    add_library("libjpeg-turbo", jpeg, jpeg);
#else
    const char *jpeg = QUOTE(JPEG_LIB_VERSION);
    add_library("libjpeg", jpeg, jpeg);
#endif
    describe_loaded();
}

const char *gconv_codec_description(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe);
    return text;
}
