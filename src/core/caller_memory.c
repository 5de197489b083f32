/* Memory for images that a caller gets from the library, or has pinned by it. */
#include "base/status.h"
#include "core/gpu.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Huge pages are pinned ten times as fast as others. */
enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* What gconv_memory_allocate gave. */
typedef struct allocation {
    void *memory;
    bool pinned;
    struct allocation *next;
} allocation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static allocation *allocations;

static void add(allocation *made)
{
    pthread_mutex_lock(&lock);
    made->next = allocations;
    allocations = made;
    pthread_mutex_unlock(&lock);
}

/* NULL if there is none. */
static allocation *take(const void *memory)
{
    pthread_mutex_lock(&lock);
    allocation **link = &allocations;
    while (*link != NULL && (*link)->memory != memory)
        link = &(*link)->next;
    allocation *found = *link;
    if (found != NULL)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Pages of zeros: pages that exist are pinned faster. NULL if memory is short. */
static void *allocate_pages(size_t bytes)
{
    size_t page = bytes < HUGE_PAGE ? PAGE : HUGE_PAGE;
    void *memory;
    if (bytes > PTRDIFF_MAX - page)
        return NULL;
    size_t size = (bytes + page - 1) / page * page;
    if (posix_memalign(&memory, page, size) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (page == HUGE_PAGE)
        madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memset(memory, 0, size);
}

gconv_status gconv_memory_allocate(size_t bytes, void **memory, gconv_error *error)
{
    *memory = NULL;
    if (bytes == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no bytes are asked for");
    allocation *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->memory = allocate_pages(bytes);
    if (made == NULL || made->memory == NULL) {
        free(made);
        return gc_fail_memory(error, bytes);
    }
    made->pinned = gc_gpu_pin(made->memory, bytes, NULL) == GCONV_OK;
    add(made);
    *memory = made->memory;
    return GCONV_OK;
}

void gconv_memory_free(void *memory)
{
    allocation *found = take(memory);
    if (found == NULL)
        return;
    if (found->pinned)
        gc_gpu_unpin(memory);
    free(memory);
    free(found);
}

gconv_status gconv_memory_register(void *memory, size_t bytes, gconv_error *error)
{
    if (memory == NULL || bytes == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no memory to register");
    return gc_gpu_count() > 0 ? gc_gpu_pin(memory, bytes, error) : GCONV_OK;
}

void gconv_memory_unregister(void *memory)
{
    if (memory != NULL)
        gc_gpu_unpin(memory);
}
