/* The methods that work in passes, by name: for programs that time them on buffers of their own. */
#pragma once

#include "gpu/plan/method.cuh"

extern const gc_pass_method gc_direct_method;
extern const gc_pass_method gc_separable_method;
extern const gc_pass_method gc_fused_method;
extern const gc_pass_method gc_tensor_method;
extern const gc_pass_method gc_tilefft_method;
