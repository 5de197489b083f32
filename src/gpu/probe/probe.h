/* What the measurements of the program ask of GPUs. Plain C, no CUDA types. A build without CUDA
 * has the same functions in runtime/unavailable.c. */
#ifndef GC_GPU_PROBE_PROBE_H
#define GC_GPU_PROBE_PROBE_H

#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the clock of the multiprocessors and the temperature of device cuda:`index`. A number is 0
 * where NVIDIA's management library (NVML) does not tell it or is not there. */
void gc_gpu_read_clock(int index, double *megahertz, double *celsius);

/* Fourier transforms of lines by cuFFT, from memory to memory of a device. */
typedef struct gc_gpu_lines gc_gpu_lines;

/* Takes memory on device cuda:`index` for `count` complex numbers of two float32, twice, and copies
 * `numbers` to the first half. *lines is NULL on failure. */
gconv_status gc_gpu_lines_create(int index, const float *numbers, size_t count,
                                 gc_gpu_lines **lines, gconv_error *error);
void gc_gpu_lines_free(gc_gpu_lines *lines);

/* Prepares passes over lines of `points` numbers, a power of two. */
gconv_status gc_gpu_lines_plan(gc_gpu_lines *lines, int points, gconv_error *error);

/* Writes the spectrum of every line to the second half; lines of one point are copied. *seconds is
 * the time between two events. */
gconv_status gc_gpu_lines_pass(gc_gpu_lines *lines, double *seconds, gconv_error *error);

/* Copies `count` complex numbers of the second half to the host, from number `first` on. */
gconv_status gc_gpu_lines_read(const gc_gpu_lines *lines, size_t first, size_t count,
                               float *numbers, gconv_error *error);

#ifdef __cplusplus
}
#endif

#endif
