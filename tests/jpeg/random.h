/* Random numbers that a seed repeats. */
#pragma once

#include "../draw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct jpeg_random {
    uint64_t state;
} jpeg_random;

static inline uint64_t jpeg_random_next(jpeg_random *of)
{
    return splitmix64(&of->state);
}

/* From 0 to count-1. */
static inline size_t jpeg_random_below(jpeg_random *of, size_t count)
{
    return (size_t)(jpeg_random_next(of) % count);
}

/* One time in `count`. */
static inline bool jpeg_random_chance(jpeg_random *of, size_t count)
{
    return jpeg_random_below(of, count) == 0;
}

/* From 0 to 1. */
static inline double jpeg_random_part(jpeg_random *of)
{
    return (double)(jpeg_random_next(of) >> 11) / 9007199254740992.0;
}

/* Brings bytes into any order. */
static inline void jpeg_random_shuffle(jpeg_random *of, unsigned char *bytes, int count)
{
    for (int i = count - 1; i > 0; i--) {
        size_t j = jpeg_random_below(of, (size_t)i + 1);
        unsigned char kept = bytes[i];
        bytes[i] = bytes[j];
        bytes[j] = kept;
    }
}
