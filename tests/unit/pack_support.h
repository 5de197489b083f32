/* What the tests of gconv's own compression share: a whole zlib stream of blocks. */
#ifndef GC_TESTS_PACK_SUPPORT_H
#define GC_TESTS_PACK_SUPPORT_H

#include "unit.h"

#include "io/png/fast/block.h"

#include <zlib.h>

/* A stream on its way to `packed`, where it has `size` bytes. */
typedef struct pack_stream {
    gc_pack_block *block;
    uint8_t *packed;
    size_t size;
    uint32_t check; /* Adler-32 of the blocks before */
} pack_stream;

/* Compresses the block, appends it to the stream, and empties it. */
static inline void pack_block(pack_stream *stream, bool last)
{
    gc_pack_block *block = stream->block;
    block->first = stream->size == 0;
    block->last = last;
    gc_pack_compress(block, gc_pack_loops_chosen());
    assert_true(block->size <= GC_PACK_OUTPUT);
    memcpy(stream->packed + stream->size, block->output, block->size);
    stream->size += block->size;
    stream->check = (uint32_t)adler32_combine(stream->check, block->check, (z_off_t)block->filled);
    gc_pack_begin(block);
}

/* Compresses `count` bytes, which blocks take in parts of at most `part`, into `packed`. Returns
 * the length of the stream. */
static inline size_t pack_bytes(const uint8_t *bytes, size_t count, size_t part, uint8_t *packed)
{
    static gc_pack_block block;
    pack_stream stream = {.block = &block, .packed = packed, .check = 1};
    gc_pack_begin(&block);
    for (size_t at = 0; at < count;) {
        if (gc_pack_full(&block))
            pack_block(&stream, false);
        size_t left = count - at;
        at += gc_pack_take(&block, bytes + at, left < part ? left : part);
    }
    pack_block(&stream, true);
    for (int shift = 24; shift >= 0; shift -= 8)
        packed[stream.size++] = (uint8_t)(stream.check >> shift);
    return stream.size;
}

#endif
