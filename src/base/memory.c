#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool gc_multiply(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

bool gc_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

void *gc_allocate_array(size_t count, size_t size)
{
    size_t bytes;
    if (!gc_multiply(count, size, &bytes))
        return NULL;
    return malloc(bytes > 0 ? bytes : 1);
}

void *gc_allocate_aligned(size_t count, size_t size)
{
    size_t bytes;
    if (!gc_multiply(count, size, &bytes) || !gc_add(bytes, GC_ALIGNMENT - 1, &bytes))
        return NULL;
    bytes -= bytes % GC_ALIGNMENT;
    return aligned_alloc(GC_ALIGNMENT, bytes > 0 ? bytes : GC_ALIGNMENT);
}

void *gc_make_room(void *array, size_t count, size_t *capacity, size_t size)
{
    enum { FIRST_CAPACITY = 16 };
    if (count < *capacity)
        return array;
    size_t larger = FIRST_CAPACITY, bytes;
    if ((*capacity > 0 && !gc_multiply(*capacity, 2, &larger)) ||
        !gc_multiply(larger, size, &bytes))
        return NULL;
    void *longer = realloc(array, bytes);
    if (longer != NULL)
        *capacity = larger;
    return longer;
}

char *gc_copy_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}
