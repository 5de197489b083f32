/* What the core asks of GPUs, beside the list of devices in gconv.h. device.c, and caller_memory.c
 * for memory of the host, are the core's only way to the GPU part. */
#ifndef GC_CORE_DEVICE_H
#define GC_CORE_DEVICE_H

#include "core/problem.h"

/* gconv_device_parse and gconv_device_describe for structures of the library's own. */
gconv_status gc_device_parse(const char *text, gconv_device_choice *choice, gconv_error *error);
gconv_status gc_device_describe(int index, gconv_device_info *info, gconv_error *error);

/* gconv_device_peak of such a structure. */
double gc_device_peak(const gconv_device_info *info);

/* Whether a GPU has started. */
bool gc_device_started(void);

/* Whether nothing has to be waited for before GPUs can be used, or are known to be missing. */
bool gc_device_ready(void);

/* Whether calls to a CUDA device still succeed (gc_gpu_works). */
bool gc_device_works(int index);

/* Seconds that all images of a problem take at least on a GPU that is not in use. While it starts,
 * the CPU computes an image in `cpu_seconds`; 0: images wait. */
double gc_device_least_seconds(const gc_problem *problem, double cpu_seconds);

#endif
