/* Huffman tables of a JPEG, and look-up tables that follow many symbols at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    GC_JPEG_COEFFICIENTS = 64,
    GC_JPEG_CODE_BITS_MAX = 16,
    /* With 12 large files gain nothing, and small ones wait for the tables. */
    GC_JPEG_LOOK_BITS = 11,
    GC_JPEG_DC_LOOK_BITS = 9
};

enum { GC_JPEG_SYMBOL_END = 0x00, GC_JPEG_SYMBOL_ZEROS = 0xf0 /* 16 of them */ };

/* An entry of `ac_look`, from the lowest bit: 8 bits, the length in bits of codes and values; 8
 * bits, the step in coefficients; 16 bits, the bound on the sum of squares. */
enum {
    GC_JPEG_STEP_SHIFT = 8,
    GC_JPEG_SQUARES_SHIFT = 16,
    /* A mark that is added to the step: the exact way has to go on. The index of a coefficient plus
     * the step has this bit, too, if the entry leads beyond the last coefficient. */
    GC_JPEG_STEP_EXACT = 64,
    GC_JPEG_ENTRY_BITS_MAX = 18 /* see `pass_block` in blocks.c */
};

/* A DC code and the value behind it. One shift and one sum give the value: the data's bits up to
 * the last one of the value, as a number, plus the bias, modulo 2^16. The bias is known, since all
 * bits before the value are, and its first bit says whether it is negative (see
 * gc_jpeg_biased_value). */
typedef struct gc_jpeg_difference {
    uint8_t bits; /* of both; 0 if the look-up does not tell them */
    uint16_t bias;
} gc_jpeg_difference;

/* The bias of a value of `size` bits. `known` are the bits before it, as a number. */
uint16_t gc_jpeg_bias(uint32_t known, uint32_t size, bool negative);

typedef struct gc_jpeg_table {
    bool defined;
    /* By length of code: the first value of GC_JPEG_CODE_BITS_MAX bits above all codes of that
     * length and shorter ones; and what makes a code of that length an index of `symbols`. */
    int32_t limit[GC_JPEG_CODE_BITS_MAX + 1];
    int32_t offset[GC_JPEG_CODE_BITS_MAX + 1];
    int count;
    unsigned char lengths[256]; /* by index */
    unsigned char symbols[256];
    union {
        uint32_t ac_look[1 << GC_JPEG_LOOK_BITS];
        gc_jpeg_difference dc_look[1 << GC_JPEG_DC_LOOK_BITS];
    } fast;
} gc_jpeg_table;

/* Gives every symbol its code: `counts` has 16 numbers, of the codes of each length. `count` and
 * `symbols` are set. No code may be all ones, as libjpeg demands too. False if the codes do not
 * fit. */
bool gc_jpeg_assign_codes(gc_jpeg_table *to, const unsigned char *counts);

/* Whether the symbols are those of a table for AC or DC coefficients of 8-bit samples, each once.
 * */
bool gc_jpeg_symbols_are_sound(const gc_jpeg_table *of, bool ac);

/* Fills of->fast. */
void gc_jpeg_build_look_up(gc_jpeg_table *of, bool ac);

/* What GC_JPEG_LOOK_BITS bits say, if they begin with a code for AC coefficients: up to two
 * coefficients, and perhaps EOB. Codes and the first bits of values lie in these bits. The values
 * may end behind them, GC_JPEG_ENTRY_BITS_MAX bits from the first one at most. */
typedef struct gc_jpeg_values {
    /* Steps from the coefficient before the first one. steps[1] is steps[0] again if there is one
     * coefficient. GC_JPEG_STEP_EXACT is added to it if EOB follows, or if the look-up tells
     * nothing. */
    uint8_t steps[2];
    /* Up to the end of each value; bits[1] up to the end of EOB, if that follows; 0 if the look-up
     * tells nothing. */
    uint8_t bits[2];
    uint16_t biases[2];
} gc_jpeg_values;

/* Fills the look-up for an AC table. Returns the length of EOB's code, 0 if there is none. */
uint32_t gc_jpeg_list_values(const gc_jpeg_table *of, gc_jpeg_values look[1 << GC_JPEG_LOOK_BITS]);

/* Row by row, of each coefficient in zigzag order; 0 behind the last one. */
extern const unsigned char gc_jpeg_places[2 * GC_JPEG_COEFFICIENTS];
