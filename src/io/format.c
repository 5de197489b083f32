#include "io/format.h"

#include "base/status.h"
#include "io/codec.h"

#include <stdio.h>
#include <string.h>

extern const gc_decoder_type gc_png_decoder, gc_jpeg_decoder, gc_pnm_decoder, gc_npy_decoder,
    gc_bmp_decoder, gc_y4m_decoder;
extern const gc_encoder_type gc_png_encoder, gc_jpeg_encoder, gc_pnm_encoder, gc_npy_encoder,
    gc_bmp_encoder, gc_y4m_encoder;
/* Of libraries that a build may lack: then a format is a foreign one (foreign.c). */
extern const gc_decoder_type gc_tiff_decoder, gc_webp_decoder, gc_heif_decoder, gc_jxl_decoder;
extern const gc_encoder_type gc_tiff_encoder, gc_webp_encoder, gc_heif_encoder, gc_jxl_encoder;

#define ONE_OF(has, value) ((has) ? (value) : NULL)
#define HAVING(has, lacks) .reads = (has), .writes = (has), .missing = (has) ? NULL : (lacks)

/* THE table of formats: all that the library knows of each, apart from its codec. A format is added
 * by an entry here, a value of gconv_format, and a codec. */
static const gc_format formats[GCONV_FORMAT_COUNT] = {
    [GCONV_FORMAT_PNG] = {.info = {.name = "png",
                                   .extension = "png",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 1 + 8 + 16,
                                   .alpha = true,
                                   .edge_depth = 1,
                                   .title = "PNG"},
                          .words = {"png"},
                          .signatures = {GC_SIGNATURE("\x89PNG\r\n\x1a\n")},
                          .decoder = &gc_png_decoder,
                          .encoder = &gc_png_encoder},
    [GCONV_FORMAT_JPEG] = {.info = {.name = "jpeg",
                                    .extension = "jpg",
                                    .reads = true,
                                    .writes = true,
                                    .depths = 8,
                                    .edge_depth = 8,
                                    .title = "JPEG"},
                           .words = {"jpeg", "jpg", "jpe", "jfif"},
                           .signatures = {GC_SIGNATURE("\xff\xd8")},
                           .decoder = &gc_jpeg_decoder,
                           .encoder = &gc_jpeg_encoder},
    [GCONV_FORMAT_PGM] = {.info = {.name = "pgm",
                                   .extension = "pgm",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 1 + 8 + 16,
                                   .channels = 1,
                                   .several = true,
                                   .edge_depth = 8,
                                   .title = "PGM"},
                          .words = {"pgm"},
                          .signatures = {GC_SIGNATURE("P5 "), GC_SIGNATURE("P2 ")},
                          .decoder = &gc_pnm_decoder,
                          .encoder = &gc_pnm_encoder},
    /* ".pnm" stands for PGM and PPM; PPM is the wider one. */
    [GCONV_FORMAT_PPM] = {.info = {.name = "ppm",
                                   .extension = "ppm",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 1 + 8 + 16,
                                   .channels = 3,
                                   .several = true,
                                   .edge_depth = 8,
                                   .title = "PPM"},
                          .words = {"ppm", "pnm"},
                          .signatures = {GC_SIGNATURE("P6 "), GC_SIGNATURE("P3 ")},
                          .decoder = &gc_pnm_decoder,
                          .encoder = &gc_pnm_encoder},
    [GCONV_FORMAT_PFM] = {.info = {.name = "pfm",
                                   .extension = "pfm",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 32,
                                   .several = true,
                                   .edge_depth = 32,
                                   .title = "PFM"},
                          .words = {"pfm"},
                          .signatures = {GC_SIGNATURE("Pf "), GC_SIGNATURE("PF ")},
                          .decoder = &gc_pnm_decoder,
                          .encoder = &gc_pnm_encoder},
    [GCONV_FORMAT_TIFF] = {.info = {.name = "tiff",
                                    .extension = "tif",
                                    .depths = 1 + 8 + 16 + 32,
                                    .alpha = true,
                                    .several = true,
                                    .edge_depth = 1,
                                    .title = "TIFF",
                                    HAVING(GC_HAS_TIFF, GC_LACKS_TIFF)},
                           .words = {ONE_OF(GC_HAS_TIFF, "tiff"), "tif"},
                           .signatures = {GC_TIFF_SIGNATURES},
                           .decoder = ONE_OF(GC_HAS_TIFF, &gc_tiff_decoder),
                           .encoder = ONE_OF(GC_HAS_TIFF, &gc_tiff_encoder)},
    [GCONV_FORMAT_WEBP] = {.info = {.name = "webp",
                                    .extension = "webp",
                                    .depths = 8,
                                    .alpha = true,
                                    .edge_depth = 8,
                                    .title = "WebP",
                                    HAVING(GC_HAS_WEBP, GC_LACKS_WEBP)},
                           .words = {ONE_OF(GC_HAS_WEBP, "webp")},
                           .signatures = {GC_WEBP_SIGNATURE},
                           .decoder = ONE_OF(GC_HAS_WEBP, &gc_webp_decoder),
                           .encoder = ONE_OF(GC_HAS_WEBP, &gc_webp_encoder)},
    [GCONV_FORMAT_AVIF] = {.info = {.name = "avif",
                                    .extension = "avif",
                                    .depths = 8,
                                    .alpha = true,
                                    .edge_depth = 8,
                                    .title = "AVIF",
                                    HAVING(GC_HAS_HEIF, GC_LACKS_HEIF)},
                           .words = {ONE_OF(GC_HAS_HEIF, "avif")},
                           .signatures = {GC_AVIF_SIGNATURE},
                           .decoder = ONE_OF(GC_HAS_HEIF, &gc_heif_decoder),
                           .encoder = ONE_OF(GC_HAS_HEIF, &gc_heif_encoder)},
    [GCONV_FORMAT_HEIC] = {.info = {.name = "heic",
                                    .extension = "heic",
                                    .depths = 8,
                                    .alpha = true,
                                    .edge_depth = 8,
                                    .title = "HEIC",
                                    HAVING(GC_HAS_HEIF, GC_LACKS_HEIF)},
                           .words = {ONE_OF(GC_HAS_HEIF, "heic"), "heif", "hif"},
                           .signatures = {GC_HEIC_SIGNATURES},
                           .decoder = ONE_OF(GC_HAS_HEIF, &gc_heif_decoder),
                           .encoder = ONE_OF(GC_HAS_HEIF, &gc_heif_encoder)},
    [GCONV_FORMAT_JXL] = {.info = {.name = "jxl",
                                   .extension = "jxl",
                                   .depths = 8 + 16,
                                   .alpha = true,
                                   .edge_depth = 8,
                                   .title = "JPEG XL",
                                   HAVING(GC_HAS_JXL, GC_LACKS_JXL)},
                          .words = {ONE_OF(GC_HAS_JXL, "jxl")},
                          .signatures = {GC_JXL_SIGNATURES},
                          .decoder = ONE_OF(GC_HAS_JXL, &gc_jxl_decoder),
                          .encoder = ONE_OF(GC_HAS_JXL, &gc_jxl_encoder)},
    [GCONV_FORMAT_PBM] = {.info = {.name = "pbm",
                                   .extension = "pbm",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 1,
                                   .channels = 1,
                                   .several = true,
                                   .edge_depth = 1,
                                   .title = "PBM"},
                          .words = {"pbm"},
                          .signatures = {GC_SIGNATURE("P4 "), GC_SIGNATURE("P1 ")},
                          .decoder = &gc_pnm_decoder,
                          .encoder = &gc_pnm_encoder},
    [GCONV_FORMAT_PAM] = {.info = {.name = "pam",
                                   .extension = "pam",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 1 + 8 + 16,
                                   .alpha = true,
                                   .several = true,
                                   .edge_depth = 8,
                                   .title = "PAM"},
                          .words = {"pam"},
                          .signatures = {GC_SIGNATURE("P7 ")},
                          .decoder = &gc_pnm_decoder,
                          .encoder = &gc_pnm_encoder},
    [GCONV_FORMAT_NPY] = {.info = {.name = "npy",
                                   .extension = "npy",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 1 + 8 + 16 + 32,
                                   .alpha = true,
                                   .edge_depth = 8,
                                   .title = "NPY"},
                          .words = {"npy"},
                          .signatures = {GC_SIGNATURE("\x93NUMPY")},
                          .decoder = &gc_npy_decoder,
                          .encoder = &gc_npy_encoder},
    [GCONV_FORMAT_BMP] = {.info = {.name = "bmp",
                                   .extension = "bmp",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 1 + 8,
                                   .edge_depth = 1,
                                   .title = "BMP"},
                          .words = {"bmp", "dib"},
                          .signatures = {GC_SIGNATURE("BM????????????\?\0\0\0")},
                          .decoder = &gc_bmp_decoder,
                          .encoder = &gc_bmp_encoder},
    [GCONV_FORMAT_Y4M] = {.info = {.name = "y4m",
                                   .extension = "y4m",
                                   .reads = true,
                                   .writes = true,
                                   .depths = 8 + 16,
                                   .channels = 1,
                                   .several = true,
                                   .edge_depth = 8,
                                   .title = "Y4M"},
                          .words = {"y4m"},
                          .signatures = {GC_SIGNATURE("YUV4MPEG2 ")},
                          .decoder = &gc_y4m_decoder,
                          .encoder = &gc_y4m_encoder},
};

const gc_format *gc_format_at(gconv_format format)
{
    bool known = (int)format > GCONV_FORMAT_UNKNOWN && format < GCONV_FORMAT_COUNT;
    return known ? &formats[format] : NULL;
}

const gconv_format_info *gconv_format_describe(gconv_format format)
{
    const gc_format *known = gc_format_at(format);
    return known != NULL ? &known->info : NULL;
}

static bool is_in_set(const gconv_format_info *info, gc_format_set set)
{
    if (set == GC_FORMATS_SEVERAL)
        return info->several;
    return set == GC_FORMATS_READ ? info->reads : info->writes;
}

const char *gc_format_list(gc_format_set set, char list[GC_FORMAT_NAMES_BYTES])
{
    const char *names[GCONV_FORMAT_COUNT];
    size_t used = 0;
    int count = 0;
    for (int i = GCONV_FORMAT_UNKNOWN + 1; i < GCONV_FORMAT_COUNT; i++)
        if (is_in_set(&formats[i].info, set))
            names[count++] =
                set == GC_FORMATS_WRITTEN ? formats[i].info.name : formats[i].info.title;
    for (int i = 0; i < count; i++) {
        const char *last = set == GC_FORMATS_SEVERAL ? " and " : " or ";
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : last;
        used +=
            (size_t)snprintf(list + used, GC_FORMAT_NAMES_BYTES - used, "%s%s", before, names[i]);
    }
    return list;
}

/* ---- By name --------------------------------------------------------------------------------- */

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* strcasecmp follows the locale: an I may not be the capital of i. */
static bool same_word(const char *text, const char *word)
{
    while (*word != '\0' && ascii_lower(*text) == *word) {
        text++;
        word++;
    }
    return *text == *word;
}

const char *gconv_format_name(gconv_format format)
{
    const gc_format *known = gc_format_at(format);
    return known != NULL ? known->info.name : "unknown";
}

gconv_format gconv_format_from_name(const char *name)
{
    if (name == NULL)
        return GCONV_FORMAT_UNKNOWN;
    for (int format = GCONV_FORMAT_UNKNOWN + 1; format < GCONV_FORMAT_COUNT; format++)
        for (const char *const *word = formats[format].words; *word != NULL; word++)
            if (same_word(name, *word))
                return (gconv_format)format;
    return GCONV_FORMAT_UNKNOWN;
}

gconv_format gconv_format_from_path(const char *path)
{
    if (path == NULL)
        return GCONV_FORMAT_UNKNOWN;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? gconv_format_from_name(dot + 1) : GCONV_FORMAT_UNKNOWN;
}

/* ---- By content ------------------------------------------------------------------------------ */

static bool begins_with(const unsigned char *bytes, size_t count, const gc_signature *signature)
{
    for (size_t i = 0; count >= signature->count && i < signature->count; i++) {
        char wanted = signature->bytes[i];
        bool blank = wanted == ' ' && memchr(" \t\n\v\f\r#", bytes[i], 7) != NULL;
        if (!blank && wanted != '?' && bytes[i] != (unsigned char)wanted)
            return false;
    }
    return count >= signature->count;
}

bool gc_begins_with(const unsigned char *bytes, size_t count, const gc_signature *signatures)
{
    for (int i = 0; i < GC_SIGNATURES && signatures[i].bytes != NULL; i++)
        if (begins_with(bytes, count, &signatures[i]))
            return true;
    return false;
}

gconv_format gconv_format_from_content(const void *bytes, size_t count)
{
    for (int format = GCONV_FORMAT_UNKNOWN + 1; format < GCONV_FORMAT_COUNT; format++)
        if (formats[format].info.reads && gc_begins_with(bytes, count, formats[format].signatures))
            return (gconv_format)format;
    return GCONV_FORMAT_UNKNOWN;
}

gconv_status gc_format_refuse(const unsigned char *bytes, size_t count, gconv_error *error)
{
    const gconv_foreign_format *foreign = gconv_foreign_from_content(bytes, count);
    if (count == 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the file is empty");
    if (foreign != NULL)
        return gc_fail(error, GCONV_ERROR_FORMAT, "this is %s, %s", foreign->name, foreign->about);
    char list[GC_FORMAT_NAMES_BYTES];
    return gc_fail(error, GCONV_ERROR_FORMAT, "not a %s image",
                   gc_format_list(GC_FORMATS_READ, list));
}
