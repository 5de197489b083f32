/* Which names a stream of tasks had already. A name takes 16 bytes. */
#ifndef GC_CLI_TASKS_SEEN_H
#define GC_CLI_TASKS_SEEN_H

#include "base/hash.h"
#include "gconv.h"

typedef enum gc_seen_kind { GC_SEEN_INPUT, GC_SEEN_OUTPUT } gc_seen_kind;

typedef struct gc_seen_entry {
    uint64_t high;
    uint32_t low;    /* its lowest bit is the kind */
    uint32_t number; /* of a name, from 1; 0: the entry is free */
} gc_seen_entry;

typedef struct gc_seen {
    gc_seen_entry *entries;
    size_t count, room; /* room: a power of two, or 0 */
} gc_seen;

/* The number under which a name was noted; 0 where it was not. */
uint32_t gc_seen_find(const gc_seen *seen, gc_hash name, gc_seen_kind kind);

/* Notes a name that was not noted. False where there is no memory. */
bool gc_seen_add(gc_seen *seen, gc_hash name, gc_seen_kind kind, uint32_t number);

void gc_seen_free(gc_seen *seen);

#endif
