#include "io/tiff/ahead.h"

#include "io/parts.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 16 << 20 /* of units that are decoded and not yet wanted */ };

typedef struct unit {
    gc_part head;
    uint64_t number; /* in the order in which units are wanted */
    bool done;
    _Alignas(16) unsigned char bytes[];
} unit;

struct gc_tiff_ahead {
    gc_tiff_file *file;
    uint64_t directory;
    gc_tiff_number *number;
    const void *user;
    pthread_mutex_t guard; /* of the file */
    uint64_t next, end;    /* units that were not handed over */
    gc_parts units;
    gc_tiff_file files[GC_PARTS_MAX]; /* of threads that decode */
};

static bool decode_unit(gc_tiff_ahead *ahead, gc_tiff_file *file, unit *decoded)
{
    size_t size;
    uint32_t number = ahead->number(ahead->user, decoded->number, &size);
    if (file->tiff == NULL && gc_tiff_open_again(file, ahead->file, ahead->directory) != GCONV_OK)
        return false;
    file->failure.status = GCONV_OK;
    file->warned = 0;
    memset(decoded->bytes, 0, size);
    return gc_tiff_decode(file, number, decoded->bytes, size) && file->warned == 0 &&
           file->failure.status == GCONV_OK;
}

/* A gc_part_compress. */
static void decode(void *user, gc_part *part, int place)
{
    gc_tiff_ahead *ahead = user;
    unit *decoded = (unit *)part;
    decoded->done = decode_unit(ahead, &ahead->files[place], decoded);
}

gc_tiff_ahead *gc_tiff_ahead_create(gc_tiff_file *file, int threads, uint64_t units,
                                    size_t unit_bytes, gc_tiff_number *number, const void *user)
{
    bool useful = threads > 1 && units > 1 && unit_bytes <= BYTES_MAX / 2;
    gc_tiff_ahead *ahead = useful ? calloc(1, sizeof *ahead) : NULL;
    if (ahead == NULL)
        return NULL;
    gc_parts_create(&ahead->units, decode, ahead);
    if (gc_parts_begin(&ahead->units, sizeof(unit) + unit_bytes, NULL) != GCONV_OK) {
        gc_parts_destroy(&ahead->units);
        free(ahead);
        return NULL;
    }
    ahead->units.limit = (int)(BYTES_MAX / unit_bytes);
    ahead->file = file;
    ahead->directory = gc_tiff.TIFFCurrentDirOffset(file->tiff);
    ahead->number = number;
    ahead->user = user;
    ahead->end = units;
    pthread_mutex_init(&ahead->guard, NULL);
    file->guard = &ahead->guard;
    return ahead;
}

bool gc_tiff_ahead_help(gc_tiff_ahead *ahead)
{
    return gc_parts_help(&ahead->units);
}

bool gc_tiff_ahead_take(gc_tiff_ahead *ahead, uint64_t wanted, unsigned char *bytes)
{
    uint64_t number;
    size_t size;
    bool done;
    ahead->number(ahead->user, wanted, &size);
    if (ahead->next < wanted) /* what was not handed over is passed over */
        ahead->next = wanted;
    do {
        for (; ahead->units.filling != NULL && ahead->next < ahead->end; ahead->next++) {
            ((unit *)ahead->units.filling)->number = ahead->next;
            gc_parts_push(&ahead->units, ahead->next + 1 == ahead->end);
        }
        unit *taken = (unit *)gc_parts_take(&ahead->units);
        number = taken->number;
        done = taken->done;
        if (number == wanted && done)
            memcpy(bytes, taken->bytes, size);
        gc_parts_give_back(&ahead->units, &taken->head);
    } while (number < wanted);
    return done;
}

void gc_tiff_ahead_free(gc_tiff_ahead *ahead)
{
    if (ahead == NULL)
        return;
    ahead->file->guard = NULL;
    for (int i = 0; i < GC_PARTS_MAX; i++)
        gc_tiff_close(&ahead->files[i]);
    gc_parts_destroy(&ahead->units);
    pthread_mutex_destroy(&ahead->guard);
    free(ahead);
}
