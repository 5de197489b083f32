/* A zlib stream (RFC 1950, 1951) of bytes that are mostly runs, such as edges at a bit a pixel: what
 * zlib writes with Z_RLE, in less than half of its time. */
#ifndef GC_IO_RUNS_H
#define GC_IO_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a block, which has a Huffman code of its own, and at most what it becomes: no code of a
 * byte is longer than 15 bits; its code lengths and the stream's own bytes take less than 512. */
enum { GC_RUNS_BLOCK = 1 << 16, GC_RUNS_OUTPUT = 2 * GC_RUNS_BLOCK + 512 };

typedef struct gc_runs {
    size_t filled;                    /* bytes of the block that are there */
    uint32_t check;                   /* Adler-32 of all blocks before */
    bool begun;                       /* whether a block was written */
    uint64_t bits;                    /* of the output that make no whole byte yet */
    int bit_count;                    /* of them */
    size_t size;                      /* of the output */
    uint8_t block[GC_RUNS_BLOCK + 8]; /* 8 beyond those that are there are readable */
    uint16_t tokens[GC_RUNS_BLOCK];
    uint8_t output[GC_RUNS_OUTPUT + 8]; /* the last ones are writable */
} gc_runs;

/* Makes an empty stream of `runs`. */
void gc_runs_begin(gc_runs *runs);

/* Takes as many of `count` bytes as the block has room for, and returns how many. */
size_t gc_runs_take(gc_runs *runs, const uint8_t *bytes, size_t count);

/* Whether the block is full and has to be written before more is taken. */
bool gc_runs_full(const gc_runs *runs);

/* Compresses the block into runs->output, of which it sets the size, and empties it. After the last
 * block nothing more is taken. */
void gc_runs_write(gc_runs *runs, bool last);

#endif
