/* Baseline JPEG, encoded by libjpeg in several threads. Rows wait in strips of whole rows of MCUs.
 * libjpeg encodes each strip as an image, and its last MCU as a second image. The codes of that MCU
 * tell where the data of the strip end, and the DC coefficients that predict those of the next
 * strip (scan.h). The thread that writes joins the data. The file has the bytes that one thread
 * would write. */
#include "io/parts.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/fast.h"
#include "io/jpeg/fast/scan.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum {
    STRIP_BYTES_MIN = 128 << 10, /* of samples: less does not pay */
    STRIP_BYTES_MAX = 1 << 20,
    /* Of two threads, one reads and computes while the other one encodes: strips would cost 7 %. */
    THREADS_MIN = 3,
    FILE_BYTES_MIN = 16 << 10,
    SLACK_BYTES = 8
};

/* A file of libjpeg's, in memory, of which `size` bytes are written. SLACK_BYTES more may be
 * read. */
typedef struct held_file {
    unsigned char *bytes;
    size_t size, room;
} held_file;

typedef struct strip {
    gc_part head;
    uint64_t number; /* in the image, from 0 on */
    uint32_t held;   /* rows */
    bool last;
    gc_jpeg_scan scan;
    gc_jpeg_mcu first;
    int dc[GC_JPEG_COMPONENTS_MAX]; /* the last DC coefficients */
    gconv_status status;
    gconv_error error;
    unsigned char rows[];
} strip;

struct gc_jpeg_parts {
    const struct jpeg_compress_struct *form;
    size_t row_bytes;
    uint32_t strip_rows, taken;
    int before[GC_JPEG_COMPONENTS_MAX]; /* what the next strip is predicted from */
    gc_jpeg_bits bits;
    unsigned char *joined; /* data of a strip, as they are written */
    size_t joined_room;
    gc_parts strips;
    held_file files[GC_PARTS_MAX]; /* of strip n at n % GC_PARTS_MAX, until the strip is written */
};

static strip *filling(const gc_jpeg_parts *parts)
{
    return (strip *)parts->strips.filling;
}

static held_file *file_of(gc_jpeg_parts *parts, const strip *coded)
{
    return &parts->files[coded->number % GC_PARTS_MAX];
}

/* ---- What libjpeg calls ---------------------------------------------------------------------- */

typedef struct coder {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf trap;
    held_file *file;
    gconv_error *error;
    gconv_status status; /* of the failure that sprang the trap */
} coder;

static _Noreturn void take_error(j_common_ptr jpeg)
{
    coder *c = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    c->status = jpeg->err->msg_code == JERR_OUT_OF_MEMORY
                    ? gc_fail(c->error, GCONV_ERROR_MEMORY, "out of memory")
                    : gc_fail(c->error, GCONV_ERROR_WRITE, "JPEG: %s", message);
    longjmp(c->trap, 1);
}

static void drop_message(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level;
}

static boolean grow_file(j_compress_ptr jpeg)
{
    coder *c = jpeg->client_data;
    held_file *file = c->file;
    size_t used = file->room, room = used < FILE_BYTES_MIN ? FILE_BYTES_MIN : 2 * used;
    unsigned char *bytes = realloc(file->bytes, room + SLACK_BYTES);
    if (bytes == NULL) {
        c->status = gc_fail_memory(c->error, room);
        longjmp(c->trap, 1);
    }
    *file = (held_file){.bytes = bytes, .room = room};
    c->destination.next_output_byte = bytes + used;
    c->destination.free_in_buffer = room - used;
    return TRUE;
}

static void begin_file(j_compress_ptr jpeg)
{
    coder *c = jpeg->client_data;
    if (c->file->room == 0)
        grow_file(jpeg);
    c->destination.next_output_byte = c->file->bytes;
    c->destination.free_in_buffer = c->file->room;
}

static void end_file(j_compress_ptr jpeg)
{
    coder *c = jpeg->client_data;
    c->file->size = c->file->room - c->destination.free_in_buffer;
}

/* ---- Coding ---------------------------------------------------------------------------------- */

/* Sets up libjpeg for a part of the image that `form` is set up for. */
static void take_form(struct jpeg_compress_struct *jpeg, const struct jpeg_compress_struct *form)
{
    jpeg->input_components = form->input_components;
    jpeg->in_color_space = form->in_color_space;
    jpeg_set_defaults(jpeg);
    for (int i = 0; i < NUM_QUANT_TBLS; i++) {
        if (form->quant_tbl_ptrs[i] == NULL)
            continue;
        if (jpeg->quant_tbl_ptrs[i] == NULL)
            jpeg->quant_tbl_ptrs[i] = jpeg_alloc_quant_table((j_common_ptr)jpeg);
        *jpeg->quant_tbl_ptrs[i] = *form->quant_tbl_ptrs[i];
    }
    for (int c = 0; c < form->num_components; c++) {
        jpeg->comp_info[c].h_samp_factor = form->comp_info[c].h_samp_factor;
        jpeg->comp_info[c].v_samp_factor = form->comp_info[c].v_samp_factor;
        jpeg->comp_info[c].quant_tbl_no = form->comp_info[c].quant_tbl_no;
    }
    jpeg_suppress_tables(jpeg, TRUE);
}

/* Codes an image into a file. */
static gconv_status code(const struct jpeg_compress_struct *form, uint32_t width, uint32_t count,
                         const unsigned char *rows, size_t stride, held_file *file,
                         gconv_error *error)
{
    coder c = {.file = file, .error = error, .status = GCONV_OK};
    c.jpeg.err = jpeg_std_error(&c.errors);
    c.errors.error_exit = take_error;
    c.errors.emit_message = drop_message;
    c.jpeg.client_data = &c;
    /* Covers every libjpeg call but the last. */
    if (setjmp(c.trap) == 0) {
        jpeg_create_compress(&c.jpeg);
        c.destination = (struct jpeg_destination_mgr){.init_destination = begin_file,
                                                      .empty_output_buffer = grow_file,
                                                      .term_destination = end_file};
        c.jpeg.dest = &c.destination;
        c.jpeg.mem->max_memory_to_use = LONG_MAX; /* never a temporary file */
        c.jpeg.image_width = width;
        c.jpeg.image_height = count;
        take_form(&c.jpeg, form);
        jpeg_start_compress(&c.jpeg, FALSE);
        while (c.jpeg.next_scanline < count) {
            const unsigned char *row = rows + c.jpeg.next_scanline * stride;
            JSAMPROW pointer = (JSAMPROW)(uintptr_t)row; /* libjpeg only reads it */
            jpeg_write_scanlines(&c.jpeg, &pointer, 1);
        }
        jpeg_finish_compress(&c.jpeg);
    }
    jpeg_destroy_compress(&c.jpeg);
    return c.status;
}

static gconv_status refuse(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_WRITE, "JPEG: libjpeg wrote data that cannot be followed");
}

/* Finds where the data of a strip end, and its last DC coefficients. */
static gconv_status find_end(const gc_jpeg_parts *parts, strip *coded)
{
    const struct jpeg_compress_struct *form = parts->form;
    bool alone = form->num_components == 1; /* its MCU is a block, whatever its factors are */
    uint32_t across = DCTSIZE * (uint32_t)(alone ? 1 : form->max_h_samp_factor);
    uint32_t down = DCTSIZE * (uint32_t)(alone ? 1 : form->max_v_samp_factor);
    uint32_t x = (form->image_width - 1) / across * across, y = (coded->held - 1) / down * down;
    held_file file = {.bytes = NULL};
    gc_jpeg_scan scan;
    gc_jpeg_mcu mcu;
    gconv_status status =
        code(form, form->image_width - x, coded->held - y,
             coded->rows + y * parts->row_bytes + (size_t)x * (size_t)form->input_components,
             parts->row_bytes, &file, &coded->error);
    if (status == GCONV_OK && (!gc_jpeg_scan_find(file.bytes, file.size, &scan) ||
                               !gc_jpeg_scan_follow(form, &scan, &mcu)))
        status = refuse(&coded->error);
    if (status == GCONV_OK) {
        gc_jpeg_scan_trim(&coded->scan, &scan, mcu.end);
        memcpy(coded->dc, mcu.last, sizeof coded->dc);
    }
    free(file.bytes);
    return status;
}

static gconv_status code_strip(gc_jpeg_parts *parts, strip *coded)
{
    const struct jpeg_compress_struct *form = parts->form;
    held_file *file = file_of(parts, coded);
    GC_TRY(code(form, form->image_width, coded->held, coded->rows, parts->row_bytes, file,
                &coded->error));
    if (!gc_jpeg_scan_find(file->bytes, file->size, &coded->scan) ||
        !gc_jpeg_scan_follow(form, &coded->scan, &coded->first))
        return refuse(&coded->error);
    return find_end(parts, coded);
}

/* A gc_part_compress. */
static void compress(void *user, gc_part *part, int place)
{
    strip *coded = (strip *)part;
    (void)place;
    coded->status = code_strip(user, coded);
}

static bool help(gc_jpeg_parts *parts)
{
    return gc_parts_help(&parts->strips);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Makes parts->joined as long as the data of a file can be: DC coefficients may have longer
 * codes. */
static gconv_status make_room(gc_jpeg_parts *parts, const held_file *file, gconv_error *error)
{
    size_t room = 2 * file->size + 64;
    if (parts->joined_room >= room)
        return GCONV_OK;
    free(parts->joined);
    parts->joined = malloc(room);
    parts->joined_room = parts->joined != NULL ? room : 0;
    return parts->joined != NULL ? GCONV_OK : gc_fail_memory(error, room);
}

static gconv_status write_strip(gc_jpeg_parts *parts, const strip *written, gc_jpeg_emit *emit,
                                void *user, gconv_error *error)
{
    held_file *file = file_of(parts, written);
    if (written->status != GCONV_OK)
        return gc_fail(error, written->status, "%s", written->error.message);
    GC_TRY(make_room(parts, file, error));
    parts->bits.to = parts->joined;
    gc_jpeg_bits_put_mcu(&parts->bits, parts->form, &written->scan, &written->first, parts->before);
    gc_jpeg_bits_put(&parts->bits, &written->scan, written->first.end, written->scan.bits);
    memcpy(parts->before, written->dc, sizeof parts->before);
    if (written->last)
        gc_jpeg_bits_end(&parts->bits);
    free(file->bytes);
    *file = (held_file){.bytes = NULL};
    return emit(user, parts->joined, (size_t)(parts->bits.to - parts->joined), error);
}

/* Makes the strip that is filled next. */
static void begin_strip(gc_jpeg_parts *parts, uint64_t number)
{
    strip *begun = filling(parts);
    begun->number = number;
    begun->held = 0;
}

/* Hands over the strip that was filled, and writes those that are coded. */
static gconv_status pass_strip(gc_jpeg_parts *parts, bool last, gc_jpeg_emit *emit, void *user,
                               gconv_error *error)
{
    gc_part *part;
    gconv_status status = GCONV_OK;
    uint64_t next = filling(parts)->number + 1;
    filling(parts)->last = last;
    gc_parts_push(&parts->strips, last);
    while (status == GCONV_OK && (part = gc_parts_take(&parts->strips)) != NULL) {
        status = write_strip(parts, (strip *)part, emit, user, error);
        gc_parts_give_back(&parts->strips, part);
    }
    if (status == GCONV_OK && !last)
        begin_strip(parts, next);
    return status;
}

static gconv_status put(gc_jpeg_parts *parts, uint32_t count, const unsigned char *rows,
                        size_t stride, gc_jpeg_emit *emit, void *user, gconv_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        strip *filled = filling(parts);
        memcpy(filled->rows + filled->held++ * parts->row_bytes, rows + i * stride,
               parts->row_bytes);
        bool last = ++parts->taken == parts->form->image_height;
        if (filled->held == parts->strip_rows || last)
            GC_TRY(pass_strip(parts, last, emit, user, error));
    }
    return GCONV_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Rows of a strip: whole rows of MCUs, and enough strips for all threads. */
static uint32_t rows_of_strip(const struct jpeg_compress_struct *form, size_t row_bytes,
                              int threads)
{
    size_t share = row_bytes * form->image_height / (2 * (size_t)threads);
    size_t bytes = share < STRIP_BYTES_MIN   ? STRIP_BYTES_MIN
                   : share > STRIP_BYTES_MAX ? STRIP_BYTES_MAX
                                             : share;
    uint32_t rows = (uint32_t)(bytes / row_bytes);
    uint32_t unit = DCTSIZE * (uint32_t)form->max_v_samp_factor;
    return rows < unit ? unit : rows / unit * unit;
}

/* No other thread uses a strip. */
static void free_parts(gc_jpeg_parts *parts)
{
    gc_parts_destroy(&parts->strips);
    for (int i = 0; i < GC_PARTS_MAX; i++)
        free(parts->files[i].bytes);
    free(parts->joined);
    free(parts);
}

static gc_jpeg_parts *create(const struct jpeg_compress_struct *form, int threads)
{
    bool plain = !form->optimize_coding && !form->arith_code && form->scan_info == NULL &&
                 form->restart_interval == 0 && form->restart_in_rows == 0 &&
                 form->num_components <= GC_JPEG_COMPONENTS_MAX;
    size_t row_bytes = (size_t)form->image_width * (size_t)form->input_components;
    uint32_t strip_rows = rows_of_strip(form, row_bytes, threads);
    if (!plain || threads < THREADS_MIN || strip_rows >= form->image_height)
        return NULL;
    size_t strip_bytes;
    if (!gc_multiply(strip_rows, row_bytes, &strip_bytes) || strip_bytes > SIZE_MAX / 2)
        return NULL;
    gc_jpeg_parts *parts = calloc(1, sizeof *parts);
    if (parts == NULL)
        return NULL;
    parts->form = form;
    parts->row_bytes = row_bytes;
    parts->strip_rows = strip_rows;
    gc_parts_create(&parts->strips, compress, parts);
    if (gc_parts_begin(&parts->strips, sizeof(strip) + strip_bytes, NULL) != GCONV_OK) {
        free_parts(parts);
        return NULL;
    }
    begin_strip(parts, 0);
    return parts;
}

const gc_jpeg_encoding gc_jpeg_encoding_parts = {
    .create = create,
    .free = free_parts,
    .put = put,
    .help = help,
};
