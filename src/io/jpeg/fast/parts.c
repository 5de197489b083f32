/* Baseline JPEG, coded by libjpeg in several threads. Rows wait in strips. Each strip is a whole
 * number of rows of MCUs, and becomes an image of its own. Its last MCU becomes another one, whose
 * codes tell where the data of the strip end, and the DC coefficients that the next strip is
 * predicted from (scan.h). The thread that writes joins the data. The file is that of one
 * thread. */
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
#include <pthread.h>

#include <jerror.h>

enum {
    STRIP_BYTES_MIN = 128 << 10, /* of samples: less does not pay */
    STRIP_BYTES_MAX = 1 << 20,
    STRIPS_MAX = 32, /* that wait */
    /* With two, one reads and computes while the other one codes: strips would cost 7 % more. */
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
    unsigned char *rows; /* NULL: no memory yet */
    uint32_t held;       /* their number */
    bool coded;
    held_file file;
    gc_jpeg_scan scan;
    gc_jpeg_mcu first;
    int last[GC_JPEG_COMPONENTS_MAX]; /* the last DC coefficients */
    gconv_status status;
    gconv_error error;
} strip;

struct gc_jpeg_parts {
    const struct jpeg_compress_struct *form;
    size_t row_bytes;
    uint32_t strip_rows, taken;
    int before[GC_JPEG_COMPONENTS_MAX]; /* what the next strip is predicted from */
    gc_jpeg_bits bits;
    unsigned char *joined; /* data of a strip, as they are written */
    size_t joined_room;
    pthread_mutex_t lock; /* of all below, but not of what strips hold */
    pthread_cond_t coded;
    uint32_t ring;                   /* strip `i` is strips[i % ring] */
    uint32_t filled, begun, written; /* strips of the image; filled >= begun >= written */
    strip strips[STRIPS_MAX];
};

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
        memcpy(coded->last, mcu.last, sizeof coded->last);
    }
    free(file.bytes);
    return status;
}

static gconv_status code_strip(const gc_jpeg_parts *parts, strip *coded)
{
    const struct jpeg_compress_struct *form = parts->form;
    gconv_status status = code(form, form->image_width, coded->held, coded->rows, parts->row_bytes,
                               &coded->file, &coded->error);
    if (status != GCONV_OK)
        return status;
    if (!gc_jpeg_scan_find(coded->file.bytes, coded->file.size, &coded->scan) ||
        !gc_jpeg_scan_follow(form, &coded->scan, &coded->first))
        return refuse(&coded->error);
    return find_end(parts, coded);
}

/* Codes the next strip, without the lock, which the caller has. False if none waits. */
static bool code_next(gc_jpeg_parts *parts)
{
    if (parts->begun == parts->filled)
        return false;
    strip *next = &parts->strips[parts->begun++ % parts->ring];
    pthread_mutex_unlock(&parts->lock);
    next->status = code_strip(parts, next);
    pthread_mutex_lock(&parts->lock);
    next->coded = true;
    pthread_cond_signal(&parts->coded);
    return true;
}

static bool help(gc_jpeg_parts *parts)
{
    pthread_mutex_lock(&parts->lock);
    bool found = code_next(parts);
    pthread_mutex_unlock(&parts->lock);
    return found;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The next strip, once it is coded. NULL if it may wait, or there is none; never the former with
 * `last`. */
static strip *take_strip(gc_jpeg_parts *parts, bool last)
{
    strip *next = NULL;
    pthread_mutex_lock(&parts->lock);
    while (next == NULL && parts->written < parts->filled) {
        strip *first = &parts->strips[parts->written % parts->ring];
        if (first->coded)
            next = first;
        else if (parts->filled - parts->written < parts->ring && !last)
            break;
        else if (!code_next(parts))
            pthread_cond_wait(&parts->coded, &parts->lock);
    }
    pthread_mutex_unlock(&parts->lock);
    return next;
}

static gconv_status write_strip(gc_jpeg_parts *parts, const strip *written, bool last,
                                gc_jpeg_emit *emit, void *user, gconv_error *error)
{
    if (written->status != GCONV_OK)
        return gc_fail(error, written->status, "%s", written->error.message);
    size_t room = 2 * written->file.size + 64; /* DC coefficients may have longer codes */
    if (parts->joined_room < room) {
        free(parts->joined);
        parts->joined_room = room;
        parts->joined = malloc(room);
    }
    if (parts->joined == NULL) {
        parts->joined_room = 0;
        return gc_fail_memory(error, room);
    }
    parts->bits.to = parts->joined;
    gc_jpeg_bits_put_mcu(&parts->bits, parts->form, &written->scan, &written->first, parts->before);
    gc_jpeg_bits_put(&parts->bits, &written->scan, written->first.end, written->scan.bits);
    memcpy(parts->before, written->last, sizeof parts->before);
    if (last)
        gc_jpeg_bits_end(&parts->bits);
    pthread_mutex_lock(&parts->lock);
    parts->written++;
    pthread_mutex_unlock(&parts->lock);
    return emit(user, parts->joined, (size_t)(parts->bits.to - parts->joined), error);
}

/* Makes the strip that is filled next. */
static gconv_status begin_strip(gc_jpeg_parts *parts, gconv_error *error)
{
    strip *begun = &parts->strips[parts->filled % parts->ring];
    begun->held = 0;
    begun->coded = false;
    if (begun->rows == NULL)
        begun->rows = gc_allocate_array(parts->strip_rows, parts->row_bytes);
    return begun->rows != NULL ? GCONV_OK
                               : gc_fail_memory(error, parts->strip_rows * parts->row_bytes);
}

/* Hands over the strip that was filled, and writes those that are coded. */
static gconv_status pass_strip(gc_jpeg_parts *parts, bool last, gc_jpeg_emit *emit, void *user,
                               gconv_error *error)
{
    gconv_status status = GCONV_OK;
    const strip *next;
    pthread_mutex_lock(&parts->lock);
    parts->filled++;
    pthread_mutex_unlock(&parts->lock);
    while (status == GCONV_OK && (next = take_strip(parts, last)) != NULL)
        status = write_strip(parts, next, last && parts->written + 1 == parts->filled, emit, user,
                             error);
    return status == GCONV_OK && !last ? begin_strip(parts, error) : status;
}

static gconv_status put(gc_jpeg_parts *parts, uint32_t count, const unsigned char *rows,
                        size_t stride, gc_jpeg_emit *emit, void *user, gconv_error *error)
{
    gconv_status status = parts->taken == 0 ? begin_strip(parts, error) : GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i++) {
        strip *filled = &parts->strips[parts->filled % parts->ring];
        memcpy(filled->rows + filled->held++ * parts->row_bytes, rows + i * stride,
               parts->row_bytes);
        bool last = ++parts->taken == parts->form->image_height;
        if (filled->held == parts->strip_rows || last)
            status = pass_strip(parts, last, emit, user, error);
    }
    return status;
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

static gc_jpeg_parts *create(const struct jpeg_compress_struct *form, int threads)
{
    bool plain = !form->optimize_coding && !form->arith_code && form->scan_info == NULL &&
                 form->restart_interval == 0 && form->restart_in_rows == 0 &&
                 form->num_components <= GC_JPEG_COMPONENTS_MAX;
    size_t row_bytes = (size_t)form->image_width * (size_t)form->input_components;
    uint32_t strip_rows = rows_of_strip(form, row_bytes, threads);
    if (!plain || threads < THREADS_MIN || strip_rows >= form->image_height)
        return NULL;
    gc_jpeg_parts *parts = calloc(1, sizeof *parts);
    if (parts == NULL)
        return NULL;
    parts->form = form;
    parts->row_bytes = row_bytes;
    parts->strip_rows = strip_rows;
    parts->ring = threads < STRIPS_MAX ? (uint32_t)threads + 1 : STRIPS_MAX;
    pthread_mutex_init(&parts->lock, NULL);
    pthread_cond_init(&parts->coded, NULL);
    return parts;
}

/* No other thread uses a strip. */
static void free_parts(gc_jpeg_parts *parts)
{
    for (int i = 0; i < STRIPS_MAX; i++) {
        free(parts->strips[i].rows);
        free(parts->strips[i].file.bytes);
    }
    pthread_mutex_destroy(&parts->lock);
    pthread_cond_destroy(&parts->coded);
    free(parts->joined);
    free(parts);
}

extern const gc_jpeg_encoding gc_jpeg_encoding_parts;
const gc_jpeg_encoding gc_jpeg_encoding_parts = {
    .create = create,
    .free = free_parts,
    .put = put,
    .help = help,
};
