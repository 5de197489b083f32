/* The tunings that `gconv tune` found on this machine: an entry of the cache for each device. */
#include "gpu/tunings/tuning.h"

#include "base/cache.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const char kind[] = "tunings";

/* Changes with gc_tuned and the meaning of its members. What is kept in another format is not
 * found. */
static const char format[] = "tunings of a GPU, 1";

static gc_hash key_of(const gconv_device_info *device)
{
    gc_hash hash = gc_hash_string(gc_hash_start(), format);
    hash = gc_hash_string(hash, gconv_version());
    hash = gc_hash_string(hash, device->name);
    return gc_hash_bytes(hash, &device->driver_version, sizeof device->driver_version);
}

static int find_same(const gc_tuned_list *list, const gc_tuned *wanted)
{
    for (int i = 0; i < list->count; i++) {
        const gc_tuned *entry = &list->entries[i];
        if (entry->width == wanted->width && entry->height == wanted->height &&
            entry->input == wanted->input && entry->output == wanted->output &&
            gc_forms_compete(entry->tuning.form, wanted->tuning.form))
            return i;
    }
    return -1;
}

void gc_tuning_read(const gconv_device_info *device, gc_tuned_list *list)
{
    void *bytes;
    size_t size;
    list->count = 0;
    if (gc_cache_load(kind, key_of(device), &bytes, &size, NULL) != GCONV_OK)
        return;
    if (size <= sizeof list->entries && size % sizeof list->entries[0] == 0) {
        memcpy(list->entries, bytes, size);
        list->count = (int)(size / sizeof list->entries[0]);
    }
    free(bytes);
}

const gc_tuned *gc_tuned_find(const gc_tuned_list *list, const gc_layout *layout)
{
    gc_tuned wanted = {.width = layout->width,
                       .height = layout->height,
                       .input = layout->input,
                       .output = layout->output,
                       .tuning = layout->tuning};
    int found = find_same(list, &wanted);
    return found >= 0 ? &list->entries[found] : NULL;
}

static gconv_status put(gc_tuned_list *list, const gc_tuned *found, gconv_error *error)
{
    int entry = find_same(list, found);
    if (entry < 0 && list->count == GC_TUNED_MAX)
        return gc_fail(error, GCONV_ERROR_LIMIT, "no more tunings can be kept");
    list->entries[entry < 0 ? list->count++ : entry] = *found;
    return GCONV_OK;
}

gconv_status gc_tuning_keep(const gconv_device_info *device, const gc_tuned *found,
                            gconv_error *error)
{
    gc_tuned_list *list = malloc(sizeof *list);
    GC_TRY_MEMORY(list != NULL, error, sizeof *list);
    int lock = -1;
    gconv_status status = gc_cache_lock(&lock, error);
    if (status == GCONV_OK) {
        gc_tuning_read(device, list);
        if (found != NULL)
            status = put(list, found, error);
        GC_THEN(status, gc_cache_store(kind, key_of(device), list->entries,
                                       (size_t)list->count * sizeof list->entries[0], error));
        gc_cache_unlock(lock);
    }
    free(list);
    return status;
}
