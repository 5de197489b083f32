/* The headers of PBM, PGM, PPM, PAM and PFM. */
#pragma once

#include "io/codec.h"

/* What a header says beside the shape. */
typedef struct gc_pnm_header {
    char kind;       /* '1' to '7', 'f' or 'F': the second byte of the file */
    uint32_t maxval; /* 1 of a PBM; not of a PFM */
    double scale;    /* of a PFM; below 0 its samples are little-endian */
} gc_pnm_header;

/* A blank of a header. */
bool gc_pnm_is_blank(unsigned char c);

/* Reads the header up to the first byte of the image data, and sets the decoder's shape. */
gconv_status gc_pnm_read_header(gc_decoder *decoder, gc_pnm_header *header, gconv_error *error);
