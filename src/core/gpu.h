/* What the core asks of the GPU part, which defines these functions, gconv_cuda_reason,
 * gconv_device_await, gconv_device_is_starting and gconv_nvrtc_version. Plain C, no CUDA types.
 * Those that may start the driver load the CUDA module first (gpu/load.c). */
#pragma once

#include "core/problem.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of CUDA devices, at most GCONV_DEVICES_MAX; 0 if there is none or no driver. Starts the
 * driver. */
int gc_gpu_count(void);

/* Describes device cuda:`index`, 0 to count-1. */
gconv_status gc_gpu_describe(int index, gconv_device_info *info, gconv_error *error);

/* What the implementation of the GPU with this name does; NULL if there is none, or no module. */
const struct gc_operations *gc_gpu_operations(const char *name);

/* Whether calls to device `index` still succeed. After some errors they do not until the process
 * ends. Waits for work on the device's default stream. */
bool gc_gpu_works(int index);

/* Pins memory of the host for all devices, and takes that back. Starts the driver. Without a
 * device gc_gpu_pin is GCONV_ERROR_DEVICE. */
gconv_status gc_gpu_pin(void *memory, size_t bytes, gconv_error *error);
void gc_gpu_unpin(void *memory);

/* Begins to start the driver and the devices whose bits are set, bit N for cuda:N, in threads of
 * its own, and returns at once. Only the first call has an effect. */
void gc_gpu_start(uint64_t devices);

/* Whether a device has started. The next plan then does not wait for the driver. */
bool gc_gpu_started(void);

/* Whether nothing has to be waited for: a device has started, or gc_gpu_start has found none that
 * does. */
bool gc_gpu_ready(void);

/* Seconds that all images which are left take at least on a GPU that is not in use. Needs no
 * device: a job that the CPU finishes in less time never starts the driver. While the GPU starts,
 * the CPU computes an image in `cpu_seconds`; 0: images wait. */
double gc_gpu_least_seconds(const gc_problem *problem, double cpu_seconds);

#ifdef __cplusplus
}
#endif
