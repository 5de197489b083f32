#include "base/memory_rows.h"

#include <string.h>

static gconv_status give(void *user, uint32_t count, void *rows, size_t stride, gconv_error *error)
{
    gc_memory_source *memory = user;
    (void)error;
    for (uint32_t i = 0; i < count; i++, memory->next += memory->stride)
        memcpy((char *)rows + i * stride, memory->next, memory->row_bytes);
    memory->count += count;
    return GCONV_OK;
}

static gconv_status take(void *user, uint32_t count, const void *rows, size_t stride,
                         gconv_error *error)
{
    gc_memory_sink *memory = user;
    (void)error;
    for (uint32_t i = 0; i < count; i++, memory->next += memory->stride)
        memcpy(memory->next, (const char *)rows + i * stride, memory->row_bytes);
    memory->count += count;
    return GCONV_OK;
}

static gconv_status move(void *user, uint32_t first, uint32_t count, gconv_error *error)
{
    gc_memory_source *memory = user;
    (void)count;
    (void)error;
    memory->next += first * memory->stride;
    return GCONV_OK;
}

gconv_source gc_source_of_memory(gc_memory_source *rows)
{
    return (gconv_source){.size = sizeof(gconv_source), .read = give, .user = rows, .select = move};
}

gconv_sink gc_sink_of_memory(gc_memory_sink *rows)
{
    return (gconv_sink){.size = sizeof(gconv_sink), .write = take, .user = rows};
}

gc_overlap gc_rows_overlap(const gc_memory_source *from, const gc_memory_sink *to, uint32_t height)
{
    gc_overlap overlap = GC_OVERLAP_NONE;
    uintptr_t input = (uintptr_t)from->next, output = (uintptr_t)to->next;
    for (uint32_t y = 0; y < height; y++) {
        uintptr_t begin = output + y * to->stride, end = begin + to->row_bytes;
        if (end <= input)
            continue;
        /* The last input row that begins before the output row ends: no row ends later. */
        uintptr_t last = (end - 1 - input) / from->stride;
        last = last < height ? last : height - 1;
        if (input + last * from->stride + from->row_bytes <= begin)
            continue;
        if (last > y)
            return GC_OVERLAP_BELOW;
        overlap = GC_OVERLAP_ABOVE;
    }
    return overlap;
}

bool gc_rows_are_aligned(const void *rows, size_t stride, int depth)
{
    size_t alignment = depth > 8 ? (size_t)depth / 8 : 1;
    return ((uintptr_t)rows | stride) % alignment == 0;
}

bool gc_is_same_shape(const gconv_shape *a, const gconv_shape *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth;
}
