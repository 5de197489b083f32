#include "cli/tasks/seen.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

static gc_seen_entry make_entry(gc_hash name, gc_seen_kind kind, uint32_t number)
{
    uint32_t low = (uint32_t)(name.low >> 32);
    low = (low & ~UINT32_C(1)) | (kind == GC_SEEN_OUTPUT ? 1 : 0);
    return (gc_seen_entry){name.high ^ name.low, low, number};
}

/* The place of an entry of the same name and kind, or the free place for it. */
static gc_seen_entry *find_place(const gc_seen *seen, const gc_seen_entry *wanted)
{
    uint64_t mixed = (wanted->high + wanted->low) * UINT64_C(0x9E3779B97F4A7C15);
    size_t place = (size_t)(mixed >> 20) & (seen->room - 1);
    gc_seen_entry *entry = &seen->entries[place];
    while (entry->number != 0 && (entry->high != wanted->high || entry->low != wanted->low)) {
        place = (place + 1) & (seen->room - 1);
        entry = &seen->entries[place];
    }
    return entry;
}

uint32_t gc_seen_find(const gc_seen *seen, gc_hash name, gc_seen_kind kind)
{
    gc_seen_entry wanted = make_entry(name, kind, 1);
    return seen->count > 0 ? find_place(seen, &wanted)->number : 0;
}

static bool grow(gc_seen *seen)
{
    gc_seen larger = {.count = seen->count, .room = seen->room > 0 ? 2 * seen->room : FIRST_ROOM};
    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < seen->room; i++)
        if (seen->entries[i].number != 0)
            *find_place(&larger, &seen->entries[i]) = seen->entries[i];
    free(seen->entries);
    *seen = larger;
    return true;
}

bool gc_seen_add(gc_seen *seen, gc_hash name, gc_seen_kind kind, uint32_t number)
{
    if (4 * (seen->count + 1) > 3 * seen->room && !grow(seen))
        return false;
    gc_seen_entry entry = make_entry(name, kind, number);
    *find_place(seen, &entry) = entry;
    seen->count++;
    return true;
}

void gc_seen_free(gc_seen *seen)
{
    free(seen->entries);
    *seen = (gc_seen){.entries = NULL};
}
