/* What the measurements of the program ask of GPUs. Plain C, no CUDA types. A build without CUDA has
 * the same functions in runtime/unavailable.c. */
#ifndef GC_GPU_STUDY_H
#define GC_GPU_STUDY_H

#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the clock of the multiprocessors and the temperature of device cuda:`index`. A number is 0
 * where NVIDIA's management library (NVML) does not tell it or is not there. */
void gc_gpu_read_clock(int index, double *megahertz, double *celsius);

#ifdef __cplusplus
}
#endif

#endif
