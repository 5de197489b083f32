/* Rows of an image at one bit a pixel as a device has compressed them: for writers of PNG. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes that a block has before it is compressed; the last one may have fewer. */
enum { GC_COMPRESSED_BLOCK = 1 << 17 };

/* 16 bytes, none of which is left unset. */
typedef struct gc_compressed_block {
    uint32_t size;  /* of the compressed bytes */
    uint32_t check; /* Adler-32 of the bytes that the block stands for */
    uint64_t white; /* pixels in these bytes */
} gc_compressed_block;

/* The blocks of a zlib stream for all rows of an image, each row with its filter (none) before it:
 * byte for byte what gc_pack_compress (io/png/fast/block.h) makes of these rows. */
typedef struct gc_compressed_rows {
    const gc_compressed_block *blocks;
    uint32_t count;             /* of blocks */
    uint64_t stream_bytes;      /* that all blocks stand for */
    const unsigned char *bytes; /* the compressed bytes of the first block */
    size_t stride;              /* from block to block */
} gc_compressed_rows;
