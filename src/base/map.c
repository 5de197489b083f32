#include "base/map.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024, NUMBER_BITS = 48 };

static const uint64_t number_mask = (UINT64_C(1) << NUMBER_BITS) - 1;

static gc_map_entry make_entry(gc_hash key, uint64_t number)
{
    return (gc_map_entry){key.high ^ key.low, (key.low & ~number_mask) | number};
}

/* The entry of the same key, or the free one for it. */
static gc_map_entry *find_place(const gc_map *map, gc_map_entry wanted)
{
    const size_t mask = map->room - 1;
    /* 2^64 over the golden ratio spreads the bits upwards. */
    size_t place = (size_t)((wanted.key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & mask;
    for (;; place = (place + 1) & mask) {
        gc_map_entry *entry = &map->entries[place];
        bool same = entry->key == wanted.key && (entry->rest ^ wanted.rest) >> NUMBER_BITS == 0;
        if (same || (entry->rest & number_mask) == 0)
            return entry;
    }
}

uint64_t gc_map_find(const gc_map *map, gc_hash key)
{
    return map->count > 0 ? find_place(map, make_entry(key, 0))->rest & number_mask : 0;
}

static bool grow(gc_map *map)
{
    gc_map larger = {.count = map->count, .room = map->room > 0 ? 2 * map->room : FIRST_ROOM};
    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < map->room; i++)
        if (gc_map_number_at(map, i) != 0)
            *find_place(&larger, map->entries[i]) = map->entries[i];
    free(map->entries);
    *map = larger;
    return true;
}

bool gc_map_add(gc_map *map, gc_map_entry entry)
{
    if ((entry.rest & number_mask) == 0)
        return true;
    if (4 * (map->count + 1) > 3 * map->room && !grow(map))
        return false;
    gc_map_entry *place = find_place(map, entry);
    map->count += (place->rest & number_mask) == 0;
    *place = entry;
    return true;
}

bool gc_map_set(gc_map *map, gc_hash key, uint64_t number)
{
    return gc_map_add(map, make_entry(key, number));
}

uint64_t gc_map_number_at(const gc_map *map, size_t index)
{
    return map->entries[index].rest & number_mask;
}

void gc_map_free(gc_map *map)
{
    free(map->entries);
    *map = (gc_map){.entries = NULL};
}
