/* Blocks of runs (RFC 1951) for bytes that are mostly runs of one value, such as edges at one bit a
 * pixel. A block is about as small as zlib's with Z_RLE and takes less than half the time. */
#ifndef GC_IO_PNG_FAST_RUNS_H
#define GC_IO_PNG_FAST_RUNS_H

#include "io/png/fast/loops.h"

#include <stdbool.h>

/* Appends a block of `count` bytes to `to` and returns the place for more bits. It writes up to 8
 * bytes more. GC_FINDER_SLACK bytes more can be read. `tokens` has room for as many tokens as there
 * are bytes and GC_TOKENS_SLACK more. */
gc_bits gc_runs_put_block(const uint8_t *bytes, size_t count, const gc_pack_loops *loops,
                          uint16_t *tokens, gc_bits to, bool last);

#endif
