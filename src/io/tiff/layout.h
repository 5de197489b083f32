/* How the samples of one image lie in a TIFF, and how they become rows. */
#pragma once

#include "io/codec.h"
#include "io/floats.h"
#include "io/tiff/libtiff.h"

enum { GC_TIFF_BITS_MAX = 16 /* of whole numbers */, GC_TIFF_SAMPLES_MAX = 16 /* of a pixel */ };

typedef struct gc_tiff_layout {
    uint32_t width, height;
    uint16_t bits, samples; /* of a pixel in the file */
    uint16_t compression, photometric;
    bool separate; /* each sample has a plane of its own */
    bool tiled;
    bool floats;
    bool white_is_zero;
    bool associated;   /* colours are multiplied by alpha */
    int colours;       /* samples that are taken from the file: 1 or 3 */
    int alpha;         /* which sample alpha is; 0: none is taken */
    size_t cell;       /* bytes of a sample once it is unpacked: 1, 2, 4 or 8 */
    bool same;         /* unpacked samples are the decoder's */
    uint16_t *levels;  /* what samples of other widths become; NULL: they stay */
    uint16_t *palette; /* red, then green, then blue; NULL: there is none */
} gc_tiff_layout;

/* Reads the layout of the current directory, and sets the decoder's shape. Refuses what gconv does
 * not read. */
gconv_status gc_tiff_layout_read(gc_tiff_layout *layout, gc_decoder *decoder, gc_tiff_file *file,
                                 gconv_error *error);
void gc_tiff_layout_free(gc_tiff_layout *layout);

/* Unpacks pixels `from` to `from + count - 1` of a row, whose bits begin at `packed`, to `line`,
 * which has all samples of a pixel side by side. Of separate planes, `plane` alone. */
void gc_tiff_unpack(const gc_tiff_layout *layout, const unsigned char *packed, uint32_t from,
                    uint32_t count, int plane, unsigned char *line);

/* Makes a row of the decoder's of unpacked samples; not if they are the same. */
void gc_tiff_convert(const gc_tiff_layout *layout, const unsigned char *line, int depth,
                     unsigned char *row);
