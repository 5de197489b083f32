/* Image data of a PNG, compressed by gconv's own code: rows are filtered, and fill blocks. Each
 * block becomes a chunk. docs/performance/files.md compares it with others. */
#include "base/status.h"
#include "io/fast.h"
#include "io/parts.h"
#include "io/png/fast/block.h"
#include "io/png/fast/checks.h"
#include "io/png/fast/filters.h"

#include <stdlib.h>
#include <zlib.h>

/* A block of the zlib stream (block.h) on its way to the output. */
typedef struct stream_block {
    gc_part head;
    gc_pack_block block;
} stream_block;

struct gc_png_packer {
    gc_png_emit *emit;
    const gc_pack_loops *loops;
    gc_filters filters;
    gc_parts blocks;
    bool begun;       /* a block was handed over */
    uint32_t check;   /* Adler-32 of the blocks before */
    bool is_complete; /* all blocks are written: a device has compressed them */
};

/* The block that is filled. */
static gc_pack_block *filling(const gc_png_packer *p)
{
    return &((stream_block *)p->blocks.filling)->block;
}

/* A gc_part_compress. */
static void compress_block(void *user, gc_part *part, int place)
{
    (void)place;
    gc_pack_compress(&((stream_block *)part)->block, ((gc_png_packer *)user)->loops);
}

static void free_packer(gc_png_packer *p)
{
    gc_filters_free(&p->filters);
    gc_parts_destroy(&p->blocks);
    free(p);
}

static gconv_status create(const gconv_shape *shape, gc_png_emit *emit, gc_png_packer **packer,
                           gconv_error *error)
{
    gc_png_packer *p = *packer = malloc(sizeof *p);
    GC_TRY_MEMORY(p != NULL, error, sizeof *p);
    *p = (gc_png_packer){.emit = emit, .loops = gc_pack_loops_chosen(), .check = 1};
    gc_parts_create(&p->blocks, compress_block, p);
    gconv_status status = gc_filters_create(&p->filters, shape, p->loops, error);
    GC_THEN(status, gc_parts_begin(&p->blocks, sizeof(stream_block), error));
    if (status == GCONV_OK) {
        gc_pack_begin(filling(p));
    } else {
        free_packer(p);
        *packer = NULL;
    }
    return status;
}

static void store_big_endian(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Adds a compressed block that stands for `filled` bytes of the stream, whose Adler-32 is
 * `check`. */
typedef struct compressed {
    const uint8_t *bytes;
    size_t size, filled;
    uint32_t check;
    bool last;
} compressed;

/* Writes a block as a chunk. The check of the whole stream follows the last one. */
static gconv_status write_block(gc_png_packer *p, const compressed *block, void *user,
                                gconv_error *error)
{
    uint8_t head[8] = {[4] = 'I', [5] = 'D', [6] = 'A', [7] = 'T'}, tail[8];
    size_t check_bytes = block->last ? 4 : 0;
    p->check = (uint32_t)adler32_combine(p->check, block->check, (z_off_t)block->filled);
    store_big_endian(head, (uint32_t)(block->size + check_bytes));
    store_big_endian(tail, p->check);
    uint32_t crc = (uint32_t)crc32(0, head + 4, 4);
    crc = gc_crc32(crc, block->bytes, block->size);
    crc = (uint32_t)crc32(crc, tail, (uInt)check_bytes);
    store_big_endian(tail + check_bytes, crc);
    GC_TRY(p->emit(user, head, sizeof head, error));
    GC_TRY(p->emit(user, block->bytes, block->size, error));
    return p->emit(user, tail, check_bytes + 4, error);
}

/* Hands over the block that was filled, and writes those that are compressed. */
static gconv_status pass_block(gc_png_packer *p, bool last, void *user, gconv_error *error)
{
    gc_part *part;
    gconv_status status = GCONV_OK;
    filling(p)->first = !p->begun;
    filling(p)->last = last;
    p->begun = true;
    gc_parts_push(&p->blocks, last);
    while (status == GCONV_OK && (part = gc_parts_take(&p->blocks)) != NULL) {
        const gc_pack_block *block = &((stream_block *)part)->block;
        const compressed done = {block->output, block->size, block->filled, block->check,
                                 block->last};
        status = write_block(p, &done, user, error);
        gc_parts_give_back(&p->blocks, part);
    }
    if (status == GCONV_OK && !last)
        gc_pack_begin(filling(p));
    return status;
}

/* Filters the row into the block if it has room for all, else first into memory of its own. */
static gconv_status put_row(gc_png_packer *p, const unsigned char *row, void *user,
                            gconv_error *error)
{
    size_t left = p->filters.row_bytes + 1;
    uint8_t *room = gc_pack_extend(filling(p), left);
    const uint8_t *bytes = p->filters.filtered;
    gc_filters_apply(&p->filters, row, room != NULL ? room : p->filters.filtered);
    while (room == NULL && left > 0) {
        if (gc_pack_full(filling(p)))
            GC_TRY(pass_block(p, false, user, error));
        size_t taken = gc_pack_take(filling(p), bytes, left);
        bytes += taken;
        left -= taken;
    }
    return GCONV_OK;
}

static gconv_status put_compressed(gc_png_packer *p, const gc_compressed_rows *rows, void *user,
                                   gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < rows->count; i++) {
        bool last = i + 1 == rows->count;
        uint64_t left = rows->stream_bytes - (uint64_t)i * GC_COMPRESSED_BLOCK;
        const compressed block = {rows->bytes + i * rows->stride, rows->blocks[i].size,
                                  last ? (size_t)left : GC_COMPRESSED_BLOCK, rows->blocks[i].check,
                                  last};
        status = write_block(p, &block, user, error);
    }
    p->is_complete = status == GCONV_OK;
    return status;
}

static gconv_status finish(gc_png_packer *p, void *user, gconv_error *error)
{
    return p->is_complete ? GCONV_OK : pass_block(p, true, user, error);
}

static bool help(gc_png_packer *p)
{
    return gc_parts_help(&p->blocks);
}

const gc_png_packing gc_png_packing_own = {
    .create = create,
    .free = free_packer,
    .put_row = put_row,
    .put_compressed = put_compressed,
    .finish = finish,
    .help = help,
};
