/* HEIC and AVIF, by libheif, which decodes a whole image and turns it. */
#include "base/bits.h"
#include "base/status.h"
#include "io/heif/libheif.h"
#include "io/raw.h"
#include "io/whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BRAND_AT = 8,
    BRANDS_AT = 16,
    BRAND_BYTES = 4,
    BOX_BYTES = 8, /* of the shortest box */
    IMAGES_MAX = 1 << 16,
    DEPTH_MAX = 4 /* of images that others are made of: an alpha in tiles has 2 */
};

typedef struct heif_decoder {
    gc_whole_decoder whole;
    struct heif_context *context;
    struct heif_image_handle *handle;
} heif_decoder;

GC_MODULE_DEFINE(gc_heif, gc_libheif_load, GC_HEIF_FILES, GC_LIBHEIF_FUNCTIONS)

gconv_status gc_libheif_fail(struct heif_error failure, gconv_status status, gconv_error *error)
{
    if (failure.code == heif_error_Memory_allocation_error)
        status = GCONV_ERROR_MEMORY;
    return gc_fail(error, status, "libheif: %.*s", (int)strcspn(failure.message, "\n"),
                   failure.message);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The brands tell AVIF from HEIC in files that call themselves neither, and sequences. */
static gconv_status read_brands(gc_whole_decoder *decoder, gconv_error *error)
{
    const char *bytes = decoder->file.bytes;
    size_t end = (unsigned char)bytes[3];
    end = end < decoder->file.size ? end : decoder->file.size;
    for (size_t at = BRANDS_AT; at + BRAND_BYTES <= end; at += BRAND_BYTES)
        if (memcmp(bytes + at, "avif", BRAND_BYTES) == 0)
            decoder->common.format = GCONV_FORMAT_AVIF;
    if (memcmp(bytes + BRAND_AT, "avis", BRAND_BYTES) != 0 &&
        memcmp(bytes + BRAND_AT, "msf1", BRAND_BYTES) != 0 &&
        memcmp(bytes + BRAND_AT, "hev", 3) != 0)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_FORMAT,
                   "a sequence of images, which gconv does not read; 'ffmpeg -i' takes it apart");
}

/* A box, or a row of boxes. */
typedef struct box {
    const unsigned char *type; /* 4 letters */
    const unsigned char *bytes;
    size_t size;
} box;

/* Takes the first box off `rest`, or what there is of it if `cut` lets that pass. False if there is
 * none. */
static bool take_box(box *rest, box *taken, bool cut)
{
    uint64_t size = rest->size >= BOX_BYTES ? gc_big_endian(rest->bytes) : 1, head = BOX_BYTES;
    if (size == 1 && rest->size >= 2 * BOX_BYTES) {
        head = 2 * BOX_BYTES;
        size = (uint64_t)gc_big_endian(rest->bytes + 8) << 32 | gc_big_endian(rest->bytes + 12);
    }
    if (size == 0 || (cut && size > rest->size)) /* 0: it ends with what is around it */
        size = rest->size;
    if (size < head || size > rest->size)
        return false;
    *taken = (box){rest->bytes + 4, rest->bytes + head, size - head};
    rest->bytes += size;
    rest->size -= size;
    return true;
}

/* Gives each image more depth than those that have it as a tile, or as alpha. Ends at an image that
 * is deeper than DEPTH_MAX. Returns the depth of the last image. */
static int deepen(box references, size_t number_bytes, uint8_t depths[IMAGES_MAX])
{
    box one;
    int depth = 0;
    while (depth <= DEPTH_MAX && take_box(&references, &one, true)) {
        const bool is_part = memcmp(one.type, "auxl", 4) == 0;
        const unsigned char *low = one.bytes + number_bytes - 2; /* of the first number */
        if (!is_part && memcmp(one.type, "dimg", 4) != 0)
            continue;
        for (size_t at = number_bytes + 2; depth <= DEPTH_MAX && at + number_bytes <= one.size;
             at += number_bytes) {
            uint8_t *first = &depths[low[0] << 8 | low[1]];
            uint8_t *other = &depths[low[at] << 8 | low[at + 1]];
            uint8_t *whole = is_part ? other : first, *part = is_part ? first : other;
            if (*part <= *whole)
                *part = *whole + 1;
            depth = *part;
        }
    }
    return depth;
}

/* Whether a file, or the box that has its metadata, has images that are made of each other: libheif
 * follows them by a new thread each time, without an end. */
static bool has_circle(box rest, bool is_file, uint8_t depths[IMAGES_MAX])
{
    box one;
    bool circle = false;
    while (!circle && take_box(&rest, &one, true)) {
        if (one.size < 4) /* of a version */
            continue;
        const box inside = {NULL, one.bytes + 4, one.size - 4};
        if (is_file && memcmp(one.type, "meta", 4) == 0)
            circle = has_circle(inside, false, depths);
        else if (!is_file && memcmp(one.type, "iref", 4) == 0)
            for (int i = 0; !circle && i <= DEPTH_MAX; i++)
                circle = deepen(inside, one.bytes[0] == 0 ? 2 : 4, depths) > DEPTH_MAX;
    }
    return circle;
}

static gconv_status check_circle(box file, gconv_error *error)
{
    uint8_t depths[IMAGES_MAX] = {0};
    return has_circle(file, true, depths)
               ? gc_fail(error, GCONV_ERROR_FORMAT, "corrupt: images that are made of each other")
               : GCONV_OK;
}

/* Whether the file has more than whole boxes. */
static bool has_trailing(box rest)
{
    box one;
    while (take_box(&rest, &one, false))
        continue;
    return rest.size > 0;
}

static gconv_status read_shape(heif_decoder *decoder, gconv_error *error)
{
    struct heif_image_handle *handle = decoder->handle;
    int bits = gc_heif.heif_image_handle_get_luma_bits_per_pixel(handle);
    int width = gc_heif.heif_image_handle_get_width(handle);
    int height = gc_heif.heif_image_handle_get_height(handle);
    int stored_width = gc_heif.heif_image_handle_get_ispe_width(handle);
    int stored_height = gc_heif.heif_image_handle_get_ispe_height(handle);
    bool alpha = gc_heif.heif_image_handle_has_alpha_channel(handle) != 0;
    /* A grid states a size of its own, which libheif allocates whatever the image's is. It refuses
       sides at the limit, too. */
    gc_heif.heif_context_set_maximum_image_size_limit(
        decoder->context, 1 + (stored_width > stored_height ? stored_width : stored_height));
    if (width < 1 || height < 1 || bits < 1 || bits > 16)
        return gc_fail(error, GCONV_ERROR_FORMAT, "libheif says %d x %d pixels of %d bits", width,
                       height, bits);
    if (alpha && gc_heif.heif_image_handle_is_premultiplied_alpha(handle) != 0)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "colours that are multiplied by alpha, which gconv does not read in this "
                       "format");
    decoder->whole.common.shape = (gconv_shape){.width = (uint32_t)width,
                                                .height = (uint32_t)height,
                                                .channels = alpha ? 4 : 3,
                                                .depth = bits > 8 ? 16 : 8};
    return gc_decoder_check_size(&decoder->whole.common, error);
}

/* Images beside the primary one, and colours that no profile tells. */
static gconv_status tell_losses(heif_decoder *decoder, gconv_error *error)
{
    const gc_warnings *warnings = &decoder->whole.common.warnings;
    struct heif_color_profile_nclx *colours = NULL;
    char what[80];
    gconv_status status = GCONV_OK;
    int count = gc_heif.heif_context_get_number_of_top_level_images(decoder->context);
    snprintf(what, sizeof what, "%d of %d images are not the primary one", count - 1, count);
    if (count > 1)
        status = gc_metadata_lose(warnings, GCONV_KEEP_NOTHING, what, error);
    int maps = gc_heif.heif_image_handle_get_number_of_auxiliary_images(
        decoder->handle, LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA);
    if (status == GCONV_OK && maps > 0)
        status = gc_metadata_lose(warnings, GCONV_KEEP_NOTHING,
                                  "a map beside the image (gain, depth) is not kept", error);
    gc_heif.heif_image_handle_get_nclx_color_profile(decoder->handle, &colours);
    if (status == GCONV_OK && colours != NULL &&
        decoder->whole.common.metadata.blobs[GC_ICC].bytes == NULL) {
        int space = (int)colours->color_primaries, curve = (int)colours->transfer_characteristics;
        snprintf(what, sizeof what, "the colour space of CICP %d/%d is not kept", space, curve);
        if (space > heif_color_primaries_SMPTE_240M ||
            (curve > heif_transfer_characteristic_SMPTE_240M &&
             curve != heif_transfer_characteristic_IEC_61966_2_1))
            status = gc_metadata_lose(warnings, GCONV_KEEP_ALL, what, error);
    }
    gc_heif.heif_nclx_color_profile_free(colours);
    return status;
}

static gconv_status read_icc(heif_decoder *decoder, gconv_error *error)
{
    size_t size = gc_heif.heif_image_handle_get_raw_color_profile_size(decoder->handle);
    enum heif_color_profile_type type =
        gc_heif.heif_image_handle_get_color_profile_type(decoder->handle);
    if ((type != heif_color_profile_type_rICC && type != heif_color_profile_type_prof) || size == 0)
        return GCONV_OK;
    GC_TRY(gc_whole_room(&decoder->whole, "ICC profile", size, error));
    struct heif_error failure =
        gc_heif.heif_image_handle_get_raw_color_profile(decoder->handle, decoder->whole.blob);
    if (failure.code != heif_error_Ok)
        return gc_libheif_fail(failure, GCONV_ERROR_FORMAT, error);
    gc_decoder *common = &decoder->whole.common;
    return gc_metadata_keep(&common->metadata, GC_ICC, decoder->whole.blob, size, &common->warnings,
                            error);
}

/* Reads the first item that has EXIF, or MIME, which is XMP or is not kept. */
static gconv_status read_item(heif_decoder *decoder, gc_blob_kind kind, gconv_error *error)
{
    const struct heif_image_handle *handle = decoder->handle;
    gc_decoder *common = &decoder->whole.common;
    heif_item_id id;
    if (gc_heif.heif_image_handle_get_list_of_metadata_block_IDs(
            handle, kind == GC_EXIF ? "Exif" : "mime", &id, 1) < 1)
        return GCONV_OK;
    size_t size = gc_heif.heif_image_handle_get_metadata_size(handle, id);
    if (kind == GC_XMP && strcmp(gc_heif.heif_image_handle_get_metadata_content_type(handle, id),
                                 "application/rdf+xml") != 0)
        return gc_metadata_lose(&common->warnings, GCONV_KEEP_ALL, "an item of MIME is no XMP",
                                error);
    if (size == 0)
        return GCONV_OK;
    GC_TRY(gc_whole_room(&decoder->whole, kind == GC_EXIF ? "EXIF" : "XMP", size, error));
    struct heif_error failure =
        gc_heif.heif_image_handle_get_metadata(handle, id, decoder->whole.blob);
    if (failure.code != heif_error_Ok)
        return gc_libheif_fail(failure, GCONV_ERROR_FORMAT, error);
    return gc_whole_set_box(common, kind, decoder->whole.blob, size, error);
}

static gconv_status decode(gc_whole_decoder *decoder, size_t row_bytes, gconv_error *error);

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    heif_decoder *opened = (heif_decoder *)common;
    const gc_buffer *file = &opened->whole.file;
    opened->whole.decode = decode;
    GC_TRY(gc_libheif_load(error));
    GC_TRY(gc_whole_load(&opened->whole, UINT64_MAX, error));
    GC_TRY(read_brands(&opened->whole, error));
    const box all = {NULL, (const unsigned char *)file->bytes, file->size};
    GC_TRY(check_circle(all, error));
    opened->context = gc_heif.heif_context_alloc();
    if (opened->context == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libheif cannot start");
    struct heif_error failure = gc_heif.heif_context_read_from_memory_without_copy(
        opened->context, file->bytes, file->size, NULL);
    if (failure.code == heif_error_Ok)
        failure = gc_heif.heif_context_get_primary_image_handle(opened->context, &opened->handle);
    if (failure.code != heif_error_Ok)
        return gc_libheif_fail(failure, GCONV_ERROR_FORMAT, error);
    if (has_trailing(all))
        GC_TRY(gc_decoder_tell_trailing(common, error));
    GC_TRY(read_shape(opened, error));
    GC_TRY(read_icc(opened, error));
    GC_TRY(tell_losses(opened, error));
    GC_TRY(read_item(opened, GC_EXIF, error));
    GC_TRY(read_item(opened, GC_XMP, error));
    gc_metadata_set_upright(&common->metadata); /* libheif turns the image */
    return GCONV_OK;
}

static void free_decoder(gc_decoder *common)
{
    heif_decoder *decoder = (heif_decoder *)common;
    if (decoder->handle != NULL)
        gc_heif.heif_image_handle_release(decoder->handle);
    if (decoder->context != NULL)
        gc_heif.heif_context_free(decoder->context);
    gc_whole_free(common);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Copies rows, and stretches samples of 9 to 15 bits. */
static gconv_status take_image(gc_whole_decoder *decoder, const struct heif_image *image,
                               size_t row_bytes, gconv_error *error)
{
    const gconv_shape *shape = &decoder->common.shape;
    const enum heif_channel channel = heif_channel_interleaved;
    int stride = 0, bits = gc_heif.heif_image_get_bits_per_pixel_range(image, channel);
    const uint8_t *plane = gc_heif.heif_image_get_plane_readonly(image, channel, &stride);
    if (plane == NULL || gc_heif.heif_image_get_width(image, channel) != (int)shape->width ||
        gc_heif.heif_image_get_height(image, channel) != (int)shape->height ||
        bits > shape->depth || bits <= shape->depth - 8)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the image is not what its header says");
    for (size_t y = 0; y < shape->height; y++)
        memcpy(decoder->image + y * row_bytes, plane + y * (size_t)stride, row_bytes);
    if (bits == shape->depth)
        return GCONV_OK;
    const uint32_t most = (1U << bits) - 1;
    uint16_t *levels = gc_raw_levels(most, UINT16_MAX, error);
    uint16_t *samples = (uint16_t *)(void *)decoder->image;
    for (size_t i = 0; levels != NULL && i < row_bytes * shape->height / 2; i++)
        samples[i] = levels[samples[i] < most ? samples[i] : most];
    free(levels);
    return levels != NULL ? GCONV_OK : GCONV_ERROR_MEMORY;
}

static gconv_status decode(gc_whole_decoder *decoder, size_t row_bytes, gconv_error *error)
{
    static const enum heif_chroma deep[] = {
        GC_HOST_IS_BIG_ENDIAN ? heif_chroma_interleaved_RRGGBB_BE
                              : heif_chroma_interleaved_RRGGBB_LE,
        GC_HOST_IS_BIG_ENDIAN ? heif_chroma_interleaved_RRGGBBAA_BE
                              : heif_chroma_interleaved_RRGGBBAA_LE};
    const gconv_shape *shape = &decoder->common.shape;
    const bool alpha = shape->channels == 4;
    enum heif_chroma chroma = alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    struct heif_image *image = NULL;
    struct heif_error failure =
        gc_heif.heif_decode_image(((heif_decoder *)decoder)->handle, &image, heif_colorspace_RGB,
                                  shape->depth == 16 ? deep[alpha] : chroma, NULL);
    if (failure.code != heif_error_Ok)
        return gc_libheif_fail(failure, GCONV_ERROR_FORMAT, error);
    gconv_status status = take_image(decoder, image, row_bytes, error);
    gc_heif.heif_image_release(image);
    return status;
}

const gc_decoder_type gc_heif_decoder = {
    .name = "libheif",
    .size = sizeof(heif_decoder),
    .open = open_decoder,
    .read = gc_whole_read,
    .finish = gc_whole_finish,
    .free = free_decoder,
};
