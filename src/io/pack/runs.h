/* Compresses bytes that are mostly runs of one value, such as edges at one bit a pixel, into a zlib
 * stream (RFC 1950, 1951). The stream is as small as zlib's with Z_RLE and takes less than half the
 * time. */
#ifndef GC_IO_PACK_RUNS_H
#define GC_IO_PACK_RUNS_H

#include "io/pack/bits.h"

#include <stdbool.h>
#include <stddef.h>

/* GC_RUNS_BLOCK: bytes of a block. Each block has its own Huffman code. GC_RUNS_OUTPUT: the most
 * bytes that a block can become. No code of a byte is longer than 15 bits. Code lengths and the
 * stream's own bytes take less than 512 bytes. */
enum { GC_RUNS_BLOCK = 1 << 16, GC_RUNS_OUTPUT = 2 * GC_RUNS_BLOCK + 512 };

/* Bytes that runs are found in at one time, at most, and bytes after them that may be read. */
enum { GC_FINDER_MAX = 1 << 17, GC_FINDER_SLACK = 64 };

/* What was found. Some entries past the end may be written, and mean nothing. */
typedef struct gc_run_finder {
    uint64_t equal[GC_FINDER_MAX / 64 + 2]; /* bits: whether a byte equals the one before */
    uint16_t tokens[GC_FINDER_MAX + 16];
} gc_run_finder;

typedef struct gc_runs {
    size_t filled;      /* bytes that the block holds */
    uint32_t check;     /* Adler-32 of all blocks before */
    bool begun;         /* whether a block was written */
    uint64_t bits;      /* output bits that do not fill a byte yet */
    unsigned bit_count; /* how many `bits` hold */
    size_t size;        /* of the output */
    uint8_t block[GC_RUNS_BLOCK + GC_FINDER_SLACK];
    gc_run_finder finder;
    uint8_t output[GC_RUNS_OUTPUT + 8];
} gc_runs;

/* Begins an empty stream. */
void gc_runs_begin(gc_runs *runs);

/* Appends to the block as many of `count` bytes as it has room for, and returns how many. */
size_t gc_runs_take(gc_runs *runs, const uint8_t *bytes, size_t count);

/* Whether the block is full and has to be written before more is taken. */
bool gc_runs_full(const gc_runs *runs);

/* Compresses the block into runs->output, sets runs->size, and empties the block. `last` ends the
 * stream. */
void gc_runs_write(gc_runs *runs, bool last);

/* Appends a block of `count` bytes to `to`, without the stream around it, and returns where more
 * bits go. It writes up to 8 bytes more. */
gc_bits gc_runs_put_block(gc_run_finder *finder, const uint8_t *bytes, size_t count, gc_bits to,
                          bool last);

#endif
