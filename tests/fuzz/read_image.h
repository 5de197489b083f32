/* Reading an image and what must hold of it, for the targets of the readers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Images of more pixels are refused by their header. */
enum { FUZZ_PIXELS_MAX = 1 << 14 };

/* Reads all but the last byte as an image file; the last byte is how. */
void fuzz_read_image(const uint8_t *data, size_t size);
