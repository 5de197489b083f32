/* The expected times of whole images on a GPU: start, copies and kernels, and, if several images go
 * from file to file at one time, decoding and encoding. Plain C: needs no GPU. */
#ifndef GC_GPU_COST_IMAGES_H
#define GC_GPU_COST_IMAGES_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of an image whose kernels take `kernels` seconds. `finishes` says whether the device
 * makes the output; else it gives chain values. An image alone: all its parts one after the other.
 * One of several between files: the time of all that are left, divided by their number. Runs share
 * the time to start a GPU that is not in use. */
double gc_cost_of_image(const gc_problem *problem, const gconv_device_info *device, double kernels,
                        bool finishes);

#ifdef __cplusplus
}
#endif

#endif
