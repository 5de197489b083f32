/* Measures a device at its first use on this machine. Later processes reckon with the figures
 * (gc_costs_of). */
#ifndef GC_GPU_PLAN_FIRST_USE_CUH
#define GC_GPU_PLAN_FIRST_USE_CUH

#include "gconv.h"

/* Measures the device, which is current, if no figures are kept for it: a few milliseconds, once in
 * a process. `context_seconds` is what making its context took. A failure has no consequence but
 * that a later process tries again. */
void gc_measure_device(const gconv_device_info *device, double context_seconds);

#endif
