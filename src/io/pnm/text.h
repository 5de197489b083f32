/* The image data of PBM, PGM and PPM as text. */
#pragma once

#include "io/codec.h"

/* Reads `count` samples of 0 to `maxval` into `bytes` as binary files have them: one byte each, two
 * if maxval is above 255. In a text of `bits` each digit is a sample. NULL for `bytes` passes over
 * the samples. *got is less than `count` only if the input ends. */
gconv_status gc_pnm_read_text(gc_input *input, uint32_t maxval, bool bits, unsigned char *bytes,
                              size_t count, size_t *got, gconv_error *error);

/* Fails for a sample that is above the maximum. */
gconv_status gc_pnm_fail_above(uint32_t sample, uint32_t maxval, gconv_error *error);
