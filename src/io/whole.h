/* Formats whose library decodes and encodes a whole image, from memory to memory. */
#pragma once

#include "base/buffer.h"
#include "io/codec.h"

enum { GC_WHOLE_BLOB_BYTES_MAX = 8 << 20 }; /* of a profile or EXIF */

typedef struct gc_whole_decoder {
    gc_decoder common;
    gc_buffer file;
    bool has_more;        /* bytes follow the file */
    unsigned char *image; /* all rows; NULL before the first `read` */
    unsigned char *blob;  /* of gc_whole_room; NULL: there is none */
    uint32_t row;
    int threads; /* that the library may take; 0: none beside its caller */
    /* Fills `image`, which is all zeros. The file is freed behind it. */
    gconv_status (*decode)(struct gc_whole_decoder *decoder, size_t row_bytes, gconv_error *error);
} gc_whole_decoder;

/* Takes up to `most` bytes of the input behind what `file` has. */
gconv_status gc_whole_load(gc_whole_decoder *decoder, uint64_t most, gconv_error *error);

/* Fails if a blob of the metadata has more bytes than the limit. */
gconv_status gc_whole_check_blob(const char *name, size_t size, gconv_error *error);

/* The same, and allocates `blob` for it, in place of the one before. */
gconv_status gc_whole_room(gc_whole_decoder *decoder, const char *name, size_t size,
                           gconv_error *error);

/* Keeps a box or an item. EXIF lies behind the offset of its beginning, or behind "Exif\0\0". */
gconv_status gc_whole_set_box(gc_decoder *decoder, gc_blob_kind kind, const unsigned char *bytes,
                              size_t size, gconv_error *error);

/* For a gc_decoder_type. */
gconv_status gc_whole_read(gc_decoder *decoder, uint32_t count, unsigned char *rows, size_t stride,
                           gconv_error *error);
gconv_status gc_whole_finish(gc_decoder *decoder, gconv_error *error);
bool gc_whole_help(gc_decoder *decoder); /* the library has threads of its own */
void gc_whole_spread(gc_decoder *decoder, int threads);
void gc_whole_free(gc_decoder *decoder);

typedef struct gc_whole_encoder {
    gc_encoder common;
    unsigned char *image; /* rows of `channels`, `stride` bytes apart */
    size_t stride;
    int channels; /* grey becomes RGB if these are more than the encoder's; of 8 bits */
    uint32_t row;
    gc_blob blobs[GC_BLOBS];
    bool has_blobs;
} gc_whole_encoder;

/* Copies the blobs, which the caller has while an encoder opens. With `rgb` a profile for grey is
 * dropped with a warning. */
gconv_status gc_whole_keep(gc_whole_encoder *encoder, bool rgb, gconv_error *error);

/* For a gc_encoder_type. */
gconv_status gc_whole_write(gc_encoder *encoder, uint32_t count, const unsigned char *rows,
                            size_t stride, gconv_error *error);
void gc_whole_release(gc_encoder *encoder); /* but for `image` */
