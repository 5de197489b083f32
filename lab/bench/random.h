/* Random numbers that are the same everywhere, for images, filters and places. */
#pragma once

#include <stdint.h>

/* The high bits of a linear congruential generator (Knuth, The Art of Computer Programming, volume
 * 2, section 3.3.4): a number below 2^31. */
static inline uint32_t gc_next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}
