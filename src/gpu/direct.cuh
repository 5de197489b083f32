/* What separable shares of direct, for the filters of a chain that are not of rank 1. */
#ifndef GC_GPU_DIRECT_CUH
#define GC_GPU_DIRECT_CUH

#include "gpu/passes.cuh"

enum { GC_DIRECT_WEIGHTS = 1024 };

gconv_status gc_direct_supports(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device, gconv_error *error);
double gc_direct_seconds(const gc_problem *problem, const gc_step *step,
                         const gconv_device_info *device);
gconv_status gc_direct_prepare(const gc_problem *problem, const gc_step *step,
                               const gconv_device_info *device, gc_gpu_pass *pass,
                               gc_pass_kernel *kernel, gconv_error *error);

#endif
