/* Small JPEG files, made in memory, and what libjpeg-turbo decodes them to: a decoder that gives
 * the same may take the place of libjpeg-turbo. They are noise, with blocks of every energy that
 * 8-bit samples can have, and with blocks whose samples are far outside 8 bits. */
#ifndef GC_IO_JPEG_FAST_TRIALS_H
#define GC_IO_JPEG_FAST_TRIALS_H

#include "base/hash.h"
#include "gconv.h"

enum { GC_JPEG_TRIALS = 8, GC_JPEG_TRIAL_BYTES_MAX = 48 << 10 };

/* Writes file `index` to `bytes`, which has GC_JPEG_TRIAL_BYTES_MAX bytes. Fills *picture. Returns
 * a hash of what libjpeg-turbo makes of the file with its defaults: of all rows as grey, then of
 * all rows as RGB, or again as grey if there is no colour. */
gc_hash gc_jpeg_trial(int index, unsigned char *bytes, gconv_encoded *picture);

#endif
