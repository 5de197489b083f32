#include "gpu/decode/plane_memory.cuh"

#include "gpu/runtime/check.cuh"

extern "C" {
#include "base/number.h"
}

#include <algorithm>
#include <cstdlib>

/* A batch of large pictures fits in this share of a data-centre GPU; the rest is for plans. */
static const double memory_share = 0.25;

gconv_status gc_plane_memory_init(gc_plane_memory *memory, gconv_error *error)
{
    size_t available = 0, total = 0;
    GC_CUDA_TRY(error, cudaMemGetInfo(&available, &total));
    double bytes = (double)available;
    const char *limit = getenv("GCONV_CUDA_MEMORY");
    long long number;
    if (limit != nullptr && gc_parse_integer(limit, 1, INT64_MAX, &number))
        bytes = std::min(bytes, (double)number);
    *memory = {};
    memory->limit = (size_t)(memory_share * bytes);
    pthread_mutex_init(&memory->mutex, nullptr);
    pthread_cond_init(&memory->changed, nullptr);
    return GCONV_OK;
}

static void free_buffer(gc_plane_memory *memory, gc_plane_buffer **link)
{
    gc_plane_buffer *buffer = *link;
    *link = buffer->next;
    memory->held -= buffer->bytes;
    cudaFree(buffer->memory);
    cudaGetLastError();
    free(buffer);
}

void gc_plane_memory_end(gc_plane_memory *memory)
{
    while (memory->buffers != nullptr)
        free_buffer(memory, &memory->buffers);
    pthread_mutex_destroy(&memory->mutex);
    pthread_cond_destroy(&memory->changed);
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
static gc_plane_buffer *find_free(gc_plane_memory *memory, size_t bytes)
{
    gc_plane_buffer *best = nullptr;
    for (gc_plane_buffer *buffer = memory->buffers; buffer != nullptr; buffer = buffer->next)
        if (!buffer->taken && buffer->bytes >= bytes && buffer->bytes / 2 <= bytes &&
            (best == nullptr || buffer->bytes < best->bytes))
            best = buffer;
    return best;
}

/* Frees buffers that nobody has, until at most `bytes` are held. */
static void shrink(gc_plane_memory *memory, size_t bytes)
{
    gc_plane_buffer **link = &memory->buffers;
    while (*link != nullptr && memory->held > bytes)
        if ((*link)->taken)
            link = &(*link)->next;
        else
            free_buffer(memory, link);
}

static gconv_status allocate(gc_plane_memory *memory, size_t bytes, gc_plane_buffer **made,
                             gconv_error *error)
{
    gc_plane_buffer *buffer = (gc_plane_buffer *)calloc(1, sizeof *buffer);
    if (buffer == nullptr)
        return gc_fail_memory(error, sizeof *buffer);
    cudaError_t code = cudaMalloc(&buffer->memory, bytes);
    if (code != cudaSuccess) {
        free(buffer);
        return gc_cuda_fail(error, code, "cudaMalloc", __FILE__, __LINE__);
    }
    buffer->bytes = bytes;
    buffer->next = memory->buffers;
    memory->buffers = buffer;
    memory->held += bytes;
    *made = buffer;
    return GCONV_OK;
}

/* *taken stays null where only another's buffer would help. */
static gconv_status try_to_take(gc_plane_memory *memory, size_t bytes, gc_plane_buffer **taken,
                                gconv_error *error)
{
    gconv_status status = GCONV_OK;
    *taken = find_free(memory, bytes);
    if (*taken == nullptr && bytes <= memory->limit) {
        shrink(memory, memory->limit - bytes);
        if (memory->held + bytes > memory->limit)
            return GCONV_OK;
        status = allocate(memory, bytes, taken, error);
        if (status == GCONV_ERROR_MEMORY) {
            shrink(memory, 0);
            status = memory->held > 0 ? GCONV_OK : allocate(memory, bytes, taken, error);
        }
    }
    if (*taken != nullptr)
        (*taken)->taken = true;
    return status;
}

gconv_status gc_plane_memory_take(gc_plane_memory *memory, size_t bytes, gc_plane_buffer **taken,
                                  gconv_error *error)
{
    bytes = rounded(bytes);
    *taken = nullptr;
    if (bytes > memory->limit)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "planes of %.1f MiB, more than the JPEG engine may take: %.1f MiB",
                       (double)bytes / (1 << 20), (double)memory->limit / (1 << 20));
    pthread_mutex_lock(&memory->mutex);
    uint64_t ticket = memory->last_ticket++;
    while (ticket != memory->served)
        pthread_cond_wait(&memory->changed, &memory->mutex);
    gconv_error found = {};
    gconv_status status = try_to_take(memory, bytes, taken, &found);
    while (status == GCONV_OK && *taken == nullptr) {
        pthread_cond_wait(&memory->changed, &memory->mutex);
        status = try_to_take(memory, bytes, taken, &found);
    }
    memory->served++;
    pthread_cond_broadcast(&memory->changed);
    pthread_mutex_unlock(&memory->mutex);
    if (status == GCONV_ERROR_MEMORY) /* the CPU can do without */
        status = GCONV_ERROR_UNSUPPORTED;
    return status == GCONV_OK ? status : gc_fail(error, status, "%s", found.message);
}

void gc_plane_memory_give(gc_plane_memory *memory, gc_plane_buffer *buffer)
{
    pthread_mutex_lock(&memory->mutex);
    buffer->taken = false;
    pthread_cond_broadcast(&memory->changed);
    pthread_mutex_unlock(&memory->mutex);
}
