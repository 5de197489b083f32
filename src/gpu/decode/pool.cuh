/* The memory of a device for planes: buffers that are used again and again, bounded in bytes. */
#ifndef GC_GPU_DECODE_POOL_CUH
#define GC_GPU_DECODE_POOL_CUH

extern "C" {
#include "base/status.h"
}

#include <cstdint>
#include <pthread.h>

struct gc_pool_buffer {
    char *memory; /* device */
    size_t bytes;
    bool taken;
    gc_pool_buffer *next;
};

struct gc_pool {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t limit, held;           /* bytes of all buffers: at most, now */
    uint64_t last_ticket, served; /* callers are served in the order in which they came */
    gc_pool_buffer *buffers;
};

/* A pool for the current device. It holds a share of the device's memory; GCONV_CUDA_MEMORY, where
 * it is set, counts as the memory. */
gconv_status gc_pool_init(gc_pool *pool, gconv_error *error);

/* Frees all buffers. None is taken. The pool's device is the current one. */
void gc_pool_end(gc_pool *pool);

/* Takes a buffer of at least `bytes` bytes; the pool's device is the current one. Waits while too
 * much is taken. GCONV_ERROR_UNSUPPORTED where the pool will never hold that much. */
gconv_status gc_pool_take(gc_pool *pool, size_t bytes, gc_pool_buffer **taken, gconv_error *error);

void gc_pool_give_back(gc_pool *pool, gc_pool_buffer *buffer);

#endif
