/* JPEG, baseline or progressive, grey or YCbCr, by libjpeg (the API of version 6b and
 * jpeg_write_icc_profile). */
#include "base/memory.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/fast.h"
#include "io/jpeg/libjpeg.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum {
    BUFFER_BYTES = 64 * 1024,
    ROWS_AT_ONCE = 16,
    DEFAULT_QUALITY = 90,
    SIDE_MAX = 65500, /* JPEG_MAX_DIMENSION of every libjpeg */
    MARKER_BYTES_MAX = 65533
};

static const unsigned char end_of_image[] = {0xff, JPEG_EOI};

typedef struct jpeg_encoder {
    gc_encoder common;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf trap;
    gconv_error *error;   /* of the call in progress */
    gconv_status status;  /* of the failure that sprang the trap */
    gc_jpeg_parts *parts; /* NULL: one thread codes */
    bool begun;           /* with parts: the headers are written */
    JOCTET buffer[BUFFER_BYTES];
} jpeg_encoder;

/* ---- What libjpeg calls ---------------------------------------------------------------------- */

static jpeg_encoder *owner(j_common_ptr jpeg)
{
    return jpeg->client_data;
}

static _Noreturn void take_error(j_common_ptr jpeg)
{
    jpeg_encoder *encoder = owner(jpeg);
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    encoder->status = jpeg->err->msg_code == JERR_OUT_OF_MEMORY
                          ? gc_fail(encoder->error, GCONV_ERROR_MEMORY, "out of memory")
                          : gc_fail(encoder->error, GCONV_ERROR_WRITE, "JPEG: %s", message);
    longjmp(encoder->trap, 1);
}

static void take_message(j_common_ptr jpeg, int level)
{
    jpeg_encoder *encoder = owner(jpeg);
    char message[JMSG_LENGTH_MAX];
    if (level >= 0)
        return;
    jpeg->err->format_message(jpeg, message);
    gc_warn(&encoder->common.warnings, "%s", message);
}

static void write_buffer(jpeg_encoder *encoder, size_t size)
{
    encoder->status =
        gc_output_write(encoder->common.output, encoder->buffer, size, encoder->error);
    if (encoder->status != GCONV_OK)
        longjmp(encoder->trap, 1);
    encoder->destination.next_output_byte = encoder->buffer;
    encoder->destination.free_in_buffer = BUFFER_BYTES;
}

static void start_destination(j_compress_ptr jpeg)
{
    jpeg_encoder *encoder = owner((j_common_ptr)jpeg);
    encoder->destination.next_output_byte = encoder->buffer;
    encoder->destination.free_in_buffer = BUFFER_BYTES;
}

static boolean empty_destination(j_compress_ptr jpeg)
{
    write_buffer(owner((j_common_ptr)jpeg), BUFFER_BYTES);
    return TRUE;
}

static void end_destination(j_compress_ptr jpeg)
{
    jpeg_encoder *encoder = owner((j_common_ptr)jpeg);
    write_buffer(encoder, BUFFER_BYTES - encoder->destination.free_in_buffer);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void connect(jpeg_encoder *encoder)
{
    encoder->jpeg.err = jpeg_std_error(&encoder->errors);
    encoder->errors.error_exit = take_error;
    encoder->errors.emit_message = take_message;
    encoder->jpeg.client_data = encoder;
    jpeg_create_compress(&encoder->jpeg);
    encoder->destination = (struct jpeg_destination_mgr){.init_destination = start_destination,
                                                         .empty_output_buffer = empty_destination,
                                                         .term_destination = end_destination};
    encoder->jpeg.dest = &encoder->destination;
    encoder->jpeg.mem->max_memory_to_use = LONG_MAX; /* never a temporary file */
}

static void set_resolution(jpeg_encoder *encoder)
{
    gc_resolution resolution = encoder->common.metadata.resolution;
    if (resolution.unit == GC_RESOLUTION_PER_METRE)
        resolution = gc_resolution_convert(resolution, GC_RESOLUTION_PER_INCH, UINT16_MAX);
    if (resolution.unit == GC_RESOLUTION_NONE || resolution.x > UINT16_MAX ||
        resolution.y > UINT16_MAX)
        return;
    encoder->jpeg.density_unit = resolution.unit == GC_RESOLUTION_RATIO      ? 0
                                 : resolution.unit == GC_RESOLUTION_PER_INCH ? 1
                                                                             : 2;
    encoder->jpeg.X_density = (UINT16)resolution.x;
    encoder->jpeg.Y_density = (UINT16)resolution.y;
}

/* Takes the quality whose first table has the sum of the input's, or the next better one. */
static void estimate_quality(struct jpeg_compress_struct *jpeg, const uint16_t steps[DCTSIZE2])
{
    int excess = 1;
    for (int quality = 1; excess > 0 && quality <= 100; quality++) {
        jpeg_set_quality(jpeg, quality, TRUE);
        excess = 0;
        for (int k = 0; k < DCTSIZE2; k++)
            excess += jpeg->quant_tbl_ptrs[0]->quantval[k] - steps[k];
    }
}

/* Tables of brightness and of colour differences are copied. */
static void set_quality(jpeg_encoder *encoder)
{
    const gc_jpeg_form *form = &encoder->common.metadata.jpeg;
    struct jpeg_compress_struct *jpeg = &encoder->jpeg;
    const int quality = encoder->common.quality;
    if (quality != GCONV_QUALITY_SAME || form->tables == 0) {
        jpeg_set_quality(jpeg, quality != GCONV_QUALITY_SAME ? quality : DEFAULT_QUALITY, TRUE);
    } else if (!form->luma) {
        estimate_quality(jpeg, form->steps[0]);
    } else {
        for (int c = 0; c < jpeg->num_components; c++) {
            const uint16_t *steps = form->steps[c < form->tables ? c : form->tables - 1];
            unsigned int table[DCTSIZE2];
            bool again = c > 0 && memcmp(steps, form->steps[c - 1], sizeof form->steps[0]) == 0;
            jpeg->comp_info[c].quant_tbl_no = again ? jpeg->comp_info[c - 1].quant_tbl_no : c;
            for (int k = 0; k < DCTSIZE2; k++)
                table[k] = steps[k];
            jpeg_add_quant_table(jpeg, jpeg->comp_info[c].quant_tbl_no, table, 100, TRUE);
        }
    }
}

/* libjpeg's default is 4:2:0. */
static void set_chroma(jpeg_encoder *encoder)
{
    const gconv_chroma chroma = encoder->common.chroma;
    const gc_jpeg_form *form = &encoder->common.metadata.jpeg;
    jpeg_component_info *components = encoder->jpeg.comp_info;
    for (int c = 0; encoder->jpeg.num_components == 3 && c < 3; c++)
        if (chroma == GCONV_CHROMA_SAME && form->across[c] > 0) {
            components[c].h_samp_factor = form->across[c];
            components[c].v_samp_factor = form->down[c];
        } else if (c == 0 && (chroma == GCONV_CHROMA_422 || chroma == GCONV_CHROMA_444)) {
            components[c].h_samp_factor = chroma == GCONV_CHROMA_422 ? 2 : 1;
            components[c].v_samp_factor = 1;
        }
}

static void write_blob(jpeg_encoder *encoder, const struct gc_jpeg_blob *how)
{
    const gc_blob *blob = &encoder->common.metadata.blobs[how->kind];
    if (blob->bytes == NULL)
        return;
    if (blob->size > MARKER_BYTES_MAX - how->head) {
        gc_warn_damage(&encoder->common.warnings, "%s dropped: %zu bytes do not fit in a JPEG",
                       how->name, blob->size);
        return;
    }
    jpeg_write_m_header(&encoder->jpeg, how->marker, (unsigned int)(how->head + blob->size));
    for (size_t i = 0; i < how->head; i++)
        jpeg_write_m_byte(&encoder->jpeg, how->prefix[i]);
    for (size_t i = 0; i < blob->size; i++)
        jpeg_write_m_byte(&encoder->jpeg, blob->bytes[i]);
}

/* A profile is spread over at most 255 markers. */
static void write_icc(jpeg_encoder *encoder)
{
    const gc_blob *icc = &encoder->common.metadata.blobs[GC_ICC];
    const size_t largest = (size_t)255 * (MARKER_BYTES_MAX - 14);
    if (icc->bytes == NULL)
        return;
    if (icc->size > largest)
        gc_warn(&encoder->common.warnings, "ICC profile dropped: %zu bytes do not fit in a JPEG",
                icc->size);
    else
        jpeg_write_icc_profile(&encoder->jpeg, icc->bytes, (unsigned int)icc->size);
}

static gconv_status write_header(jpeg_encoder *encoder, gconv_error *error)
{
    const gconv_shape *shape = &encoder->common.shape;
    struct jpeg_compress_struct *jpeg = &encoder->jpeg;
    encoder->error = error;
    /* Covers every libjpeg call of opening. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    connect(encoder);
    jpeg->image_width = shape->width;
    jpeg->image_height = shape->height;
    jpeg->input_components = shape->channels;
    jpeg->in_color_space = shape->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    set_quality(encoder);
    set_chroma(encoder);
    if (encoder->common.progressive)
        jpeg_simple_progression(jpeg);
    set_resolution(encoder);
    jpeg_start_compress(jpeg, TRUE);
    for (int i = 0; i < GC_JPEG_BLOBS; i++)
        write_blob(encoder, &gc_jpeg_blobs[i]);
    write_icc(encoder);
    return GCONV_OK;
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    if (common->shape.width > SIDE_MAX || common->shape.height > SIDE_MAX)
        return gc_fail(error, GCONV_ERROR_LIMIT, "a JPEG holds at most %d x %d pixels", SIDE_MAX,
                       SIDE_MAX);
    return write_header((jpeg_encoder *)common, error);
}

static void free_encoder(gc_encoder *common)
{
    jpeg_encoder *encoder = (jpeg_encoder *)common;
    if (encoder->parts != NULL)
        gc_fast.jpeg_encoding->free(encoder->parts);
    jpeg_destroy_compress(&encoder->jpeg);
    free(encoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Encodes 1 to ROWS_AT_ONCE rows, under the caller's trap; returns how many. */
static uint32_t encode_some(jpeg_encoder *encoder, uint32_t count, const unsigned char *rows,
                            size_t stride)
{
    JSAMPROW pointers[ROWS_AT_ONCE];
    if (count > ROWS_AT_ONCE)
        count = ROWS_AT_ONCE;
    for (uint32_t i = 0; i < count; i++)
        pointers[i] = (JSAMPROW)(uintptr_t)(rows + i * stride); /* libjpeg only reads them */
    return jpeg_write_scanlines(&encoder->jpeg, pointers, count);
}

static void spread(gc_encoder *common, int threads)
{
    jpeg_encoder *encoder = (jpeg_encoder *)common;
    if (encoder->parts == NULL && gc_fast.jpeg_encoding != NULL)
        encoder->parts = gc_fast.jpeg_encoding->create(&encoder->jpeg, threads);
}

static bool help(gc_encoder *common)
{
    jpeg_encoder *encoder = (jpeg_encoder *)common;
    return encoder->parts != NULL && gc_fast.jpeg_encoding->help(encoder->parts);
}

static gconv_status emit(void *user, const void *bytes, size_t size, gconv_error *error)
{
    jpeg_encoder *encoder = user;
    return gc_output_write(encoder->common.output, bytes, size, error);
}

/* Writes rows by parts, under the caller's trap. With its first row libjpeg writes the headers; it
 * waits in vain for more. */
static gconv_status write_parts(jpeg_encoder *encoder, uint32_t count, const unsigned char *rows,
                                size_t stride)
{
    if (!encoder->begun) {
        encode_some(encoder, 1, rows, stride);
        write_buffer(encoder, BUFFER_BYTES - encoder->destination.free_in_buffer);
        encoder->begun = true;
    }
    return gc_fast.jpeg_encoding->put(encoder->parts, count, rows, stride, emit, encoder,
                                      encoder->error);
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    jpeg_encoder *encoder = (jpeg_encoder *)common;
    encoder->error = error;
    /* Covers the encoding of rows. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    if (encoder->parts != NULL)
        return write_parts(encoder, count, rows, stride);
    for (uint32_t done = 0; done < count;)
        done += encode_some(encoder, count - done, rows + done * stride, stride);
    return GCONV_OK;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    jpeg_encoder *encoder = (jpeg_encoder *)common;
    encoder->error = error;
    /* Covers the end of the image data and EOI. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    if (encoder->parts != NULL)
        return emit(encoder, end_of_image, sizeof end_of_image, error);
    jpeg_finish_compress(&encoder->jpeg);
    return GCONV_OK;
}

const gc_encoder_type gc_jpeg_encoder = {
    .size = sizeof(jpeg_encoder),
    .open = open_encoder,
    .write = write_rows,
    .finish = finish,
    .help = help,
    .spread = spread,
    .free = free_encoder,
};
