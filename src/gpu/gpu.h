/* What the host may ask of the GPU part. Plain C, no CUDA types. In a build without CUDA the same
 * functions say that there is no device (runtime/unavailable.c). */
#ifndef GC_GPU_GPU_H
#define GC_GPU_GPU_H

#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of CUDA devices, at most GCONV_DEVICES_MAX; 0 where there is none or no driver. Starts the
 * driver. */
int gc_gpu_count(void);

/* Why gc_gpu_count is 0; "" where it is not. */
const char *gc_gpu_reason(void);

/* Describes device cuda:`index`, 0 to count-1. */
gconv_status gc_gpu_describe(int index, gconv_device_info *info, gconv_error *error);

/* Whether calls to device `index` still succeed. After some errors they do not until the process
 * ends. Waits for work on the device's default stream. */
bool gc_gpu_works(int index);

/* Whether a plan of this process uses or has used a GPU. The next plan then does not wait for the
 * driver. */
bool gc_gpu_started(void);

#ifdef __cplusplus
}
#endif

#endif
