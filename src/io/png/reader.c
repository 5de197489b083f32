/* PNG of every colour type, depth and interlacing, by libpng. If the file can be read twice, ISA-L
 * inflates the image data (png/fast/stream.c). Whatever it rejects libpng reads again with zlib
 * alone: verdicts and messages are theirs. */
#include "base/bits.h"
#include "base/status.h"
#include "io/fast.h"
#include "io/png/libpng.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    CHUNK_COUNT_MAX = 64, /* that libpng keeps */
    SIGNATURE_BYTES = 8,
    /* Compressed bytes that libpng asks for at one time. If the file ends among them, libpng gets
     * none of them: a tolerant reader asks for few. */
    TOLERANT_READ_BYTES = 64,
    STREAM_READ_BYTES = 128 * 1024 /* from a gc_png_stream: more than a chunk has */
};

/* ---- Opening --------------------------------------------------------------------------------- */

/* Sets the limits. Chunks that gconv does not use are skipped, not read: a compressed text of 1 kB
 * may inflate to gigabytes. */
static void set_limits(gc_libpng *decoder)
{
    static const png_byte unused[] =
        "bKGD\0hIST\0iTXt\0oFFs\0pCAL\0sBIT\0sCAL\0sPLT\0tEXt\0tIME\0zTXt";
    png_set_user_limits(decoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(decoder->png, GC_PNG_CHUNK_BYTES_MAX);
    png_set_chunk_cache_max(decoder->png, CHUNK_COUNT_MAX);
    png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, unused,
                                (int)(sizeof unused / 5));
    if (decoder->common.tolerant)
        png_set_compression_buffer_size(decoder->png, TOLERANT_READ_BYTES);
    else if (decoder->stream != NULL)
        png_set_compression_buffer_size(decoder->png, STREAM_READ_BYTES);
}

/* Every colour type and depth becomes 1 to 4 channels of 8 or 16 bits in host order. */
static void set_transformations(gc_libpng *decoder)
{
    png_structp png = decoder->png;
    int colour = png_get_color_type(png, decoder->info);
    int depth = png_get_bit_depth(png, decoder->info);
    bool transparent = png_get_valid(png, decoder->info, PNG_INFO_tRNS) != 0;
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY && depth < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    if (transparent)
        png_set_tRNS_to_alpha(png);
    if (depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
    decoder->passes = png_set_interlace_handling(png);
    bool alpha = transparent || (colour & PNG_COLOR_MASK_ALPHA) != 0;
    decoder->common.shape =
        (gconv_shape){.width = png_get_image_width(png, decoder->info),
                      .height = png_get_image_height(png, decoder->info),
                      .channels = ((colour & PNG_COLOR_MASK_COLOR) ? 3 : 1) + (alpha ? 1 : 0),
                      .depth = depth == 16 ? 16 : 8};
}

static void read_resolution(gc_libpng *decoder)
{
    png_uint_32 x;
    png_uint_32 y;
    int unit;
    if (png_get_pHYs(decoder->png, decoder->info, &x, &y, &unit) == 0 || x == 0 || y == 0)
        return;
    decoder->common.metadata.resolution = (gc_resolution){
        .unit = unit == PNG_RESOLUTION_METER ? GC_RESOLUTION_PER_METRE : GC_RESOLUTION_RATIO,
        .x = x,
        .y = y};
}

static void read_colour(gc_libpng *decoder)
{
    gconv_metadata *metadata = &decoder->common.metadata;
    int32_t *c = metadata->chromaticities;
    metadata->has_srgb = png_get_sRGB(decoder->png, decoder->info, &metadata->srgb_intent) != 0;
    metadata->has_gamma = png_get_gAMA_fixed(decoder->png, decoder->info, &metadata->gamma) != 0;
    metadata->has_chromaticities =
        png_get_cHRM_fixed(decoder->png, decoder->info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5],
                           &c[6], &c[7]) != 0;
}

static gconv_status read_blobs(gc_libpng *decoder)
{
    gconv_metadata *metadata = &decoder->common.metadata;
    png_charp name;
    int compression;
    png_bytep bytes;
    png_uint_32 size;
    gconv_status status = GCONV_OK;
    const gc_warnings *warnings = &decoder->common.warnings;
    if (png_get_iCCP(decoder->png, decoder->info, &name, &compression, &bytes, &size) != 0)
        status = gc_metadata_keep(metadata, GC_ICC, bytes, size, warnings, decoder->error);
    if (status == GCONV_OK && png_get_eXIf_1(decoder->png, decoder->info, &size, &bytes) != 0)
        status = gc_metadata_keep(metadata, GC_EXIF, bytes, size, warnings, decoder->error);
    return status;
}

static gconv_status read_xmp(gc_libpng *decoder)
{
    const gc_warnings *warnings = &decoder->common.warnings;
    const size_t head = sizeof GC_PNG_XMP_HEAD - 2, size = decoder->xmp.size;
    if (decoder->xmp.failed)
        return gc_fail_memory(decoder->error, size);
    if (size == 0)
        return GCONV_OK;
    const unsigned char *bytes = (const unsigned char *)decoder->xmp.bytes;
    const size_t end = size - GC_PNG_CHUNK_TAIL_BYTES;
    uLong check = crc32(crc32(0, (const Bytef *)"iTXt", 4), bytes, (uInt)end);
    bool found = end >= head && memcmp(bytes, GC_PNG_XMP_HEAD, head) == 0;
    const unsigned char *packet = found ? bytes + head : bytes;
    for (int i = 0; found && i < 2; i++) { /* past the language and the keyword in it */
        const unsigned char *nul = memchr(packet, 0, (size_t)(bytes + end - packet));
        found = nul != NULL;
        packet = found ? nul + 1 : packet;
    }
    if (!found || check != gc_big_endian(bytes + end))
        return gc_metadata_lose(warnings, GCONV_KEEP_ALL,
                                "XMP is compressed, damaged or larger than 8 MiB", decoder->error);
    return gc_metadata_keep(&decoder->common.metadata, GC_XMP, packet,
                            (size_t)(bytes + end - packet), warnings, decoder->error);
}

/* Says which chunks are lost: damaged ones in the header, and those behind the image data. There
 * the orientation of EXIF comes too late for the pixels. */
static gconv_status tell_losses(gc_libpng *decoder, bool late)
{
    png_uint_32 lost =
        late ? decoder->late & ~decoder->met
             : decoder->met & ~png_get_valid(decoder->png, decoder->info, decoder->met);
    for (int i = 0; i < GC_PNG_CHUNKS; i++) {
        char what[64];
        bool turns = late && gc_png_chunks[i].bit == PNG_INFO_eXIf;
        if ((lost & gc_png_chunks[i].bit) == 0)
            continue;
        if (gc_png_chunks[i].bit == GC_PNG_INFO_ANIMATION)
            snprintf(what, sizeof what, "images of an animation follow the first one");
        else
            snprintf(what, sizeof what, "the %.4s chunk %s", gc_png_chunks[i].type,
                     late ? "lies behind the image data" : "is damaged");
        GC_TRY(gc_metadata_lose(&decoder->common.warnings,
                                turns ? GCONV_KEEP_NOTHING : gc_png_chunks[i].part, what,
                                decoder->error));
    }
    return GCONV_OK;
}

/* Reads up to the image data, under the caller's trap. */
static gconv_status begin_reading(gc_libpng *decoder)
{
    decoder->chunk_left = SIGNATURE_BYTES;
    decoder->data_begun = decoder->passed_over = false;
    decoder->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, decoder, gc_png_take_error,
                                            gc_png_take_warning, &decoder->memory, gc_png_allocate,
                                            gc_png_release);
    decoder->info = decoder->png != NULL ? png_create_info_struct(decoder->png) : NULL;
    if (decoder->info == NULL)
        return gc_fail(decoder->error, GCONV_ERROR_MEMORY, "out of memory: libpng cannot start");
    png_set_read_fn(decoder->png, decoder, gc_png_read_bytes);
    set_limits(decoder);
    png_read_info(decoder->png, decoder->info);
    decoder->trusting = decoder->streaming;
    if (decoder->trusting)
        gc_png_check_sums(decoder->png, false);
    set_transformations(decoder);
    return GCONV_OK;
}

static gconv_status read_header(gc_libpng *decoder)
{
    /* Covers every libpng call of opening. */
    if (setjmp(decoder->trap) != 0)
        return decoder->status;
    if (!decoder->common.tolerant && gc_fast.png_inflating != NULL)
        decoder->stream = gc_fast.png_inflating->create(decoder->common.input);
    GC_TRY(begin_reading(decoder));
    GC_TRY(gc_decoder_check_size(&decoder->common, decoder->error));
    decoder->row_bytes = gconv_shape_row_bytes(&decoder->common.shape);
    read_resolution(decoder);
    read_colour(decoder);
    GC_TRY(gc_png_check_memory(&decoder->memory, decoder->error));
    GC_TRY(tell_losses(decoder, false));
    GC_TRY(read_blobs(decoder));
    GC_TRY(read_xmp(decoder));
    return gc_png_check_memory(&decoder->memory, decoder->error);
}

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    gc_libpng *decoder = (gc_libpng *)common;
    pthread_mutex_init(&decoder->lock, NULL);
    decoder->error = error;
    decoder->part = "in the header";
    return read_header(decoder);
}

static void free_decoder(gc_decoder *common)
{
    gc_libpng *decoder = (gc_libpng *)common;
    png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    gc_png_end_stream(decoder);
    pthread_mutex_destroy(&decoder->lock);
    gc_buffer_free(&decoder->xmp);
    free(decoder->image);
    free(decoder);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* After a trap: a tolerant reader goes on if data are missing. */
static gconv_status survive(gc_libpng *decoder)
{
    if (!decoder->common.tolerant || !decoder->missing)
        return decoder->status;
    if (!decoder->stopped)
        gc_warn_damage(&decoder->common.warnings, "truncated: the file ends %s", decoder->part);
    decoder->stopped = true;
    return GCONV_OK;
}

/* Allocates libpng's rows, under the caller's trap. */
static void start(gc_libpng *decoder)
{
    if (decoder->started)
        return;
    decoder->started = true;
    png_read_update_info(decoder->png, decoder->info);
    if (png_get_rowbytes(decoder->png, decoder->info) != decoder->row_bytes)
        png_error(decoder->png, "rows of an unexpected size");
}

/* After the stream was rejected: reads the file again up to the next row, by libpng and zlib alone.
 * Does not repeat the warnings of the header. */
static gconv_status begin_again(gc_libpng *decoder)
{
    const gc_warnings warnings = decoder->common.warnings;
    const gconv_shape shape = decoder->common.shape;
    decoder->rejected = false;
    decoder->common.decoded_by = NULL;
    gc_png_end_stream(decoder);
    png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    GC_TRY(gc_input_rewind(decoder->common.input, decoder->error));
    /* Covers the header and the rows that were read before. */
    if (setjmp(decoder->trap) != 0) {
        decoder->common.warnings = warnings;
        return decoder->status;
    }
    decoder->common.warnings.warn = NULL;
    gconv_status status = begin_reading(decoder);
    decoder->common.warnings.warn = warnings.warn;
    GC_TRY(status);
    if (memcmp(&shape, &decoder->common.shape, sizeof shape) != 0)
        return gc_fail(decoder->error, GCONV_ERROR_READ, "the file has changed while it was read");
    decoder->started = false;
    start(decoder);
    for (uint32_t row = 0; decoder->passes == 1 && row < decoder->row; row++)
        png_read_row(decoder->png, NULL, NULL);
    return GCONV_OK;
}

/* Decodes all passes of the rows from `first` to `end`; rows[0] is row `first`. */
static gconv_status try_rows(gc_libpng *decoder, uint32_t first, uint32_t end, unsigned char *rows,
                             size_t stride)
{
    /* Covers the decoding of every row of every pass. */
    if (setjmp(decoder->trap) != 0)
        return decoder->rejected ? GCONV_OK : survive(decoder);
    start(decoder);
    for (int pass = 0; pass < decoder->passes; pass++)
        for (decoder->row = first; decoder->row < end; decoder->row++)
            png_read_row(decoder->png, rows + (decoder->row - first) * stride, NULL);
    return gc_png_check_memory(&decoder->memory, decoder->error);
}

static gconv_status decode_rows(gc_libpng *decoder, uint32_t count, unsigned char *rows,
                                size_t stride)
{
    const uint32_t first = decoder->row;
    gconv_status status = try_rows(decoder, first, first + count, rows, stride);
    if (!decoder->rejected)
        return status;
    decoder->row = first;
    status = begin_again(decoder);
    return status == GCONV_OK ? try_rows(decoder, first, first + count, rows, stride) : status;
}

/* Missing rows stay 0. */
static gconv_status load_image(gc_libpng *decoder)
{
    uint32_t height = decoder->common.shape.height;
    decoder->image = calloc(height, decoder->row_bytes);
    GC_TRY_MEMORY(decoder->image != NULL, decoder->error, height * decoder->row_bytes);
    gconv_status status = decode_rows(decoder, height, decoder->image, decoder->row_bytes);
    decoder->row = 0;
    return status;
}

static gconv_status read_interlaced(gc_libpng *decoder, uint32_t count, unsigned char *rows,
                                    size_t stride)
{
    gconv_status status = decoder->image != NULL ? GCONV_OK : load_image(decoder);
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++)
        memcpy(rows + i * stride, decoder->image + (size_t)decoder->row++ * decoder->row_bytes,
               decoder->row_bytes);
    return status;
}

static gconv_status read_rows(gc_decoder *common, uint32_t count, unsigned char *rows,
                              size_t stride, gconv_error *error)
{
    gc_libpng *decoder = (gc_libpng *)common;
    decoder->error = error;
    decoder->part = "in the image data";
    if (decoder->passes > 1)
        return read_interlaced(decoder, count, rows, stride);
    const uint32_t first = decoder->row;
    gconv_status status = decoder->stopped ? GCONV_OK : decode_rows(decoder, count, rows, stride);
    for (; status == GCONV_OK && decoder->row - first < count; decoder->row++)
        memset(rows + (decoder->row - first) * stride, 0, decoder->row_bytes);
    return status;
}

static gconv_status read_end(gc_libpng *decoder)
{
    /* Covers the chunks after the image data. */
    if (setjmp(decoder->trap) != 0)
        return decoder->rejected ? GCONV_OK : survive(decoder);
    png_read_end(decoder->png, NULL);
    GC_TRY(gc_decoder_check_trailing(&decoder->common, decoder->error));
    GC_TRY(gc_png_check_memory(&decoder->memory, decoder->error));
    return tell_losses(decoder, true);
}

static gconv_status finish(gc_decoder *common, gconv_error *error)
{
    gc_libpng *decoder = (gc_libpng *)common;
    if (decoder->stopped)
        return GCONV_OK;
    decoder->error = error;
    decoder->part = "before the end of the image (IEND)";
    gconv_status status = read_end(decoder);
    if (!decoder->rejected)
        return status;
    status = begin_again(decoder);
    return status == GCONV_OK ? read_end(decoder) : status;
}

/* Inflates ahead, while libpng makes rows of what is inflated. */
static bool help(gc_decoder *common)
{
    gc_libpng *decoder = (gc_libpng *)common;
    if (pthread_mutex_trylock(&decoder->lock) != 0)
        return false;
    bool helped = decoder->streaming && gc_fast.png_inflating->help(decoder->stream);
    pthread_mutex_unlock(&decoder->lock);
    return helped;
}

const gc_decoder_type gc_png_decoder = {
    .name = "libpng",
    .size = sizeof(gc_libpng),
    .open = open_decoder,
    .read = read_rows,
    .finish = finish,
    .help = help,
    .free = free_decoder,
};
