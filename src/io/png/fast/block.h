/* Blocks of a zlib stream (RFC 1950, 1951) for the bytes of a PNG. Each block is compressed by
 * itself, so several threads can make blocks of one stream, and is an IDAT chunk. */
#pragma once

#include "io/png/fast/compressed_rows.h"
#include "io/png/fast/loops.h"

#include <stdbool.h>

/* GC_PACK_BLOCK: bytes of a block. GC_PACK_OUTPUT: the most bytes that a block can become. */
enum { GC_PACK_BLOCK = GC_COMPRESSED_BLOCK, GC_PACK_OUTPUT = 2 * GC_PACK_BLOCK + 2048 };

typedef struct gc_pack_block {
    size_t filled; /* bytes that the block holds */
    bool first;    /* of the stream */
    bool last;
    uint32_t check; /* Adler-32 of the block's bytes alone */
    size_t size;    /* of the output */
    uint8_t bytes[GC_PACK_BLOCK + GC_FINDER_SLACK];
    uint16_t tokens[GC_PACK_BLOCK + GC_TOKENS_SLACK];
    uint8_t output[GC_PACK_OUTPUT + 8];
} gc_pack_block;

/* Empties the block. */
void gc_pack_begin(gc_pack_block *block);

/* The place of `count` more bytes, which the caller writes; NULL if there is no room for all. */
uint8_t *gc_pack_extend(gc_pack_block *block, size_t count);

/* Appends as many of `count` bytes as there is room for, and returns how many. */
size_t gc_pack_take(gc_pack_block *block, const uint8_t *bytes, size_t count);

bool gc_pack_full(const gc_pack_block *block);

/* Compresses the bytes into block->output; sets `size` and `check`. The output ends with a whole
 * byte. The stream's final Adler-32, of 4 bytes, is not among it and has room behind. */
void gc_pack_compress(gc_pack_block *block, const gc_pack_loops *loops);
