/* Sizes with overflow checks, and the allocations that use them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Rows that the CPU convolves start on this boundary: one cache line, one AVX-512 vector. */
enum { GC_ALIGNMENT = 64 };

/* The least multiple of it that is not below `bytes`. */
static inline size_t gc_aligned(size_t bytes)
{
    return (bytes + GC_ALIGNMENT - 1) / GC_ALIGNMENT * GC_ALIGNMENT;
}

/* *product = a * b, or false when that overflows. */
bool gc_multiply(size_t a, size_t b, size_t *product);

/* *sum = a + b, or false when that overflows. */
bool gc_add(size_t a, size_t b, size_t *sum);

/* count * size bytes, not zeroed, NULL on overflow or when memory is out. Freed with free. */
void *gc_allocate_array(size_t count, size_t size);

/* gc_allocate_array on a GC_ALIGNMENT boundary. Freed with free. */
void *gc_allocate_aligned(size_t count, size_t size);

/* Room for one more entry in an array of `count` entries of `size` bytes, which has room for
 * *capacity. Returns the array, whose address may change. NULL when memory is out: the array stays
 * as it was. Freed with free. */
void *gc_make_room(void *array, size_t count, size_t *capacity, size_t size);

/* A copy of a string, NULL when memory is out. Freed with free. */
char *gc_copy_string(const char *text);
