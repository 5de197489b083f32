/* The blocks of a baseline JPEG: its entropy-coded data are followed MCU by MCU. What is followed
 * is checked as docs/gpu-jpeg.md says for the scan. Only the energy of blocks is not looked at
 * here. */
#pragma once

#include "io/jpeg/fast/bit_reader.h"
#include "io/jpeg/fast/codings.h"
#include "io/jpeg/fast/islow.h"

enum {
    GC_JPEG_PARTS_MAX = 3,       /* components */
    GC_JPEG_MCU_BLOCKS_MAX = 10, /* blocks of an MCU: the limit of the standard */
    /* Bytes of a block at most: 64 codes of 16 bits and values of 11, every byte with a stuffed one
     * behind it. */
    GC_JPEG_BLOCK_BYTES_MAX = 64 * (16 + 11) / 8 * 2,
    GC_JPEG_MARKER_BYTES = 2,
    GC_JPEG_DC_MAX = 2047 /* of sound files, before dequantisation */
};

/* A component. */
typedef struct gc_jpeg_part {
    bool kept;              /* its samples are wanted */
    int across, down;       /* blocks of an MCU */
    uint32_t width, height; /* samples */
    const gc_jpeg_dc *dc;
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
    size_t mcu_numbers;                                /* coefficients of an MCU that are kept */
    gc_jpeg_codings *codings;
} gc_jpeg_frame;

/* A place between two MCUs. */
typedef struct gc_jpeg_place {
    gc_jpeg_bits bits;
    int32_t dc[GC_JPEG_PARTS_MAX]; /* predictions; only of components that are kept */
    uint32_t to_restart;           /* MCUs before the next restart marker */
    int restarts;                  /* markers passed */
} gc_jpeg_place;

/* The byte of the next bit, and how many of its bits come before that. */
const unsigned char *gc_jpeg_place_byte(const gc_jpeg_place *place, uint32_t *bits);

/* Moves the place to a bit of bytes[at]. */
void gc_jpeg_set_place(gc_jpeg_place *place, const unsigned char *bytes, size_t size, size_t at,
                       uint32_t bit);

/* Whether this processor has the instructions that decoding needs: AVX2 and BMI2. */
bool gc_jpeg_can_decode(void);

/* The place before the first MCU, whose data begin at bytes[0]. */
gc_jpeg_place gc_jpeg_first_place(const gc_jpeg_frame *frame, const unsigned char *bytes,
                                  size_t size);

/* Passes over `count` MCUs. False if they are not sound, or the bytes at hand do not hold all of
 * them; *place is undefined then. */
bool gc_jpeg_pass_mcus(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint32_t count);

/* Passes over all MCUs before the next restart marker without following them, if these are at most
 * `most`. Returns how many they are; 0 if the bytes at hand have no marker. The code that follows
 * them later has to check that they end there. */
uint32_t gc_jpeg_pass_to_marker(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint64_t most);

/* Whether nothing is left of the bytes at hand but bits that fill a byte. */
bool gc_jpeg_is_at_end(const gc_jpeg_place *place);

/* Passes over MCUs as gc_jpeg_pass_mcus. `blocks` become the coefficients that are kept, in the
 * order of the data: those of a block row by row. They are zeros before. */
bool gc_jpeg_take_mcus(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint32_t count,
                       int16_t *blocks);

/* Whether the image ends at the place: EOI follows, and it is passed. */
bool gc_jpeg_take_end(gc_jpeg_place *place);
