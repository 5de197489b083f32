/* The entropy-coded data of a JPEG, judged without storing a coefficient. */
#ifndef GC_IO_JPEG_ENTROPY_H
#define GC_IO_JPEG_ENTROPY_H

#include "io/jpeg/tables.h"

#include <stddef.h>

enum {
    GC_JPEG_COMPONENTS_MAX = 3,
    GC_JPEG_BLOCKS_MAX = 6 /* of an MCU: 4:2:0 */
};

typedef struct gc_jpeg_quantiser {
    bool defined;
    uint32_t steps[GC_JPEG_COEFFICIENTS];   /* in zigzag order, as all coefficients here */
    uint64_t squares[GC_JPEG_COEFFICIENTS]; /* of the steps */
    uint64_t largest[GC_JPEG_COEFFICIENTS]; /* square of an AC step up to this one */
    uint64_t energy_max;                    /* of a block of 8-bit samples */
} gc_jpeg_quantiser;

typedef struct gc_jpeg_component {
    int id, across, down; /* sampling factors */
    const gc_jpeg_quantiser *steps;
    int quantiser;
    const gc_jpeg_table *dc, *ac;
} gc_jpeg_component;

/* The blocks of an MCU, in the order of the data. */
typedef struct gc_jpeg_mcu {
    gc_jpeg_component components[GC_JPEG_COMPONENTS_MAX];
    int block_components[GC_JPEG_BLOCKS_MAX];
    int blocks;
} gc_jpeg_mcu;

/* Judges `count` MCUs from bytes[*at] to a marker, at which *at then stands. Returns NULL where
 * they are sound, else a short phrase. Reads no byte beyond `size`. */
const char *gc_jpeg_check_interval(const gc_jpeg_mcu *mcu, const unsigned char *bytes, size_t size,
                                   size_t *at, uint64_t count);

#endif
