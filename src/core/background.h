/* Pixels that are not opaque, on a background (contract.md, rules 7 and 34). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Puts the colours of a row on a background. Alpha stays as it is and has no further effect. The
 * row has 2 or 4 channels of 8, 16 or 32 bits. `background` has a sample of this depth for each
 * colour; of 32 bits these are 8-bit levels. Returns whether every pixel was opaque: then the row
 * has not changed. */
bool gc_flatten_row(void *row, uint32_t width, int channels, int depth, const uint16_t *background);

/* Copies a row of 2 or 4 channels without its alpha. The rows must not overlap. */
void gc_drop_alpha_row(const unsigned char *input, unsigned char *output, uint32_t width,
                       int channels, size_t sample_bytes);
