/* What is known to be fastest on a device: what `gconv tune` found on this machine, what was found
 * before and is shipped, else gc_tuning_default. Plain C: needs no GPU. */
#ifndef GC_GPU_TUNING_H
#define GC_GPU_TUNING_H

#include "gpu/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tuning for a layout whose tuning.form says GC_FORM_RANK1, or any other form. */
gc_tuning gc_tuning_of(const gconv_device_info *device, const gc_layout *layout);

#ifdef __cplusplus
}
#endif

#endif
