/* Samples of JPEG blocks: dequantised, and by the inverse DCT "islow" of libjpeg, several blocks at
 * a time. docs/gpu-jpeg.md says why a bound on the energy makes the samples those of libjpeg-turbo.
 */
#pragma once

#include "io/jpeg/fast/tables.h"

#include <stddef.h>

/* What quantised a component. */
typedef struct gc_islow_steps {
    int16_t steps[GC_JPEG_COEFFICIENTS];  /* 1 to 255, row by row */
    int16_t limits[GC_JPEG_COEFFICIENTS]; /* of coefficients: 2047 over the step, rounded down */
    int32_t energy_max;
} gc_islow_steps;

/* Fills limits and energy_max. */
void gc_islow_set_limits(gc_islow_steps *steps);

/* The places of the blocks of a row: `across` of them beside each other, then those of the next
 * MCU, which begins `mcu` coefficients behind the MCU before. */
typedef struct gc_islow_layout {
    uint32_t across;
    size_t mcu;
} gc_islow_layout;

/* Makes samples of `count` blocks of a row, the first of which is the first one of an MCU. The
 * coefficients of each block are row by row. Sample rows are `stride` bytes apart; 8 x `count`
 * samples of each of 8 rows are written, and up to GC_ISLOW_STRAY behind them.
 * False if a block is not one that every version of libjpeg-turbo decodes to the same samples:
 * its energy is too large, or a sample lies far outside 0 to 255. Rows may hold anything then. */
typedef bool gc_islow_function(const int16_t *blocks, const gc_islow_layout *layout, uint32_t count,
                               const gc_islow_steps *steps, unsigned char *samples, size_t stride);

enum { GC_ISLOW_STRAY = 24 };

extern gc_islow_function gc_islow_avx2, gc_islow_avx512;

/* That for AVX-512 if the processor has it and GCONV_INSTRUCTIONS does not leave it out, else that
 * for AVX2. */
gc_islow_function *gc_islow_chosen(void);
