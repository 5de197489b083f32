/* XXH3 compiled for AVX2, which takes half of the time. The hashes are the same. */
#include "base/xxh3_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

void gc_xxh3_update_avx2(void *state, const void *bytes, size_t size)
{
    XXH3_128bits_update(state, bytes, size);
}
