/* Parts of an output on their way from the thread that fills them, one after the other, to the
 * file. Any thread may compress a part. Parts leave in order, and are the same whichever thread
 * compresses them.
 *
 * No part waits for a thread that may not come: the thread that fills parts compresses those that
 * nobody else has begun. Parts wait only if other threads have asked for them, and only as many as
 * keep these threads busy. */
#pragma once

#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GC_PARTS_MAX = 32 };

/* The head of each part's own structure. */
typedef struct gc_part {
    bool compressed; /* under the lock of the queue */
} gc_part;

/* Compresses a part. Threads that compress at one time have different places below GC_PARTS_MAX. */
typedef void gc_part_compress(void *user, gc_part *part, int place);

typedef struct gc_parts {
    gc_part_compress *compress;
    void *user;
    gc_part *filling; /* the part that the caller fills */
    size_t part_bytes;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t compressed;
    gc_part *waiting[GC_PARTS_MAX]; /* part n of the output at n % GC_PARTS_MAX */
    uint64_t taken, begun, filled;  /* how many parts were taken, compressed, filled */
    gc_part *spare[GC_PARTS_MAX];
    int spares, created, limit; /* `limit`: the most that are created; it may be set lower */
    bool places[GC_PARTS_MAX];  /* whether a thread has the place */
    int busy, most_busy;        /* threads that compress, and the most that did at one time */
    bool helped;                /* another thread has asked for a part */
    bool ended;                 /* the last part is filled */
} gc_parts;

void gc_parts_create(gc_parts *parts, gc_part_compress *compress, void *user);

/* No thread may be in a function of the queue. */
void gc_parts_destroy(gc_parts *parts);

/* Begins an output, or the next one, in parts of `part_bytes` with their heads. No thread may be in
 * a function of the queue. */
gconv_status gc_parts_begin(gc_parts *parts, size_t part_bytes, gconv_error *error);

/* Hands over parts->filling; `last` says that it ends the output. The caller then takes and gives
 * back parts until there is none to take. After that there is a part to fill, unless the output has
 * ended. */
void gc_parts_push(gc_parts *parts, bool last);

/* The next part of the output, compressed. NULL if it may wait, or there is none. */
gc_part *gc_parts_take(gc_parts *parts);
void gc_parts_give_back(gc_parts *parts, gc_part *part);

/* For other threads: compresses a part. False if none waits for it. */
bool gc_parts_help(gc_parts *parts);
