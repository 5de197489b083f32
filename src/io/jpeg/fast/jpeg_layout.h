/* What the header of a JPEG says of the data behind it: for devices that decode them. */
#ifndef GC_IO_JPEG_FAST_JPEG_LAYOUT_H
#define GC_IO_JPEG_FAST_JPEG_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

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

#endif
