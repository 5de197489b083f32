/* PNG of 1, 8 and 16 bits. libpng writes the chunks before the image data, and all chunks if the
 * caller asks for a level of compression. */
#include "base/buffer.h"
#include "base/status.h"
#include "io/codec.h"
#include "io/fast.h"
#include "io/png/memory.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    CHUNK_BYTES = 64 * 1024, /* of one IDAT */
    ATTEMPTS_MAX = 5,
    ZLIB_METHODS = 4,             /* of each depth */
    OWN = -1,                     /* in the place of a level: gconv's own code compresses */
    ATTEMPTS_BYTES_MAX = 64 << 20 /* if all attempts take more memory, only the smallest goes on */
};

typedef struct png_encoder png_encoder;

/* One way to compress the file. If several attempts run, each stays in memory until the smallest
 * is known. */
typedef struct attempt {
    png_encoder *encoder;
    png_structp png;
    png_infop info;
    gc_png_packer *packer; /* compresses rows instead of zlib; else NULL */
    gc_buffer kept;        /* what it made, beside other attempts */
} attempt;

struct png_encoder {
    gc_encoder common;
    attempt attempts[ATTEMPTS_MAX];
    int attempt_count; /* if it is 1, the attempt writes to the output */
    jmp_buf trap;
    gconv_error *error;  /* of the call in progress */
    gconv_status status; /* of the failure that sprang the trap */
    gc_png_memory memory;
    unsigned char *packed; /* a row of 1-bit samples with 0 in its unused bits; else NULL */
    gc_png_packer *helped; /* that other threads may help; else NULL */
    size_t row_bytes;
};

/* ---- What libpng calls ----------------------------------------------------------------------- */

static void take_error(png_structp png, png_const_charp message)
{
    png_encoder *encoder = png_get_error_ptr(png);
    encoder->status = encoder->memory.refused_bytes > 0
                          ? gc_png_check_memory(&encoder->memory, encoder->error)
                          : gc_fail(encoder->error, GCONV_ERROR_WRITE, "libpng: %s", message);
    longjmp(encoder->trap, 1);
}

static void take_warning(png_structp png, png_const_charp message)
{
    png_encoder *encoder = png_get_error_ptr(png);
    if (encoder->memory.refused_bytes == 0 &&
        png == encoder->attempts[0].png) /* the others would repeat it */
        gc_warn(&encoder->common.warnings, "PNG: %s", message);
}

/* A gc_png_emit, for an attempt. */
static gconv_status emit(void *user, const void *bytes, size_t size, gconv_error *error)
{
    attempt *a = user;
    const png_encoder *encoder = a->encoder;
    if (encoder->attempt_count == 1)
        return gc_output_write(encoder->common.output, bytes, size, error);
    gc_buffer_add(&a->kept, bytes, size);
    return a->kept.failed ? gc_fail_memory(error, a->kept.size + size) : GCONV_OK;
}

static void write_bytes(png_structp png, png_bytep bytes, size_t size)
{
    attempt *a = png_get_io_ptr(png);
    png_encoder *encoder = a->encoder;
    encoder->status = emit(a, bytes, size, encoder->error);
    if (encoder->status != GCONV_OK)
        longjmp(encoder->trap, 1);
}

/* Nothing to do: gc_output_commit flushes. */
static void flush_bytes(png_structp png)
{
    (void)png;
}

/* ---- Compression ----------------------------------------------------------------------------- */

typedef struct method {
    int level, filters, strategy;
} method;

/* Unless the caller asks for a level, gconv's own code compresses (gc_png_packing). A build that
 * lacks it takes the first of these methods.
 *
 * Level 9 tries these methods of zlib and gconv's own, and keeps the smallest file. No method is
 * the best for every picture. These were chosen from 16 methods with zlib 1.2.13, on edges, blurs
 * and gradients of 9 photographs. All 16 together save at most 1.1 % more. Each method alone makes
 * some file larger, by at least 15 % (1 bit), 29 % (8 bits) or 4 % (16 bits). */
static const method bit_methods[ZLIB_METHODS] = {
    {1, PNG_FILTER_NONE, Z_RLE},
    {9, PNG_FILTER_NONE, Z_FILTERED},
    {9, PNG_ALL_FILTERS, Z_HUFFMAN_ONLY},
    {9, PNG_ALL_FILTERS, Z_RLE},
};
static const method byte_methods[ZLIB_METHODS] = {
    {1, PNG_FILTER_UP, Z_RLE},
    {9, PNG_FILTER_NONE, Z_FILTERED},
    {9, PNG_FILTER_UP, Z_FILTERED},
    {9, PNG_ALL_FILTERS, Z_FILTERED},
};
static const method short_methods[ZLIB_METHODS] = {
    {1, PNG_FILTER_UP, Z_RLE},
    {9, PNG_FILTER_NONE, Z_DEFAULT_STRATEGY},
    {9, PNG_FILTER_UP, Z_DEFAULT_STRATEGY},
    {9, PNG_ALL_FILTERS, Z_DEFAULT_STRATEGY},
};

/* Writes the methods for a level and depth to `methods`, and returns their number. Levels 0 to 8
 * have one method, libpng's own. */
static int choose_methods(int level, int depth, method methods[ATTEMPTS_MAX])
{
    const method *all = depth == 1 ? bit_methods : depth == 8 ? byte_methods : short_methods;
    const method own = {.level = OWN};
    const bool packs = gc_fast.png_packing != NULL;
    if (level == 9) {
        memcpy(methods, all, ZLIB_METHODS * sizeof *all);
        methods[ZLIB_METHODS] = own;
        return packs ? ATTEMPTS_MAX : ZLIB_METHODS;
    }
    if (level < 0)
        methods[0] = packs ? own : all[0];
    else if (depth == 1)
        methods[0] = (method){level, PNG_FILTER_NONE, Z_DEFAULT_STRATEGY};
    else
        methods[0] = (method){level, PNG_ALL_FILTERS, Z_FILTERED};
    return 1;
}

static void set_method(png_structp png, const method *chosen)
{
    png_set_compression_buffer_size(png, CHUNK_BYTES);
    png_set_compression_level(png, chosen->level);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, chosen->filters);
    png_set_compression_strategy(png, chosen->strategy);
}

static void free_attempt(attempt *a)
{
    png_destroy_write_struct(&a->png, &a->info);
    if (a->packer != NULL)
        gc_fast.png_packing->free(a->packer);
    a->packer = NULL;
    gc_buffer_free(&a->kept);
}

/* Writes the smallest attempt to the output. This attempt then goes on alone. */
static gconv_status settle(png_encoder *encoder, gconv_error *error)
{
    attempt *attempts = encoder->attempts;
    int best = 0;
    for (int i = 1; i < encoder->attempt_count; i++)
        if (attempts[i].kept.size < attempts[best].kept.size)
            best = i;
    attempt smallest = attempts[best];
    attempts[best] = attempts[0];
    attempts[0] = smallest;
    while (encoder->attempt_count > 1)
        free_attempt(&attempts[--encoder->attempt_count]);
    png_set_write_fn(attempts[0].png, &attempts[0], write_bytes, flush_bytes);
    gconv_status status =
        gc_output_write(encoder->common.output, smallest.kept.bytes, smallest.kept.size, error);
    gc_buffer_free(&attempts[0].kept);
    return status;
}

static bool is_room_short(const png_encoder *encoder)
{
    size_t bytes = 0;
    for (int i = 0; i < encoder->attempt_count; i++)
        bytes += encoder->attempts[i].kept.size;
    return bytes > ATTEMPTS_BYTES_MAX;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void set_header(const attempt *a)
{
    static const int colours[] = {[1] = PNG_COLOR_TYPE_GRAY,
                                  [2] = PNG_COLOR_TYPE_GRAY_ALPHA,
                                  [3] = PNG_COLOR_TYPE_RGB,
                                  [4] = PNG_COLOR_TYPE_RGB_ALPHA};
    const gconv_shape *shape = &a->encoder->common.shape;
    png_set_user_limits(a->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(a->png, a->info, shape->width, shape->height, shape->depth,
                 colours[shape->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
}

static void set_resolution(const attempt *a)
{
    gc_resolution resolution = gc_resolution_convert(a->encoder->common.metadata.resolution,
                                                     GC_RESOLUTION_PER_METRE, PNG_UINT_31_MAX);
    if (resolution.unit == GC_RESOLUTION_NONE)
        return;
    png_set_pHYs(a->png, a->info, resolution.x, resolution.y,
                 resolution.unit == GC_RESOLUTION_RATIO ? PNG_RESOLUTION_UNKNOWN
                                                        : PNG_RESOLUTION_METER);
}

/* PNG allows an ICC profile or an sRGB chunk, not both. The profile says more. */
static void set_colour(const attempt *a)
{
    const gconv_metadata *metadata = &a->encoder->common.metadata;
    const int32_t *c = metadata->chromaticities;
    if (metadata->has_gamma)
        png_set_gAMA_fixed(a->png, a->info, metadata->gamma);
    if (metadata->has_chromaticities)
        png_set_cHRM_fixed(a->png, a->info, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
    const gc_blob *icc = &metadata->blobs[GC_ICC];
    if (icc->bytes == NULL && metadata->has_srgb)
        png_set_sRGB(a->png, a->info, metadata->srgb_intent);
    if (icc->bytes == NULL)
        return;
    png_set_iCCP(a->png, a->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, icc->bytes,
                 (png_uint_32)icc->size);
    bool is_set = png_get_valid(a->png, a->info, PNG_INFO_iCCP) != 0;
    if (!is_set && a == a->encoder->attempts && a->encoder->memory.refused_bytes == 0)
        gc_warn_damage(&a->encoder->common.warnings, "libpng rejects the ICC profile: dropped");
}

static void write_xmp(const attempt *a)
{
    const gc_blob *xmp = &a->encoder->common.metadata.blobs[GC_XMP];
    const size_t head = sizeof GC_PNG_XMP_HEAD;
    if (xmp->bytes == NULL)
        return;
    png_write_chunk_start(a->png, (png_const_bytep) "iTXt", (png_uint_32)(head + xmp->size));
    png_write_chunk_data(a->png, (png_const_bytep)GC_PNG_XMP_HEAD, head);
    png_write_chunk_data(a->png, xmp->bytes, xmp->size);
    png_write_chunk_end(a->png);
}

static gconv_status begin_attempt(attempt *a, const method *chosen, gconv_error *error)
{
    const png_encoder *encoder = a->encoder;
    a->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, a->encoder, take_error, take_warning,
                                       &a->encoder->memory, gc_png_allocate, gc_png_release);
    a->info = a->png != NULL ? png_create_info_struct(a->png) : NULL;
    if (a->info == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libpng cannot start");
    png_set_write_fn(a->png, a, write_bytes, flush_bytes);
    png_set_benign_errors(a->png, 1); /* broken metadata are dropped with a warning */
    png_set_option(a->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON); /* it only warns */
    set_header(a);
    if (chosen->level != OWN)
        set_method(a->png, chosen);
    set_resolution(a);
    set_colour(a);
    const gc_blob *exif = &encoder->common.metadata.blobs[GC_EXIF];
    if (exif->bytes != NULL)
        png_set_eXIf_1(a->png, a->info, (png_uint_32)exif->size, exif->bytes);
    png_write_info(a->png, a->info);
    write_xmp(a);
    const uint16_t one = 1;
    if (encoder->common.shape.depth == 16 && *(const unsigned char *)&one == 1)
        png_set_swap(a->png);
    return chosen->level == OWN
               ? gc_fast.png_packing->create(&encoder->common.shape, emit, &a->packer, error)
               : GCONV_OK;
}

static gconv_status begin_attempts(png_encoder *encoder, gconv_error *error)
{
    method methods[ATTEMPTS_MAX];
    encoder->attempt_count =
        choose_methods(encoder->common.compression, encoder->common.shape.depth, methods);
    encoder->error = error;
    /* Covers every libpng call of opening. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    for (int i = 0; i < encoder->attempt_count; i++) {
        encoder->attempts[i].encoder = encoder;
        GC_TRY(begin_attempt(&encoder->attempts[i], &methods[i], error));
    }
    if (encoder->attempt_count == 1)
        encoder->helped = encoder->attempts[0].packer;
    return gc_png_check_memory(&encoder->memory, encoder->error);
}

static gconv_status open_encoder(gc_encoder *common, gconv_error *error)
{
    png_encoder *opened = (png_encoder *)common;
    opened->row_bytes = gconv_shape_row_bytes(&common->shape);
    if (common->shape.depth == 1 && common->shape.width % 8 != 0) {
        opened->packed = malloc(opened->row_bytes);
        GC_TRY_MEMORY(opened->packed != NULL, error, opened->row_bytes);
    }
    return begin_attempts(opened, error);
}

static void free_encoder(gc_encoder *common)
{
    png_encoder *encoder = (png_encoder *)common;
    for (int i = 0; i < encoder->attempt_count; i++)
        free_attempt(&encoder->attempts[i]);
    free(encoder->packed);
    free(encoder);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* A copy of the row with 0 in the unused bits of its last byte: equal pictures give equal files. */
static const unsigned char *clear_padding(png_encoder *encoder, const unsigned char *row)
{
    if (encoder->packed == NULL)
        return row;
    memcpy(encoder->packed, row, encoder->row_bytes);
    encoder->packed[encoder->row_bytes - 1] &=
        (unsigned char)(0xff00 >> encoder->common.shape.width % 8);
    return encoder->packed;
}

static gconv_status write_row(png_encoder *encoder, const unsigned char *row, gconv_error *error)
{
    row = clear_padding(encoder, row);
    for (int k = 0; k < encoder->attempt_count; k++) {
        attempt *a = &encoder->attempts[k];
        if (a->packer != NULL)
            GC_TRY(gc_fast.png_packing->put_row(a->packer, row, a, error));
        else
            png_write_row(a->png, row);
    }
    return is_room_short(encoder) ? settle(encoder, error) : GCONV_OK;
}

static gconv_status write_rows(gc_encoder *common, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    png_encoder *encoder = (png_encoder *)common;
    encoder->error = error;
    /* Covers the encoding of rows. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    for (uint32_t i = 0; i < count; i++) {
        GC_TRY(write_row(encoder, rows + i * stride, error));
    }
    return gc_png_check_memory(&encoder->memory, encoder->error);
}

/* A device may give compressed blocks, which replace those that gconv would make of rows. */
static bool takes_compressed(gc_encoder *common)
{
    const png_encoder *encoder = (const png_encoder *)common;
    return common->shape.depth == 1 && encoder->attempt_count == 1 &&
           encoder->attempts[0].packer != NULL;
}

static gconv_status write_compressed(gc_encoder *common, const struct gc_compressed_rows *rows,
                                     gconv_error *error)
{
    attempt *a = &((png_encoder *)common)->attempts[0];
    return gc_fast.png_packing->put_compressed(a->packer, rows, a, error);
}

/* Ends the image data and the file. libpng takes part only in its own. */
static gconv_status end_attempt(attempt *a, gconv_error *error)
{
    if (a->packer == NULL) {
        png_write_end(a->png, NULL);
        return GCONV_OK;
    }
    GC_TRY(gc_fast.png_packing->finish(a->packer, a, error));
    png_write_chunk(a->png, (png_const_bytep) "IEND", NULL, 0);
    return GCONV_OK;
}

static gconv_status finish(gc_encoder *common, gconv_error *error)
{
    png_encoder *encoder = (png_encoder *)common;
    encoder->error = error;
    /* Covers the end of the image data and IEND. */
    if (setjmp(encoder->trap) != 0)
        return encoder->status;
    for (int i = 0; i < encoder->attempt_count; i++)
        GC_TRY(end_attempt(&encoder->attempts[i], error));
    GC_TRY(gc_png_check_memory(&encoder->memory, encoder->error));
    return encoder->attempt_count > 1 ? settle(encoder, error) : GCONV_OK;
}

/* Several attempts run in one thread, because one of them may be moved. */
static bool help(gc_encoder *common)
{
    png_encoder *encoder = (png_encoder *)common;
    return encoder->helped != NULL && gc_fast.png_packing->help(encoder->helped);
}

const gc_encoder_type gc_png_encoder = {
    .size = sizeof(png_encoder),
    .open = open_encoder,
    .write = write_rows,
    .finish = finish,
    .help = help,
    .takes_compressed = takes_compressed,
    .write_compressed = write_compressed,
    .free = free_encoder,
};
