/* Formats that gconv recognises but neither reads nor writes. A format that gets a codec leaves
 * this table. */
#include "io/format.h"

#include "base/status.h"

#include <strings.h>

enum { TEXT_BYTES = 1024 /* of a text that are searched for a tag */ };

typedef struct foreign_row {
    gconv_foreign_format format;
    const char *extensions; /* between blanks; "": it has none */
    gc_signature begins[GC_SIGNATURES];
    const char *tag; /* how a text of marks begins, or what stands near its beginning; else NULL */
} foreign_row;

#define S GC_SIGNATURE
#define TO_PICTURE "vips colourspace IN OUT.png srgb" /* of light, whose white is 1 */
#define IMAGE(name, converter)                                                                     \
    {                                                                                              \
        name, GC_UNREAD(converter), true, NULL                                                     \
    }

#define VIDEO(name)                                                                                \
    {                                                                                              \
        name, "a video and no image; " GC_TAKE_FRAMES, false, NULL                                 \
    }

#define PACKED(name, unpacker)                                                                     \
    {                                                                                              \
        name, "no image until '" unpacker "' unpacks it", false, NULL                              \
    }

#define LACKING(name, lacks)                                                                       \
    {                                                                                              \
        name, lacks, true, lacks                                                                   \
    }

static const foreign_row rows[] = {
#if !GC_HAS_TIFF
    {LACKING("TIFF", GC_LACKS_TIFF), " tif tiff ", {GC_TIFF_SIGNATURES}, NULL},
#endif
#if !GC_HAS_WEBP
    {LACKING("WebP", GC_LACKS_WEBP), " webp ", {GC_WEBP_SIGNATURE}, NULL},
#endif
#if !GC_HAS_HEIF
    {LACKING("AVIF", GC_LACKS_HEIF), " avif ", {GC_AVIF_SIGNATURE}, NULL},
    {LACKING("HEIC", GC_LACKS_HEIF), " heic heif hif ", {GC_HEIC_SIGNATURES}, NULL},
#endif
#if !GC_HAS_JXL
    {LACKING("JPEG XL", GC_LACKS_JXL), " jxl ", {GC_JXL_SIGNATURES}, NULL},
#endif
    {IMAGE("GIF", "vips copy"), " gif ", {S("GIF87a"), S("GIF89a")}, NULL},
    {IMAGE("JPEG 2000", "vips copy"),
     " jp2 j2k j2c jpc jpf jpx ",
     {S("\0\0\0\x0cjP  \r\n\x87\n"), S("\xff\x4f\xff\x51")},
     NULL},
    {{"NPZ or another ZIP archive", "which gconv does not read; 'unzip' unpacks it", true, NULL},
     " npz ",
     {S("PK\3\4")},
     NULL},
    {IMAGE("FITS", "vips copy"), " fits fit fts ", {S("SIMPLE  =")}, NULL},
    {IMAGE("OpenEXR", TO_PICTURE), " exr ", {S("\x76\x2f\x31\x01")}, NULL},
    {IMAGE("Radiance HDR", TO_PICTURE), " hdr ", {S("#?RADIANCE"), S("#?RGBE")}, NULL},
    {IMAGE("PSD", GC_MAGICK), " psd ", {S("8BPS")}, NULL},
    {IMAGE("XCF", GC_MAGICK), " xcf ", {S("gimp xcf ")}, NULL},
    {IMAGE("TGA", GC_MAGICK),
     " tga ",
     {S("?\0\2\0\0\0\0\0"), S("?\0\3\0\0\0\0\0"), S("?\0\n\0\0\0\0\0"), S("?\0\v\0\0\0\0\0")},
     NULL},
    {IMAGE("QOI", "ffmpeg -i IN OUT.png"), " qoi ", {S("qoif")}, NULL},
    {IMAGE("ICO", GC_MAGICK), " ico ", {S("\0\0\1\0?\0???\0")}, NULL},
    {IMAGE("ICNS", "icns2png -x"), " icns ", {S("icns")}, NULL},
    {IMAGE("DDS", GC_MAGICK), " dds ", {S("DDS \x7c\0\0\0")}, NULL},
    {IMAGE("SGI", GC_MAGICK), " sgi ", {S("\1\xda?\1\0"), S("\1\xda?\2\0")}, NULL},
    {IMAGE("PCX", GC_MAGICK), " pcx ", {S("\n\5\1\x08")}, NULL},
    {IMAGE("PostScript", "gs"), " eps ", {S("%!PS"), S("\xc5\xd0\xd3\xc6")}, NULL},
    {IMAGE("PDF", "pdftoppm"), " pdf ", {S("%PDF-")}, NULL},
    /* Behind AVIF and HEIC, which begin in the same way. */
    /* Others of these begin as TIFF does (tiff/reader.c). */
    {IMAGE(GC_RAW_OF_CAMERA, GC_RAW_CONVERTER),
     " cr2 cr3 nef nrw arw dng orf raf rw2 pef srw ",
     {S("????ftypcrx "), S("FUJIFILMCCD-RAW"), S("IIU\0"), S("IIRO")},
     NULL},
    /* Boxes: a size of 4 bytes, and what is in it. */
    {VIDEO("MP4 or MOV"),
     " mp4 m4v mov ",
     {S("\0\0\0?ftyp"), S("\0???moov\0\0\0?mvhd"), S("\0\0\0\x08wide????mdat")},
     NULL},
    {VIDEO("Matroska or WebM"), " mkv webm ", {S("\x1a\x45\xdf\xa3")}, NULL},
    {VIDEO("AVI"), " avi ", {S("RIFF????AVI ")}, NULL},
    {VIDEO("MPEG"), " mpg mpeg ", {S("\0\0\1\xba"), S("\0\0\1\xb3")}, NULL},
    {PACKED("a gzip file", "gunzip"), " gz ", {S("\x1f\x8b\x08")}, NULL},
    {PACKED("a bzip2 file", "bunzip2"), " bz2 ", {S("BZh?1AY&SY")}, NULL},
    {PACKED("an xz file", "unxz"),
     " xz ",
     {S("\xfd"
        "7zXZ\0")},
     NULL},
    {PACKED("a Zstandard file", "unzstd"), " zst ", {S("\x28\xb5\x2f\xfd")}, NULL},
    {{"a Git LFS pointer", "no image; 'git lfs pull' gets the image", false, NULL},
     "",
     {S("version https://git-lfs")},
     NULL},
    {{"an HTML page", "no image; a server may have sent it instead of one", false, NULL},
     "",
     {{NULL, 0}},
     "<html"},
    {{"an HTML page", "no image; a server may have sent it instead of one", false, NULL},
     "",
     {{NULL, 0}},
     "<!doctype html"},
    {IMAGE("SVG", "rsvg-convert"), " svg svgz ", {{NULL, 0}}, "<svg"},
};

static const size_t row_count = sizeof rows / sizeof rows[0];

/* ---- By name --------------------------------------------------------------------------------- */

/* Whether `words`, in lower case and between blanks, has the extension. */
static bool has_extension(const char *words, const char *extension)
{
    size_t length = strlen(extension);
    for (; *words != '\0' && words[1] != '\0'; words += 1 + strcspn(words + 1, " "))
        if (words[1] == (extension[0] | ' ') && strncasecmp(words + 1, extension, length) == 0 &&
            words[1 + length] == ' ')
            return true;
    return false;
}

const gconv_foreign_format *gconv_foreign_from_path(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = name != NULL ? strrchr(name, '.') : NULL;
    for (size_t i = 0; dot != NULL && dot != name && i < row_count; i++)
        if (has_extension(rows[i].extensions, dot + 1))
            return &rows[i].format;
    return NULL;
}

/* ---- By content ------------------------------------------------------------------------------ */

/* Whether a text of marks, which begins with <, has a tag near its beginning. */
static bool has_tag(const unsigned char *bytes, size_t count, const char *tag)
{
    static const unsigned char byte_order_mark[] = {0xef, 0xbb, 0xbf};
    size_t length = strlen(tag), i = 0;
    if (count >= 3 && memcmp(bytes, byte_order_mark, 3) == 0)
        i = 3;
    while (i < count && memchr(" \t\n\v\f\r", bytes[i], 6) != NULL)
        i++;
    count = count < TEXT_BYTES ? count : TEXT_BYTES;
    for (bool marks = i < count && bytes[i] == '<'; marks && i + length <= count; i++)
        if (strncasecmp((const char *)bytes + i, tag, length) == 0)
            return true;
    return false;
}

const gconv_foreign_format *gconv_foreign_from_content(const void *bytes, size_t count)
{
    bool known = gconv_format_from_content(bytes, count) != GCONV_FORMAT_UNKNOWN;
    for (size_t i = 0; !known && i < row_count; i++)
        if (gc_begins_with(bytes, count, rows[i].begins) ||
            (rows[i].tag != NULL && has_tag(bytes, count, rows[i].tag)))
            return &rows[i].format;
    return NULL;
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
