/* PNG files. The mutator changes chunks and what is compressed in them, and mends lengths and
 * checksums: else nearly every input would end at its first checksum. */
#include "../fuzz.h"
#include "../read_image.h"

#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (gconv_format_from_content(data, size) == GCONV_FORMAT_PNG)
        fuzz_read_image(data, size);
    return 0;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

enum {
    SIGNATURE_BYTES = 8,
    FRAME_BYTES = 12, /* length, type and checksum of a chunk */
    CHUNKS_MAX = 40,
    INFLATED_MAX = 1 << 16
};

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned int seed);

typedef struct chunk {
    uint8_t type[4];
    uint8_t *bytes;
    size_t size;
} chunk;

/* A file in pieces: its chunks, and the byte of choices behind them. */
typedef struct pieces {
    chunk chunks[CHUNKS_MAX];
    int count;
    uint8_t choices;
} pieces;

static uint32_t big_endian(const uint8_t bytes[4])
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_big_endian(uint8_t bytes[4], uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* The last chunk takes what its length has too much. */
static void take_apart(const uint8_t *data, size_t size, pieces *file)
{
    size_t at = SIGNATURE_BYTES, end = size - 1;
    file->count = 0;
    file->choices = data[end];
    while (file->count < CHUNKS_MAX && end - at >= FRAME_BYTES) {
        chunk *next = &file->chunks[file->count++];
        size_t length = big_endian(data + at);
        if (length > end - at - FRAME_BYTES)
            length = end - at - FRAME_BYTES;
        memcpy(next->type, data + at + 4, 4);
        next->size = length;
        next->bytes = fuzz_copy(data + at + 8, length);
        at += FRAME_BYTES + length;
    }
}

/* Chunks that do not fit are left out. */
static size_t put_together(const pieces *file, uint8_t *data, size_t size_max)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    size_t at = SIGNATURE_BYTES;
    memcpy(data, signature, SIGNATURE_BYTES);
    for (int i = 0; i < file->count; i++) {
        const chunk *next = &file->chunks[i];
        if (next->size + FRAME_BYTES > size_max - 1 - at)
            continue;
        put_big_endian(data + at, (uint32_t)next->size);
        memcpy(data + at + 4, next->type, 4);
        memcpy(data + at + 8, next->bytes, next->size);
        uLong check = crc32(0, data + at + 4, (uInt)(next->size + 4));
        put_big_endian(data + at + 8 + next->size, (uint32_t)check);
        at += FRAME_BYTES + next->size;
    }
    data[at] = file->choices;
    return at + 1;
}

static void free_pieces(pieces *file)
{
    for (int i = 0; i < file->count; i++)
        free(file->chunks[i].bytes);
}

/* ---- Mutations ------------------------------------------------------------------------------- */

static void mutate_bytes(chunk *one, size_t size_max)
{
    size_t room = one->size + 64 < size_max ? one->size + 64 : size_max;
    uint8_t *larger = fuzz_allocate(room);
    if (room < one->size)
        one->size = room;
    memcpy(larger, one->bytes, one->size);
    one->size = LLVMFuzzerMutate(larger, one->size, room);
    free(one->bytes);
    one->bytes = larger;
}

/* Changes what stands behind the first `skip` bytes once inflated; false if that is no zlib
 * stream. */
static bool mutate_compressed(chunk *one, size_t skip, unsigned int seed)
{
    static uint8_t plain[INFLATED_MAX], packed[2 * INFLATED_MAX];
    uLongf size = sizeof plain, packed_size = sizeof packed - skip;
    if (one->size < skip || uncompress(plain, &size, one->bytes + skip, one->size - skip) != Z_OK)
        return false;
    size = LLVMFuzzerMutate(plain, size, sizeof plain);
    memcpy(packed, one->bytes, skip);
    if (compress2(packed + skip, &packed_size, plain, size, (int)(seed % 10)) != Z_OK)
        return false;
    free(one->bytes);
    one->size = skip + packed_size;
    one->bytes = fuzz_copy(packed, one->size);
    return true;
}

/* Bytes before the zlib stream of a chunk; -1 if it has none. */
static int compressed_at(const chunk *one)
{
    if (memcmp(one->type, "IDAT", 4) == 0)
        return 0;
    const uint8_t *end = one->size > 0 ? memchr(one->bytes, 0, one->size) : NULL;
    bool named = memcmp(one->type, "iCCP", 4) == 0 || memcmp(one->type, "zTXt", 4) == 0;
    return named && end != NULL ? (int)(end - one->bytes) + 2 : -1;
}

static void copy_chunk(pieces *file, int from, int to)
{
    if (file->count == CHUNKS_MAX)
        return;
    chunk copy = file->chunks[from];
    copy.bytes = fuzz_copy(copy.bytes, copy.size);
    memmove(file->chunks + to + 1, file->chunks + to,
            (size_t)(file->count - to) * sizeof file->chunks[0]);
    file->chunks[to] = copy;
    file->count++;
}

static void remove_chunk(pieces *file, int which)
{
    free(file->chunks[which].bytes);
    file->count--;
    memmove(file->chunks + which, file->chunks + which + 1,
            (size_t)(file->count - which) * sizeof file->chunks[0]);
}

static void change_type(chunk *one, unsigned int seed)
{
    static const char types[][5] = {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM",
                                    "sRGB", "iCCP", "pHYs", "eXIf", "tEXt", "zTXt", "iTXt",
                                    "bKGD", "sBIT", "tIME", "hIST", "sPLT", "prVT"};
    memcpy(one->type, types[seed % (sizeof types / sizeof types[0])], 4);
}

/* Splits a chunk of image data in two. */
static void split_chunk(pieces *file, int which, unsigned int seed)
{
    chunk *one = &file->chunks[which];
    if (file->count == CHUNKS_MAX || one->size == 0)
        return;
    copy_chunk(file, which, which);
    size_t first = seed % one->size;
    chunk *rest = one + 1;
    one->size = first;
    rest->size -= first;
    memmove(rest->bytes, rest->bytes + first, rest->size);
}

static void mutate_pieces(pieces *file, size_t size_max, unsigned int seed)
{
    int which = (int)(seed / 16 % (unsigned)file->count);
    chunk *one = &file->chunks[which];
    int skip = compressed_at(one);
    switch (seed % 16) {
    case 0:
        copy_chunk(file, which, (int)(seed / 1024 % (unsigned)(file->count + 1)));
        break;
    case 1:
        remove_chunk(file, which);
        break;
    case 2:
        change_type(one, seed / 1024);
        break;
    case 3:
        split_chunk(file, which, seed / 1024);
        break;
    case 4:
        file->choices = (uint8_t)(seed >> 8);
        break;
    default:
        if (skip < 0 || seed % 16 < 8 || !mutate_compressed(one, (size_t)skip, seed / 1024))
            mutate_bytes(one, size_max);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned int seed)
{
    bool whole = gconv_format_from_content(data, size) == GCONV_FORMAT_PNG;
    if (!whole || size_max < 64 || seed % 32 == 0)
        return LLVMFuzzerMutate(data, size, size_max);
    static pieces file;
    if (size == SIGNATURE_BYTES)
        return LLVMFuzzerMutate(data, size, size_max);
    take_apart(data, size, &file);
    if (file.count > 0)
        mutate_pieces(&file, size_max, seed / 32);
    size = put_together(&file, data, size_max);
    free_pieces(&file);
    return size;
}
