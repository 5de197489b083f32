/* PNG of every colour type, depth and interlacing, by libpng. If the file can be read twice, ISA-L
 * inflates the image data (png/fast/stream.c). Whatever it rejects libpng reads again with zlib
 * alone: verdicts and messages are theirs. */
#include "base/bits.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/fast.h"
#include "io/png/memory.h"

#include <png.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    CHUNK_BYTES_MAX = 8 << 20, /* what one chunk that is held may take, inflated */
    CHUNK_COUNT_MAX = 64,      /* such chunks that libpng keeps */
    SIGNATURE_BYTES = 8,
    CHUNK_HEAD_BYTES = 8, /* length and type */
    CHUNK_TAIL_BYTES = 4, /* the checksum */
    /* Compressed bytes that libpng asks for at one time. If the file ends among them, libpng gets
     * none of them: a tolerant reader asks for few. */
    TOLERANT_READ_BYTES = 64,
    STREAM_READ_BYTES = 128 * 1024 /* from a gc_png_stream: more than a chunk has */
};

typedef struct png_decoder {
    gc_decoder common;
    png_structp png;
    png_infop info;
    jmp_buf trap;
    gconv_error *error;  /* of the call in progress */
    gconv_status status; /* of the failure that sprang the trap */
    const char *part;    /* what is being read, for messages: "in the header" */
    uint32_t chunk_left; /* bytes to the next chunk; at first, bytes of the signature */
    png_uint_32 met;     /* chunks of kept_chunks that have come before the image data */
    png_uint_32 late;    /* and those that have come later */
    bool data_begun;     /* the head of a chunk of image data was read */
    bool passed_over;    /* libpng gets `tail` instead of a chunk that was skipped */
    unsigned char tail[CHUNK_TAIL_BYTES];
    gc_buffer xmp; /* data and checksum of the first chunk of XMP before the image data */
    bool taking;   /* this chunk is being read */
    bool missing;  /* the failure was an end of the data, not a defect */
    size_t row_bytes;
    int passes;           /* more than one if the image is interlaced */
    unsigned char *image; /* all rows of an interlaced image; allocated when needed */
    uint32_t row;         /* rows decoded, or delivered from the image */
    bool started;
    bool stopped; /* tolerant: there is no more data, rows are 0 from here on */
    gc_png_memory memory;
    gc_png_stream *stream; /* inflates the image data instead of zlib; else NULL */
    pthread_mutex_t lock;  /* of `stream` and `streaming`, if they change or a thread helps */
    bool streaming;        /* libpng reads from the stream, not from the input */
    bool trusting;         /* the header is read: any message of libpng rejects the stream */
    bool rejected;         /* no real failure: libpng has to read the file again */
} png_decoder;

/* What libpng does not know: an animation (APNG), whose first image gconv reads. */
#define INFO_ANIMATION 0x80000000U
/* XMP, whose chunk has the type of other texts. */
#define INFO_XMP 0x40000000U

/* Chunks beside the image data that gconv takes from the header, or tells of. */
static const struct {
    char type[5];
    png_uint_32 bit;
    gconv_keep part; /* of the metadata; the pixels need those of GCONV_KEEP_NOTHING */
} kept_chunks[] = {
    {"tRNS", PNG_INFO_tRNS, GCONV_KEEP_NOTHING}, {"pHYs", PNG_INFO_pHYs, GCONV_KEEP_RESOLUTION},
    {"eXIf", PNG_INFO_eXIf, GCONV_KEEP_ALL},     {"iCCP", PNG_INFO_iCCP, GCONV_KEEP_ALL},
    {"sRGB", PNG_INFO_sRGB, GCONV_KEEP_ALL},     {"gAMA", PNG_INFO_gAMA, GCONV_KEEP_ALL},
    {"cHRM", PNG_INFO_cHRM, GCONV_KEEP_ALL},     {"fdAT", INFO_ANIMATION, GCONV_KEEP_NOTHING},
    {"XMP", INFO_XMP, GCONV_KEEP_ALL},
};

enum { KEPT_CHUNKS = sizeof kept_chunks / sizeof kept_chunks[0] };

/* ---- What libpng calls ----------------------------------------------------------------------- */

static _Noreturn void spring(png_decoder *decoder, gconv_status status)
{
    decoder->status = status;
    longjmp(decoder->trap, 1);
}

static _Noreturn void spring_truncated(png_decoder *decoder)
{
    decoder->missing = true;
    spring(decoder, gc_fail(decoder->error, GCONV_ERROR_FORMAT, "truncated: the file ends %s",
                            decoder->part));
}

/* Fails so that the caller reads the image again, without the stream. */
static _Noreturn void reject_stream(png_decoder *decoder)
{
    decoder->rejected = true;
    spring(decoder, GCONV_ERROR_FORMAT);
}

static void take_error(png_structp png, png_const_charp message)
{
    png_decoder *decoder = png_get_error_ptr(png);
    if (decoder->memory.refused_bytes > 0)
        spring(decoder, gc_png_check_memory(&decoder->memory, decoder->error));
    if (decoder->trusting)
        reject_stream(decoder);
    /* What libpng says if the image data stop although chunks follow. */
    if (strcmp(message, "Not enough image data") == 0) {
        decoder->missing = true;
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_FORMAT,
                                "truncated: the image data end too early"));
    }
    spring(decoder, gc_fail(decoder->error, GCONV_ERROR_FORMAT, "corrupt PNG: %s", message));
}

static void take_warning(png_structp png, png_const_charp message)
{
    png_decoder *decoder = png_get_error_ptr(png);
    if (decoder->memory.refused_bytes > 0)
        return;
    if (decoder->trusting)
        reject_stream(decoder);
    /* A wrong Adler-32 of the image data: some pixel is wrong. */
    if (strcmp(message, "IDAT: incorrect data check") == 0)
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_FORMAT, "corrupt PNG: %s", message));
    /* A message about a chunk begins with its name. */
    if (strstr(message, ": exceeds application limits") != NULL)
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_LIMIT,
                                "the %.4s chunk inflates to more than the limit of 8 MiB (%s)",
                                message, message));
    gc_warn(&decoder->common.warnings, "PNG: %s", message);
}

/* Takes the next bytes from the input. */
static void take_bytes(png_decoder *decoder, unsigned char *bytes, size_t size)
{
    size_t got;
    gconv_status status = gc_input_read(decoder->common.input, bytes, size, &got, decoder->error);
    if (status != GCONV_OK)
        spring(decoder, status);
    if (got < size)
        spring_truncated(decoder);
}

/* Whether a chunk can be skipped: it is ancillary, and not metadata that gconv keeps. */
static bool is_passed_over(const png_decoder *decoder, const unsigned char *type)
{
    bool kept = memcmp(type, "eXIf", 4) == 0 || memcmp(type, "iCCP", 4) == 0;
    return (type[0] & 0x20) != 0 && (!kept || decoder->data_begun);
}

/* Notes that a chunk of text, or an ancillary one of a program's own (PNG, 5.4), will be missing
 * from outputs, or begins to take XMP. */
static void note_chunk(png_decoder *decoder, const unsigned char *type)
{
    const size_t wanted = sizeof GC_PNG_XMP_HEAD - 4; /* the keyword and its NUL */
    gconv_error unused;                               /* reading on meets the same error */
    const unsigned char *bytes;
    size_t size = 0;
    decoder->common.metadata.has_private_chunk |= (type[0] & type[1] & 0x20) != 0;
    bool is_text = memcmp(type, "tEXt", 4) == 0 || memcmp(type, "zTXt", 4) == 0;
    if (!is_text && memcmp(type, "iTXt", 4) != 0)
        return;
    bool found = gc_input_peek(decoder->common.input, wanted, &bytes, &size, &unused) == GCONV_OK &&
                 size >= wanted && memcmp(bytes, GC_PNG_XMP_HEAD, wanted) == 0;
    decoder->common.metadata.has_comment |= !found;
    if (found && decoder->data_begun)
        decoder->late |= INFO_XMP;
    else
        decoder->taking = found && decoder->xmp.size == 0;
}

/* Reads and drops the data of a chunk whose head libpng is about to get. libpng gets an empty chunk
 * in its place, whose checksum is wrong if that of the chunk is. */
static void pass_over(png_decoder *decoder, unsigned char head[CHUNK_HEAD_BYTES])
{
    gc_input *input = decoder->common.input;
    const unsigned char *bytes;
    size_t size;
    const uint32_t empty = (uint32_t)crc32(0, head + 4, 4);
    uint32_t check = empty;
    for (uint32_t left = gc_big_endian(head); left > 0; left -= (uint32_t)size) {
        gconv_status status = gc_input_peek(input, 1, &bytes, &size, decoder->error);
        if (status != GCONV_OK)
            spring(decoder, status);
        if (size == 0)
            spring_truncated(decoder);
        size = size < left ? size : left;
        check = (uint32_t)crc32(check, bytes, (uInt)size);
        gc_input_skip(input, size);
    }
    take_bytes(decoder, decoder->tail, CHUNK_TAIL_BYTES);
    check = empty ^ check ^ gc_big_endian(decoder->tail);
    png_save_uint_32(decoder->tail, check);
    memset(head, 0, 4);
    decoder->passed_over = true;
}

/* Follows libpng from chunk to chunk. libpng reads the length and the type of a chunk by a call of
 * their own. libpng itself refuses lengths that PNG does not allow. */
static void follow_chunks(png_decoder *decoder, unsigned char *bytes, size_t size)
{
    if (size <= decoder->chunk_left) {
        decoder->chunk_left -= (uint32_t)size;
        if (decoder->taking)
            gc_buffer_add(&decoder->xmp, bytes, size);
        return;
    }
    decoder->taking = false;
    uint32_t length = size == CHUNK_HEAD_BYTES ? gc_big_endian(bytes) : UINT32_MAX;
    if (length > PNG_UINT_31_MAX)
        return;
    bool is_data = memcmp(bytes + 4, "IDAT", 4) == 0;
    decoder->data_begun = decoder->data_begun || is_data;
    if (!is_data)
        note_chunk(decoder, bytes + 4);
    if (length > CHUNK_BYTES_MAX && is_passed_over(decoder, bytes + 4)) {
        if (decoder->taking)
            gc_buffer_add(&decoder->xmp, bytes, CHUNK_TAIL_BYTES); /* XMP without a byte */
        pass_over(decoder, bytes);
        length = 0;
    } else if (length > CHUNK_BYTES_MAX && !is_data) {
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_LIMIT,
                                "the %.4s chunk has %lu bytes, more than the limit of 8 MiB",
                                (const char *)bytes + 4, (unsigned long)length));
    }
    for (int i = 0; i < KEPT_CHUNKS; i++)
        if (memcmp(bytes + 4, kept_chunks[i].type, 4) == 0)
            *(decoder->data_begun ? &decoder->late : &decoder->met) |= kept_chunks[i].bit;
    decoder->chunk_left = length + CHUNK_TAIL_BYTES;
}

/* Begins to stream when libpng reads the head of the first chunk of image data. */
static void begin_stream(png_decoder *decoder, unsigned char head[CHUNK_HEAD_BYTES])
{
    if (decoder->stream == NULL || memcmp(head + 4, "IDAT", 4) != 0)
        return;
    const size_t row_bytes = png_get_rowbytes(decoder->png, decoder->info);
    const png_uint_32 height = png_get_image_height(decoder->png, decoder->info);
    /* Chunks that are not larger than this libpng takes without a warning. */
    uint64_t most = (uint64_t)row_bytes * height;
    most = most < CHUNK_BYTES_MAX ? CHUNK_BYTES_MAX : most;
    most = most < PNG_UINT_31_MAX ? most : PNG_UINT_31_MAX;
    if (gc_big_endian(head) > most)
        return;
    gc_fast.png_inflating->begin(decoder->stream, (uint32_t)most, head);
    int bits = png_get_bit_depth(decoder->png, decoder->info) *
               png_get_channels(decoder->png, decoder->info);
    if (png_get_interlace_type(decoder->png, decoder->info) == PNG_INTERLACE_NONE)
        gc_fast.png_inflating->undo_filters(decoder->stream, row_bytes, height,
                                            bits < 8 ? 1 : (size_t)bits / 8);
    decoder->streaming = true;
}

/* Whether libpng and zlib check the sums of the image data. The stream has done so. */
static void check_sums(png_structp png, bool wanted)
{
    png_set_crc_action(png, wanted ? PNG_CRC_DEFAULT : PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
#ifdef PNG_IGNORE_ADLER32
    png_set_option(png, PNG_IGNORE_ADLER32, wanted ? PNG_OPTION_OFF : PNG_OPTION_ON);
#endif
}

static void end_stream(png_decoder *decoder)
{
    pthread_mutex_lock(&decoder->lock);
    if (decoder->stream != NULL)
        gc_fast.png_inflating->free(decoder->stream);
    decoder->stream = NULL;
    decoder->streaming = decoder->trusting = false;
    pthread_mutex_unlock(&decoder->lock);
}

static void read_stream(png_decoder *decoder, png_bytep bytes, size_t size)
{
    gc_png_stream_state state = gc_fast.png_inflating->read(decoder->stream, bytes, size);
    if (state == GC_PNG_STREAM_REJECTED)
        reject_stream(decoder);
    if (state == GC_PNG_STREAM_AFTER) {
        end_stream(decoder);
        check_sums(decoder->png, true);
    }
    follow_chunks(decoder, bytes, size);
}

static void read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    png_decoder *decoder = png_get_io_ptr(png);
    if (decoder->streaming) {
        read_stream(decoder, bytes, size);
        return;
    }
    if (decoder->passed_over && size == CHUNK_TAIL_BYTES) {
        memcpy(bytes, decoder->tail, CHUNK_TAIL_BYTES);
        decoder->passed_over = false;
        decoder->chunk_left = 0;
        return;
    }
    take_bytes(decoder, bytes, size);
    if (size == CHUNK_HEAD_BYTES && decoder->chunk_left == 0)
        begin_stream(decoder, bytes);
    follow_chunks(decoder, bytes, size);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Sets the limits. Chunks that gconv does not use are skipped, not read: a compressed text of 1 kB
 * may inflate to gigabytes. */
static void set_limits(png_decoder *decoder)
{
    static const png_byte unused[] =
        "bKGD\0hIST\0iTXt\0oFFs\0pCAL\0sBIT\0sCAL\0sPLT\0tEXt\0tIME\0zTXt";
    png_set_user_limits(decoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(decoder->png, CHUNK_BYTES_MAX);
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
static void set_transformations(png_decoder *decoder)
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

static void read_resolution(png_decoder *decoder)
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

static void read_colour(png_decoder *decoder)
{
    gconv_metadata *metadata = &decoder->common.metadata;
    int32_t *c = metadata->chromaticities;
    metadata->has_srgb = png_get_sRGB(decoder->png, decoder->info, &metadata->srgb_intent) != 0;
    metadata->has_gamma = png_get_gAMA_fixed(decoder->png, decoder->info, &metadata->gamma) != 0;
    metadata->has_chromaticities =
        png_get_cHRM_fixed(decoder->png, decoder->info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5],
                           &c[6], &c[7]) != 0;
}

static gconv_status read_blobs(png_decoder *decoder)
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

static gconv_status read_xmp(png_decoder *decoder)
{
    const gc_warnings *warnings = &decoder->common.warnings;
    const size_t head = sizeof GC_PNG_XMP_HEAD, size = decoder->xmp.size;
    if (decoder->xmp.failed)
        return gc_fail_memory(decoder->error, size);
    if (size == 0)
        return GCONV_OK;
    const unsigned char *bytes = (const unsigned char *)decoder->xmp.bytes;
    const size_t end = size - CHUNK_TAIL_BYTES;
    uLong check = crc32(crc32(0, (const Bytef *)"iTXt", 4), bytes, (uInt)end);
    if (end < head || memcmp(bytes, GC_PNG_XMP_HEAD, head) != 0 ||
        check != gc_big_endian(bytes + end))
        return gc_metadata_lose(warnings, GCONV_KEEP_ALL,
                                "XMP is compressed, damaged or larger than 8 MiB", decoder->error);
    return gc_metadata_keep(&decoder->common.metadata, GC_XMP, bytes + head, end - head, warnings,
                            decoder->error);
}

/* Says which chunks are lost: damaged ones in the header, and those behind the image data. There
 * the orientation of EXIF comes too late for the pixels. */
static gconv_status tell_losses(png_decoder *decoder, bool late)
{
    gconv_status status = GCONV_OK;
    png_uint_32 lost =
        late ? decoder->late & ~decoder->met
             : decoder->met & ~png_get_valid(decoder->png, decoder->info, decoder->met);
    for (int i = 0; status == GCONV_OK && i < KEPT_CHUNKS; i++) {
        char what[64];
        bool turns = late && kept_chunks[i].bit == PNG_INFO_eXIf;
        if ((lost & kept_chunks[i].bit) == 0)
            continue;
        if (kept_chunks[i].bit == INFO_ANIMATION)
            snprintf(what, sizeof what, "images of an animation follow the first one");
        else
            snprintf(what, sizeof what, "the %.4s chunk %s", kept_chunks[i].type,
                     late ? "lies behind the image data" : "is damaged");
        status = gc_metadata_lose(&decoder->common.warnings,
                                  turns ? GCONV_KEEP_NOTHING : kept_chunks[i].part, what,
                                  decoder->error);
    }
    return status;
}

/* Reads up to the image data, under the caller's trap. */
static gconv_status begin_reading(png_decoder *decoder)
{
    decoder->chunk_left = SIGNATURE_BYTES;
    decoder->data_begun = decoder->passed_over = false;
    decoder->png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, decoder, take_error, take_warning,
                                 &decoder->memory, gc_png_allocate, gc_png_release);
    decoder->info = decoder->png != NULL ? png_create_info_struct(decoder->png) : NULL;
    if (decoder->info == NULL)
        return gc_fail(decoder->error, GCONV_ERROR_MEMORY, "out of memory: libpng cannot start");
    png_set_read_fn(decoder->png, decoder, read_bytes);
    set_limits(decoder);
    png_read_info(decoder->png, decoder->info);
    decoder->trusting = decoder->streaming;
    if (decoder->trusting)
        check_sums(decoder->png, false);
    set_transformations(decoder);
    return GCONV_OK;
}

static gconv_status read_header(png_decoder *decoder)
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
    png_decoder *decoder = (png_decoder *)common;
    pthread_mutex_init(&decoder->lock, NULL);
    decoder->error = error;
    decoder->part = "in the header";
    return read_header(decoder);
}

static void free_decoder(gc_decoder *common)
{
    png_decoder *decoder = (png_decoder *)common;
    png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    end_stream(decoder);
    pthread_mutex_destroy(&decoder->lock);
    gc_buffer_free(&decoder->xmp);
    free(decoder->image);
    free(decoder);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* After a trap: a tolerant reader goes on if data are missing. */
static gconv_status survive(png_decoder *decoder)
{
    if (!decoder->common.tolerant || !decoder->missing)
        return decoder->status;
    if (!decoder->stopped)
        gc_warn_damage(&decoder->common.warnings, "truncated: the file ends %s", decoder->part);
    decoder->stopped = true;
    return GCONV_OK;
}

/* Allocates libpng's rows, under the caller's trap. */
static void start(png_decoder *decoder)
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
static gconv_status begin_again(png_decoder *decoder)
{
    const gc_warnings warnings = decoder->common.warnings;
    const gconv_shape shape = decoder->common.shape;
    decoder->rejected = false;
    end_stream(decoder);
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
    if (status != GCONV_OK)
        return status;
    if (memcmp(&shape, &decoder->common.shape, sizeof shape) != 0)
        return gc_fail(decoder->error, GCONV_ERROR_READ, "the file has changed while it was read");
    decoder->started = false;
    start(decoder);
    for (uint32_t row = 0; decoder->passes == 1 && row < decoder->row; row++)
        png_read_row(decoder->png, NULL, NULL);
    return GCONV_OK;
}

/* Decodes all passes of the rows from `first` to `end`; rows[0] is row `first`. */
static gconv_status try_rows(png_decoder *decoder, uint32_t first, uint32_t end,
                             unsigned char *rows, size_t stride)
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

static gconv_status decode_rows(png_decoder *decoder, uint32_t count, unsigned char *rows,
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
static gconv_status load_image(png_decoder *decoder)
{
    uint32_t height = decoder->common.shape.height;
    decoder->image = calloc(height, decoder->row_bytes);
    if (decoder->image == NULL)
        return gc_fail_memory(decoder->error, height * decoder->row_bytes);
    gconv_status status = decode_rows(decoder, height, decoder->image, decoder->row_bytes);
    decoder->row = 0;
    return status;
}

static gconv_status read_interlaced(png_decoder *decoder, uint32_t count, unsigned char *rows,
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
    png_decoder *decoder = (png_decoder *)common;
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

static gconv_status read_end(png_decoder *decoder)
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
    png_decoder *decoder = (png_decoder *)common;
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
    png_decoder *decoder = (png_decoder *)common;
    if (pthread_mutex_trylock(&decoder->lock) != 0)
        return false;
    bool helped = decoder->streaming && gc_fast.png_inflating->help(decoder->stream);
    pthread_mutex_unlock(&decoder->lock);
    return helped;
}

const gc_decoder_type gc_png_decoder = {
    .name = "libpng",
    .size = sizeof(png_decoder),
    .open = open_decoder,
    .read = read_rows,
    .finish = finish,
    .help = help,
    .free = free_decoder,
};
