/* What separable and fused share of direct, for the steps of a chain that they do no better. */
#ifndef GC_GPU_FAST_DIRECT_CUH
#define GC_GPU_FAST_DIRECT_CUH

#include "gpu/fast/passes.cuh"

enum { GC_DIRECT_WEIGHTS = 1024 };

gconv_status gc_direct_supports(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device, gconv_error *error);
double gc_direct_seconds(const gc_problem *problem, const gc_step *step,
                         const gconv_device_info *device);

/* What a step takes in all where a kernel with its weights as constants takes `kernel` seconds: one that
 * has to be compiled first costs that as well, shared by all runs; the one compiled ahead, if it is,
 * takes its place. */
double gc_direct_total_seconds(const gc_problem *problem, double kernel, const gc_layout &layout,
                               const float *weights, int count, bool is_ahead,
                               const gconv_device_info *device);

/* Whether compiling costs less than it saves over the runs that are expected. */
bool gc_direct_compiling_pays(const gc_problem *problem, double kernel);

gconv_status gc_direct_prepare(const gc_problem *problem, const gc_step *step,
                               const gconv_device_info *device, gc_gpu_pass *pass,
                               gc_pass_kernel *kernel, gconv_error *error);

#endif
