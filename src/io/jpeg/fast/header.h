/* What libjpeg has read in the header of a JPEG, for devices that decode the data behind it.
 * docs/gpu-jpeg.md says what the header must be, and what the devices check. */
#pragma once

#include "gconv.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct jpeg_decompress_struct;

/* A Huffman table as its segment (DHT) has it. */
typedef struct gc_jpeg_code {
    unsigned char counts[16];   /* codes of 1 to 16 bits */
    unsigned char symbols[256]; /* in the order of the codes; 0 behind the last one */
} gc_jpeg_code;

/* Of a baseline JPEG with samples of 8 bits and one scan, grey or YCbCr. gconv_encoded says how
 * many components there are, and how they are sampled. */
typedef struct gc_jpeg_layout {
    size_t data;               /* offset of the entropy-coded data in the file */
    uint32_t restart_interval; /* MCUs between restart markers; 0: there are none */
    uint64_t mcus;
    struct {
        int dc, ac, quantiser; /* numbers of the tables below */
    } components[3];
    /* DC and AC, by number. The codes of those that components use exist, fit into 16 bits, and
     * none is all ones; their symbols are those of 8-bit samples, each once. */
    gc_jpeg_code codes[2][2];
    unsigned char steps[4][64]; /* quantisation steps in zigzag order, by number; 1 to 255 */
    /* The largest possible sum of the squares of a block's dequantised coefficients if its samples
     * have 8 bits; by number of the table of steps. */
    uint64_t energy_max[4];
} gc_jpeg_layout;

/* Describes a file between jpeg_read_header and jpeg_start_decompress, whose entropy-coded data
 * begin `data` bytes from its start. Sets all of *picture but bytes, sizes and orientation. Returns
 * NULL, else a phrase that says why devices do not take the file: it may be damaged, or only
 * unusual. Takes no memory. */
const char *gc_jpeg_read_layout(const struct jpeg_decompress_struct *jpeg, uint64_t data,
                                gconv_encoded *picture, gc_jpeg_layout *layout);

/* Decodes small files when it is first called, some milliseconds, and compares hashes of their
 * samples. Any thread. */
bool gc_jpeg_check(void);

#ifdef __cplusplus
}
#endif
