/* CUDA devices that this process does not use any more, because nothing works on them. */
#ifndef GC_CORE_DEVICE_LOSS_H
#define GC_CORE_DEVICE_LOSS_H

#include "gconv.h"

/* Drops a device after this failure. gconv_device_loss tells of it. */
void gc_device_drop(const gconv_device_info *device, const gconv_error *failure);

bool gc_device_is_dropped(int index);

/* Puts into the description of a device that is dropped that it is not usable, and why. */
void gc_device_describe_loss(gconv_device_info *info);

#endif
