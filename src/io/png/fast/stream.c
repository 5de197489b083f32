/* The image data of a PNG, inflated by ISA-L for libpng. libpng stays the reader: it is given a
 * stream of chunks whose image data are the same bytes in stored blocks, which its zlib merely
 * copies. Rows may lack their filters: these are then undone. Checksums are checked here.
 *
 * This code reports no errors. If anything about the data is unusual, it rejects the stream. The
 * caller then reads the file again from its start, by libpng and zlib alone, and these report.
 * ISA-L takes one thing that zlib refuses: a Huffman code that lacks codes, if none of these is
 * used. With all checksums right, no pixel depends on it. */
#include "base/bits.h"
#include "io/fast.h"
#include "io/input.h"
#include "io/png/fast/checks.h"
#include "io/png/fast/loops.h"

#include <stdlib.h>
#include <string.h>

#include <isa-l.h>
#include <pthread.h>

enum {
    STORED_MAX = 16384,          /* bytes of a stored block: libpng's copy of it stays in a cache */
    PART_BYTES = 256 << 10,      /* the most that is inflated at one time */
    SMALL_PART_BYTES = 64 << 10, /* as much of a small image: less memory is touched first */
    PARTS = 4,                   /* that may be inflated ahead */
    HEAD_BYTES = 8,              /* length and type of a chunk */
    CHECK_BYTES = 4,             /* of a chunk or a stream */
    EDGE_BYTES = 2 * HEAD_BYTES + 2 * CHECK_BYTES /* the most bytes between two stored blocks */
};

/* Inflated bytes. The last part of a stream may have none. */
typedef struct part {
    size_t filled;
    bool last; /* of the stream of the file */
    unsigned char slack[GC_UNFILTER_SLACK];
    unsigned char bytes[PART_BYTES + GC_UNFILTER_SLACK];
} part;

/* What libpng gets next: `edge`, then a block's bytes, then what read_stream puts into
 * `edge`. */
struct gc_png_stream {
    /* Of the thread that inflates. */
    gc_input *input;
    const gc_pack_loops *loops;
    struct inflate_state inflate;
    uint32_t most;     /* bytes that a chunk may have */
    uint32_t left;     /* bytes of the file's chunk that have not been read */
    uint32_t check;    /* CRC-32 of its bytes before */
    bool begun;        /* a byte of the stream of the file was read */
    size_t part_bytes; /* what is inflated at one time: whole rows if filters are undone */
    /* Of the thread that reads. */
    bool ended; /* no image data are left, but those in `edge` */
    unsigned char edge[EDGE_BYTES];
    size_t edge_start, edge_end;
    part *giving;                 /* the part whose bytes are given; NULL before the first */
    size_t given;                 /* of its bytes */
    size_t block_left;            /* bytes of the block to give */
    size_t row_bytes;             /* of a row whose filter is undone; 0 if libpng does that */
    size_t pixel;                 /* bytes of a pixel, at least 1 */
    unsigned char *above, *spare; /* the row before a part, and room for another one */
    unsigned char *row_memory;    /* of both */

    pthread_mutex_t lock; /* guards the members below, but not the bytes of the parts */
    pthread_cond_t inflated;
    bool inflating;   /* a thread does */
    bool finished;    /* the stream of the file was inflated to its end, or is rejected */
    int first, count; /* parts that are inflated, in a ring */
    part parts[PARTS];
};

/* ---- The file -------------------------------------------------------------------------------- */

static void begin_chunk(gc_png_stream *stream, uint32_t length)
{
    stream->left = length;
    stream->check = gc_crc32(0, (const uint8_t *)"IDAT", 4);
}

/* Reads the check of a chunk and the head of the next one. */
static gc_png_stream_state end_chunk(gc_png_stream *stream, unsigned char head[HEAD_BYTES])
{
    unsigned char bytes[CHECK_BYTES + HEAD_BYTES];
    size_t got;
    if (gc_input_read(stream->input, bytes, sizeof bytes, &got, NULL) != GCONV_OK ||
        got < sizeof bytes || gc_big_endian(bytes) != stream->check)
        return GC_PNG_STREAM_REJECTED;
    memcpy(head, bytes + CHECK_BYTES, HEAD_BYTES);
    return GC_PNG_STREAM_INSIDE;
}

/* Gives ISA-L the bytes of the input that are buffered, up to the end of the chunk. */
static gc_png_stream_state take_input(gc_png_stream *stream)
{
    while (stream->left == 0) {
        unsigned char head[HEAD_BYTES];
        gc_png_stream_state state = end_chunk(stream, head);
        if (state != GC_PNG_STREAM_INSIDE)
            return state;
        if (memcmp(head + 4, "IDAT", 4) != 0 || gc_big_endian(head) > stream->most)
            return GC_PNG_STREAM_REJECTED;
        begin_chunk(stream, gc_big_endian(head));
    }
    const unsigned char *bytes;
    size_t available;
    if (gc_input_peek(stream->input, 1, &bytes, &available, NULL) != GCONV_OK || available == 0)
        return GC_PNG_STREAM_REJECTED;
    if (!stream->begun) {
        /* The first byte of a zlib stream has the size of the window: RFC 1950, 2.2. ISA-L looks
         * only for distances beyond `hist_bits`. */
        int window_bits = (bytes[0] >> 4) + 8;
        if (window_bits > 15)
            return GC_PNG_STREAM_REJECTED;
        stream->inflate.hist_bits = (uint32_t)window_bits;
        stream->begun = true;
    }
    if (available > stream->left)
        available = stream->left;
    gc_input_skip(stream->input, available);
    stream->check = gc_crc32(stream->check, bytes, available);
    stream->left -= (uint32_t)available;
    stream->inflate.next_in = (uint8_t *)bytes;
    stream->inflate.avail_in = (uint32_t)available;
    return GC_PNG_STREAM_INSIDE;
}

/* Fills a part, or inflates to the end. ISA-L keeps input and output of its own: it is asked before
 * it gets more input. */
static gc_png_stream_state fill_part(gc_png_stream *stream, part *to)
{
    struct inflate_state *inflate = &stream->inflate;
    inflate->next_out = to->bytes;
    inflate->avail_out = (uint32_t)stream->part_bytes;
    for (;;) {
        if (isal_inflate(inflate) != ISAL_DECOMP_OK)
            return GC_PNG_STREAM_REJECTED;
        to->last = inflate->block_state == ISAL_BLOCK_FINISH;
        if (to->last || inflate->avail_out == 0)
            break;
        if (inflate->avail_in > 0 || take_input(stream) == GC_PNG_STREAM_REJECTED)
            return GC_PNG_STREAM_REJECTED;
    }
    to->filled = stream->part_bytes - inflate->avail_out;
    return GC_PNG_STREAM_INSIDE;
}

/* Inflates the next part. Called and left with the lock; other threads may have it meanwhile. */
static void inflate_part(gc_png_stream *stream)
{
    part *to = &stream->parts[(stream->first + stream->count) % PARTS];
    stream->inflating = true;
    pthread_mutex_unlock(&stream->lock);
    bool rejected = fill_part(stream, to) == GC_PNG_STREAM_REJECTED;
    pthread_mutex_lock(&stream->lock);
    stream->inflating = false;
    stream->finished = rejected || to->last;
    stream->count += !rejected;
    pthread_cond_broadcast(&stream->inflated);
}

/* Undoes the filters of the whole rows of a part. libpng refuses a filter that PNG does not
 * have. */
static void unfilter(gc_png_stream *stream, part *rows)
{
    size_t row_bytes = stream->row_bytes, count = rows->filled / (row_bytes + 1);
    if (count == 0)
        return;
    stream->loops->unfilter(rows->bytes, count, row_bytes, stream->above, stream->pixel,
                            stream->spare);
    memcpy(stream->above, rows->bytes + count * (row_bytes + 1) - row_bytes, row_bytes);
}

/* Goes on to the next part. One thread alone keeps to a single part, which stays in its cache. */
static gc_png_stream_state next_part(gc_png_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->giving != NULL) {
        stream->first = (stream->first + 1) % PARTS;
        stream->count--;
    }
    if (stream->count == 0 && !stream->inflating)
        stream->first = 0;
    while (stream->count == 0 && stream->inflating)
        pthread_cond_wait(&stream->inflated, &stream->lock);
    if (stream->count == 0 && !stream->finished)
        inflate_part(stream);
    bool there = stream->count > 0;
    stream->giving = there ? &stream->parts[stream->first] : NULL;
    stream->given = 0;
    pthread_mutex_unlock(&stream->lock);
    if (there && stream->row_bytes > 0)
        unfilter(stream, stream->giving);
    return there ? GC_PNG_STREAM_INSIDE : GC_PNG_STREAM_REJECTED;
}

static bool help(gc_png_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    while (stream->inflating) /* the thread that reads has to; the next part is for this one */
        pthread_cond_wait(&stream->inflated, &stream->lock);
    bool may = !stream->finished && stream->count < PARTS;
    if (may)
        inflate_part(stream);
    pthread_mutex_unlock(&stream->lock);
    return may;
}

/* ---- The stream for libpng ------------------------------------------------------------------- */

static void put_big_endian(gc_png_stream *stream, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        stream->edge[stream->edge_end++] = (unsigned char)(value >> shift);
}

static void put_head(gc_png_stream *stream, uint32_t length)
{
    put_big_endian(stream, length);
    put_big_endian(stream, UINT32_C(0x49444154)); /* IDAT */
}

/* Puts the end of a chunk, and the head of one that holds a block. libpng does not check the
 * check of this chunk. */
static gc_png_stream_state put_block(gc_png_stream *stream)
{
    enum { BLOCK_HEAD_BYTES = 5 };
    gc_png_stream_state state = GC_PNG_STREAM_INSIDE;
    if (stream->giving == NULL || stream->given == stream->giving->filled)
        state = next_part(stream);
    if (state != GC_PNG_STREAM_INSIDE)
        return state;
    size_t left = stream->giving->filled - stream->given;
    size_t size = left < STORED_MAX ? left : STORED_MAX;
    bool last = stream->giving->last && size == left;
    put_big_endian(stream, 0);
    put_head(stream, (uint32_t)(BLOCK_HEAD_BYTES + size + (last ? CHECK_BYTES : 0)));
    stream->edge[stream->edge_end++] = last;
    stream->edge[stream->edge_end++] = (unsigned char)size;
    stream->edge[stream->edge_end++] = (unsigned char)(size >> 8);
    stream->edge[stream->edge_end++] = (unsigned char)~size;
    stream->edge[stream->edge_end++] = (unsigned char)(~size >> 8);
    stream->block_left = size;
    return GC_PNG_STREAM_INSIDE;
}

/* Puts the checks of the stream and its chunk, and the head that follows in the file. The file must
 * have nothing more in its chunks of image data. */
static gc_png_stream_state put_end(gc_png_stream *stream)
{
    unsigned char head[HEAD_BYTES];
    if (stream->inflate.avail_in > 0 || stream->inflate.read_in_length >= 8 || stream->left > 0)
        return GC_PNG_STREAM_REJECTED;
    gc_png_stream_state state = end_chunk(stream, head);
    if (state != GC_PNG_STREAM_INSIDE)
        return state;
    if (memcmp(head + 4, "IDAT", 4) == 0)
        return GC_PNG_STREAM_REJECTED;
    put_big_endian(stream, stream->inflate.crc); /* the Adler-32 of the stream */
    put_big_endian(stream, 0);
    memcpy(stream->edge + stream->edge_end, head, HEAD_BYTES);
    stream->edge_end += HEAD_BYTES;
    stream->ended = true;
    return GC_PNG_STREAM_INSIDE;
}

static void undo_filters(gc_png_stream *stream, size_t row_bytes, size_t height, size_t pixel)
{
    enum { WAVE_ROWS = 8, SLACKS = 3, PARTS_OF_SMALL = 12 };
    size_t most = row_bytes * height / PARTS_OF_SMALL;
    most = most < SMALL_PART_BYTES ? SMALL_PART_BYTES : most < PART_BYTES ? most : PART_BYTES;
    size_t rows = row_bytes > 0 ? most / (row_bytes + 1) : 0;
    if (rows == 0 || stream->loops->unfilter == NULL)
        return;
    rows = rows > WAVE_ROWS ? rows / WAVE_ROWS * WAVE_ROWS : rows;
    stream->row_memory = calloc(2 * row_bytes + SLACKS * GC_UNFILTER_SLACK, 1);
    if (stream->row_memory == NULL)
        return;
    stream->above = stream->row_memory + GC_UNFILTER_SLACK;
    stream->spare = stream->above + row_bytes + GC_UNFILTER_SLACK;
    stream->row_bytes = row_bytes;
    stream->pixel = pixel;
    stream->part_bytes = rows * (row_bytes + 1);
}

static void begin(gc_png_stream *stream, uint32_t most, unsigned char head[8])
{
    enum { WINDOW_256 = 0x08, CHECK = 0x1d }; /* the head of a zlib stream: RFC 1950, 2.2 */
    stream->most = most;
    begin_chunk(stream, gc_big_endian(head));
    put_head(stream, 2);
    memcpy(head, stream->edge, HEAD_BYTES);
    stream->edge_start = 0;
    stream->edge_end = 0;
    stream->edge[stream->edge_end++] = WINDOW_256;
    stream->edge[stream->edge_end++] = CHECK;
}

static size_t give(unsigned char **to, size_t wanted, const unsigned char *bytes, size_t available)
{
    size_t size = wanted < available ? wanted : available;
    memcpy(*to, bytes, size);
    *to += size;
    return size;
}

static gc_png_stream_state read_stream(gc_png_stream *stream, unsigned char *bytes, size_t size)
{
    while (size > 0) {
        size_t edge_left = stream->edge_end - stream->edge_start;
        gc_png_stream_state state = GC_PNG_STREAM_INSIDE;
        if (edge_left > 0) {
            size_t given = give(&bytes, size, stream->edge + stream->edge_start, edge_left);
            stream->edge_start += given;
            size -= given;
        } else if (stream->block_left > 0) {
            size_t given =
                give(&bytes, size, stream->giving->bytes + stream->given, stream->block_left);
            stream->given += given;
            stream->block_left -= given;
            size -= given;
        } else {
            stream->edge_start = stream->edge_end = 0;
            if (stream->ended)
                return GC_PNG_STREAM_REJECTED;
            const part *giving = stream->giving;
            bool all = giving != NULL && giving->last && stream->given == giving->filled;
            state = all ? put_end(stream) : put_block(stream);
        }
        if (state != GC_PNG_STREAM_INSIDE)
            return state;
    }
    return stream->ended && stream->edge_start == stream->edge_end ? GC_PNG_STREAM_AFTER
                                                                   : GC_PNG_STREAM_INSIDE;
}

static gc_png_stream *create(gc_input *input)
{
    if (!gc_png_inflating_wanted || !gc_input_reads_twice(input))
        return NULL;
    gc_png_stream *stream = malloc(sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->input = input;
    stream->loops = gc_pack_loops_chosen();
    stream->begun = stream->ended = false;
    stream->row_bytes = 0;
    stream->part_bytes = PART_BYTES;
    stream->row_memory = NULL;
    stream->edge_start = stream->edge_end = 0;
    stream->giving = NULL;
    stream->block_left = stream->given = 0;
    isal_inflate_init(&stream->inflate);
    stream->inflate.crc_flag = ISAL_ZLIB;
    stream->inflate.next_in = stream->edge;
    stream->inflate.avail_in = 0;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->inflated, NULL);
    stream->inflating = stream->finished = false;
    stream->first = stream->count = 0;
    return stream;
}

static void free_stream(gc_png_stream *stream)
{
    pthread_cond_destroy(&stream->inflated);
    pthread_mutex_destroy(&stream->lock);
    free(stream->row_memory);
    free(stream);
}

#define QUOTE_VALUE(value) #value
#define QUOTE(macro) QUOTE_VALUE(macro)

const gc_png_inflating gc_png_inflating_isal = {
    .library =
        QUOTE(ISAL_MAJOR_VERSION) "." QUOTE(ISAL_MINOR_VERSION) "." QUOTE(ISAL_PATCH_VERSION),
    .create = create,
    .free = free_stream,
    .begin = begin,
    .undo_filters = undo_filters,
    .read = read_stream,
    .help = help,
};
