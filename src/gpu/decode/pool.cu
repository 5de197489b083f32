#include "gpu/decode/pool.cuh"

#include "gpu/runtime/check.cuh"

extern "C" {
#include "base/number.h"
}

#include <algorithm>
#include <cstdlib>

/* A batch of large pictures fits in this share of a data-centre GPU; the rest is for plans. */
static const double memory_share = 0.25;

gconv_status gc_pool_init(gc_pool *pool, gconv_error *error)
{
    size_t available = 0, total = 0;
    GC_CUDA_TRY(error, cudaMemGetInfo(&available, &total));
    double bytes = (double)available;
    const char *limit = getenv("GCONV_CUDA_MEMORY");
    long long number;
    if (limit != nullptr && gc_parse_integer(limit, 1, INT64_MAX, &number))
        bytes = std::min(bytes, (double)number);
    *pool = {};
    pool->limit = (size_t)(memory_share * bytes);
    pthread_mutex_init(&pool->mutex, nullptr);
    pthread_cond_init(&pool->changed, nullptr);
    return GCONV_OK;
}

static void free_buffer(gc_pool *pool, gc_pool_buffer **link)
{
    gc_pool_buffer *buffer = *link;
    *link = buffer->next;
    pool->held -= buffer->bytes;
    cudaFree(buffer->memory);
    cudaGetLastError();
    free(buffer);
}

void gc_pool_end(gc_pool *pool)
{
    while (pool->buffers != nullptr)
        free_buffer(pool, &pool->buffers);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->changed);
}

/* Rounds up by at most a quarter, so that pictures of similar size share buffers. */
static size_t rounded(size_t bytes)
{
    enum { LEAST = 64 << 10 };
    size_t step = LEAST;
    while (step * 8 <= bytes)
        step *= 2;
    return (bytes + step - 1) / step * step;
}

/* The smallest free buffer that is large enough, and not much larger; null where there is none. */
static gc_pool_buffer *find_free(gc_pool *pool, size_t bytes)
{
    gc_pool_buffer *best = nullptr;
    for (gc_pool_buffer *buffer = pool->buffers; buffer != nullptr; buffer = buffer->next)
        if (!buffer->taken && buffer->bytes >= bytes && buffer->bytes / 2 <= bytes &&
            (best == nullptr || buffer->bytes < best->bytes))
            best = buffer;
    return best;
}

/* Frees buffers that nobody has, until at most `bytes` are held. */
static void shrink(gc_pool *pool, size_t bytes)
{
    gc_pool_buffer **link = &pool->buffers;
    while (*link != nullptr && pool->held > bytes)
        if ((*link)->taken)
            link = &(*link)->next;
        else
            free_buffer(pool, link);
}

static gconv_status allocate(gc_pool *pool, size_t bytes, gc_pool_buffer **made, gconv_error *error)
{
    gc_pool_buffer *buffer = (gc_pool_buffer *)calloc(1, sizeof *buffer);
    if (buffer == nullptr)
        return gc_fail_memory(error, sizeof *buffer);
    cudaError_t code = cudaMalloc(&buffer->memory, bytes);
    if (code != cudaSuccess) {
        free(buffer);
        return gc_cuda_fail(error, code, "cudaMalloc", __FILE__, __LINE__);
    }
    buffer->bytes = bytes;
    buffer->next = pool->buffers;
    pool->buffers = buffer;
    pool->held += bytes;
    *made = buffer;
    return GCONV_OK;
}

/* *taken stays null where only another's buffer would help. */
static gconv_status try_to_take(gc_pool *pool, size_t bytes, gc_pool_buffer **taken,
                                gconv_error *error)
{
    gconv_status status = GCONV_OK;
    *taken = find_free(pool, bytes);
    if (*taken == nullptr && bytes <= pool->limit) {
        shrink(pool, pool->limit - bytes);
        if (pool->held + bytes > pool->limit)
            return GCONV_OK;
        status = allocate(pool, bytes, taken, error);
        if (status == GCONV_ERROR_MEMORY) {
            shrink(pool, 0);
            status = pool->held > 0 ? GCONV_OK : allocate(pool, bytes, taken, error);
        }
    }
    if (*taken != nullptr)
        (*taken)->taken = true;
    return status;
}

gconv_status gc_pool_take(gc_pool *pool, size_t bytes, gc_pool_buffer **taken, gconv_error *error)
{
    bytes = rounded(bytes);
    *taken = nullptr;
    if (bytes > pool->limit)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "planes of %.1f MiB, more than the JPEG engine may take: %.1f MiB",
                       (double)bytes / (1 << 20), (double)pool->limit / (1 << 20));
    pthread_mutex_lock(&pool->mutex);
    uint64_t ticket = pool->last_ticket++;
    while (ticket != pool->served)
        pthread_cond_wait(&pool->changed, &pool->mutex);
    gconv_error found = {};
    gconv_status status = try_to_take(pool, bytes, taken, &found);
    while (status == GCONV_OK && *taken == nullptr) {
        pthread_cond_wait(&pool->changed, &pool->mutex);
        status = try_to_take(pool, bytes, taken, &found);
    }
    pool->served++;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    if (status == GCONV_ERROR_MEMORY) /* the CPU can do without */
        status = GCONV_ERROR_UNSUPPORTED;
    return status == GCONV_OK ? status : gc_fail(error, status, "%s", found.message);
}

void gc_pool_give_back(gc_pool *pool, gc_pool_buffer *buffer)
{
    pthread_mutex_lock(&pool->mutex);
    buffer->taken = false;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}
