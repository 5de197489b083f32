/* The registry: the table of every implementation there is. */
#ifndef GC_CORE_REGISTRY_H
#define GC_CORE_REGISTRY_H

#include "core/implementation.h"

int gc_implementation_count(void);
const gc_implementation *gc_implementation_at(int index);

/* NULL where there is none. */
const gc_implementation *gc_implementation_named(const char *name);

/* Whether an implementation can run on this machine at all; on a CUDA one, on device cuda:`index`.
 * Fills `device` with the device it runs on. */
gconv_status gc_implementation_device(const gc_implementation *implementation, int cuda_index,
                                      gconv_device_info *device, gconv_error *error);

#endif
