/* Codecs: the code for one format. A decoder turns the bytes of a gc_input into rows, an encoder
 * turns rows into the bytes of a gc_output. reader.c and writer.c call them through the tables of
 * functions below. They do what all formats share: orientation, grey from colour, file names. */
#pragma once

#include "base/output.h"
#include "gconv.h"
#include "io/fast.h"
#include "io/floats.h"
#include "io/input.h"
#include "io/metadata.h"

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct gc_decoder_type gc_decoder_type;

/* The head of every codec's own structure. `open` fills shape and metadata. */
typedef struct gc_decoder {
    const gc_decoder_type *type;
    gconv_format format;
    gc_input *input;
    gc_warnings warnings;
    uint64_t max_pixels;
    double white;    /* of float samples; 0: as the file says */
    uint32_t page;   /* the first image that is wanted, from 1; 0: all */
    bool all_planes; /* of Y4M; else luma alone */
    bool tolerant;
    bool libraries_only; /* only libraries may decode, not code of gconv's own */
    bool grey_wanted;    /* grey rows are welcome if the file has them, as the Y plane of a JPEG */
    const char *decoded_by; /* the decoder's name, if it is not the library of `type`; else NULL */
    gconv_shape shape;      /* of the rows that `read` gives: depth 8, 16 or 32 */
    bool leaves_colour;     /* `read` gives grey rows of an image in RGB */
    bool stopped;           /* tolerant: there are no more data, rows are 0 from here on */
    bool bottom_up;         /* `read` gives the last row first */
    gc_floats floats;       /* of an image of floats, once `open` has begun it; else zeros */
    gconv_metadata metadata;
} gc_decoder;

struct gc_decoder_type {
    const char *name; /* of the library that decodes: "libpng" */
    bool finds_page;  /* `open` goes to `page`; else the reader passes over the images before it */
    size_t size;      /* of a decoder, which begins with a gc_decoder */
    /* Reads the header. Behind the gc_decoder all is zeros. The caller frees it in each case. */
    gconv_status (*open)(gc_decoder *decoder, gconv_error *error);
    /* The next `count` rows; never more than there are. */
    gconv_status (*read)(gc_decoder *decoder, uint32_t count, unsigned char *rows, size_t stride,
                         gconv_error *error);
    /* The next row, instead of `read`. */
    gconv_status (*read_row)(gc_decoder *decoder, unsigned char *row, gconv_error *error);
    /* Skips `count` rows without decoding them, if the input seeks. NULL: the caller reads them. */
    gconv_status (*skip)(gc_decoder *decoder, uint32_t count, gconv_error *error);
    /* After the last row: reads and checks the rest of the image. NULL: there is none. */
    gconv_status (*finish)(gc_decoder *decoder, gconv_error *error);
    /* After `finish`: sets *alone if no other image follows this one, and warns of other bytes that
     * follow. With `wait` it reads until this is certain. Without `wait` it looks only at bytes
     * that have arrived, so *alone may be false although nothing follows. NULL for formats that
     * hold one image a file. */
    gconv_status (*look_behind)(gc_decoder *decoder, bool wait, bool *alone, gconv_error *error);
    /* After look_behind: goes on to the next image, in place of a new decoder. NULL: the next image
     * begins behind this one, and is opened like a file. */
    gconv_status (*next)(gc_decoder *decoder, gconv_error *error);
    /* Before the first `read`: whether a device may decode the image. The first bytes of its file
     * and its size are set in *picture. Sets all else but the orientation. If no device may decode
     * the image, *reason becomes a phrase that says why. NULL for formats that no device
     * decodes. */
    gc_offer (*offer)(gc_decoder *decoder, gconv_encoded *picture, const char **reason);
    /* After `offer`: a device has decoded the image, `size` bytes of the file. `finish` is next. */
    void (*accept)(gc_decoder *decoder, size_t size);
    /* As in gconv_source. NULL if the decoder runs in one thread. */
    bool (*help)(gc_decoder *decoder);
    void (*spread)(gc_decoder *decoder, int threads);
    void (*free)(gc_decoder *decoder);
};

/* Fails if the shape has more pixels than max_pixels, or more bytes than memory can address. */
gconv_status gc_decoder_check_size(const gc_decoder *decoder, gconv_error *error);

/* Tells what is below if bytes follow the image. Waits a tenth of a second for them. For a
 * gc_decoder_type, too. */
gconv_status gc_decoder_check_trailing(gc_decoder *decoder, gconv_error *error);

/* Warns that bytes follow the image and are ignored. In a pipe they may be frames of a video, so
 * that the warning is one of damage. Fails if all that a file holds is wanted. */
gconv_status gc_decoder_tell_trailing(const gc_decoder *decoder, gconv_error *error);

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct gc_encoder_type gc_encoder_type;

/* The head of every codec's own structure. */
typedef struct gc_encoder {
    const gc_encoder_type *type;
    gc_output *output;
    gc_warnings warnings;
    gconv_format format;
    gconv_shape shape; /* of the rows that `write` takes */
    double white;      /* of float samples */
    int quality;
    bool lossy; /* as in gconv_writer_options, like the next two */
    gconv_chroma chroma;
    bool progressive;
    int compression;  /* as in gconv_writer_options */
    uint32_t part_of; /* PGM and PPM: as in gconv_writer_options */
    uint32_t part_first;
    gconv_metadata metadata; /* what is to be written; valid only while `open` runs */
} gc_encoder;

struct gc_encoder_type {
    size_t size; /* of an encoder, which begins with a gc_encoder */
    /* Writes the header. Behind the gc_encoder all is zeros. The caller frees it in each case. */
    gconv_status (*open)(gc_encoder *encoder, gconv_error *error);
    gconv_status (*write)(gc_encoder *encoder, uint32_t count, const unsigned char *rows,
                          size_t stride, gconv_error *error);
    /* One row, instead of `write`. */
    gconv_status (*write_row)(gc_encoder *encoder, const unsigned char *row, gconv_error *error);
    gconv_status (*finish)(gc_encoder *encoder, gconv_error *error); /* NULL: nothing is left */
    /* After the last row of an image, instead of `finish` and the `open` of another encoder: begins
     * the next image, whose shape and metadata the head of `encoder` has. NULL: each image has an
     * encoder of its own. */
    gconv_status (*next)(gc_encoder *encoder, gconv_error *error);
    /* As in gconv_sink. NULL if the encoder runs in one thread. */
    bool (*help)(gc_encoder *encoder);
    void (*spread)(gc_encoder *encoder, int threads); /* as in gconv_sink; NULL as there */
    /* As gconv_sink has them, for the encoder's shape. NULL for formats that no device
     * compresses. */
    bool (*takes_compressed)(gc_encoder *encoder);
    gconv_status (*write_compressed)(gc_encoder *encoder, const struct gc_compressed_rows *rows,
                                     gconv_error *error);
    void (*free)(gc_encoder *encoder);
};
