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
#if GC_HAS_HEIF
#include "io/heif/libheif.h"
#endif
#if GC_HAS_JXL
#include "io/jxl/libjxl.h"
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

#if GC_HAS_TIFF || GC_HAS_WEBP || GC_HAS_HEIF || GC_HAS_JXL
/* Names a library that is loaded when a file asks for it. Its version has eight bits for each of
 * three numbers; 0: it is not there. */
static void add_loaded(const char *name, unsigned version)
{
    char numbers[40] = "not there";
    if (version > 0)
        snprintf(numbers, sizeof numbers, "%u.%u.%u", version >> 16, version >> 8 & 255,
                 version & 255);
    add_library(name, numbers, numbers);
}
#endif

static void describe_loaded(void)
{
#if GC_HAS_TIFF
    unsigned major = 0, minor = 0, patch = 0;
    if (gc_libtiff_load(NULL) == GCONV_OK)
        sscanf(gc_tiff.TIFFGetVersion(), "LIBTIFF, Version %u.%u.%u", &major, &minor, &patch);
    add_loaded("libtiff", major << 16 | minor << 8 | patch);
#endif
#if GC_HAS_WEBP
    bool webp = gc_libwebp_load(NULL) == GCONV_OK;
    add_loaded("libwebp", webp ? (unsigned)gc_webp.WebPGetDecoderVersion() : 0);
#endif
#if GC_HAS_HEIF
    bool heif = gc_libheif_load(NULL) == GCONV_OK;
    add_loaded("libheif", heif ? gc_heif.heif_get_version_number() >> 8 : 0);
#endif
#if GC_HAS_JXL
    unsigned jxl = gc_libjxl_load(NULL) == GCONV_OK ? gc_jxl.JxlDecoderVersion() : 0;
    add_loaded("libjxl", jxl / 1000000 << 16 | jxl / 1000 % 1000 << 8 | jxl % 1000);
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
