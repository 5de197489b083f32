#include "gpu/cost/measured.h"

#include "base/cache.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Figures that can be right --------------------------------------------------------------- */

/* A figure that is not between the two is a mistake: a clock that was set, a device that another
 * process kept busy. */
static double within(double figure, double low, double high)
{
    return figure >= low && figure <= high ? figure : 0;
}

static gc_measured plausible(const gc_measured *figures)
{
    return (gc_measured){
        .start_seconds = within(figures->start_seconds, 0.02, 10),
        .pinned_upload_rate = within(figures->pinned_upload_rate, 1e8, 1e12),
        .pinned_download_rate = within(figures->pinned_download_rate, 1e8, 1e12),
        .memory_rate = within(figures->memory_rate, 1e9, 1e14),
    };
}

/* Replaces a figure if the newer one differs by more than a tenth, and says so. */
static bool replace(double *figure, double newer)
{
    if (newer <= 0 || fabs(newer - *figure) <= 0.1 * *figure)
        return false;
    *figure = newer;
    return true;
}

/* ---- The cache ------------------------------------------------------------------------------- */

static const char kind[] = "costs";

/* Changes with gc_measured and the meaning of its figures. What is kept in another format is not
 * found: the device is measured again. */
static const char format[] = "figures of a GPU, 2";

static gc_hash key_of(const gconv_device_info *device)
{
    gc_hash hash = gc_hash_string(gc_hash_start(), format);
    hash = gc_hash_string(hash, device != NULL ? device->name : "");
    int driver = device != NULL ? device->driver_version : 0;
    return gc_hash_bytes(hash, &driver, sizeof driver);
}

gc_measured gc_measured_load(const gconv_device_info *device)
{
    gc_measured figures = {0};
    void *bytes;
    size_t size;
    if (gc_cache_load(kind, key_of(device), &bytes, &size, NULL) != GCONV_OK)
        return figures;
    if (size == sizeof figures)
        memcpy(&figures, bytes, size);
    free(bytes);
    return plausible(&figures);
}

/* A failure has no consequence but that the device is measured again. */
static void keep_under(const gconv_device_info *device, const gc_measured *kept)
{
    gc_cache_store(kind, key_of(device), kept, sizeof *kept, NULL);
}

void gc_measured_keep(const gconv_device_info *device, const gc_measured *figures)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    gc_measured newer = plausible(figures);
    pthread_mutex_lock(&mutex);
    gc_measured kept = gc_measured_load(device);
    bool changed = replace(&kept.start_seconds, newer.start_seconds);
    changed = replace(&kept.pinned_upload_rate, newer.pinned_upload_rate) || changed;
    changed = replace(&kept.pinned_download_rate, newer.pinned_download_rate) || changed;
    changed = replace(&kept.memory_rate, newer.memory_rate) || changed;
    if (changed) {
        keep_under(device, &kept);
        keep_under(NULL, &kept);
    }
    pthread_mutex_unlock(&mutex);
}
