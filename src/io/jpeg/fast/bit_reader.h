/* The bits of entropy-coded data: stuffed bytes are left out, and a marker ends them. */
#pragma once

#include "io/jpeg/fast/tables.h"

#include <stddef.h>

enum { GC_JPEG_WINDOW_BITS = 56 /* at least so many lie in the window after gc_jpeg_refill */ };

/* The data's next bits stand at the top of the window. Bits below the first `count` ones are
 * either 0 or what the data hold there. */
typedef struct gc_jpeg_bits {
    uint64_t window;
    int count;
    int invented; /* bits of 0 that were put in behind the last bit of the data */
    const unsigned char *bytes;
    size_t size, at;
    size_t eight_end; /* eight bytes can be read at each offset below it */
} gc_jpeg_bits;

static inline gc_jpeg_bits gc_jpeg_bits_at(const unsigned char *bytes, size_t size, size_t at)
{
    return (gc_jpeg_bits){
        .bytes = bytes, .size = size, .at = at, .eight_end = size < 8 ? 0 : size - 7};
}

/* The bytes from `at` on now lie at `bytes`, and there are `size` of them. */
static inline void gc_jpeg_bits_move(gc_jpeg_bits *bits, const unsigned char *bytes, size_t size)
{
    bits->bytes = bytes;
    bits->size = size;
    bits->at = 0;
    bits->eight_end = size < 8 ? 0 : size - 7;
}

static inline uint64_t gc_jpeg_eight_bytes(const unsigned char *bytes)
{
    return (uint64_t)bytes[0] << 56 | (uint64_t)bytes[1] << 48 | (uint64_t)bytes[2] << 40 |
           (uint64_t)bytes[3] << 32 | (uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 |
           (uint64_t)bytes[6] << 8 | (uint64_t)bytes[7];
}

static inline bool gc_jpeg_has_ff(uint64_t eight)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    return ((~eight - ones) & eight & tops) != 0;
}

/* Byte by byte, up to a marker or to the end of the file; then bits of 0. */
static inline void gc_jpeg_refill_slowly(gc_jpeg_bits *from)
{
    for (; from->count < GC_JPEG_WINDOW_BITS; from->count += 8) {
        bool ended = from->invented > 0 || from->at >= from->size;
        if (!ended && from->bytes[from->at] == 0xff)
            ended = from->size - from->at < 2 || from->bytes[from->at + 1] != 0;
        if (ended) {
            from->invented += 8;
            continue;
        }
        uint64_t byte = from->bytes[from->at];
        from->window |= byte << (GC_JPEG_WINDOW_BITS - from->count);
        from->at += byte == 0xff ? 2 : 1;
    }
}

static inline void gc_jpeg_refill(gc_jpeg_bits *from)
{
    if (from->at < from->eight_end) {
        uint64_t eight = gc_jpeg_eight_bytes(from->bytes + from->at);
        if (!gc_jpeg_has_ff(eight)) {
            from->window |= eight >> from->count;
            from->at += (size_t)(63 - from->count) >> 3;
            from->count |= GC_JPEG_WINDOW_BITS;
            return;
        }
    }
    gc_jpeg_bits copy = *from; /* so that the fields of *from may live in registers */
    gc_jpeg_refill_slowly(&copy);
    *from = copy;
}

static inline void gc_jpeg_skip_bits(gc_jpeg_bits *from, uint32_t count)
{
    from->window <<= count;
    from->count -= (int)count;
}

/* The next symbol, or -1 if no code begins so. */
static inline int gc_jpeg_next_symbol(gc_jpeg_bits *from, const gc_jpeg_table *codes)
{
    int32_t bits = (int32_t)(from->window >> (64 - GC_JPEG_CODE_BITS_MAX));
    int length = 1;
    for (int i = 1; i <= GC_JPEG_CODE_BITS_MAX; i++)
        length += bits >= codes->limit[i];
    if (length > GC_JPEG_CODE_BITS_MAX)
        return -1;
    gc_jpeg_skip_bits(from, (uint32_t)length);
    return codes->symbols[(bits >> (GC_JPEG_CODE_BITS_MAX - length)) + codes->offset[length]];
}

/* The value of `size` bits: it is negative if its first bit is 0. */
static inline int32_t gc_jpeg_next_value(gc_jpeg_bits *from, int size)
{
    if (size == 0)
        return 0;
    int32_t bits = (int32_t)(from->window >> (64 - size));
    gc_jpeg_skip_bits(from, (uint32_t)size);
    return bits >> (size - 1) != 0 ? bits : bits - (1 << size) + 1;
}

/* The value that ends `end` bits from here on, by its bias (see io/jpeg/fast/tables.h). */
static inline int16_t gc_jpeg_biased_value(const gc_jpeg_bits *from, uint32_t end, uint16_t bias)
{
    return (int16_t)(uint16_t)((from->window >> ((64 - end) % 64)) + bias);
}
