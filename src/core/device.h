/* What the core asks of GPUs, beside the list of devices in gconv.h. device.c is the core's only way
 * to the GPU part. */
#ifndef GC_CORE_DEVICE_H
#define GC_CORE_DEVICE_H

#include "core/problem.h"

/* Whether a plan of this process uses or has used a GPU. */
bool gc_device_started(void);

/* Whether calls to a CUDA device still succeed (gc_gpu_works). */
bool gc_device_works(int index);

/* Seconds that all images of a problem take at least on a GPU that is not in use. */
double gc_device_least_seconds(const gc_problem *problem);

#endif
