/* Random numbers that are the same everywhere, and memory, for tests that draw what they try. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The next number (Steele, Lea, Flood 2014). Every state is good, so seeds may be small numbers. */
static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t draw_state = 1;

/* From 0 to count-1. */
static inline unsigned draw(unsigned count)
{
    return (unsigned)(splitmix64(&draw_state) >> 32) % count;
}

static inline void *must_have(void *memory)
{
    if (memory != NULL)
        return memory;
    fprintf(stderr, "no memory\n");
    exit(1);
}
