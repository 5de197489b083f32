/* The blocks of a zlib stream (block.h) on their way from the thread that fills them, one
 * after the other, to the output. Any thread may compress a block. The stream does not depend on
 * who does.
 *
 * No block waits for a thread that may not come: the thread that fills blocks compresses what
 * nobody else has begun. Blocks wait only if other threads have asked for them. */
#ifndef GC_IO_PNG_FAST_QUEUE_H
#define GC_IO_PNG_FAST_QUEUE_H

#include "gconv.h"
#include "io/png/fast/block.h"

#include <pthread.h>

enum { GC_PACK_BLOCKS_MAX = 9 };

typedef struct gc_pack_queue {
    const gc_pack_loops *loops;
    gc_pack_block *filling; /* the block that the caller fills */
    pthread_mutex_t lock;   /* of all below */
    pthread_cond_t compressed;
    gc_pack_block
        *waiting[GC_PACK_BLOCKS_MAX]; /* block n of the stream at n % GC_PACK_BLOCKS_MAX */
    uint64_t taken, begun, filled;    /* how many blocks were taken, compressed, filled */
    gc_pack_block *spare[GC_PACK_BLOCKS_MAX];
    int spares, created;
    bool helped; /* another thread has asked for a block */
    bool ended;  /* the last block is filled */
} gc_pack_queue;

/* Blocks are compressed by `loops`. On failure there is nothing to destroy. */
gconv_status gc_pack_queue_create(gc_pack_queue *queue, const gc_pack_loops *loops,
                                  gconv_error *error);

/* No thread may be in a function of the queue. */
void gc_pack_queue_destroy(gc_pack_queue *queue);

/* Hands over queue->filling, the last block of the stream or not. The caller then takes blocks and
 * gives them back, until none is to be taken. Unless the stream has ended, there is a block to be
 * filled then. */
void gc_pack_queue_push(gc_pack_queue *queue, bool last);

/* The next block of the stream, compressed. NULL if it may wait, or there is none. */
gc_pack_block *gc_pack_queue_take(gc_pack_queue *queue);
void gc_pack_queue_give_back(gc_pack_queue *queue, gc_pack_block *block);

/* For other threads: compresses a block. False if none waits for it. */
bool gc_pack_queue_help(gc_pack_queue *queue);

#endif
