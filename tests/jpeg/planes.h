/* The planes of a JPEG before upsampling: as libjpeg gives them, and as the standard and the
 * definition of libjpeg's inverse DCT say. */
#ifndef GC_TESTS_JPEG_PLANES_H
#define GC_TESTS_JPEG_PLANES_H

#include "samples.h"

typedef struct jpeg_plane {
    uint32_t columns, rows; /* whole blocks */
    unsigned char *samples;
} jpeg_plane;

typedef struct jpeg_planes {
    int count;
    jpeg_plane planes[3];
} jpeg_planes;

void jpeg_planes_free(jpeg_planes *planes);

/* The first difference, as text of at most `size` bytes; false where there is none. */
bool jpeg_planes_differ(const jpeg_planes *a, const jpeg_planes *b, char *text, size_t size);

/* By libjpeg, method islow. False where it fails, with nothing to free; `message` then has its
 * text. *warnings counts what it warns of, up to the end of the image. */
bool jpeg_planes_by_libjpeg(const unsigned char *bytes, size_t size, jpeg_planes *planes,
                            long *warnings, char message[JMSG_LENGTH_MAX]);

/* Whether this libjpeg reduces samples before their clamping to 10 bits with their sign, as
 * jidctint.c does. The instructions for vectors, which it prefers where there are any, saturate. */
bool jpeg_samples_wrap(void);

/* By the model: bit by bit, in whole numbers of 64 bits, with nothing made fast. It decodes
 * baseline files of 1 or 3 components. NULL, or what it has met: damage, or a number that does not
 * fit where libjpeg-turbo's instructions keep it, 16 or 32 bits. After a complaint there is nothing
 * to free. */
const char *jpeg_planes_by_model(const unsigned char *bytes, size_t size, bool wrap,
                                 jpeg_planes *planes);

#endif
