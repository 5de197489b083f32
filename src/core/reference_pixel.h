/* The reference's values at single pixels: quick, however large the image is. */
#pragma once

#include "core/sums.h"

/* Computes the sums of the chain at pixel (x, y), one number for each channel, with the bits that
 * the reference gives. `input` is the image. */
gconv_status gc_reference_pixel(const gc_problem *problem, const void *input, size_t input_stride,
                                uint32_t x, uint32_t y, gc_word *sums, gconv_error *error);
