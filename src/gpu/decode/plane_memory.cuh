/* The memory of a device for planes: buffers that are used again and again, bounded in bytes. */
#ifndef GC_GPU_DECODE_PLANE_MEMORY_CUH
#define GC_GPU_DECODE_PLANE_MEMORY_CUH

extern "C" {
#include "base/status.h"
}

#include <cstdint>
#include <pthread.h>

struct gc_plane_buffer {
    char *memory; /* device */
    size_t bytes;
    bool taken;
    gc_plane_buffer *next;
};

struct gc_plane_memory {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t limit, held;           /* bytes of all buffers: at most, now */
    uint64_t last_ticket, served; /* callers are served in the order in which they came */
    gc_plane_buffer *buffers;
};

/* Plane memory of the current device. It holds a share of the device's memory; GCONV_CUDA_MEMORY,
 * where it is set, counts as the memory. */
gconv_status gc_plane_memory_init(gc_plane_memory *memory, gconv_error *error);

/* Frees all buffers. None is taken. Its device is the current one. */
void gc_plane_memory_end(gc_plane_memory *memory);

/* Takes a buffer of at least `bytes` bytes; its device is the current one. Waits while too
 * much is taken. GCONV_ERROR_UNSUPPORTED where it will never hold that much. */
gconv_status gc_plane_memory_take(gc_plane_memory *memory, size_t bytes, gc_plane_buffer **taken,
                                  gconv_error *error);

void gc_plane_memory_give(gc_plane_memory *memory, gc_plane_buffer *buffer);

#endif
