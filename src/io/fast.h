/* The fast paths of src/io: what does the work of a library faster, or leaves it to the library.
 * fast.c has the table of them. The codecs call them through it alone. */
#pragma once

#include "gconv.h"

struct gc_compressed_rows;
struct gc_input;
struct jpeg_compress_struct;
struct jpeg_decompress_struct;

/* ---- PNG: image data inflated for libpng (png/fast/stream.c) --------------------------------- */

typedef struct gc_png_stream gc_png_stream;

typedef enum gc_png_stream_state {
    GC_PNG_STREAM_REJECTED,
    GC_PNG_STREAM_INSIDE, /* more of the stream follows */
    GC_PNG_STREAM_AFTER   /* the input goes on at the end of the stream */
} gc_png_stream_state;

typedef struct gc_png_inflating {
    const char *library; /* that inflates, and its version */
    /* NULL if the input cannot be read twice, or memory is out. */
    gc_png_stream *(*create)(struct gc_input *input);
    void (*free)(gc_png_stream *stream);
    /* Begins when the head of the first chunk of image data, its length and type, has been read
     * from the input. Replaces the head by that of the stream. A chunk of more than `most` bytes is
     * rejected. */
    void (*begin)(gc_png_stream *stream, uint32_t most, unsigned char head[8]);
    /* Before the first read: has the filters of rows undone here, if that is faster. libpng then
     * gets rows without a filter. The `height` rows have `row_bytes` bytes beside the filter, and
     * are those of an image that is not interlaced. pixel: bytes of a pixel, at least 1. */
    void (*undo_filters)(gc_png_stream *stream, size_t row_bytes, size_t height, size_t pixel);
    /* Reads the next `size` bytes of the stream. After the image data it ends with the head of the
     * chunk that follows. A read across this end is rejected. */
    gc_png_stream_state (*read)(gc_png_stream *stream, unsigned char *bytes, size_t size);
    /* For one other thread, while one may read: inflates ahead. False if enough is inflated. */
    bool (*help)(gc_png_stream *stream);
} gc_png_inflating;

/* ---- PNG: image data compressed without libpng (png/fast/packer.c) --------------------------- */

typedef struct gc_png_packer gc_png_packer;

/* Takes bytes of the file. */
typedef gconv_status gc_png_emit(void *user, const void *bytes, size_t size, gconv_error *error);

/* Functions with `user` give chunks of image data to the packer's gc_png_emit. */
typedef struct gc_png_packing {
    gconv_status (*create)(const gconv_shape *shape, gc_png_emit *emit, gc_png_packer **packer,
                           gconv_error *error);
    void (*free)(gc_png_packer *packer);
    gconv_status (*put_row)(gc_png_packer *packer, const unsigned char *row, void *user,
                            gconv_error *error);
    /* All rows, as a device has compressed them. */
    gconv_status (*put_compressed)(gc_png_packer *packer, const struct gc_compressed_rows *rows,
                                   void *user, gconv_error *error);
    /* The rest of the image data. */
    gconv_status (*finish)(gc_png_packer *packer, void *user, gconv_error *error);
    /* For other threads, while one may put rows: compresses ahead. False if there is nothing to
     * do. */
    bool (*help)(gc_png_packer *packer);
} gc_png_packing;

/* ---- TIFF: strips deflated without libtiff (png/fast/deflating.c) ---------------------------- */

typedef struct gc_deflating {
    size_t bytes; /* of a state, whose contents do not matter; a thread has its own */
    /* Makes a zlib stream and returns its size; 0: `room` is too small. */
    size_t (*deflate)(void *state, const unsigned char *bytes, size_t size, unsigned char *to,
                      size_t room);
} gc_deflating;

/* ---- JPEG: rows decoded without libjpeg (jpeg/fast/rows.c) ----------------------------------- */

typedef struct gc_jpeg_rows gc_jpeg_rows;

typedef struct gc_jpeg_decoding {
    /* A decoder of the file that libjpeg has read the header of. The entropy-coded data begin
     * `data` bytes from the start of the file, which can be read twice. Data in libjpeg's buffer
     * are used from there. They stay there until libjpeg reads on. NULL if libjpeg has to decode
     * the file, and if memory is out. */
    gc_jpeg_rows *(*create)(const struct jpeg_decompress_struct *jpeg, const struct gc_input *input,
                            uint64_t data);
    void (*free)(gc_jpeg_rows *rows);
    /* Gives the next rows, up to `count`, and returns how many. Fewer than `count` mean that the
     * data are not sound: no more rows will come. */
    uint32_t (*read)(gc_jpeg_rows *rows, uint32_t count, unsigned char *to, size_t stride);
    /* Lets up to `threads` threads decode: any thread may call `help` from then on. Call it before
     * the first row. False if this does not pay, or if memory is out. */
    bool (*spread)(gc_jpeg_rows *rows, int threads);
    bool (*help)(gc_jpeg_rows *rows); /* as gconv_source has it */
    /* After the last row: whether the image ends as it should. Then *trailing says whether bytes
     * follow it in the file. */
    bool (*end)(gc_jpeg_rows *rows, bool *trailing);
} gc_jpeg_decoding;

/* ---- JPEG: rows that several threads code by libjpeg (jpeg/fast/parts.c) --------------------- */

typedef struct gc_jpeg_parts gc_jpeg_parts;

/* Takes bytes of the file. */
typedef gconv_status gc_jpeg_emit(void *user, const void *bytes, size_t size, gconv_error *error);

typedef struct gc_jpeg_encoding {
    /* For an image that libjpeg has been started for, as `form`, which stays as it is. NULL if the
     * image is for one thread, and if memory is out. */
    gc_jpeg_parts *(*create)(const struct jpeg_compress_struct *form, int threads);
    void (*free)(gc_jpeg_parts *parts);
    /* Gives the entropy-coded data, as libjpeg codes them, to `emit`; all of them with the last
     * row. */
    gconv_status (*put)(gc_jpeg_parts *parts, uint32_t count, const unsigned char *rows,
                        size_t stride, gc_jpeg_emit *emit, void *user, gconv_error *error);
    /* For other threads, while one may put rows: codes a part. False if there is nothing to do. */
    bool (*help)(gc_jpeg_parts *parts);
} gc_jpeg_encoding;

/* ---- JPEG: files for devices that decode them (jpeg/fast/offer.c) ---------------------------- */

/* What becomes of an offer. */
typedef enum gc_offer {
    GC_OFFER_REFUSED,
    GC_OFFER_MADE,
    GC_OFFER_NEEDS_MORE /* the header goes on behind the bytes that are held */
} gc_offer;

/* Whether a device may decode the file that libjpeg has read the header of, and whose entropy-coded
 * data begin `data` bytes from its start. Bytes, `held` and `size` of the picture are set; the
 * function sets the others but for the orientation, or *reason. What the picture needs lies in
 * *memory, which is NULL at first, and which the caller frees. */
typedef gc_offer gc_jpeg_offer(const struct jpeg_decompress_struct *jpeg, uint64_t data,
                               gconv_encoded *picture, void **memory, const char **reason);

/* ---- The table ------------------------------------------------------------------------------- */

/* Members are NULL in a build that lacks them. */
typedef struct gc_io_fast {
    const gc_png_inflating *png_inflating;
    const gc_png_packing *png_packing;
    const gc_deflating *deflating;
    const gc_jpeg_decoding *jpeg_decoding;
    const gc_jpeg_encoding *jpeg_encoding;
    gc_jpeg_offer *jpeg_offer;
} gc_io_fast;

extern const gc_io_fast gc_fast;

/* ---- Only tests change these ----------------------------------------------------------------- */

/* False: zlib inflates all image data of PNG. */
extern bool gc_png_inflating_wanted;

/* JPEG of fewer pixels go to libjpeg, which is done before the tables of gc_jpeg_decoding are made;
 * JPEG below the second limit are decoded in one thread. */
extern uint64_t gc_jpeg_rows_pixels_min, gc_jpeg_rows_spread_min;
