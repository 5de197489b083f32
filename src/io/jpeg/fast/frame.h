/* What the header of a JPEG says, as libjpeg has read it, for decoders of gconv's own. */
#pragma once

#include "io/jpeg/fast/blocks.h"

struct jpeg_decompress_struct;

/* Between jpeg_read_header and jpeg_start_decompress: whether there is one scan of all components,
 * with 8-bit samples in Huffman codes of one pass. */
bool gc_jpeg_is_baseline(const struct jpeg_decompress_struct *jpeg);

/* Describes a file between jpeg_read_header and jpeg_start_decompress; out_color_space is set.
 * False if libjpeg has to decode it: other than baseline, several scans, unusual tables, other
 * colours or components; and if memory is out. The caller releases frame->codings in each case.
 */
bool gc_jpeg_describe(const struct jpeg_decompress_struct *jpeg, gc_jpeg_frame *frame);
