/* Image data of a PNG, compressed by gconv's own code: rows are filtered, and fill blocks. Each
 * block becomes a chunk. docs/performance/files.md compares it with zlib. */
#include "base/status.h"
#include "io/fast.h"
#include "io/png/fast/block.h"
#include "io/png/fast/checks.h"
#include "io/png/fast/filters.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

/* ---- Blocks on their way --------------------------------------------------------------------- */

/* The blocks of a zlib stream (block.h) on their way from the thread that fills them, one after the
 * other, to the output. Any thread may compress a block. The stream is the same whichever does.
 *
 * No block waits for a thread that may not come: the thread that fills blocks compresses what
 * nobody else has begun. Blocks wait only if other threads have asked for them. */

enum { BLOCKS_MAX = 9 };

typedef struct block_queue {
    const gc_pack_loops *loops;
    gc_pack_block *filling; /* the block that the caller fills */
    pthread_mutex_t lock;   /* of all below */
    pthread_cond_t compressed;
    gc_pack_block *waiting[BLOCKS_MAX]; /* block n of the stream at n % BLOCKS_MAX */
    uint64_t taken, begun, filled;      /* how many blocks were taken, compressed, filled */
    gc_pack_block *spare[BLOCKS_MAX];
    int spares, created;
    bool helped; /* another thread has asked for a block */
    bool ended;  /* the last block is filled */
} block_queue;

/* Blocks are compressed by `loops`. On failure there is nothing to destroy. */
static gconv_status create_queue(block_queue *queue, const gc_pack_loops *loops, gconv_error *error)
{
    *queue = (block_queue){.loops = loops, .filling = malloc(sizeof *queue->filling)};
    if (queue->filling == NULL)
        return gc_fail_memory(error, sizeof *queue->filling);
    gc_pack_begin(queue->filling);
    queue->created = 1;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->compressed, NULL);
    return GCONV_OK;
}

/* No thread may be in a function of the queue. */
static void destroy_queue(block_queue *queue)
{
    for (uint64_t n = queue->taken; n < queue->filled; n++)
        free(queue->waiting[n % BLOCKS_MAX]);
    for (int i = 0; i < queue->spares; i++)
        free(queue->spare[i]);
    free(queue->filling);
    pthread_cond_destroy(&queue->compressed);
    pthread_mutex_destroy(&queue->lock);
}

/* Makes a block the next one to be filled, or keeps it. This function and the next two have the
 * lock. */
static void take_back(block_queue *queue, gc_pack_block *block)
{
    if (queue->filling != NULL) {
        queue->spare[queue->spares++] = block;
        return;
    }
    gc_pack_begin(block);
    queue->filling = block;
}

/* Finds a block to be filled while others wait. A thread that works alone uses a single block,
 * which stays in its cache. */
static void find_block(block_queue *queue)
{
    gc_pack_block *block = NULL;
    if (queue->spares > 0) {
        block = queue->spare[--queue->spares];
    } else if (queue->helped && queue->created < BLOCKS_MAX) {
        block = malloc(sizeof *block);
        queue->created += block != NULL;
    }
    if (block != NULL)
        take_back(queue, block);
}

/* Compresses the next block, without the lock. */
static void compress_next(block_queue *queue)
{
    gc_pack_block *block = queue->waiting[queue->begun++ % BLOCKS_MAX];
    pthread_mutex_unlock(&queue->lock);
    gc_pack_compress(block, queue->loops);
    pthread_mutex_lock(&queue->lock);
    block->compressed = true;
    pthread_cond_signal(&queue->compressed);
}

/* Hands over queue->filling; `last` says that it ends the stream. The caller then takes and returns
 * blocks until there is none to take. After that there is a block to fill, unless the stream has
 * ended. */
static void push_block(block_queue *queue, bool last)
{
    gc_pack_block *block = queue->filling;
    pthread_mutex_lock(&queue->lock);
    block->first = queue->filled == 0;
    block->last = queue->ended = last;
    block->compressed = false;
    queue->waiting[queue->filled++ % BLOCKS_MAX] = block;
    queue->filling = NULL;
    if (!last)
        find_block(queue);
    pthread_mutex_unlock(&queue->lock);
}

/* The next block of the stream, compressed. NULL if it may wait, or there is none. */
static gc_pack_block *take_block(block_queue *queue)
{
    gc_pack_block *block = NULL;
    pthread_mutex_lock(&queue->lock);
    while (queue->taken < queue->filled) {
        gc_pack_block *next = queue->waiting[queue->taken % BLOCKS_MAX];
        if (next->compressed) {
            queue->taken++;
            block = next;
            break;
        }
        if (queue->helped && queue->filling != NULL && !queue->ended) /* the block may wait */
            break;
        if (queue->begun < queue->filled)
            compress_next(queue);
        else
            pthread_cond_wait(&queue->compressed, &queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return block;
}

static void give_back(block_queue *queue, gc_pack_block *block)
{
    pthread_mutex_lock(&queue->lock);
    take_back(queue, block);
    pthread_mutex_unlock(&queue->lock);
}

/* ---- The stream ------------------------------------------------------------------------------ */

struct gc_png_packer {
    gc_png_emit *emit;
    gc_filters filters;
    block_queue blocks;
    uint32_t check;   /* Adler-32 of the blocks before */
    bool is_complete; /* all blocks are written: a device has compressed them */
};

static gconv_status create(const gconv_shape *shape, gc_png_emit *emit, gc_png_packer **packer,
                           gconv_error *error)
{
    gc_png_packer *p = *packer = malloc(sizeof *p);
    if (p == NULL)
        return gc_fail_memory(error, sizeof *p);
    p->emit = emit;
    p->check = 1;
    p->is_complete = false;
    const gc_pack_loops *loops = gc_pack_loops_chosen();
    gconv_status status = gc_filters_create(&p->filters, shape, loops, error);
    if (status == GCONV_OK)
        status = create_queue(&p->blocks, loops, error);
    if (status != GCONV_OK) {
        gc_filters_free(&p->filters);
        free(p);
        *packer = NULL;
    }
    return status;
}

static void free_packer(gc_png_packer *p)
{
    gc_filters_free(&p->filters);
    destroy_queue(&p->blocks);
    free(p);
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
    gconv_status status = p->emit(user, head, sizeof head, error);
    if (status == GCONV_OK)
        status = p->emit(user, block->bytes, block->size, error);
    return status == GCONV_OK ? p->emit(user, tail, check_bytes + 4, error) : status;
}

/* Hands over the block that was filled, and writes those that are compressed. */
static gconv_status pass_block(gc_png_packer *p, bool last, void *user, gconv_error *error)
{
    gc_pack_block *block;
    gconv_status status = GCONV_OK;
    push_block(&p->blocks, last);
    while (status == GCONV_OK && (block = take_block(&p->blocks)) != NULL) {
        const compressed done = {block->output, block->size, block->filled, block->check,
                                 block->last};
        status = write_block(p, &done, user, error);
        give_back(&p->blocks, block);
    }
    return status;
}

/* Filters the row into the block if it has room for all, else first into memory of its own. */
static gconv_status put_row(gc_png_packer *p, const unsigned char *row, void *user,
                            gconv_error *error)
{
    size_t left = p->filters.row_bytes + 1;
    uint8_t *room = gc_pack_extend(p->blocks.filling, left);
    const uint8_t *bytes = p->filters.filtered;
    gc_filters_apply(&p->filters, row, room != NULL ? room : p->filters.filtered);
    while (room == NULL && left > 0) {
        gconv_status status = GCONV_OK;
        if (gc_pack_full(p->blocks.filling))
            status = pass_block(p, false, user, error);
        if (status != GCONV_OK)
            return status;
        size_t taken = gc_pack_take(p->blocks.filling, bytes, left);
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

/* For other threads: compresses a block. False if none waits for it. */
static bool help(gc_png_packer *p)
{
    block_queue *queue = &p->blocks;
    pthread_mutex_lock(&queue->lock);
    queue->helped = true;
    bool found = queue->begun < queue->filled;
    if (found)
        compress_next(queue);
    pthread_mutex_unlock(&queue->lock);
    return found;
}

extern const gc_png_packing gc_png_packing_own;
const gc_png_packing gc_png_packing_own = {
    .create = create,
    .free = free_packer,
    .put_row = put_row,
    .put_compressed = put_compressed,
    .finish = finish,
    .help = help,
};
