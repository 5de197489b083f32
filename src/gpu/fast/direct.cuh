/* What separable and fused use of direct, for the steps that they leave to it. */
#ifndef GC_GPU_FAST_DIRECT_CUH
#define GC_GPU_FAST_DIRECT_CUH

#include "gpu/fast/passes.cuh"

enum { GC_DIRECT_WEIGHTS = 1024 }; /* at most, of a filter */

gconv_status gc_direct_supports(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device, gconv_error *error);
double gc_direct_seconds(const gc_problem *problem, const gc_step *step,
                         const gconv_device_info *device);

/* Seconds of a step. A kernel with the weights as constants takes `kernel` seconds. Where the cache
 * lacks this kernel: with `is_ahead` a kernel compiled ahead takes its place. Otherwise the time to
 * compile is added, which the runs share. */
double gc_direct_total_seconds(const gc_problem *problem, double kernel, const gc_layout &layout,
                               const float *weights, int count, bool is_ahead,
                               const gconv_device_info *device);

/* Whether compiling takes less time than it saves over the expected runs. `kernel` as above. */
bool gc_direct_compiling_pays(const gc_problem *problem, double kernel,
                              const gconv_device_info *device);

gconv_status gc_direct_prepare(const gc_problem *problem, const gc_step *step,
                               const gconv_device_info *device, gc_pass_scope *scope,
                               gc_pass_kernel *kernel, gconv_error *error);

#endif
