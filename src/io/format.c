#include "io/format.h"

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

/* THE table of formats: all that the library knows of each, apart from its codec. A format is added
 * by an entry here, a value of gconv_format, and a codec. An entry has, as gconv_format_info and
 * gc_format name them: name, extension, reads, writes, depths, channels, alpha, several,
 * edge_depth, title, missing; words, signatures, decoder, encoder. */
static const gc_format formats[GCONV_FORMAT_COUNT] = {
    [GCONV_FORMAT_PNG] = {{"png", "png", true, true, 1 + 8 + 16, 0, true, false, 1, "PNG", NULL},
                          {"png"},
                          {GC_SIGNATURE("\x89PNG\r\n\x1a\n")},
                          &gc_png_decoder,
                          &gc_png_encoder},
    [GCONV_FORMAT_JPEG] = {{"jpeg", "jpg", true, true, 8, 0, false, false, 8, "JPEG", NULL},
                           {"jpeg", "jpg", "jpe", "jfif"},
                           {GC_SIGNATURE("\xff\xd8")},
                           &gc_jpeg_decoder,
                           &gc_jpeg_encoder},
    [GCONV_FORMAT_PGM] = {{"pgm", "pgm", true, true, 1 + 8 + 16, 1, false, true, 8, "PGM", NULL},
                          {"pgm"},
                          {GC_SIGNATURE("P5 "), GC_SIGNATURE("P2 ")},
                          &gc_pnm_decoder,
                          &gc_pnm_encoder},
    /* ".pnm" stands for PGM and PPM; PPM is the wider one. */
    [GCONV_FORMAT_PPM] = {{"ppm", "ppm", true, true, 1 + 8 + 16, 3, false, true, 8, "PPM", NULL},
                          {"ppm", "pnm"},
                          {GC_SIGNATURE("P6 "), GC_SIGNATURE("P3 ")},
                          &gc_pnm_decoder,
                          &gc_pnm_encoder},
    [GCONV_FORMAT_PFM] = {{"pfm", "pfm", true, true, 32, 0, false, true, 32, "PFM", NULL},
                          {"pfm"},
                          {GC_SIGNATURE("Pf "), GC_SIGNATURE("PF ")},
                          &gc_pnm_decoder,
                          &gc_pnm_encoder},
    [GCONV_FORMAT_TIFF] = {{"tiff", "tif", GC_HAS_TIFF, GC_HAS_TIFF, 1 + 8 + 16 + 32, 0, true, true,
                            1, "TIFF", ONE_OF(!GC_HAS_TIFF, GC_LACKS_TIFF)},
                           {ONE_OF(GC_HAS_TIFF, "tiff"), "tif"},
                           {GC_TIFF_SIGNATURES},
                           ONE_OF(GC_HAS_TIFF, &gc_tiff_decoder),
                           ONE_OF(GC_HAS_TIFF, &gc_tiff_encoder)},
    [GCONV_FORMAT_WEBP] = {{"webp", "webp", GC_HAS_WEBP, GC_HAS_WEBP, 8, 0, true, false, 8, "WebP",
                            ONE_OF(!GC_HAS_WEBP, GC_LACKS_WEBP)},
                           {ONE_OF(GC_HAS_WEBP, "webp")},
                           {GC_WEBP_SIGNATURE},
                           ONE_OF(GC_HAS_WEBP, &gc_webp_decoder),
                           ONE_OF(GC_HAS_WEBP, &gc_webp_encoder)},
    [GCONV_FORMAT_AVIF] = {{"avif", "avif", GC_HAS_HEIF, GC_HAS_HEIF, 8, 0, true, false, 8, "AVIF",
                            ONE_OF(!GC_HAS_HEIF, GC_LACKS_HEIF)},
                           {ONE_OF(GC_HAS_HEIF, "avif")},
                           {GC_AVIF_SIGNATURE},
                           ONE_OF(GC_HAS_HEIF, &gc_heif_decoder),
                           ONE_OF(GC_HAS_HEIF, &gc_heif_encoder)},
    [GCONV_FORMAT_HEIC] = {{"heic", "heic", GC_HAS_HEIF, GC_HAS_HEIF, 8, 0, true, false, 8, "HEIC",
                            ONE_OF(!GC_HAS_HEIF, GC_LACKS_HEIF)},
                           {ONE_OF(GC_HAS_HEIF, "heic"), "heif", "hif"},
                           {GC_HEIC_SIGNATURES},
                           ONE_OF(GC_HAS_HEIF, &gc_heif_decoder),
                           ONE_OF(GC_HAS_HEIF, &gc_heif_encoder)},
    [GCONV_FORMAT_JXL] = {{"jxl", "jxl", GC_HAS_JXL, GC_HAS_JXL, 8 + 16, 0, true, false, 8,
                           "JPEG XL", ONE_OF(!GC_HAS_JXL, GC_LACKS_JXL)},
                          {ONE_OF(GC_HAS_JXL, "jxl")},
                          {GC_JXL_SIGNATURES},
                          ONE_OF(GC_HAS_JXL, &gc_jxl_decoder),
                          ONE_OF(GC_HAS_JXL, &gc_jxl_encoder)},
    [GCONV_FORMAT_PBM] = {{"pbm", "pbm", true, true, 1, 1, false, true, 1, "PBM", NULL},
                          {"pbm"},
                          {GC_SIGNATURE("P4 "), GC_SIGNATURE("P1 ")},
                          &gc_pnm_decoder,
                          &gc_pnm_encoder},
    [GCONV_FORMAT_PAM] = {{"pam", "pam", true, true, 1 + 8 + 16, 0, true, true, 8, "PAM", NULL},
                          {"pam"},
                          {GC_SIGNATURE("P7 ")},
                          &gc_pnm_decoder,
                          &gc_pnm_encoder},
    [GCONV_FORMAT_NPY] = {{"npy", "npy", true, true, 1 + 8 + 16 + 32, 0, true, false, 8, "NPY",
                           NULL},
                          {"npy"},
                          {GC_SIGNATURE("\x93NUMPY")},
                          &gc_npy_decoder,
                          &gc_npy_encoder},
    [GCONV_FORMAT_BMP] = {{"bmp", "bmp", true, true, 1 + 8, 0, false, false, 1, "BMP", NULL},
                          {"bmp", "dib"},
                          {GC_SIGNATURE("BM????????????\?\0\0\0")},
                          &gc_bmp_decoder,
                          &gc_bmp_encoder},
    [GCONV_FORMAT_Y4M] = {{"y4m", "y4m", true, true, 8 + 16, 1, false, true, 8, "Y4M", NULL},
                          {"y4m"},
                          {GC_SIGNATURE("YUV4MPEG2 ")},
                          &gc_y4m_decoder,
                          &gc_y4m_encoder},
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
