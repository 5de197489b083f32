/* XXH3 for processors with AVX2. xxHash chooses vectors when it is compiled. */
#pragma once

#include <stddef.h>

/* XXH3_128bits_update; `state` is an XXH3_state_t. */
void gc_xxh3_update_avx2(void *state, const void *bytes, size_t size);
