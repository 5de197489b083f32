/* Look-up tables for the lanes of lanes.c: each entry has two coefficients and no branch. */
#pragma once

#include "io/jpeg/fast/tables.h"

#include <stddef.h>

/* Up to two coefficients. A single one is there twice. If there is none, the coefficient that
 * `steps` lead to becomes 0. It is 0 anyhow: the block ends before it, or zeros lead to it. */
typedef struct gc_jpeg_pair {
    uint32_t steps;
    uint16_t biases[2]; /* of the values (io/jpeg/fast/tables.h) */
} gc_jpeg_pair;

/* gc_jpeg_pair.steps, from the lowest bit. The first 8 bits are the length of codes and values. A
 * shift brings the end of a value from the top of the window to its lowest bit. */
enum {
    GC_JPEG_PAIR_SHIFT = 8, /* 6 bits, and 6 for the second value */
    GC_JPEG_PAIR_STEP = 20, /* 5 bits from the coefficient before, and 6 for the second value */
    GC_JPEG_PAIR_LAST = 31, /* the codes end the block; for DC always 1 */
    GC_JPEG_LAST_INDEX =
        GC_JPEG_COEFFICIENTS - 1 /* the second step of an entry that tells nothing */
};

/* Pairs by the first GC_JPEG_LOOK_BITS bits. Long codes are not told so, and begin with ones:
 * behind those pairs come others, of one symbol each, by the GC_JPEG_FAR_BITS bits that follow
 * GC_JPEG_FAR_ONES ones. They hold any code and the first bit of its value. */
enum {
    GC_JPEG_FAR_ONES = 7,
    GC_JPEG_FAR_BITS = 10,
    GC_JPEG_NEAR_PAIRS = 1 << GC_JPEG_LOOK_BITS,
    GC_JPEG_FAR_PAIRS = 1 << GC_JPEG_FAR_BITS
};

typedef gc_jpeg_pair gc_jpeg_pairs[GC_JPEG_NEAR_PAIRS + GC_JPEG_FAR_PAIRS];

/* The far pair of a window; NULL if it does not begin with enough ones. */
static inline const gc_jpeg_pair *gc_jpeg_far_pair(const gc_jpeg_pair *pairs, uint64_t window)
{
    uint64_t top = window >> (64 - GC_JPEG_FAR_ONES - GC_JPEG_FAR_BITS);
    bool far = top >> GC_JPEG_FAR_BITS == (1 << GC_JPEG_FAR_ONES) - 1;
    return far ? pairs + GC_JPEG_NEAR_PAIRS + top % GC_JPEG_FAR_PAIRS : NULL;
}

/* For components that are kept. `look` and `end_bits` are those of gc_jpeg_list_values. */
void gc_jpeg_pair_taken_dc(const gc_jpeg_table *codes, gc_jpeg_pairs to);
void gc_jpeg_pair_taken_ac(const gc_jpeg_table *codes, const gc_jpeg_values *look,
                           uint32_t end_bits, gc_jpeg_pairs to);

/* For components that are passed over: all coefficients become 0. */
void gc_jpeg_pair_passed_dc(const gc_jpeg_table *codes, gc_jpeg_pairs to);
void gc_jpeg_pair_passed_ac(const gc_jpeg_table *codes, gc_jpeg_pairs to);
