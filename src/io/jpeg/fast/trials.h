/* Small JPEG files, made in memory, and what libjpeg-turbo decodes them to: a decoder that gives
 * the same may take the place of libjpeg-turbo. They are noise, with blocks of every energy that
 * 8-bit samples can have, and with blocks whose samples are far outside 8 bits. */
#ifndef GC_IO_JPEG_FAST_TRIALS_H
#define GC_IO_JPEG_FAST_TRIALS_H

#include "base/hash.h"
#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GC_JPEG_TRIALS = 8, GC_JPEG_TRIAL_BYTES_MAX = 48 << 10 };

/* Hashes of rows without gaps: of each plane, `sampling` times smaller than the image and rounded
 * up, and of the RGB samples (of Y if there is no colour). */
typedef struct gc_jpeg_hashes {
    gc_hash planes[3], samples;
} gc_jpeg_hashes;

/* Writes file `index` to `bytes`, which has GC_JPEG_TRIAL_BYTES_MAX bytes. Fills *picture. Returns
 * what libjpeg-turbo makes of the file (jpeg_read_raw_data and jpeg_read_scanlines, with its
 * defaults). */
const gc_jpeg_hashes *gc_jpeg_trial(int index, unsigned char *bytes, gconv_encoded *picture);

#ifdef __cplusplus
}
#endif

#endif
