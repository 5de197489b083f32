/* What was measured on a GPU of this machine, kept in the cache for later processes. Plain C: needs
 * no GPU. */
#pragma once

#include "gconv.h"

/* Figures of a device, as in gc_costs. 0: not measured. */
typedef struct gc_measured {
    double start_seconds;
    double pinned_upload_rate, pinned_download_rate;
    double memory_rate;
} gc_measured;

/* The figures that are kept for this device and driver, all 0 if there are none. NULL: those of the
 * device that was measured last. */
gc_measured gc_measured_load(const gconv_device_info *device);

/* Keeps the figures that are not 0, in place of those that were kept before and differ by more than
 * a tenth. A figure that cannot be right is dropped. */
void gc_measured_keep(const gconv_device_info *device, const gc_measured *figures);
