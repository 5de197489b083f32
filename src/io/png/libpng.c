/* What libpng calls: it takes bytes from the input or the stream, and tells of errors. */
#include "io/png/libpng.h"

#include "base/bits.h"
#include "base/status.h"
#include "io/fast.h"

#include <string.h>
#include <zlib.h>

enum { CHUNK_HEAD_BYTES = 8 /* length and type */ };

const gc_png_chunk gc_png_chunks[GC_PNG_CHUNKS] = {
    {"tRNS", PNG_INFO_tRNS, GCONV_KEEP_NOTHING},
    {"pHYs", PNG_INFO_pHYs, GCONV_KEEP_RESOLUTION},
    {"eXIf", PNG_INFO_eXIf, GCONV_KEEP_ALL},
    {"iCCP", PNG_INFO_iCCP, GCONV_KEEP_ALL},
    {"sRGB", PNG_INFO_sRGB, GCONV_KEEP_ALL},
    {"gAMA", PNG_INFO_gAMA, GCONV_KEEP_ALL},
    {"cHRM", PNG_INFO_cHRM, GCONV_KEEP_ALL},
    {"fdAT", GC_PNG_INFO_ANIMATION, GCONV_KEEP_NOTHING},
    {"XMP", GC_PNG_INFO_XMP, GCONV_KEEP_ALL},
};

static _Noreturn void spring(gc_libpng *decoder, gconv_status status)
{
    decoder->status = status;
    longjmp(decoder->trap, 1);
}

static _Noreturn void spring_truncated(gc_libpng *decoder)
{
    decoder->missing = true;
    spring(decoder, gc_fail(decoder->error, GCONV_ERROR_FORMAT, "truncated: the file ends %s",
                            decoder->part));
}

/* Fails so that the caller reads the image again, without the stream. */
static _Noreturn void reject_stream(gc_libpng *decoder)
{
    decoder->rejected = true;
    spring(decoder, GCONV_ERROR_FORMAT);
}

void gc_png_take_error(png_structp png, png_const_charp message)
{
    gc_libpng *decoder = png_get_error_ptr(png);
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

void gc_png_take_warning(png_structp png, png_const_charp message)
{
    gc_libpng *decoder = png_get_error_ptr(png);
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
static void take_bytes(gc_libpng *decoder, unsigned char *bytes, size_t size)
{
    size_t got;
    gconv_status status = gc_input_read(decoder->common.input, bytes, size, &got, decoder->error);
    if (status != GCONV_OK)
        spring(decoder, status);
    if (got < size)
        spring_truncated(decoder);
}

/* Whether a chunk can be skipped: it is ancillary, and not metadata that gconv keeps. */
static bool is_passed_over(const gc_libpng *decoder, const unsigned char *type)
{
    bool kept = memcmp(type, "eXIf", 4) == 0 || memcmp(type, "iCCP", 4) == 0;
    return (type[0] & 0x20) != 0 && (!kept || decoder->data_begun);
}

/* Notes that a chunk of text, or an ancillary one of a program's own (PNG, 5.4), will be missing
 * from outputs, or begins to take XMP. */
static void note_chunk(gc_libpng *decoder, const unsigned char *type)
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
        decoder->late |= GC_PNG_INFO_XMP;
    else
        decoder->taking = found && decoder->xmp.size == 0;
}

/* Reads and drops the data of a chunk whose head libpng is about to get. libpng gets an empty chunk
 * in its place, whose checksum is wrong if that of the chunk is. */
static void pass_over(gc_libpng *decoder, unsigned char head[CHUNK_HEAD_BYTES])
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
    take_bytes(decoder, decoder->tail, GC_PNG_CHUNK_TAIL_BYTES);
    check = empty ^ check ^ gc_big_endian(decoder->tail);
    png_save_uint_32(decoder->tail, check);
    memset(head, 0, 4);
    decoder->passed_over = true;
}

/* Follows libpng from chunk to chunk. libpng reads the length and the type of a chunk by a call of
 * their own. libpng itself refuses lengths that PNG does not allow. */
static void follow_chunks(gc_libpng *decoder, unsigned char *bytes, size_t size)
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
    if (length > GC_PNG_CHUNK_BYTES_MAX && is_passed_over(decoder, bytes + 4)) {
        if (decoder->taking)
            gc_buffer_add(&decoder->xmp, bytes, GC_PNG_CHUNK_TAIL_BYTES); /* XMP without a byte */
        pass_over(decoder, bytes);
        length = 0;
    } else if (length > GC_PNG_CHUNK_BYTES_MAX && !is_data) {
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_LIMIT,
                                "the %.4s chunk has %lu bytes, more than the limit of 8 MiB",
                                (const char *)bytes + 4, (unsigned long)length));
    }
    for (int i = 0; i < GC_PNG_CHUNKS; i++)
        if (memcmp(bytes + 4, gc_png_chunks[i].type, 4) == 0)
            *(decoder->data_begun ? &decoder->late : &decoder->met) |= gc_png_chunks[i].bit;
    decoder->chunk_left = length + GC_PNG_CHUNK_TAIL_BYTES;
}

/* Begins to stream when libpng reads the head of the first chunk of image data. */
static void begin_stream(gc_libpng *decoder, unsigned char head[CHUNK_HEAD_BYTES])
{
    if (decoder->stream == NULL || memcmp(head + 4, "IDAT", 4) != 0)
        return;
    const size_t row_bytes = png_get_rowbytes(decoder->png, decoder->info);
    const png_uint_32 height = png_get_image_height(decoder->png, decoder->info);
    /* Chunks that are not larger than this libpng takes without a warning. */
    uint64_t most = (uint64_t)row_bytes * height;
    most = most < GC_PNG_CHUNK_BYTES_MAX ? GC_PNG_CHUNK_BYTES_MAX : most;
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
    decoder->common.decoded_by = "libpng with ISA-L";
}

void gc_png_check_sums(png_structp png, bool wanted)
{
    png_set_crc_action(png, wanted ? PNG_CRC_DEFAULT : PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
#ifdef PNG_IGNORE_ADLER32
    png_set_option(png, PNG_IGNORE_ADLER32, wanted ? PNG_OPTION_OFF : PNG_OPTION_ON);
#endif
}

void gc_png_end_stream(gc_libpng *decoder)
{
    pthread_mutex_lock(&decoder->lock);
    if (decoder->stream != NULL)
        gc_fast.png_inflating->free(decoder->stream);
    decoder->stream = NULL;
    decoder->streaming = decoder->trusting = false;
    pthread_mutex_unlock(&decoder->lock);
}

static void read_stream(gc_libpng *decoder, png_bytep bytes, size_t size)
{
    gc_png_stream_state state = gc_fast.png_inflating->read(decoder->stream, bytes, size);
    if (state == GC_PNG_STREAM_REJECTED)
        reject_stream(decoder);
    if (state == GC_PNG_STREAM_AFTER) {
        gc_png_end_stream(decoder);
        gc_png_check_sums(decoder->png, true);
    }
    follow_chunks(decoder, bytes, size);
}

void gc_png_read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    gc_libpng *decoder = png_get_io_ptr(png);
    if (decoder->streaming) {
        read_stream(decoder, bytes, size);
        return;
    }
    if (decoder->passed_over && size == GC_PNG_CHUNK_TAIL_BYTES) {
        memcpy(bytes, decoder->tail, GC_PNG_CHUNK_TAIL_BYTES);
        decoder->passed_over = false;
        decoder->chunk_left = 0;
        return;
    }
    take_bytes(decoder, bytes, size);
    if (size == CHUNK_HEAD_BYTES && decoder->chunk_left == 0)
        begin_stream(decoder, bytes);
    follow_chunks(decoder, bytes, size);
}
