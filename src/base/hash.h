/* FNV-1a of 128 bits: names the entries of the cache and finds damage. It is no defence against
 * attack. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gc_hash {
    uint64_t high;
    uint64_t low;
} gc_hash;

/* The hash of nothing. */
gc_hash gc_hash_start(void);

/* The hash of the bytes that `hash` stands for, followed by `size` more. */
gc_hash gc_hash_bytes(gc_hash hash, const void *bytes, size_t size);

/* gc_hash_bytes of a string and its NUL, so that {"ab", "c"} and {"a", "bc"} differ. */
gc_hash gc_hash_string(gc_hash hash, const char *text);

bool gc_hash_is_same(gc_hash a, gc_hash b);
