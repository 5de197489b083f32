/* A reader, for the files that it consists of: reader.c, reader_layers.c and reader_offer.c. */
#pragma once

#include "io/codec.h"

struct gconv_reader {
    gconv_reader_options options;
    gconv_source source; /* what gconv_reader_source gave */
    gc_input input;
    gc_decoder *decoder;
    gconv_shape stored;  /* of rows after their conversion, before orientation */
    gconv_shape shape;   /* of the rows that the caller gets */
    size_t stored_bytes; /* of a stored row */
    uint32_t decoded;    /* rows that the decoder has given or passed over */
    uint32_t delivered;  /* rows that the caller has */
    uint32_t end;        /* the caller may have the rows before this one */
    bool selected;       /* some rows alone are read */
    bool finished;       /* the image was read to its end, and the end was checked */
    uint32_t page;       /* number of the image in its input, from 1 */
    bool alone;          /* it is known that no image follows */
    bool next_failed;    /* an image follows that could not be opened */
    int orientation;     /* 1 to 8, as EXIF has it; 1 if rows stay as they are stored */
    bool to_grey;
    bool masks;             /* alpha is added to floats: GCONV_NAN_IGNORE */
    bool flattens;          /* the decoder's rows have alpha, and those of the caller have none */
    uint16_t background[3]; /* in samples of the decoder's depth; of grey rows the first counts */
    bool composited;        /* a pixel was not opaque */
    unsigned char *band;    /* rows before their conversion; allocated when needed */
    uint32_t band_rows;
    unsigned char *image; /* all stored rows, for orientations 3 to 8; allocated when needed */
    bool offered;         /* a device may still accept the image */
    unsigned char *head;  /* first bytes of the file, if an offer has read them; else NULL */
    unsigned char *piece; /* of the file that is offered; allocated when needed */
    size_t offer_bytes;   /* size of the file that is offered */
    size_t offer_given;   /* of its bytes, how many the device has got so far */
    const char *reason;   /* why no device decodes the image; "" if that is not known */
    bool accepted;        /* a device has decoded the image */
    gconv_error failure;  /* the first one; every later call repeats it */
};

/* ---- reader_layers.c ------------------------------------------------------------------------- */

/* The next rows as the caller gets them. */
gconv_status gc_reader_decode(gconv_reader *reader, uint32_t count, unsigned char *rows,
                              size_t stride, gconv_error *error);

/* Passes over stored rows. */
gconv_status gc_reader_skip(gconv_reader *reader, uint32_t count, gconv_error *error);

/* ---- reader_offer.c -------------------------------------------------------------------------- */

/* Whether images of this reader may be offered to a device at all. */
bool gc_reader_makes_offers(const gconv_reader *reader);

/* The functions of gconv_source of these names; `user` is the reader. */
bool gc_reader_offer(void *user, gconv_encoded *picture);
bool gc_reader_more(void *user, const unsigned char **bytes, size_t *count);
void gc_reader_accept(void *user, size_t size);

/* Takes an offer back. */
void gc_reader_end_offer(gconv_reader *reader);
