#include "io/tiff/ahead.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    HELPERS_MAX = 16,
    SLOTS_MAX = 3 * HELPERS_MAX,
    BYTES_MAX = 16 << 20 /* of units that are decoded and not yet wanted */
};

typedef enum unit_state { OPEN = 0, TAKEN, DONE, FAILED } unit_state;

struct gc_tiff_ahead {
    gc_tiff_file *file;
    uint64_t directory;
    gc_tiff_number *number;
    const void *user;
    size_t unit_bytes;
    unsigned char *bytes;
    pthread_mutex_t guard; /* of the file */
    pthread_mutex_t lock;  /* of all below; unit `i` has slot i % slots */
    pthread_cond_t settled;
    uint64_t wanted, end; /* units that were not asked for */
    uint32_t slots;       /* of them, these may be decoded */
    unit_state states[SLOTS_MAX];
    bool busy[HELPERS_MAX];
    gc_tiff_file files[HELPERS_MAX];
};

gc_tiff_ahead *gc_tiff_ahead_create(gc_tiff_file *file, int threads, uint64_t units,
                                    size_t unit_bytes, gc_tiff_number *number, const void *user)
{
    size_t slots = 3 * (size_t)(threads < HELPERS_MAX ? threads : HELPERS_MAX);
    slots = slots * unit_bytes < BYTES_MAX ? slots : BYTES_MAX / unit_bytes;
    gc_tiff_ahead *ahead = threads > 1 && slots > 1 && units > 1 ? calloc(1, sizeof *ahead) : NULL;
    if (ahead == NULL)
        return NULL;
    ahead->bytes = gc_allocate_array(slots, unit_bytes);
    if (ahead->bytes == NULL) {
        free(ahead);
        return NULL;
    }
    ahead->file = file;
    ahead->directory = gc_tiff.TIFFCurrentDirOffset(file->tiff);
    ahead->number = number;
    ahead->user = user;
    ahead->unit_bytes = unit_bytes;
    ahead->end = units;
    ahead->slots = (uint32_t)slots;
    pthread_mutex_init(&ahead->guard, NULL);
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->settled, NULL);
    file->guard = &ahead->guard;
    return ahead;
}

/* The first unit that nobody decodes, and a file for it; false if either lacks. */
static bool claim(gc_tiff_ahead *ahead, uint64_t *unit, int *helper)
{
    *unit = ahead->wanted;
    *helper = 0;
    uint64_t end = ahead->end - *unit < ahead->slots ? ahead->end : *unit + ahead->slots;
    while (*unit < end && ahead->states[*unit % ahead->slots] != OPEN)
        ++*unit;
    while (*helper < HELPERS_MAX && ahead->busy[*helper])
        ++*helper;
    if (*unit == end || *helper == HELPERS_MAX)
        return false;
    ahead->states[*unit % ahead->slots] = TAKEN;
    ahead->busy[*helper] = true;
    return true;
}

static bool decode(gc_tiff_ahead *ahead, gc_tiff_file *file, uint64_t unit)
{
    unsigned char *bytes = ahead->bytes + unit % ahead->slots * ahead->unit_bytes;
    size_t size;
    uint32_t number = ahead->number(ahead->user, unit, &size);
    if (file->tiff == NULL && gc_tiff_open_again(file, ahead->file, ahead->directory) != GCONV_OK)
        return false;
    file->failure.status = GCONV_OK;
    file->warned = 0;
    memset(bytes, 0, size);
    tmsize_t got = gc_tiff.TIFFIsTiled(file->tiff)
                       ? gc_tiff.TIFFReadEncodedTile(file->tiff, number, bytes, (tmsize_t)size)
                       : gc_tiff.TIFFReadEncodedStrip(file->tiff, number, bytes, (tmsize_t)size);
    return got >= (tmsize_t)size && file->warned == 0 && file->failure.status == GCONV_OK;
}

bool gc_tiff_ahead_help(gc_tiff_ahead *ahead)
{
    uint64_t unit;
    int helper;
    pthread_mutex_lock(&ahead->lock);
    bool claimed = claim(ahead, &unit, &helper);
    pthread_mutex_unlock(&ahead->lock);
    if (!claimed)
        return false;
    bool done = decode(ahead, &ahead->files[helper], unit);
    pthread_mutex_lock(&ahead->lock);
    ahead->states[unit % ahead->slots] = done ? DONE : FAILED;
    ahead->busy[helper] = false;
    pthread_cond_broadcast(&ahead->settled);
    pthread_mutex_unlock(&ahead->lock);
    return true;
}

bool gc_tiff_ahead_take(gc_tiff_ahead *ahead, uint64_t unit, unsigned char *bytes)
{
    unit_state state = OPEN;
    size_t size;
    pthread_mutex_lock(&ahead->lock);
    for (; ahead->wanted <= unit; ahead->wanted++) { /* those before were passed over */
        unit_state *slot = &ahead->states[ahead->wanted % ahead->slots];
        while (*slot == TAKEN)
            pthread_cond_wait(&ahead->settled, &ahead->lock);
        state = *slot;
        *slot = ahead->wanted < unit ? OPEN : TAKEN; /* until it is copied */
    }
    pthread_mutex_unlock(&ahead->lock);
    ahead->number(ahead->user, unit, &size);
    if (state == DONE)
        memcpy(bytes, ahead->bytes + unit % ahead->slots * ahead->unit_bytes, size);
    pthread_mutex_lock(&ahead->lock);
    ahead->states[unit % ahead->slots] = OPEN;
    pthread_mutex_unlock(&ahead->lock);
    return state == DONE;
}

void gc_tiff_ahead_free(gc_tiff_ahead *ahead)
{
    if (ahead == NULL)
        return;
    ahead->file->guard = NULL;
    for (int i = 0; i < HELPERS_MAX; i++)
        gc_tiff_close_again(&ahead->files[i]);
    pthread_mutex_destroy(&ahead->guard);
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->settled);
    free(ahead->bytes);
    free(ahead);
}
