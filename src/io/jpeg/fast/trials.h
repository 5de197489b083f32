/* Small JPEG files, and what libjpeg-turbo decodes them to: a decoder that gives the same may take
 * the place of libjpeg-turbo. They are noise, with blocks of every energy that 8-bit samples can
 * have. In file 5 some blocks have a sample that is so far outside 8 bits that some inverse DCTs
 * wrap and others clamp: the C code of libjpeg-turbo wraps, its code for vectors clamps. */
#pragma once

#include "base/hash.h"
#include "gconv.h"

enum { GC_JPEG_TRIALS = 8 };

/* Fills *picture with file `index`. Returns a hash of what libjpeg-turbo makes of the file with its
 * defaults: of all rows as grey, then of all rows as RGB, or again as grey if there is no colour.
 */
gc_hash gc_jpeg_trial(int index, gconv_encoded *picture);
