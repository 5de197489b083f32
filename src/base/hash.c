/* G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, T. Hansen: The FNV Non-Cryptographic Hash Algorithm
 * (draft-eastlake-fnv), sections 2 and 5: offset basis, prime, and the order of FNV-1a. */
#include "base/hash.h"

#include <string.h>

gc_hash gc_hash_start(void)
{
    return (gc_hash){UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d)};
}

/* Times the prime, 2^88 + 0x13b, modulo 2^128. */
static gc_hash times_prime(gc_hash hash)
{
    uint64_t bottom = (hash.low & UINT32_MAX) * 0x13b;
    uint64_t middle = (hash.low >> 32) * 0x13b + (bottom >> 32);
    return (gc_hash){.high = hash.high * 0x13b + (middle >> 32) + (hash.low << (88 - 64)),
                     .low = middle << 32 | (bottom & UINT32_MAX)};
}

gc_hash gc_hash_bytes(gc_hash hash, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;
    for (size_t i = 0; i < size; i++) {
        hash.low ^= next[i];
        hash = times_prime(hash);
    }
    return hash;
}

gc_hash gc_hash_string(gc_hash hash, const char *text)
{
    return gc_hash_bytes(hash, text, strlen(text) + 1);
}

bool gc_hash_is_same(gc_hash a, gc_hash b)
{
    return a.high == b.high && a.low == b.low;
}
