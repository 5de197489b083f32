/* The Huffman tables of a JPEG with all look-ups. Files of one source mostly have the same tables,
 * so the tables of the file before are kept. */
#pragma once

#include "io/jpeg/fast/header.h"
#include "io/jpeg/fast/pairs.h"

#include <stdatomic.h>

enum { GC_JPEG_CODINGS_MAX = 4 /* Huffman tables of a class */ };

struct jpeg_decompress_struct;

/* How DC coefficients are coded: to pass over them, and to take them if a component is kept. */
typedef struct gc_jpeg_dc {
    gc_jpeg_table codes;
    gc_jpeg_pairs taken, passed;
} gc_jpeg_dc;

/* How AC coefficients are coded, likewise. */
typedef struct gc_jpeg_ac {
    gc_jpeg_table codes;
    gc_jpeg_pairs taken, passed;
    uint32_t end_bits; /* of EOB's code */
    gc_jpeg_values look[1 << GC_JPEG_LOOK_BITS];
} gc_jpeg_ac;

/* A table as the file has it. All bytes count if tables are compared. */
typedef struct gc_jpeg_listing {
    bool used, taken; /* by a component; by one that is kept */
    gc_jpeg_code code;
} gc_jpeg_listing;

typedef struct gc_jpeg_codings {
    atomic_int holders;
    gc_jpeg_listing listings[2][GC_JPEG_CODINGS_MAX]; /* DC, AC */
    gc_jpeg_dc dc[GC_JPEG_CODINGS_MAX];               /* those that the scan uses */
    gc_jpeg_ac ac[GC_JPEG_CODINGS_MAX];
} gc_jpeg_codings;

/* Copies a table of libjpeg (JHUFF_TBL), which may be NULL. False if there is none, or if it has no
 * possible number of symbols. */
bool gc_jpeg_copy_code(const void *from, gc_jpeg_code *to);

/* Gives every symbol its code. False if the table is not sound or not usual. */
bool gc_jpeg_build_codes(const gc_jpeg_code *from, bool ac, gc_jpeg_table *to);

/* The tables that the scan uses. NULL if one of them is not sound or not usual, and if memory is
 * out. */
gc_jpeg_codings *gc_jpeg_codings_hold(const struct jpeg_decompress_struct *jpeg);
void gc_jpeg_codings_release(gc_jpeg_codings *codings);
