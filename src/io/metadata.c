#define _GNU_SOURCE /* memmem */
#include "io/metadata.h"

#include "io/exif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { XMP_BYTES_MAX = 8 << 20 };

static void warn_by(void (*warn)(void *user, const char *message), void *user, const char *format,
                    va_list arguments) GC_PRINTF(3, 0);

static void warn_by(void (*warn)(void *user, const char *message), void *user, const char *format,
                    va_list arguments)
{
    char text[256], escaped[512];
    if (warn == NULL)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    warn(user, gc_escape(text, escaped, sizeof escaped));
}

void gc_warn(const gc_warnings *warnings, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    warn_by(warnings->warn, warnings->user, format, arguments);
    va_end(arguments);
}

void gc_warn_damage(const gc_warnings *warnings, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    warn_by(warnings->damage != NULL ? warnings->damage : warnings->warn, warnings->user, format,
            arguments);
    va_end(arguments);
}

void gc_metadata_clear(gconv_metadata *metadata)
{
    for (int i = 0; i < GC_BLOBS; i++)
        free(metadata->blobs[i].bytes);
    for (int i = 0; i < GC_TIFF_TAGS; i++)
        free(metadata->tags[i].values);
    *metadata = (gconv_metadata){0};
}

void gc_metadata_drop(gconv_metadata *metadata, gc_blob_kind kind)
{
    free(metadata->blobs[kind].bytes);
    metadata->blobs[kind] = (gc_blob){NULL, 0};
}

gconv_status gc_metadata_lose(const gc_warnings *warnings, gconv_keep part, const char *what,
                              gconv_error *error)
{
    bool wanted = warnings->keep >= part;
    if (wanted && warnings->whole)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "%s and would be lost; --tolerant%s lets that pass", what,
                       part > GCONV_KEEP_NOTHING ? " or --strip" : "");
    (wanted ? gc_warn_damage : gc_warn)(warnings, "%s: dropped", what);
    return GCONV_OK;
}

gconv_status gc_metadata_check(const gconv_metadata *metadata, const gc_warnings *warnings,
                               gconv_error *error)
{
    const char *what = metadata->private_tags > 0    ? "a private tag is not kept"
                       : metadata->has_private_chunk ? "a private chunk is not kept"
                       : metadata->has_cmyk          ? "CMYK is not kept"
                                                     : NULL;
    return what == NULL || !warnings->whole || warnings->keep < GCONV_KEEP_ALL
               ? GCONV_OK
               : gc_metadata_lose(warnings, GCONV_KEEP_ALL, what, error);
}

static bool holds(const void *bytes, size_t size, const char *text)
{
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* Why a blob cannot be kept; NULL: it can. ICC.1, 7.2: a header of 128 bytes with "acsp" at byte
 * 36. Thumbnails are of the schema with the prefix xmpGImg, or resources 1033 and 1036; resources
 * 1058 and 1059 are EXIF, 1060 is XMP. */
static const char *find_fault(gc_blob_kind kind, const char *bytes, size_t size)
{
    static const char *const lost[] = {"8BIM\4\x09", "8BIM\4\x0c", "8BIM\4\x22", "8BIM\4\x23",
                                       "8BIM\4\x24"};
    if (kind == GC_ICC && (size < 128 || memcmp(bytes + 36, "acsp", 4) != 0))
        return "the ICC profile is damaged";
    if (kind == GC_XMP && size > XMP_BYTES_MAX)
        return "XMP of more than 8 MiB is not kept";
    if (kind == GC_XMP && holds(bytes, size, "GImg:image"))
        return "XMP with a thumbnail is not kept";
    for (size_t i = 0; kind == GC_IPTC && i < sizeof lost / sizeof lost[0]; i++)
        if (holds(bytes, size, lost[i]))
            return "IPTC with a thumbnail, EXIF or XMP is not kept";
    return NULL;
}

static gconv_status mend_exif(gconv_metadata *metadata, const gc_warnings *warnings,
                              gconv_error *error)
{
    gc_blob *exif = &metadata->blobs[GC_EXIF];
    gc_exif_state state = gc_exif_mend(exif->bytes, &exif->size);
    gconv_status dropped = state == GC_EXIF_BROKEN
                               ? GCONV_ERROR_FORMAT
                               : gc_exif_drop_thumbnail(exif->bytes, &exif->size);
    if (dropped == GCONV_ERROR_MEMORY)
        return gc_fail_memory(error, exif->size);
    if (dropped != GCONV_OK) {
        gc_metadata_drop(metadata, GC_EXIF);
        return gc_metadata_lose(warnings, GCONV_KEEP_ALL, "EXIF is damaged", error);
    }
    if (metadata->resolution.unit == GC_RESOLUTION_NONE)
        metadata->resolution = gc_exif_resolution(exif->bytes, exif->size);
    return state == GC_EXIF_SOUND
               ? GCONV_OK
               : gc_metadata_lose(warnings, GCONV_KEEP_ALL, "a part of EXIF is damaged", error);
}

gconv_status gc_metadata_keep(gconv_metadata *metadata, gc_blob_kind kind, const void *bytes,
                              size_t size, const gc_warnings *warnings, gconv_error *error)
{
    static const char *const names[] = {"ICC profile", "EXIF", "XMP", "IPTC"};
    gc_blob *blob = &metadata->blobs[kind];
    if (blob->bytes != NULL)
        return GCONV_OK;
    if (size == 0) {
        gc_warn(warnings, "%s dropped: it is empty", names[kind]);
        return GCONV_OK;
    }
    const char *fault = find_fault(kind, bytes, size);
    if (fault != NULL)
        return gc_metadata_lose(warnings, GCONV_KEEP_ALL, fault, error);
    blob->bytes = malloc(size + GC_EXIF_ROOM_BYTES);
    GC_TRY_MEMORY(blob->bytes != NULL, error, size);
    memcpy(blob->bytes, bytes, size);
    blob->size = size;
    return kind == GC_EXIF ? mend_exif(metadata, warnings, error) : GCONV_OK;
}

/* The orientation is a property with one digit, tiff:Orientation="6" or <tiff:Orientation>6<. */
void gc_metadata_set_upright(gconv_metadata *metadata)
{
    static const char name[] = "tiff:Orientation";
    const gc_blob *exif = &metadata->blobs[GC_EXIF], *xmp = &metadata->blobs[GC_XMP];
    unsigned char *at = xmp->bytes, *end = at != NULL ? at + xmp->size : NULL;
    gc_exif_reset_orientation(exif->bytes, exif->size);
    while (at != NULL && (at = memmem(at, (size_t)(end - at), name, sizeof name - 1)) != NULL) {
        at += sizeof name - 1;
        while (at < end && memchr(" \t\r\n=>\"'", *at, 8) != NULL)
            at++;
        if (end - at > 1 && *at > '0' && *at <= '8' && memchr(" \t\r\n<\"'", at[1], 7) != NULL)
            *at = '1';
    }
}

/* The colour space of the device side stands at byte 16. */
static bool icc_fits(const gc_blob *icc, int channels, const gc_warnings *warnings)
{
    const char *space = channels <= 2 ? "GRAY" : "RGB ";
    if (icc->bytes == NULL || memcmp(icc->bytes + 16, space, 4) == 0)
        return true;
    gc_warn(warnings, "ICC profile dropped: it is for %.4s, the output is %s",
            (const char *)icc->bytes + 16, channels <= 2 ? "grey" : "RGB");
    return false;
}

static void warn_of_unkept(const gconv_metadata *metadata, const gconv_metadata *kept,
                           const gc_warnings *warnings)
{
    if (metadata->blobs[GC_IPTC].bytes != NULL && kept->blobs[GC_IPTC].bytes == NULL)
        gc_warn(warnings, "IPTC dropped: JPEG alone has it");
    if (metadata->has_comment && kept->tags[GC_TIFF_DESCRIPTION].values == NULL)
        gc_warn(warnings, "comment dropped: it is not kept");
    if (metadata->has_private_chunk)
        gc_warn(warnings, "private chunk dropped: it is not kept");
    if (metadata->has_cmyk)
        gc_warn(warnings, "CMYK becomes RGB");
    if (metadata->private_tags > 0)
        gc_warn(warnings, "TIFF tag %lu%s dropped: private tags are not kept",
                (unsigned long)metadata->private_tag,
                metadata->private_tags > 1 ? " and others" : "");
    const gc_tiff_tag *tags = metadata->tags;
    int dropped = 0;
    while (dropped < GC_TIFF_TAGS &&
           (dropped == GC_TIFF_DESCRIPTION || tags[dropped].values == NULL ||
            kept->tags[dropped].values != NULL))
        dropped++;
    if (dropped < GC_TIFF_TAGS)
        gc_warn(warnings, "%s tags dropped: TIFF alone has them",
                dropped < GC_TIFF_GEO_TAGS      ? "GeoTIFF"
                : dropped < GC_TIFF_DESCRIPTION ? "GDAL"
                                                : "text");
}

gconv_metadata gc_metadata_select(const gconv_metadata *metadata, gconv_keep keep,
                                  gconv_format format, int channels, const gc_warnings *warnings)
{
    gconv_metadata selected = {0};
    if (metadata == NULL)
        return selected;
    if (keep == GCONV_KEEP_ALL)
        selected = *metadata;
    selected.jpeg = metadata->jpeg;
    selected.y4m = metadata->y4m;
    selected.is_long = metadata->is_long;
    selected.compression = metadata->compression;
    if (keep != GCONV_KEEP_NOTHING)
        selected.resolution = metadata->resolution;
    for (int i = 0; i < GC_TIFF_TAGS; i++) {
        gconv_keep of = i < GC_TIFF_GEO_TAGS ? GCONV_KEEP_RESOLUTION : GCONV_KEEP_ALL;
        bool kept = format == GCONV_FORMAT_TIFF && keep >= of;
        selected.tags[i] = kept ? metadata->tags[i] : (gc_tiff_tag){NULL, 0};
    }
    if (format != GCONV_FORMAT_JPEG)
        selected.blobs[GC_IPTC] = (gc_blob){NULL, 0};
    if (keep == GCONV_KEEP_ALL)
        warn_of_unkept(metadata, &selected, warnings);
    if (!icc_fits(&selected.blobs[GC_ICC], channels, warnings))
        selected.blobs[GC_ICC] = (gc_blob){NULL, 0};
    return selected;
}

gc_resolution gc_resolution_convert(gc_resolution resolution, gc_resolution_unit unit,
                                    uint32_t largest)
{
    static const double per_metre[] = {
        [GC_RESOLUTION_PER_INCH] = 1 / 0.0254,
        [GC_RESOLUTION_PER_CENTIMETRE] = 100,
        [GC_RESOLUTION_PER_METRE] = 1,
    };
    if (resolution.unit == GC_RESOLUTION_NONE)
        return resolution;
    double x = resolution.x;
    double y = resolution.y;
    gc_resolution converted = resolution;
    if (resolution.unit != GC_RESOLUTION_RATIO) {
        double factor = per_metre[resolution.unit] / per_metre[unit];
        x = floor(x * factor + 0.5);
        y = floor(y * factor + 0.5);
        converted.unit = unit;
    }
    if (x < 1 || y < 1 || x > largest || y > largest)
        return (gc_resolution){.unit = GC_RESOLUTION_NONE};
    converted.x = (uint32_t)x;
    converted.y = (uint32_t)y;
    return converted;
}
