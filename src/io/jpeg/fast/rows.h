/* Rows of a baseline JPEG, decoded by gconv's own code: the samples of Y, or RGB.
 *
 * libjpeg remains the judge. Rows come from here as long as the data are sound, in the sense of
 * docs/gpu-jpeg.md: then they are those of libjpeg-turbo. This decoder stops at the first data that
 * are not sound. The caller has libjpeg decode the file from its beginning, and drops the rows that
 * it has. */
#ifndef GC_IO_JPEG_FAST_ROWS_H
#define GC_IO_JPEG_FAST_ROWS_H

#include "gconv.h"

struct gc_input;
struct jpeg_decompress_struct;

typedef struct gc_jpeg_rows gc_jpeg_rows;

/* A decoder of the file that libjpeg has read the header of. The entropy-coded data begin `data`
 * bytes from the start of the file, which can be read twice. Those that libjpeg has in its buffer
 * are not read again: they stay there until libjpeg reads on. NULL if libjpeg has to decode the
 * file, and if memory is out. */
gc_jpeg_rows *gc_jpeg_rows_create(const struct jpeg_decompress_struct *jpeg,
                                  const struct gc_input *input, uint64_t data);

/* Images of fewer pixels are left to libjpeg, which has them decoded before tables are made here;
 * or are decoded in one thread. Only tests change them. */
extern uint64_t gc_jpeg_rows_pixels_min, gc_jpeg_rows_spread_min;

void gc_jpeg_rows_free(gc_jpeg_rows *rows);

/* Gives the next rows, up to `count`, and returns how many there are. Fewer say that the data are
 * rejected: there will be no more. */
uint32_t gc_jpeg_rows_read(gc_jpeg_rows *rows, uint32_t count, unsigned char *to, size_t stride);

/* Has several threads decode, at most `threads`. Before the first row; false if that does not pay,
 * and if memory is out. Then any thread may call the function below at any time. */
bool gc_jpeg_rows_spread(gc_jpeg_rows *rows, int threads);

/* What gconv_source says of `help`. */
bool gc_jpeg_rows_help(gc_jpeg_rows *rows);

/* After the last row: whether the image ends as it should. Then *trailing says whether bytes follow
 * it in the file. */
bool gc_jpeg_rows_end(gc_jpeg_rows *rows, bool *trailing);

#endif
