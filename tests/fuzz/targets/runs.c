/* Compression of PNG, by runs above all: whatever bytes it is given in whatever pieces, zlib
 * decodes them again. */
#include "../fuzz.h"

#include "io/png/fast/block.h"

#include <string.h>
#include <zlib.h>

enum { PLAIN_MAX = 3 * GC_PACK_BLOCK + 1000, STREAM_MAX = 4 * GC_PACK_OUTPUT };

typedef struct buffer {
    uint8_t *bytes;
    size_t size, capacity;
} buffer;

/* Static: filling them anew for every input would take most of the time. */
static uint8_t plain_bytes[PLAIN_MAX], stream_bytes[STREAM_MAX], decoded[PLAIN_MAX];
static gc_pack_block block;

static void append(buffer *to, const uint8_t *bytes, size_t size)
{
    size_t room = to->capacity - to->size;
    size_t taken = size < room ? size : room;
    if (taken > 0)
        memcpy(to->bytes + to->size, bytes, taken);
    to->size += taken;
}

static void append_run(buffer *to, uint8_t byte, size_t length)
{
    size_t room = to->capacity - to->size;
    size_t taken = length < room ? length : room;
    memset(to->bytes + to->size, byte, taken);
    to->size += taken;
}

/* A byte below 128 is how many bytes follow as they are; from there on it is the length of a run,
 * short or in steps of 128, of the byte after it. */
static void unfold(fuzz_bytes *from, buffer *plain)
{
    while (from->left > 0 && plain->size < plain->capacity) {
        uint8_t command = fuzz_byte(from);
        size_t count = command & 63;
        if (command < 128) {
            size_t literal = (size_t)command + 1 < from->left ? (size_t)command + 1 : from->left;
            append(plain, from->next, literal);
            from->next += literal;
            from->left -= literal;
        } else {
            append_run(plain, fuzz_byte(from), command < 192 ? count + 1 : (count + 1) * 128);
        }
    }
}

/* Appends the compressed block to the stream, and empties it. *check: Adler-32 of the blocks so
 * far. */
static void encode_block(bool last, buffer *stream, uint32_t *check)
{
    block.first = stream->size == 0;
    block.last = last;
    gc_pack_compress(&block, gc_pack_loops_chosen());
    FUZZ_REQUIRE(block.size <= GC_PACK_OUTPUT, "%zu bytes", block.size);
    append(stream, block.output, block.size);
    *check = (uint32_t)adler32_combine(*check, block.check, (z_off_t)block.filled);
    gc_pack_begin(&block);
}

static void encode(const buffer *plain, size_t piece, buffer *stream)
{
    uint32_t check = 1;
    gc_pack_begin(&block);
    for (size_t at = 0; at < plain->size;) {
        if (gc_pack_full(&block))
            encode_block(false, stream, &check);
        size_t left = plain->size - at;
        size_t taken = gc_pack_take(&block, plain->bytes + at, left < piece ? left : piece);
        FUZZ_REQUIRE(taken > 0, "nothing taken");
        at += taken;
    }
    encode_block(true, stream, &check);
    for (int shift = 24; shift >= 0; shift -= 8)
        append_run(stream, (uint8_t)(check >> shift), 1);
}

static void check_decoded(const buffer *plain, const buffer *stream)
{
    uLongf size = sizeof decoded;
    int result = uncompress(decoded, &size, stream->bytes, stream->size);
    FUZZ_REQUIRE(result == Z_OK, "zlib says %d of %zu bytes", result, plain->size);
    FUZZ_REQUIRE(size == plain->size && memcmp(decoded, plain->bytes, size) == 0,
                 "%zu bytes became %lu", plain->size, (unsigned long)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {PLAIN_MAX, 7, 100, 8193, GC_PACK_BLOCK - 1};
    fuzz_bytes from = {data, size};
    buffer plain = {plain_bytes, 0, PLAIN_MAX}, stream = {stream_bytes, 0, STREAM_MAX};
    size_t piece = pieces[fuzz_below(&from, sizeof pieces / sizeof pieces[0])];
    unfold(&from, &plain);
    encode(&plain, piece, &stream);
    check_decoded(&plain, &stream);
    return 0;
}
