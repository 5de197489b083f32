#include "io/jpeg/libjpeg.h"

#include "base/memory.h"
#include "base/status.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum {
    SCANS_MAX = 100,
    HEADER_BYTES_MAX = 64 << 20, /* before the first scan: 255 ICC segments are 16 MiB */
    ROWS_AT_ONCE = 16,
    ICC_HEAD_BYTES = 14, /* of a segment: the prefix, its number, and how many there are */
    MARKER_EXIF = JPEG_APP0 + 1,
    MARKER_ICC = JPEG_APP0 + 2,
    MARKER_IPTC = JPEG_APP0 + 13
};

#define PREFIX(text) sizeof text, text

const struct gc_jpeg_blob gc_jpeg_blobs[GC_JPEG_BLOBS] = {
    {GC_EXIF, MARKER_EXIF, "EXIF", PREFIX("Exif\0")},
    {GC_XMP, MARKER_EXIF, "XMP", PREFIX("http://ns.adobe.com/xap/1.0/")},
    {GC_IPTC, MARKER_IPTC, "IPTC", PREFIX("Photoshop 3.0")},
};
static const char more_xmp_prefix[] = "http://ns.adobe.com/xmp/extension/";

struct gc_libjpeg {
    gc_decoder *common;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf trap;
    gconv_error *error;  /* of the call in progress */
    gconv_status status; /* of the failure that sprang the trap */
    bool in_header;
    const char *part; /* what is being read, for messages: "in the header" */
    bool at_end;      /* the file has ended; libjpeg is given an EOI marker instead */
    bool missing_told;
    unsigned int met; /* components that have had a scan, as bits */
    /* Several scans, tolerant: the state behind a scan with which the image is complete. */
    struct jpeg_decompress_struct complete;
    bool is_complete;
    uint64_t bytes_fed;
    bool started;
    uint32_t row;        /* rows delivered */
    bool stopped;        /* tolerant: libjpeg cannot go on, rows are 0 from here on */
    unsigned char *cmyk; /* ROWS_AT_ONCE rows on their way to RGB, else NULL */
};

/* ---- What libjpeg calls ---------------------------------------------------------------------- */

static _Noreturn void spring(gc_libjpeg *decoder, gconv_status status)
{
    decoder->status = status;
    longjmp(decoder->trap, 1);
}

static gc_libjpeg *owner(j_common_ptr jpeg)
{
    return jpeg->client_data;
}

static void format_message(j_common_ptr jpeg, char message[JMSG_LENGTH_MAX])
{
    jpeg->err->format_message(jpeg, message);
}

static _Noreturn void take_error(j_common_ptr jpeg)
{
    gc_libjpeg *decoder = owner(jpeg);
    char message[JMSG_LENGTH_MAX];
    format_message(jpeg, message);
    if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_MEMORY, "out of memory"));
    spring(decoder, gc_fail(decoder->error, GCONV_ERROR_FORMAT, "JPEG: %s", message));
}

static bool means_missing(int code)
{
    return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER;
}

static bool means_corrupt(int code)
{
    switch (code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_ARITH_BAD_CODE:
        return true;
    default:
        return means_missing(code);
    }
}

/* libjpeg repairs and warns; here damage is an error. Level -1 is a warning, others are traces. */
static void take_message(j_common_ptr jpeg, int level)
{
    gc_libjpeg *decoder = owner(jpeg);
    int code = jpeg->err->msg_code;
    if (level >= 0)
        return;
    bool tolerated =
        decoder->common->tolerant && (decoder->in_header ? code == JWRN_EXTRANEOUS_DATA
                                                         : means_missing(code) || decoder->at_end);
    if (tolerated && decoder->missing_told)
        return;
    char message[JMSG_LENGTH_MAX];
    format_message(jpeg, message);
    if (code == JWRN_JPEG_EOF)
        snprintf(message, sizeof message, "truncated: the file ends %s", decoder->part);
    if (means_corrupt(code) && !tolerated)
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_FORMAT, "%s", message));
    decoder->missing_told |= tolerated;
    if (tolerated)
        gc_warn_damage(&decoder->common->warnings, "%s", message);
    else
        gc_warn(&decoder->common->warnings, "%s", message);
}

static void no_operation(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

/* Fills libjpeg's buffer. At the end of the file it gets an EOI marker, so that it decodes what it
 * has. */
static boolean fill_source(j_decompress_ptr jpeg)
{
    static const JOCTET end_of_image[] = {0xff, JPEG_EOI};
    gc_libjpeg *decoder = owner((j_common_ptr)jpeg);
    const unsigned char *bytes;
    size_t size;
    gconv_status status = gc_input_take(decoder->common->input, &bytes, &size, decoder->error);
    if (status != GCONV_OK)
        spring(decoder, status);
    decoder->bytes_fed += size;
    if (decoder->in_header && decoder->bytes_fed > HEADER_BYTES_MAX)
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_LIMIT,
                                "more than 64 MiB before the image data, the limit"));
    if (size == 0) {
        WARNMS(jpeg, JWRN_JPEG_EOF);
        decoder->at_end = true;
        bytes = end_of_image;
        size = sizeof end_of_image;
    }
    jpeg->src->next_input_byte = bytes;
    jpeg->src->bytes_in_buffer = size;
    return TRUE;
}

static void skip_source(j_decompress_ptr jpeg, long count)
{
    struct jpeg_source_mgr *source = jpeg->src;
    while (count > 0 && (size_t)count > source->bytes_in_buffer) {
        count -= (long)source->bytes_in_buffer;
        fill_source(jpeg);
    }
    if (count > 0) {
        source->next_input_byte += count;
        source->bytes_in_buffer -= (size_t)count;
    }
}

static unsigned int next_byte(j_decompress_ptr jpeg)
{
    if (jpeg->src->bytes_in_buffer == 0)
        fill_source(jpeg);
    jpeg->src->bytes_in_buffer--;
    return *jpeg->src->next_input_byte++;
}

/* Notes a comment, which gconv does not keep, and skips it. */
static boolean pass_over(j_decompress_ptr jpeg)
{
    owner((j_common_ptr)jpeg)->common->metadata.has_comment = true;
    unsigned int size = next_byte(jpeg) << 8;
    size |= next_byte(jpeg);
    skip_source(jpeg, (long)size - 2);
    return TRUE;
}

/* Whether the scans so far give every bit of each coefficient. To be called between scans. */
static bool is_complete(gc_libjpeg *decoder)
{
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    for (int i = 0; i < jpeg->comps_in_scan; i++)
        decoder->met |= 1U << jpeg->cur_comp_info[i]->component_index;
    if (jpeg->coef_bits == NULL)
        return decoder->met == (1U << jpeg->num_components) - 1;
    for (int c = 0; c < jpeg->num_components; c++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (jpeg->coef_bits[c][k] != 0)
                return false;
    return true;
}

/* libjpeg calls it before each step. Each scan of a progressive file is a pass over the whole
 * image: a small file could keep a decoder busy for hours. */
static void watch_scans(j_common_ptr common)
{
    gc_libjpeg *decoder = owner(common);
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (jpeg->input_scan_number > SCANS_MAX)
        spring(decoder, gc_fail(decoder->error, GCONV_ERROR_LIMIT,
                                "more than %d scans, the limit for progressive JPEG", SCANS_MAX));
    if (!decoder->common->tolerant || decoder->started)
        return;
    decoder->is_complete = jpeg->input_iMCU_row == jpeg->total_iMCU_rows && is_complete(decoder);
    if (decoder->is_complete)
        decoder->complete = *jpeg;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void connect(gc_libjpeg *decoder)
{
    decoder->jpeg.err = jpeg_std_error(&decoder->errors);
    decoder->errors.error_exit = take_error;
    decoder->errors.emit_message = take_message;
    decoder->jpeg.client_data = decoder;
    jpeg_create_decompress(&decoder->jpeg);
    decoder->source = (struct jpeg_source_mgr){.init_source = no_operation,
                                               .fill_input_buffer = fill_source,
                                               .skip_input_data = skip_source,
                                               .resync_to_restart = jpeg_resync_to_restart,
                                               .term_source = no_operation};
    decoder->jpeg.src = &decoder->source;
    decoder->progress.progress_monitor = watch_scans;
    decoder->jpeg.progress = &decoder->progress;
    decoder->jpeg.mem->max_memory_to_use = LONG_MAX; /* never a temporary file */
}

static gconv_status choose_colours(gc_libjpeg *decoder, gconv_error *error)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    int channels = 3;
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE:
        jpeg->out_color_space = JCS_GRAYSCALE;
        channels = 1;
        break;
    case JCS_YCbCr:
        /* As grey only the Y plane is decoded. */
        jpeg->out_color_space = decoder->common->grey_wanted ? JCS_GRAYSCALE : JCS_RGB;
        channels = decoder->common->grey_wanted ? 1 : 3;
        decoder->common->leaves_colour = decoder->common->grey_wanted;
        break;
    case JCS_RGB:
        jpeg->out_color_space = JCS_RGB;
        break;
    case JCS_CMYK:
    case JCS_YCCK:
        jpeg->out_color_space = JCS_CMYK;
        decoder->common->metadata.has_cmyk = true;
        break;
    default:
        return gc_fail(error, GCONV_ERROR_FORMAT, "JPEG of an unknown colour space, %d components",
                       jpeg->num_components);
    }
    decoder->common->shape = (gconv_shape){
        .width = jpeg->image_width, .height = jpeg->image_height, .channels = channels, .depth = 8};
    return GCONV_OK;
}

static void read_resolution(gc_libjpeg *decoder)
{
    static const gc_resolution_unit units[] = {GC_RESOLUTION_RATIO, GC_RESOLUTION_PER_INCH,
                                               GC_RESOLUTION_PER_CENTIMETRE};
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (!jpeg->saw_JFIF_marker || jpeg->density_unit > 2 || jpeg->X_density == 0 ||
        jpeg->Y_density == 0)
        return;
    if (jpeg->density_unit == 0 && jpeg->X_density == jpeg->Y_density)
        return; /* square pixels: no information */
    decoder->common->metadata.resolution = (gc_resolution){
        .unit = units[jpeg->density_unit], .x = jpeg->X_density, .y = jpeg->Y_density};
}

/* Notes sampling factors that libjpeg writes: those of all components, or of none. */
static void read_sampling(gc_jpeg_form *form, const struct jpeg_decompress_struct *jpeg)
{
    const int count = jpeg->num_components;
    int blocks = 0;
    if (count > 3)
        return;
    for (int c = 0; c < count; c++) {
        const jpeg_component_info *component = &jpeg->comp_info[c];
        blocks += component->h_samp_factor * component->v_samp_factor;
        if (jpeg->max_h_samp_factor % component->h_samp_factor != 0 ||
            jpeg->max_v_samp_factor % component->v_samp_factor != 0)
            return;
    }
    for (int c = 0; blocks <= C_MAX_BLOCKS_IN_MCU && c < count; c++) {
        form->across[c] = (uint8_t)jpeg->comp_info[c].h_samp_factor;
        form->down[c] = (uint8_t)jpeg->comp_info[c].v_samp_factor;
    }
}

static void read_form(gc_libjpeg *decoder)
{
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    gc_jpeg_form *form = &decoder->common->metadata.jpeg;
    form->luma = jpeg->jpeg_color_space != JCS_RGB && jpeg->jpeg_color_space != JCS_CMYK;
    for (int c = 0; c < jpeg->num_components && c < 3; c++) {
        int number = jpeg->comp_info[c].quant_tbl_no;
        const JQUANT_TBL *table =
            number >= 0 && number < NUM_QUANT_TBLS ? jpeg->quant_tbl_ptrs[number] : NULL;
        if (table == NULL)
            return;
        memcpy(form->steps[c], table->quantval, sizeof form->steps[c]);
        form->tables++;
    }
    if (jpeg->jpeg_color_space == JCS_YCbCr)
        read_sampling(form, jpeg);
}

static bool starts_with(jpeg_saved_marker_ptr marker, const void *prefix, size_t size)
{
    return marker->data_length >= size && memcmp(marker->data, prefix, size) == 0;
}

/* The segments of the profile have numbers: the first one of each number counts, if a profile is
 * there twice. The first of all says how many there are. */
static gconv_status read_icc(gc_libjpeg *decoder)
{
    static const char prefix[12] = "ICC_PROFILE"; /* and its NUL */
    const gc_warnings *warnings = &decoder->common->warnings;
    jpeg_saved_marker_ptr segments[256] = {NULL};
    int count = 0, found = 0;
    for (jpeg_saved_marker_ptr marker = decoder->jpeg.marker_list; marker != NULL;
         marker = marker->next) {
        if (marker->marker != MARKER_ICC || marker->data_length < ICC_HEAD_BYTES ||
            !starts_with(marker, prefix, sizeof prefix))
            continue;
        int number = marker->data[ICC_HEAD_BYTES - 2], of = marker->data[ICC_HEAD_BYTES - 1];
        if (count == 0)
            count = of > 0 ? of : -1;
        if (of != count || number < 1 || number > of || segments[number] != NULL)
            continue;
        segments[number] = marker;
        found++;
    }
    gc_buffer profile = {NULL};
    for (int number = 1; found == count && number <= count; number++)
        gc_buffer_add(&profile, segments[number]->data + ICC_HEAD_BYTES,
                      segments[number]->data_length - ICC_HEAD_BYTES);
    gconv_status status = GCONV_OK;
    if (profile.failed)
        status = gc_fail_memory(decoder->error, profile.size);
    else if (profile.size > 0)
        status = gc_metadata_keep(&decoder->common->metadata, GC_ICC, profile.bytes, profile.size,
                                  warnings, decoder->error);
    else if (count != 0)
        status = gc_metadata_lose(warnings, GCONV_KEEP_ALL, "the ICC profile is damaged",
                                  decoder->error);
    gc_buffer_free(&profile);
    return status;
}

/* Keeps the first segment of each kind. What XMP has beyond it is lost: it may be a second picture.
 * IPTC of several segments is cut anywhere, so all of it is lost. */
static gconv_status read_blobs(gc_libjpeg *decoder)
{
    gc_decoder *common = decoder->common;
    int met[GC_BLOBS] = {0};
    bool more = false;
    for (jpeg_saved_marker_ptr marker = decoder->jpeg.marker_list; marker != NULL;
         marker = marker->next) {
        const struct gc_jpeg_blob *blob = gc_jpeg_blobs, *end = blob + GC_JPEG_BLOBS;
        while (blob < end &&
               (marker->marker != blob->marker || !starts_with(marker, blob->prefix, blob->head)))
            blob++;
        if (blob < end && met[blob->kind]++ == 0)
            GC_TRY(gc_metadata_keep(&common->metadata, blob->kind, marker->data + blob->head,
                                    marker->data_length - blob->head, &common->warnings,
                                    decoder->error));
        more |= marker->marker == MARKER_EXIF &&
                starts_with(marker, more_xmp_prefix, sizeof more_xmp_prefix);
    }
    if (met[GC_IPTC] > 1) {
        gc_metadata_drop(&common->metadata, GC_IPTC);
        GC_TRY(gc_metadata_lose(&common->warnings, GCONV_KEEP_ALL,
                                "IPTC of more than one segment is not kept", decoder->error));
    }
    return more ? gc_metadata_lose(&common->warnings, GCONV_KEEP_ALL,
                                   "XMP beyond one segment is not kept", decoder->error)
                : GCONV_OK;
}

static gconv_status read_header(gc_libjpeg *decoder, gconv_error *error)
{
    decoder->error = error;
    decoder->in_header = true;
    decoder->part = "in the header";
    /* Covers every libjpeg call of opening. */
    if (setjmp(decoder->trap) != 0)
        return decoder->status;
    connect(decoder);
    jpeg_save_markers(&decoder->jpeg, MARKER_EXIF, 0xffff);
    jpeg_save_markers(&decoder->jpeg, MARKER_ICC, 0xffff);
    jpeg_save_markers(&decoder->jpeg, MARKER_IPTC, 0xffff);
    jpeg_set_marker_processor(&decoder->jpeg, JPEG_COM, pass_over);
    jpeg_read_header(&decoder->jpeg, TRUE);
    /* Later segments, between scans, are skipped. */
    jpeg_save_markers(&decoder->jpeg, MARKER_EXIF, 0);
    jpeg_save_markers(&decoder->jpeg, MARKER_ICC, 0);
    jpeg_save_markers(&decoder->jpeg, MARKER_IPTC, 0);
    decoder->in_header = false;
    decoder->missing_told = false;
    decoder->part = "in the image data";
    GC_TRY(choose_colours(decoder, error));
    GC_TRY(gc_decoder_check_size(decoder->common, error));
    read_resolution(decoder);
    read_form(decoder);
    GC_TRY(read_blobs(decoder));
    return read_icc(decoder);
}

gconv_status gc_libjpeg_open(gc_decoder *common, gc_libjpeg **opened, gconv_error *error)
{
    gc_libjpeg *decoder = calloc(1, sizeof *decoder);
    *opened = decoder;
    GC_TRY_MEMORY(decoder != NULL, error, sizeof *decoder);
    decoder->common = common;
    return read_header(decoder, error);
}

void gc_libjpeg_free(gc_libjpeg *decoder)
{
    if (decoder == NULL)
        return;
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder->cmyk);
    free(decoder);
}

const struct jpeg_decompress_struct *gc_libjpeg_header(const gc_libjpeg *decoder)
{
    return &decoder->jpeg;
}

uint64_t gc_libjpeg_data_at(const gc_libjpeg *decoder)
{
    return decoder->bytes_fed - decoder->source.bytes_in_buffer;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Adobe's programs store CMYK inverted, 255 is no ink, and say so by their marker
 * (contract.md, rule 29). */
static void cmyk_to_rgb(const unsigned char *cmyk, unsigned char *rgb, uint32_t width,
                        bool inverted)
{
    unsigned int flip = inverted ? 0 : 255;
    for (size_t i = 0; i < width; i++) {
        unsigned int light = cmyk[4 * i + 3] ^ flip;
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = (unsigned char)(((cmyk[4 * i + c] ^ flip) * light + 127) / 255);
    }
}

/* Under the caller's trap. A progressive image is read whole here. */
static void start(gc_libjpeg *decoder)
{
    if (decoder->started)
        return;
    jpeg_start_decompress(&decoder->jpeg);
    decoder->started = true;
}

/* Decodes 1 to ROWS_AT_ONCE rows, under the caller's trap; returns how many. */
static uint32_t decode_some(gc_libjpeg *decoder, uint32_t count, unsigned char *rows, size_t stride)
{
    uint32_t width = decoder->common->shape.width;
    JSAMPROW pointers[ROWS_AT_ONCE];
    if (count > ROWS_AT_ONCE)
        count = ROWS_AT_ONCE;
    for (uint32_t i = 0; i < count; i++)
        pointers[i] =
            decoder->cmyk != NULL ? decoder->cmyk + (size_t)i * width * 4 : rows + i * stride;
    uint32_t got = jpeg_read_scanlines(&decoder->jpeg, pointers, count);
    for (uint32_t i = 0; decoder->cmyk != NULL && i < got; i++)
        cmyk_to_rgb(pointers[i], rows + i * stride, width, decoder->jpeg.saw_Adobe_marker);
    return got;
}

/* After a trap. Once the file has ended, every error of libjpeg follows from that. */
static gconv_status survive(gc_libjpeg *decoder)
{
    if (!decoder->common->tolerant || !decoder->at_end || decoder->status != GCONV_ERROR_FORMAT)
        return decoder->status;
    decoder->stopped = true;
    return GCONV_OK;
}

/* After a trap behind the last block: a tolerant reader treats the rest as bytes behind the
 * image. */
static bool ends_there(gc_libjpeg *decoder)
{
    if (!decoder->common->tolerant || decoder->at_end || decoder->status != GCONV_ERROR_FORMAT)
        return false;
    decoder->at_end = true;
    gc_warn_damage(&decoder->common->warnings,
                   "no end of the image (EOI) behind its data: what follows is ignored");
    return true;
}

static gconv_status decode_rows(gc_libjpeg *decoder, uint32_t count, unsigned char *rows,
                                size_t stride)
{
    const uint32_t first = decoder->row;
    /* Covers the decoding of rows. */
    if (setjmp(decoder->trap) != 0) {
        if (!decoder->is_complete || !ends_there(decoder))
            return survive(decoder);
        /* Back to the end of the complete image, before an EOI marker. */
        decoder->jpeg = decoder->complete;
        decoder->jpeg.unread_marker = JPEG_EOI;
    }
    start(decoder);
    while (decoder->row - first < count) {
        uint32_t done = decoder->row - first;
        decoder->row += decode_some(decoder, count - done, rows + done * stride, stride);
    }
    return GCONV_OK;
}

gconv_status gc_libjpeg_read(gc_libjpeg *decoder, uint32_t count, unsigned char *rows,
                             size_t stride, gconv_error *error)
{
    const gc_decoder *common = decoder->common;
    decoder->error = error;
    if (decoder->jpeg.out_color_space == JCS_CMYK && decoder->cmyk == NULL) {
        decoder->cmyk = gc_allocate_array(common->shape.width, (size_t)4 * ROWS_AT_ONCE);
        GC_TRY_MEMORY(decoder->cmyk != NULL, error, (size_t)common->shape.width * 4 * ROWS_AT_ONCE);
    }
    const uint32_t first = decoder->row;
    gconv_status status = decoder->stopped ? GCONV_OK : decode_rows(decoder, count, rows, stride);
    size_t row_bytes = gconv_shape_row_bytes(&common->shape);
    for (; status == GCONV_OK && decoder->row - first < count; decoder->row++)
        memset(rows + (decoder->row - first) * stride, 0, row_bytes);
    return status;
}

/* ---- The end --------------------------------------------------------------------------------- */

static gconv_status finish_image(gc_libjpeg *decoder)
{
    /* Covers the markers after the image data. */
    if (setjmp(decoder->trap) != 0)
        return ends_there(decoder) ? GCONV_OK : survive(decoder);
    jpeg_finish_decompress(&decoder->jpeg);
    return GCONV_OK;
}

gconv_status gc_libjpeg_finish(gc_libjpeg *decoder, gconv_error *error)
{
    decoder->error = error;
    decoder->part = "before the end of the image (EOI)";
    gconv_status status = decoder->stopped ? GCONV_OK : finish_image(decoder);
    if (status != GCONV_OK || decoder->at_end)
        return status;
    return decoder->source.bytes_in_buffer > 0 ? gc_decoder_tell_trailing(decoder->common, error)
                                               : gc_decoder_check_trailing(decoder->common, error);
}
