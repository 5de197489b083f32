/* What separable and fused use of direct, for the steps that they leave to it. */
#pragma once

#include "gpu/methods/passes.cuh"

enum { GC_DIRECT_WEIGHTS = 1024 }; /* at most, of a filter */

gconv_status gc_direct_supports(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device, gconv_error *error);
double gc_direct_seconds(const gc_problem *problem, const gc_step *step,
                         const gconv_device_info *device);

gconv_status gc_direct_prepare(const gc_problem *problem, const gc_step *step,
                               const gconv_device_info *device, gc_pass_scope *scope,
                               gc_pass_kernel *kernel, gconv_error *error);
