/* libjpeg (the API of version 6b, and jpeg_read_icc_profile) as a decoder of one image, baseline or
 * progressive. libjpeg repairs damage and warns, and fails by a jump. Here damage is an error, but
 * for what a tolerant reader takes, and every failure is a status. */
#pragma once

#include "io/codec.h"

struct jpeg_decompress_struct;

typedef struct gc_libjpeg gc_libjpeg;

/* The segments of blobs that a segment has room for, and how they begin. */
enum { GC_JPEG_BLOBS = 3 };
extern const struct gc_jpeg_blob {
    gc_blob_kind kind;
    int marker;
    const char *name;
    size_t head; /* bytes of `prefix` */
    const char *prefix;
} gc_jpeg_blobs[GC_JPEG_BLOBS];

/* Reads the header from common->input. Fills shape and metadata of `common`, which has to live as
 * long as the decoder. Sets *opened even on failure, and the caller frees it; NULL if memory is
 * out. */
gconv_status gc_libjpeg_open(gc_decoder *common, gc_libjpeg **opened, gconv_error *error);

/* NULL is allowed. */
void gc_libjpeg_free(gc_libjpeg *decoder);

/* What libjpeg has read in the header. */
const struct jpeg_decompress_struct *gc_libjpeg_header(const gc_libjpeg *decoder);

/* Before the first row: the offset of the entropy-coded data in the file. */
uint64_t gc_libjpeg_data_at(const gc_libjpeg *decoder);

/* Decodes the next `count` rows; never more than there are. */
gconv_status gc_libjpeg_read(gc_libjpeg *decoder, uint32_t count, unsigned char *rows,
                             size_t stride, gconv_error *error);

/* After the last row: reads the end of the image, and warns of bytes that follow. */
gconv_status gc_libjpeg_finish(gc_libjpeg *decoder, gconv_error *error);
