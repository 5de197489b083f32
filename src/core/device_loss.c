#include "core/device_loss.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

void gc_device_drop(const gconv_device_info *device, const gconv_error *failure)
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
