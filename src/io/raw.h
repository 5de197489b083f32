/* What codecs share: rows and samples as files have them. */
#pragma once

#include "io/codec.h"

enum { GC_HOST_IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* Fails unless both sides are 1 to INT32_MAX and gc_decoder_check_size agrees. */
gconv_status gc_raw_check_sides(gc_decoder *decoder, uint64_t width, uint64_t height,
                                gconv_error *error);

/* Reads `size` bytes of the image data. If the file has fewer, this is an error; a tolerant decoder
 * gets zeros from there on, and has stopped. */
gconv_status gc_raw_read(gc_decoder *decoder, void *bytes, size_t size, gconv_error *error);

/* Says that the image data end too early: an error, or a warning of a tolerant decoder unless it
 * has stopped already. */
gconv_status gc_raw_stop(gc_decoder *decoder, gconv_error *error);

/* Exchanges the bytes of numbers of 2, 4 or 8 bytes. */
void gc_raw_swap(void *numbers, size_t count, size_t number_bytes);

/* Makes `copies` bytes of each of `count` bits: 0 or 1. */
void gc_raw_unpack_bits(const unsigned char *bits, unsigned char *bytes, size_t count,
                        size_t copies);

/* What samples 0 to `most` become if they are stretched to 0 to `full` (contract.md, rule 29). NULL
 * if memory is out. */
uint16_t *gc_raw_levels(uint32_t most, uint32_t full, gconv_error *error);

/* Exchanges red and blue of pixels of 3 bytes. */
void gc_raw_turn_colours(const unsigned char *pixels, unsigned char *turned, size_t count);

/* Writes rows to a file that stores the last row first. Rows fill a block from its end to its
 * start. If the output cannot seek, the block has all rows. A structure of zeros is not in use. */
typedef struct gc_upward {
    size_t row_bytes;
    unsigned char *block; /* the owner frees it */
    uint32_t block_rows, height;
    uint32_t held; /* rows in the block */
    uint32_t rows; /* taken */
    uint64_t body; /* offset of the rows in the output */
} gc_upward;

/* Begins the rows at the output's position. */
gconv_status gc_upward_open(gc_upward *upward, gc_output *output, size_t row_bytes, uint32_t height,
                            gconv_error *error);
/* The place of the next row. */
unsigned char *gc_upward_row(const gc_upward *upward);
/* Tells that the row at this place is complete. */
gconv_status gc_upward_write(gc_upward *upward, gc_output *output, gconv_error *error);
/* Moves the output behind the rows. */
gconv_status gc_upward_finish(const gc_upward *upward, gc_output *output, gconv_error *error);
