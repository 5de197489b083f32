/* Random numbers that are the same everywhere, drawn from a seed and the number of the case, or
 * first from bytes that a fuzzer chooses. */
#pragma once

#include "../draw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct check_random {
    uint64_t state;
    const unsigned char *bytes; /* the next numbers begin with these */
    size_t left;
} check_random;

static inline uint64_t check_next(check_random *random)
{
    uint64_t z = splitmix64(&random->state);
    if (random->left == 0)
        return z;
    random->left--;
    return (uint64_t)*random->bytes++ << 56 | z >> 8;
}

/* A generator of its own for case `index` of a seed. */
static inline check_random check_random_for(uint64_t seed, uint64_t index)
{
    check_random random = {.state = seed};
    random.state = check_next(&random) + index * 0xd1342543de82ef95u;
    return random;
}

/* From 0 to count-1. */
static inline uint32_t check_below(check_random *random, uint32_t count)
{
    return (uint32_t)((check_next(random) >> 32) * count >> 32);
}

/* From low to high, both included. */
static inline int check_between(check_random *random, int low, int high)
{
    return low + (int)check_below(random, (uint32_t)(high - low + 1));
}

/* True once in `times`. */
static inline bool check_once_in(check_random *random, uint32_t times)
{
    return check_below(random, times) == 0;
}

/* From 0 to less than 1. */
static inline double check_unit(check_random *random)
{
    return (double)(check_next(random) >> 11) * 0x1p-53;
}
