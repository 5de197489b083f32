/* Blocks of runs (RFC 1951) for bytes that are mostly runs of one value, such as edges at one bit a
 * pixel. A block is about as small as zlib's with Z_RLE and takes less than half the time. */
#ifndef GC_IO_PNG_RUNS_H
#define GC_IO_PNG_RUNS_H

#include "io/png/bits.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that runs are found in at one time, at most, and bytes after them that may be read. */
enum { GC_FINDER_MAX = 1 << 17, GC_FINDER_SLACK = 64 };

/* What was found. Some entries past the end may be written, and mean nothing. */
typedef struct gc_run_finder {
    uint64_t equal[GC_FINDER_MAX / 64 + 2]; /* bits: whether a byte equals the one before */
    uint16_t tokens[GC_FINDER_MAX + 16];
} gc_run_finder;

/* Appends a block of `count` bytes to `to` and returns where more bits go. It writes up to 8 bytes
 * more. */
gc_bits gc_runs_put_block(gc_run_finder *finder, const uint8_t *bytes, size_t count, gc_bits to,
                          bool last);

#endif
