/* The image data of a PNG, inflated by ISA-L for libpng. libpng stays the reader: it is given a
 * stream of chunks whose image data are the same bytes in stored blocks, which its zlib merely
 * copies. Rows may lack their filters: these are then undone. Checksums are checked here.
 *
 * Nothing is judged here. If anything about the data is unusual, the stream is rejected: the caller
 * reads the file again from its start, by libpng and zlib alone, and these speak. ISA-L takes one
 * thing that zlib refuses: a Huffman code that lacks codes, if none of these is used. With all
 * checksums right, no pixel depends on it. */
#ifndef GC_IO_PNG_FAST_STREAM_H
#define GC_IO_PNG_FAST_STREAM_H

#include "io/input.h"

#include <stdint.h>

typedef struct gc_png_stream gc_png_stream;

typedef enum gc_png_stream_state {
    GC_PNG_STREAM_REJECTED,
    GC_PNG_STREAM_INSIDE, /* more of the stream follows */
    GC_PNG_STREAM_AFTER   /* the input goes on at the end of the stream */
} gc_png_stream_state;

/* For tests: false leaves all image data to zlib. True in a program. */
extern bool gc_png_stream_wanted;

/* NULL if the build lacks ISA-L, the input cannot be read twice, or memory is out. */
gc_png_stream *gc_png_stream_create(gc_input *input);
void gc_png_stream_free(gc_png_stream *stream);

/* Begins when the head of the first chunk of image data, its length and type, has been read from
 * the input. Replaces the head by that of the stream. A chunk of more than `most` bytes is
 * rejected. */
void gc_png_stream_begin(gc_png_stream *stream, uint32_t most, unsigned char head[8]);

/* Before the first read: has the filters of rows undone here, if that is faster. libpng then gets
 * rows without a filter. The rows have `row_bytes` bytes beside the filter, and are those of an
 * image that is not interlaced. pixel: bytes of a pixel, at least 1. */
void gc_png_stream_undo_filters(gc_png_stream *stream, size_t row_bytes, size_t pixel);

/* Reads the next `size` bytes of the stream. After the image data it ends with the head of the
 * chunk that follows. A read across this end is rejected. */
gc_png_stream_state gc_png_stream_read(gc_png_stream *stream, unsigned char *bytes, size_t size);

/* For one other thread, while one may read: inflates ahead. False if enough is inflated. */
bool gc_png_stream_help(gc_png_stream *stream);

/* The version of ISA-L that the library was built with, NULL if it lacks ISA-L. */
const char *gc_png_stream_library(void);

#endif
