/* The blocks of a baseline JPEG: its entropy-coded data are followed MCU by MCU. What is followed
 * is checked as docs/gpu-jpeg.md says for the scan. Only the energy of blocks is not looked at
 * here. */
#ifndef GC_IO_JPEG_BLOCKS_H
#define GC_IO_JPEG_BLOCKS_H

#include "io/jpeg/bits.h"
#include "io/jpeg/islow.h"

enum {
    GC_JPEG_PARTS_MAX = 3,       /* components */
    GC_JPEG_MCU_BLOCKS_MAX = 10, /* blocks of an MCU: the limit of the standard */
    GC_JPEG_CODINGS_MAX = 4,     /* Huffman tables of a class */
    /* Bytes of a block at most: 64 codes of 16 bits and values of 11, every byte with a stuffed one
     * behind it. */
    GC_JPEG_BLOCK_BYTES_MAX = 64 * (16 + 11) / 8 * 2,
    GC_JPEG_MARKER_BYTES = 2
};

/* How AC coefficients are coded: to pass over them, and to take them. */
typedef struct gc_jpeg_ac {
    gc_jpeg_table codes;
    bool listed;       /* `look` is filled: for components that are kept */
    uint32_t end_bits; /* of EOB's code */
    gc_jpeg_values look[1 << GC_JPEG_LOOK_BITS];
} gc_jpeg_ac;

/* A component. */
typedef struct gc_jpeg_part {
    bool kept;              /* its samples are wanted */
    int across, down;       /* blocks of an MCU */
    uint32_t width, height; /* samples */
    const gc_jpeg_table *dc;
    const gc_jpeg_ac *ac;
    gc_islow_steps steps;
} gc_jpeg_part;

/* What the header says. */
typedef struct gc_jpeg_frame {
    uint32_t width, height; /* pixels */
    bool colour;            /* rows of RGB are wanted, else those of Y */
    uint32_t mcus_across, mcus_down;
    uint32_t restart_interval; /* MCUs; 0: no restart markers */
    int part_count;
    gc_jpeg_part parts[GC_JPEG_PARTS_MAX];
    int block_count;
    unsigned char block_parts[GC_JPEG_MCU_BLOCKS_MAX]; /* the component of each block of an MCU */
    gc_jpeg_table dc[GC_JPEG_CODINGS_MAX];
    gc_jpeg_ac ac[GC_JPEG_CODINGS_MAX];
} gc_jpeg_frame;

/* A place between two MCUs. */
typedef struct gc_jpeg_place {
    gc_jpeg_bits bits;
    int32_t dc[GC_JPEG_PARTS_MAX]; /* predictions; only of components that are kept */
    uint32_t to_restart;           /* MCUs before the next restart marker */
    int restarts;                  /* markers passed */
} gc_jpeg_place;

/* Whether this processor has the instructions that the next two functions need (BMI2 on x86). */
bool gc_jpeg_can_follow(void);

/* The place before the first MCU, whose data begin at bytes[0]. */
gc_jpeg_place gc_jpeg_first_place(const gc_jpeg_frame *frame, const unsigned char *bytes,
                                  size_t size);

/* Passes over `count` MCUs. False where they are not sound; *place is undefined then.
 * The bytes at hand hold all of them, or the file ends there. */
bool gc_jpeg_pass_mcus(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint32_t count);

/* The same. blocks[c] becomes the coefficients of component c, if it is kept: rows of `count` x
 * `across` blocks, as many rows as `down`; `pitch[c]` blocks from row to row. They are zeros
 * before. */
bool gc_jpeg_take_mcus(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint32_t count,
                       int16_t *const blocks[GC_JPEG_PARTS_MAX],
                       const size_t pitch[GC_JPEG_PARTS_MAX]);

/* Whether the image ends at the place: EOI follows, and it is passed. */
bool gc_jpeg_take_end(gc_jpeg_place *place);

#endif
