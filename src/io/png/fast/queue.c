#include "io/png/fast/queue.h"

#include "base/status.h"

#include <stdlib.h>

gconv_status gc_pack_queue_create(gc_pack_queue *queue, const gc_pack_loops *loops,
                                  gconv_error *error)
{
    *queue = (gc_pack_queue){.loops = loops, .filling = malloc(sizeof *queue->filling)};
    if (queue->filling == NULL)
        return gc_fail_memory(error, sizeof *queue->filling);
    gc_pack_begin(queue->filling);
    queue->created = 1;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->compressed, NULL);
    return GCONV_OK;
}

void gc_pack_queue_destroy(gc_pack_queue *queue)
{
    for (uint64_t n = queue->taken; n < queue->filled; n++)
        free(queue->waiting[n % GC_PACK_BLOCKS_MAX]);
    for (int i = 0; i < queue->spares; i++)
        free(queue->spare[i]);
    free(queue->filling);
    pthread_cond_destroy(&queue->compressed);
    pthread_mutex_destroy(&queue->lock);
}

/* ---- Under the lock -------------------------------------------------------------------------- */

/* Makes a block the next one to be filled, or keeps it. */
static void take_back(gc_pack_queue *queue, gc_pack_block *block)
{
    if (queue->filling != NULL) {
        queue->spare[queue->spares++] = block;
        return;
    }
    gc_pack_begin(block);
    queue->filling = block;
}

/* Finds a block to be filled while others wait. One thread alone needs a single block, which stays
 * in its cache. */
static void find_block(gc_pack_queue *queue)
{
    gc_pack_block *block = NULL;
    if (queue->spares > 0) {
        block = queue->spare[--queue->spares];
    } else if (queue->helped && queue->created < GC_PACK_BLOCKS_MAX) {
        block = malloc(sizeof *block);
        queue->created += block != NULL;
    }
    if (block != NULL)
        take_back(queue, block);
}

/* Compresses the next block, without the lock. */
static void compress(gc_pack_queue *queue)
{
    gc_pack_block *block = queue->waiting[queue->begun++ % GC_PACK_BLOCKS_MAX];
    pthread_mutex_unlock(&queue->lock);
    gc_pack_compress(block, queue->loops);
    pthread_mutex_lock(&queue->lock);
    block->compressed = true;
    pthread_cond_signal(&queue->compressed);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

void gc_pack_queue_push(gc_pack_queue *queue, bool last)
{
    gc_pack_block *block = queue->filling;
    pthread_mutex_lock(&queue->lock);
    block->first = queue->filled == 0;
    block->last = queue->ended = last;
    block->compressed = false;
    queue->waiting[queue->filled++ % GC_PACK_BLOCKS_MAX] = block;
    queue->filling = NULL;
    if (!last)
        find_block(queue);
    pthread_mutex_unlock(&queue->lock);
}

gc_pack_block *gc_pack_queue_take(gc_pack_queue *queue)
{
    gc_pack_block *block = NULL;
    pthread_mutex_lock(&queue->lock);
    while (queue->taken < queue->filled) {
        gc_pack_block *next = queue->waiting[queue->taken % GC_PACK_BLOCKS_MAX];
        if (next->compressed) {
            queue->taken++;
            block = next;
            break;
        }
        if (queue->helped && queue->filling != NULL && !queue->ended) /* the block may wait */
            break;
        if (queue->begun < queue->filled)
            compress(queue);
        else
            pthread_cond_wait(&queue->compressed, &queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return block;
}

void gc_pack_queue_give_back(gc_pack_queue *queue, gc_pack_block *block)
{
    pthread_mutex_lock(&queue->lock);
    take_back(queue, block);
    pthread_mutex_unlock(&queue->lock);
}

bool gc_pack_queue_help(gc_pack_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->helped = true;
    bool found = queue->begun < queue->filled;
    if (found)
        compress(queue);
    pthread_mutex_unlock(&queue->lock);
    return found;
}
