/* A map from hashes to numbers, of 16 bytes an entry. It keeps 80 bits of a hash: of ten million
 * keys two are taken for one with a probability of 4e-11. */
#pragma once

#include "base/hash.h"

#include <stdbool.h>

typedef struct gc_map_entry {
    uint64_t key;
    uint64_t rest; /* 16 more bits of the key above 48 of the number; 0 there: the entry is free */
} gc_map_entry;

typedef struct gc_map {
    gc_map_entry *entries; /* owned */
    size_t count, room;    /* room: a power of two, or 0 */
} gc_map;

/* The number of a key; 0 if the map does not have it. */
uint64_t gc_map_find(const gc_map *map, gc_hash key);

/* Gives a key a number, which is above 0 and below 2^48. False if memory is out. */
bool gc_map_set(gc_map *map, gc_hash key, uint64_t number);

/* Adds what an entry of another map holds. False if memory is out. */
bool gc_map_add(gc_map *map, gc_map_entry entry);

/* The number in an entry from 0 to `room` - 1; 0: the entry is free. */
uint64_t gc_map_number_at(const gc_map *map, size_t index);

void gc_map_free(gc_map *map);
