#include "io/parts.h"

#include <stdlib.h>

void gc_parts_create(gc_parts *parts, gc_part_compress *compress, void *user)
{
    *parts = (gc_parts){.compress = compress, .user = user};
    pthread_mutex_init(&parts->lock, NULL);
    pthread_cond_init(&parts->compressed, NULL);
}

static void free_parts(gc_parts *parts)
{
    for (uint64_t n = parts->taken; n < parts->filled; n++)
        free(parts->waiting[n % GC_PARTS_MAX]);
    for (int i = 0; i < parts->spares; i++)
        free(parts->spare[i]);
    free(parts->filling);
}

void gc_parts_destroy(gc_parts *parts)
{
    free_parts(parts);
    pthread_cond_destroy(&parts->compressed);
    pthread_mutex_destroy(&parts->lock);
}

gconv_status gc_parts_begin(gc_parts *parts, size_t part_bytes, gconv_error *error)
{
    free_parts(parts);
    parts->filled = parts->begun = parts->taken = 0;
    parts->spares = parts->created = 0;
    parts->limit = GC_PARTS_MAX;
    parts->ended = false;
    parts->part_bytes = part_bytes;
    parts->filling = malloc(part_bytes);
    GC_TRY_MEMORY(parts->filling != NULL, error, part_bytes);
    parts->created = 1;
    return GCONV_OK;
}

/* Makes a part the next one to be filled, or keeps it. This function and the next two have the
 * lock. */
static void take_back(gc_parts *parts, gc_part *part)
{
    if (parts->filling == NULL)
        parts->filling = part;
    else
        parts->spare[parts->spares++] = part;
}

/* Finds a part to be filled while others wait. A thread that works alone uses a single part, which
 * stays in its cache. */
static void find_part(gc_parts *parts)
{
    int most = parts->most_busy > 1 ? parts->most_busy + 1 : 2;
    gc_part *part = NULL;
    if (parts->spares > 0) {
        part = parts->spare[--parts->spares];
    } else if (parts->helped && parts->created < most && parts->created < parts->limit) {
        part = malloc(parts->part_bytes);
        parts->created += part != NULL;
    }
    if (part != NULL)
        take_back(parts, part);
}

/* Compresses the next part, without the lock. */
static void compress_next(gc_parts *parts)
{
    gc_part *part = parts->waiting[parts->begun++ % GC_PARTS_MAX];
    int place = 0;
    while (parts->places[place])
        place++;
    parts->places[place] = true;
    parts->busy++;
    if (parts->busy > parts->most_busy)
        parts->most_busy = parts->busy;
    pthread_mutex_unlock(&parts->lock);
    parts->compress(parts->user, part, place);
    pthread_mutex_lock(&parts->lock);
    parts->places[place] = false;
    parts->busy--;
    part->compressed = true;
    pthread_cond_signal(&parts->compressed);
}

void gc_parts_push(gc_parts *parts, bool last)
{
    gc_part *part = parts->filling;
    pthread_mutex_lock(&parts->lock);
    part->compressed = false;
    parts->ended = last;
    parts->waiting[parts->filled++ % GC_PARTS_MAX] = part;
    parts->filling = NULL;
    if (!last)
        find_part(parts);
    pthread_mutex_unlock(&parts->lock);
}

gc_part *gc_parts_take(gc_parts *parts)
{
    gc_part *part = NULL;
    pthread_mutex_lock(&parts->lock);
    while (parts->taken < parts->filled) {
        gc_part *next = parts->waiting[parts->taken % GC_PARTS_MAX];
        if (next->compressed) {
            parts->taken++;
            part = next;
            break;
        }
        if (parts->helped && parts->filling != NULL && !parts->ended) /* the part may wait */
            break;
        if (parts->begun < parts->filled)
            compress_next(parts);
        else
            pthread_cond_wait(&parts->compressed, &parts->lock);
    }
    pthread_mutex_unlock(&parts->lock);
    return part;
}

void gc_parts_give_back(gc_parts *parts, gc_part *part)
{
    pthread_mutex_lock(&parts->lock);
    take_back(parts, part);
    pthread_mutex_unlock(&parts->lock);
}

bool gc_parts_help(gc_parts *parts)
{
    pthread_mutex_lock(&parts->lock);
    parts->helped = true;
    bool found = parts->begun < parts->filled;
    if (found)
        compress_next(parts);
    pthread_mutex_unlock(&parts->lock);
    return found;
}
