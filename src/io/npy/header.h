/* The headers of NPY, the files of numpy.save. */
#ifndef GC_IO_NPY_HEADER_H
#define GC_IO_NPY_HEADER_H

#include "io/codec.h"

/* What a header says beside the shape. */
typedef struct gc_npy_header {
    char kind;           /* of the numbers: 'u', 'f' or 'b' (bool) */
    size_t number_bytes; /* 1, 2, 4 or 8 */
    bool swapped;        /* their bytes are not in the order of this machine */
    bool by_columns;     /* Fortran's order: the first index changes first */
} gc_npy_header;

/* Reads the header up to the first byte of the array, and sets the decoder's shape. */
gconv_status gc_npy_read_header(gc_decoder *decoder, gc_npy_header *header, gconv_error *error);

#endif
