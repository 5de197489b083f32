#include "core/device_use.h"

#include "base/status.h"
#include "core/device.h"
#include "core/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Static_assert(GCONV_DEVICES_MAX <= 8 * sizeof(gc_device_set), "every device has a bit");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Sets ------------------------------------------------------------------------------------ */

static gc_device_set bit_of(int index)
{
    return (gc_device_set)1 << index;
}

static int count_cuda(void)
{
    return gconv_device_count() - 1;
}

static gconv_status describe(int index, gconv_device_info *info, gconv_error *error)
{
    return gc_device_describe(1 + index, info, error);
}

static gconv_status refuse_unusable(int index, const gconv_device_info *info, gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_DEVICE, "device cuda:%d is not usable: %s", index,
                   info->reason);
}

static gconv_status add_named(int index, gc_device_set *set, gconv_error *error)
{
    gconv_device_info info;
    GC_TRY(describe(index, &info, error));
    if (info.usable)
        *set |= bit_of(index);
    if (info.usable || gc_device_is_dropped(index))
        return GCONV_OK;
    return refuse_unusable(index, &info, error);
}

static void add_usable(gc_device_set *set)
{
    gconv_device_info info;
    for (int i = 0; i < count_cuda(); i++)
        if (describe(i, &info, NULL) == GCONV_OK && info.usable)
            *set |= bit_of(i);
}

gconv_status gc_device_set_of(const gconv_device_choice *choice, gc_device_set *set,
                              gconv_error *error)
{
    *set = 0;
    if ((!choice->any && choice->kind == GCONV_DEVICE_CPU) || count_cuda() == 0)
        return GCONV_OK;
    gconv_status status = GCONV_OK;
    if (choice->any || choice->all)
        add_usable(set);
    for (int i = 0; status == GCONV_OK && i < choice->count; i++)
        status = add_named(choice->indices[i], set, error);
    if (status != GCONV_OK || *set != 0 || choice->any)
        return status;
    gconv_device_info first;
    status = describe(choice->index, &first, error);
    return status == GCONV_OK ? refuse_unusable(choice->index, &first, error) : status;
}

gc_device_set gc_device_alone(int index)
{
    return bit_of(index);
}

int gc_device_first(gc_device_set set)
{
    int index = 0;
    while ((set & bit_of(index)) == 0)
        index++;
    return index;
}

gc_device_set gc_devices_like(const gconv_device_info *info, gc_device_set set)
{
    gc_device_set like = set & bit_of(info->index);
    for (int i = 0; i < count_cuda(); i++) {
        gconv_device_info other;
        if ((set & bit_of(i)) == 0 || describe(i, &other, NULL) != GCONV_OK)
            continue;
        other.index = info->index;
        if (memcmp(&other, info, sizeof other) == 0)
            like |= bit_of(i);
    }
    return like;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int plans[GCONV_DEVICES_MAX]; /* that live, by device */

int gc_device_take(gc_device_set set)
{
    int best = gc_device_first(set);
    pthread_mutex_lock(&lock);
    for (int i = best + 1; i < GCONV_DEVICES_MAX; i++)
        if ((set & bit_of(i)) != 0 && plans[i] < plans[best])
            best = i;
    plans[best]++;
    pthread_mutex_unlock(&lock);
    return best;
}

void gc_device_give(int index)
{
    pthread_mutex_lock(&lock);
    plans[index]--;
    pthread_mutex_unlock(&lock);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Devices that are dropped, in the order of their failures. */
typedef struct loss {
    int index;
    gconv_error failure;
    char message[512]; /* for people */
} loss;
static loss losses[GCONV_DEVICES_MAX];
static int loss_count;

/* NULL if the device is not dropped. The caller holds the lock. */
static const loss *find_loss(int index)
{
    for (int i = 0; i < loss_count; i++)
        if (losses[i].index == index)
            return &losses[i];
    return NULL;
}

static void add_loss(const gconv_device_info *device, const gconv_error *failure)
{
    loss *added = &losses[loss_count++];
    added->index = device->index;
    added->failure = *failure;
    snprintf(added->message, sizeof added->message,
             "cuda:%d (%s) failed and is not used any more: %.300s", device->index, device->name,
             failure->message);
}

/* Drops a device after this failure. gconv_device_loss tells of it. */
static void drop(const gconv_device_info *device, const gconv_error *failure)
{
    pthread_mutex_lock(&lock);
    if (find_loss(device->index) == NULL)
        add_loss(device, failure);
    pthread_mutex_unlock(&lock);
}

bool gc_device_is_dropped(int index)
{
    pthread_mutex_lock(&lock);
    bool dropped = find_loss(index) != NULL;
    pthread_mutex_unlock(&lock);
    return dropped;
}

void gc_device_describe_loss(gconv_device_info *info)
{
    pthread_mutex_lock(&lock);
    const loss *found = find_loss(info->index);
    if (found != NULL) {
        info->usable = false;
        snprintf(info->reason, sizeof info->reason, "it failed before: %.200s",
                 found->failure.message);
    }
    pthread_mutex_unlock(&lock);
}

const char *gconv_device_loss(int index)
{
    pthread_mutex_lock(&lock);
    const char *message = index >= 0 && index < loss_count ? losses[index].message : NULL;
    pthread_mutex_unlock(&lock);
    return message;
}

void gc_device_judge(int index, const gconv_error *failure)
{
    gconv_device_info device;
    if (gc_device_is_dropped(index) || describe(index, &device, NULL) != GCONV_OK ||
        gc_gpu_works(index))
        return;
    drop(&device, failure);
}
